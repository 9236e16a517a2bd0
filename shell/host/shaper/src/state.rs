//! State of a fix on disk, written atomically before any change.
use crate::error::ApplyError;
use crate::snapshot::Snapshot;
use fathom_tc::{Header, Object, What};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// File version; others are refused.
const VERSION: u64 = 1;

/// Progress of a fix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Being applied, or waiting for commit.
    Trial,
    /// Committed.
    Committed,
}

/// The state of a fix.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// Unique identifier of this fix.
    pub id: String,
    /// Progress.
    pub phase: Phase,
    /// The interface before the fix.
    pub snapshot: Snapshot,
    /// Interfaces that were created.
    pub made: Vec<String>,
    /// Description for people: rates, steps, commands.
    pub about: Value,
    /// The process that applies it.
    pub pid: u32,
    /// Start time in seconds since 1970.
    pub began_unix_s: u64,
    /// Time limit of the trial in milliseconds.
    pub limit_ms: u64,
    /// The boot and network namespace in which it is valid.
    pub instance: SystemInstance,
}

/// Identifies a boot and a network namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemInstance {
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot: String,
    /// `/proc/thread-self/ns/net`.
    pub namespace: String,
}

impl SystemInstance {
    /// The current boot and namespace.
    #[must_use]
    pub fn here() -> SystemInstance {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/thread-self/ns/net").unwrap_or_default();
        SystemInstance { boot: boot.trim().to_owned(), namespace: namespace.to_string_lossy().into_owned() }
    }
}

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
        self.folder.join(format!("{}.fix.json", self.device))
    }
    /// The lock file.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.folder.join(format!("{}.fix.lock", self.device))
    }
    /// File with the result of the last fix, in words.
    #[must_use]
    pub fn last(&self) -> PathBuf {
        self.folder.join(format!("{}.fix.last", self.device))
    }
    /// All states in a directory.
    ///
    /// # Errors
    /// If the directory exists but cannot be read.
    pub fn all(folder: &Path) -> Result<Vec<Place>, ApplyError> {
        let doing = || folder.display().to_string();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(ApplyError::system(doing())(error)),
        };
        let mut places = Vec::new();
        for entry in entries {
            let name = entry.map_err(ApplyError::system(doing()))?.file_name();
            let device = name.to_str().and_then(|name| name.strip_suffix(".fix.json"));
            places.extend(device.map(|device| Place::new(folder, device)));
        }
        places.sort_by(|a, b| a.device.cmp(&b.device));
        Ok(places)
    }
    /// Reads the state; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn read(&self) -> Result<Option<State>, ApplyError> {
        let doing = || self.file().display().to_string();
        let text = match fs::read_to_string(self.file()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ApplyError::system(doing())(error)),
        };
        let damaged = |what: &str| {
            let words = format!(
                "damaged ({what}): the previous qdiscs are unknown\n  try: tc qdisc del dev {} root; tc qdisc del dev {} ingress; then remove this file",
                self.device, self.device
            );
            ApplyError::words(doing(), words)
        };
        State::parse(&text).map(Some).map_err(|what| damaged(&what))
    }
    /// Writes the state atomically.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn write(&self, state: &State) -> Result<(), ApplyError> {
        let new = self.folder.join(format!("{}.fix.new", self.device));
        let write = || -> io::Result<()> {
            let mut file = fs::File::create(&new)?;
            file.write_all(state.text().as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, self.file())
        };
        write().map_err(ApplyError::system(self.file().display().to_string()))
    }
    /// Removes the state and records why.
    ///
    /// # Errors
    /// If the directory cannot be written.
    pub fn forget(&self, why: &str) -> Result<(), ApplyError> {
        // A failure to record the reason is no reason to keep an obsolete state.
        let _ = fs::write(self.last(), format!("{why}\n"));
        match fs::remove_file(self.file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ApplyError::system(self.file().display().to_string())(error))
            }
            _ => Ok(()),
        }
    }
}

impl State {
    /// Parses a state.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<State, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if value["version"].as_u64() != Some(VERSION) {
            return Err(format!(
                "has version {}, but this program supports version {VERSION}",
                value["version"]
            ));
        }
        State::from_json(&value).ok_or_else(|| "a field is missing or has the wrong type".to_owned())
    }
    /// Formats the state.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{:#}\n", self.to_json())
    }
    fn to_json(&self) -> Value {
        let objects: Vec<Value> = self.snapshot.objects.iter().map(object_to_json).collect();
        json!({
            "version": VERSION,
            "id": self.id,
            "phase": match self.phase { Phase::Trial => "trial", Phase::Committed => "committed" },
            "pid": self.pid,
            "began_unix_s": self.began_unix_s,
            "limit_ms": self.limit_ms,
            "boot": self.instance.boot,
            "namespace": self.instance.namespace,
            "about": self.about,
            "made": self.made,
            "snapshot": {
                "name": self.snapshot.name, "index": self.snapshot.index, "up": self.snapshot.up,
                "objects": objects,
            },
        })
    }
    fn from_json(value: &Value) -> Option<State> {
        let words = |key: &str| Some(value[key].as_str()?.to_owned());
        let snapshot = &value["snapshot"];
        let objects = snapshot["objects"].as_array()?.iter().map(object_from_json).collect::<Option<_>>()?;
        let made = value["made"].as_array()?.iter().map(|name| Some(name.as_str()?.to_owned()));
        Some(State {
            id: words("id")?,
            phase: match value["phase"].as_str()? {
                "trial" => Phase::Trial,
                "committed" => Phase::Committed,
                _ => return None,
            },
            snapshot: Snapshot {
                name: snapshot["name"].as_str()?.to_owned(),
                index: number(&snapshot["index"])?,
                up: snapshot["up"].as_bool()?,
                objects,
            },
            made: made.collect::<Option<_>>()?,
            about: value["about"].clone(),
            pid: number(&value["pid"])?,
            began_unix_s: value["began_unix_s"].as_u64()?,
            limit_ms: value["limit_ms"].as_u64()?,
            instance: SystemInstance { boot: words("boot")?, namespace: words("namespace")? },
        })
    }
}

fn number(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

fn object_to_json(object: &Object) -> Value {
    let what = match object.what {
        What::Qdisc => "qdisc",
        What::Class => "class",
        What::Filter => "filter",
    };
    let attributes: Vec<Value> =
        object.attributes.iter().map(|(kind, value)| json!([kind, to_hex(value)])).collect();
    let Header { interface, handle, parent, info } = object.header;
    json!({
        "what": what, "kind": object.kind(), "interface": interface, "handle": handle, "parent": parent,
        "info": info, "attributes": attributes,
    })
}

fn object_from_json(value: &Value) -> Option<Object> {
    let what = match value["what"].as_str()? {
        "qdisc" => What::Qdisc,
        "class" => What::Class,
        "filter" => What::Filter,
        _ => return None,
    };
    let [interface, handle, parent, info] =
        ["interface", "handle", "parent", "info"].map(|key| number(&value[key]));
    let header = Header { interface: interface?, handle: handle?, parent: parent?, info: info? };
    let attribute =
        |pair: &Value| Some((u16::try_from(pair[0].as_u64()?).ok()?, from_hex(pair[1].as_str()?)?));
    let attributes = value["attributes"].as_array()?.iter().map(attribute).collect::<Option<_>>()?;
    Some(Object { what, header, attributes })
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Longest attribute that netlink can carry; a longer one is corrupt and could not be sent.
const LONGEST_ATTRIBUTE: usize = 65_531;

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok();
    (text.len().is_multiple_of(2) && text.len() / 2 <= LONGEST_ATTRIBUTE)
        .then(|| digits.map(byte).collect())
        .flatten()
}
