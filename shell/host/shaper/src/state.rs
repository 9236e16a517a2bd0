//! State of a fix, and its form on disk.
use crate::snapshot::Snapshot;
use fathom_tc::{Header, Object, What};
use serde_json::{Value, json};
use std::fs;
use std::str::FromStr;

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
    /// What the fix adds to the interface; `None` in a state of version 0.2.0.
    pub own: Option<OwnObjects>,
}

/// What a fix adds to an interface: everything else that is new was added by others meanwhile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnObjects {
    /// Major numbers of its qdiscs.
    pub majors: Vec<u16>,
    /// Parent and priority of the filter that redirects ingress.
    pub filter: Option<(u32, u16)>,
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

impl State {
    /// Parses a state.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<State, String> {
        let mut value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // Version 0.2.0 wrote no checksum.
        let written = value.as_object_mut().and_then(|all| all.remove("checksum"));
        if written.is_some_and(|written| written.as_u64() != Some(checksum(&value))) {
            return Err("the checksum is wrong".to_owned());
        }
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
        let mut value = self.to_json();
        value["checksum"] = checksum(&value).into();
        format!("{value:#}\n")
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
            "own": self.own.as_ref().map(|own| json!({ "majors": own.majors, "filter": own.filter })),
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
            own: if value["own"].is_null() { None } else { Some(own_from_json(&value["own"])?) },
        })
    }
}

fn own_from_json(value: &Value) -> Option<OwnObjects> {
    let small = |number: &Value| u16::try_from(number.as_u64()?).ok();
    let filter = &value["filter"];
    Some(OwnObjects {
        majors: value["majors"].as_array()?.iter().map(small).collect::<Option<_>>()?,
        filter: if filter.is_null() { None } else { Some((number(&filter[0])?, small(&filter[1])?)) },
    })
}

/// CRC-32 of the compact form, in which keys are sorted.
fn checksum(value: &Value) -> u64 {
    crc32fast::hash(value.to_string().as_bytes()).into()
}

impl FromStr for State {
    type Err = String;
    fn from_str(text: &str) -> Result<State, String> {
        State::parse(text)
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
