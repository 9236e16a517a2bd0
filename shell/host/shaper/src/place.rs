//! The files of a fix, written atomically before any change.
use crate::error::ApplyError;
use crate::state::State;
use crate::state_dir::{Lock, StateDir};
use fathom_tc::ifb_name;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Ends of the names of the state file and of its copy.
const STATE: &str = "fix.json";
const COPY: &str = "fix.copy";

/// Maximum size of a file, in bytes. A state with a thousand filters has 300 kB.
const MAX_BYTES: u64 = 16 << 20;

/// Location of an interface's state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The directory.
    pub folder: PathBuf,
    /// The interface.
    pub device: String,
}

impl Place {
    /// The default directory: cleared at boot, like the qdiscs.
    pub const USUAL: &'static str = "/run/fathom";

    /// The location of an interface's state in `folder`.
    #[must_use]
    pub fn new(folder: &Path, device: &str) -> Place {
        Place { folder: folder.to_owned(), device: device.to_owned() }
    }
    /// The state file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.join(self.name(STATE))
    }
    /// The directory; `None` if it does not exist.
    fn open(&self) -> Result<Option<StateDir>, ApplyError> {
        StateDir::open(&self.folder).map_err(ApplyError::system(self.folder.display().to_string()))
    }
    /// Takes the lock, creating the directory if necessary; `None` if another process holds it.
    ///
    /// # Errors
    /// If the directory cannot be used, or other users can change it.
    pub fn lock(&self) -> Result<Option<Lock>, ApplyError> {
        let doing = || self.folder.display().to_string();
        let folder = StateDir::create(&self.folder).map_err(ApplyError::system(doing()))?;
        let name = self.name("fix.lock");
        folder.lock(&name).map_err(ApplyError::system(self.folder.join(name).display().to_string()))
    }
    /// All states in a directory.
    ///
    /// # Errors
    /// If the directory exists but cannot be read.
    pub fn all(folder: &Path) -> Result<Vec<Place>, ApplyError> {
        let doing = || folder.display().to_string();
        let Some(opened) = StateDir::open(folder).map_err(ApplyError::system(doing()))? else {
            return Ok(Vec::new());
        };
        let names = opened.names().map_err(ApplyError::system(doing()))?;
        let device = |name: &String| {
            [STATE, COPY].iter().find_map(|end| name.strip_suffix(end)?.strip_suffix('.').map(str::to_owned))
        };
        let devices: BTreeSet<String> = names.iter().filter_map(device).collect();
        Ok(devices.iter().map(|name| Place::new(folder, name)).collect())
    }
    /// Reads the state, from its copy if the file is missing or damaged; `None` if there is none.
    ///
    /// # Errors
    /// If neither can be read.
    pub fn read(&self) -> Result<Option<State>, ApplyError> {
        let Some(folder) = self.open()? else { return Ok(None) };
        let read = |end: &str| folder.read(&self.name(end), MAX_BYTES);
        let parse = |bytes: &[u8]| String::from_utf8_lossy(bytes).parse();
        let (file, copy) = (read(STATE), read(COPY));
        let first: Option<Result<State, String>> = match &file {
            Ok(bytes) => bytes.as_deref().map(parse),
            Err(error) => Some(Err(error.to_string())),
        };
        let why = match (first, copy.as_ref().ok().and_then(Option::as_deref).map(parse)) {
            (Some(Ok(state)), _) | (None | Some(Err(_)), Some(Ok(state))) => return Ok(Some(state)),
            (None, None) => return Ok(None),
            (Some(Err(why)), _) | (None, Some(Err(why))) => why,
        };
        let texts = [file, copy].map(|found| found.ok().flatten().unwrap_or_default());
        let words = format!("damaged ({why}), and so is its copy\n  try: {}", self.by_hand(&texts));
        Err(ApplyError::words(self.file().display().to_string(), words))
    }
    /// Commands that restore the interface without its state: those of the damaged files, or those
    /// that fit every fix.
    fn by_hand(&self, damaged: &[Vec<u8>]) -> String {
        let mut commands =
            damaged.iter().map(|bytes| undo_commands(bytes)).max_by_key(Vec::len).unwrap_or_default();
        if commands.is_empty() {
            let device = &self.device;
            commands = vec![
                format!("tc qdisc del dev {device} root"),
                format!("tc qdisc del dev {device} ingress"),
                format!("ip link del {}", ifb_name(device, 0)),
            ];
        }
        format!("{}; then remove {} and {}", commands.join("; "), self.file().display(), self.name(COPY))
    }
    /// Writes the state and its copy, each atomically.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn write(&self, state: &State) -> Result<(), ApplyError> {
        let doing = || self.file().display().to_string();
        let folder =
            StateDir::create(&self.folder).map_err(ApplyError::system(self.folder.display().to_string()))?;
        let text = state.text();
        let write = |end| folder.write(&self.name(end), text.as_bytes());
        write(STATE).and_then(|()| write(COPY)).map_err(ApplyError::system(doing()))
    }
    /// Removes the state and records why.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn forget(&self, why: &str) -> Result<(), ApplyError> {
        let Some(folder) = self.open()? else { return Ok(()) };
        // A failure to record the reason is no reason to keep an obsolete state.
        let _ = folder.write(&self.name("fix.last"), format!("{why}\n").as_bytes());
        // The copy first: alone it would count as the state.
        let remove = |end| folder.remove(&self.name(end));
        remove(COPY)
            .and_then(|()| remove(STATE))
            .map_err(ApplyError::system(self.file().display().to_string()))
    }
    /// The result of the last fix, in words.
    #[must_use]
    pub fn last(&self) -> Option<String> {
        let bytes = self.open().ok()??.read(&self.name("fix.last"), MAX_BYTES).ok()??;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }
    fn name(&self, end: &str) -> String {
        format!("{}.{end}", self.device)
    }
}

/// The undo commands in a state, or in what is left of one, last step first.
fn undo_commands(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut steps: Vec<Vec<String>> = Vec::new();
    for list in text.split("\"undo\":").skip(1) {
        let list = list.split_once(']').map_or("", |(list, _)| list);
        let strings = list.split('"').skip(1).step_by(2);
        steps.push(
            strings.filter(|s| s.starts_with("tc ") || s.starts_with("ip ")).map(str::to_owned).collect(),
        );
    }
    steps.into_iter().rev().flatten().collect()
}
