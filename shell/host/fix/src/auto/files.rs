//! Files next to the state of an interface: the learned state, and the current status.
use super::status::Status;
use fathom_shape::autorate::{Config, Controller};
use fathom_shaper::Place;
use fathom_shaper::state_dir::StateDir;
use std::io;
use std::path::PathBuf;

/// Maximum size of a file, in bytes. A learned state has some kB.
pub(super) const MAX_BYTES: u64 = 1 << 20;

/// The directory and the names of the files.
pub(super) struct Files {
    folder: PathBuf,
    learned: String,
    status: String,
}

impl Files {
    pub(super) fn of(place: &Place) -> Files {
        let learned = format!("{}.autorate", place.device);
        Files { folder: place.folder.clone(), learned, status: Status::name(place) }
    }
    fn open(&self) -> io::Result<StateDir> {
        StateDir::create(&self.folder)
    }
    /// Restores a controller with its learned state. A file that cannot be read is renamed and
    /// reported.
    pub(super) fn restore(&self, config: Config) -> (Controller, Option<String>) {
        let bytes = match self.open().and_then(|folder| folder.read(&self.learned, MAX_BYTES)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return (Controller::new(config), None),
            Err(error) => return (Controller::new(config), Some(self.set_aside(&error.to_string()))),
        };
        match Controller::restore(config, &String::from_utf8_lossy(&bytes)) {
            Ok(controller) => (controller, None),
            Err(error) => (Controller::new(config), Some(self.set_aside(&error.to_string()))),
        }
    }
    fn set_aside(&self, why: &str) -> String {
        let aside = format!("{}-damaged", self.learned);
        let kept = self
            .open()
            .and_then(|folder| folder.rename(&self.learned, &aside))
            .map_or_else(|error| format!("not kept: {error}"), |()| format!("kept as {aside}"));
        let file = self.folder.join(&self.learned);
        format!("{}: {why}; starting without a learned state (the file is {kept})", file.display())
    }
    /// Writes the learned state.
    pub(super) fn save(&self, controller: &Controller) -> Result<(), String> {
        let written =
            self.open().and_then(|folder| folder.write(&self.learned, controller.save().as_bytes()));
        let file = self.folder.join(&self.learned);
        written.map_err(|error| format!("cannot save the learned state: {}: {error}", file.display()))
    }
    /// Ignores errors: readers simply try again.
    pub(super) fn write_status(&self, status: &Status) {
        let text = format!("{:#}\n", status.to_json());
        let _ = self.open().and_then(|folder| folder.write(&self.status, text.as_bytes()));
    }
    pub(super) fn forget_status(&self) {
        let _ = self.open().and_then(|folder| folder.remove(&self.status));
    }
}
