//! The cursor of an archive: what was sent. The file is replaced atomically.
use crate::hour::Hour;
use fathom_os::files::read_at_most;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Version of the file. A later version must read earlier ones.
const VERSION: u64 = 1;
/// Maximum size: a million results.
const MAX_BYTES: u64 = 256 << 20;
/// Hours before the newest settled one of which the counts are kept.
pub(crate) const RECENT_HOURS: u64 = 48;

/// Sums of the counts of all series of an hour, in the order of [`fathom_watch_samples::Tally`].
pub(crate) type Counts = [u64; 7];

/// A result file that was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SentResult {
    pub(crate) bytes: u64,
    pub(crate) modified_ms: u64,
    /// The date in the name of its object, which stays if the file changes.
    pub(crate) date: String,
}

/// What was sent.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Cursor {
    /// The store and the site. Another one has nothing yet.
    pub(crate) to: String,
    /// The first hour that was not sent.
    pub(crate) upto: Hour,
    /// Counts of recent hours when they were sent. Hours without samples are left out.
    pub(crate) recent: BTreeMap<Hour, Counts>,
    /// Hours before `upto` in which the watch ran because the clock was set back.
    pub(crate) again: BTreeSet<Hour>,
    /// By file name.
    pub(crate) results: BTreeMap<String, SentResult>,
    /// The description of the site.
    pub(crate) site: String,
    /// Objects that were sent.
    pub(crate) objects: u64,
    /// Objects that were permanently refused.
    pub(crate) refused: u64,
}

/// Result of loading a cursor.
pub(crate) enum Loaded {
    /// There is no file yet.
    None,
    Cursor(Cursor),
    /// The file is damaged. It was renamed to this path, if possible.
    Damaged {
        why: String,
        kept: Option<PathBuf>,
    },
}

impl Cursor {
    /// The file of an archive, next to the history.
    pub(crate) fn path(store: &Path, name: &str) -> PathBuf {
        store.join(format!("archive-{name}.json"))
    }
    pub(crate) fn load(path: &Path) -> Loaded {
        let bytes = match read_at_most(path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Loaded::None,
            Err(error) => return Loaded::Damaged { why: error.to_string(), kept: None },
        };
        match read(&bytes) {
            Ok(cursor) => Loaded::Cursor(cursor),
            Err(why) => Loaded::Damaged { why, kept: set_aside(path) },
        }
    }
    /// Replaces the file. After a power failure it is either the old or the new one.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        let new = path.with_extension("json.new");
        let mut file = File::create(&new)?;
        file.write_all(self.to_json().to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    }
    /// Records an hour that was sent. `unsettled` is the first hour that is not settled by the
    /// clock, which can be before `upto`.
    pub(crate) fn sent(&mut self, hour: Hour, counts: Counts, unsettled: Hour) {
        if counts == Counts::default() {
            self.recent.remove(&hour);
        } else {
            self.recent.insert(hour, counts);
        }
        self.again.remove(&hour);
        self.upto = self.upto.max(hour.next());
        self.recent = self.recent.split_off(&self.upto.min(unsettled).minus(RECENT_HOURS));
    }
    fn to_json(&self) -> Value {
        let recent = self.recent.iter().map(|(hour, counts)| json!([hour.0, counts]));
        let results = self
            .results
            .iter()
            .map(|(name, sent)| (name.clone(), json!([sent.bytes, sent.modified_ms, sent.date])));
        json!({
            "fathom_archive": VERSION, "to": self.to, "upto_ms": self.upto.start().0 / 1_000_000,
            "recent": recent.collect::<Vec<_>>(),
            "again": self.again.iter().map(|hour| hour.0).collect::<Vec<_>>(), "results": results.collect::<Map<_, _>>(),
            "site": self.site, "objects": self.objects, "refused": self.refused,
        })
    }
}

/// The archive to which the file belongs, if it is a cursor.
pub(crate) fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_prefix("archive-")?.strip_suffix(".json")?;
    Some(name.to_owned())
}

/// Parses a file.
pub(crate) fn read(bytes: &[u8]) -> Result<Cursor, String> {
    let json: Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    if json["fathom_archive"] != VERSION {
        return Err(format!("unsupported version {}", json["fathom_archive"]));
    }
    parse(&json).ok_or_else(|| "is damaged".to_owned())
}

fn parse(json: &Value) -> Option<Cursor> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let recent = |entry: &Value| {
        let counts: Vec<u64> = entry[1].as_array()?.iter().filter_map(Value::as_u64).collect();
        Some((Hour(entry[0].as_u64()?), counts.try_into().ok()?))
    };
    let result = |(name, entry): (&String, &Value)| {
        let (bytes, modified_ms) = (entry[0].as_u64()?, entry[1].as_u64()?);
        Some((name.clone(), SentResult { bytes, modified_ms, date: text(&entry[2])? }))
    };
    Some(Cursor {
        to: text(&json["to"])?,
        upto: Hour(json["upto_ms"].as_u64()? / 3_600_000),
        recent: json["recent"].as_array()?.iter().map(recent).collect::<Option<_>>()?,
        again: json["again"].as_array()?.iter().map(|hour| hour.as_u64().map(Hour)).collect::<Option<_>>()?,
        results: json["results"].as_object()?.iter().map(result).collect::<Option<_>>()?,
        site: text(&json["site"])?,
        objects: json["objects"].as_u64()?,
        refused: json["refused"].as_u64()?,
    })
}

/// Renames a damaged file to an unused name.
fn set_aside(path: &Path) -> Option<PathBuf> {
    let named = |n: u32| path.with_extension(format!("json.damaged-{n}"));
    let free = (1..1_000).map(named).find(|name| !name.exists())?;
    fs::rename(path, &free).ok().map(|()| free)
}

#[cfg(test)]
#[path = "cursor_tests.rs"]
mod tests;
