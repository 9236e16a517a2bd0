//! Files next to the state of an interface: the learned state, and the current status.
use super::status::Status;
use fathom_shape::autorate::{Config, Controller};
use fathom_shaper::Place;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Paths of the files.
pub(super) struct Files {
    learned: PathBuf,
    status: PathBuf,
}

impl Files {
    pub(super) fn of(place: &Place) -> Files {
        let file = |kind: &str| place.folder.join(format!("{}.{kind}", place.device));
        Files { learned: file("autorate"), status: Status::file(place) }
    }
    /// Restores a controller with its learned state. A file that cannot be read is renamed and
    /// reported.
    pub(super) fn restore(&self, config: Config) -> (Controller, Option<String>) {
        let text = match fs::read_to_string(&self.learned) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return (Controller::new(config), None),
            Err(error) => return (Controller::new(config), Some(self.set_aside(&error.to_string()))),
        };
        match Controller::restore(config, &text) {
            Ok(controller) => (controller, None),
            Err(error) => (Controller::new(config), Some(self.set_aside(&error.to_string()))),
        }
    }
    fn set_aside(&self, why: &str) -> String {
        let (file, aside) = (self.learned.display(), self.learned.with_extension("autorate-damaged"));
        let kept = fs::rename(&self.learned, &aside)
            .map_or_else(|error| format!("not kept: {error}"), |()| format!("kept as {}", aside.display()));
        format!("{file}: {why}; starting without a learned state (the file is {kept})")
    }
    /// Writes the learned state.
    pub(super) fn save(&self, controller: &Controller) -> Result<(), String> {
        let written = write(&self.learned, &controller.save());
        written.map_err(|error| format!("cannot save the learned state: {}: {error}", self.learned.display()))
    }
    /// Ignores errors: readers simply try again.
    pub(super) fn write_status(&self, status: &Status) {
        let _ = write(&self.status, &format!("{:#}\n", status.to_json()));
    }
    pub(super) fn forget_status(&self) {
        let _ = fs::remove_file(&self.status);
    }
}

/// Replaces the file atomically.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(&new, file)
}
