//! The cursor of a destination: how far data was sent, and cumulative counts. The file is replaced
//! atomically.
use fathom_watch_samples::{Sketch, Tally, Window};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Version of the file. A later version must read earlier ones.
const VERSION: u64 = 1;
/// Maximum size: 100,000 series of 400 buckets.
const MAX_BYTES: u64 = 1 << 30;

/// Cumulative counts of a series.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Counted {
    /// Start of counting, in milliseconds since 1970-01-01 UTC.
    pub(crate) since_ms: u64,
    pub(crate) total: Window,
    /// Labels from the last plan, because changed labels would make it another series.
    pub(crate) group: String,
    pub(crate) host: String,
}

/// How far a destination is.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Cursor {
    /// Everything before this was sent or permanently refused. Milliseconds since 1970-01-01 UTC.
    pub(crate) upto_ms: u64,
    /// By target and probe.
    pub(crate) series: BTreeMap<(String, String), Counted>,
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
    /// The file of a destination, next to the history.
    pub(crate) fn path(store: &Path, name: &str) -> PathBuf {
        store.join(format!("push-{name}.json.gz"))
    }
    pub(crate) fn load(path: &Path) -> Loaded {
        let bytes = match fs::read(path) {
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
        let new = path.with_extension("gz.new");
        let mut packer = GzEncoder::new(File::create(&new)?, Compression::fast());
        packer.write_all(self.to_json().to_string().as_bytes())?;
        let file = packer.finish()?;
        file.sync_all()?;
        fs::rename(&new, path)
    }
    fn to_json(&self) -> Value {
        let one = |((target, probe), counted): (&(String, String), &Counted)| {
            let Window { tally: t, sketch } = &counted.total;
            let buckets: Vec<(i32, u64)> = sketch.buckets().collect();
            json!({
                "target": target, "probe": probe, "group": counted.group, "host": counted.host,
                "since_ms": counted.since_ms, "zero": sketch.zero_count(), "buckets": buckets,
                "counts": [t.sent, t.answered, t.late, t.lost, t.failed, t.duplicates, t.reordered],
            })
        };
        let series: Vec<Value> = self.series.iter().map(one).collect();
        json!({ "fathom_push": VERSION, "upto_ms": self.upto_ms, "series": series })
    }
}

/// The destination to which the file belongs, if it is a cursor.
pub(crate) fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_prefix("push-")?.strip_suffix(".json.gz")?;
    Some(name.to_owned())
}

/// Parses a file.
pub(crate) fn read(bytes: &[u8]) -> Result<Cursor, String> {
    let mut plain = Vec::new();
    // The gzip checksum detects corruption.
    GzDecoder::new(bytes).take(MAX_BYTES).read_to_end(&mut plain).map_err(|e| e.to_string())?;
    let json: Value = serde_json::from_slice(&plain).map_err(|e| e.to_string())?;
    if number(&json, "fathom_push")? != VERSION {
        return Err(format!("unsupported version {}", json["fathom_push"]));
    }
    let series = json["series"].as_array().ok_or("no series")?;
    Ok(Cursor {
        upto_ms: number(&json, "upto_ms")?,
        series: series.iter().map(read_series).collect::<Result<_, _>>()?,
    })
}

fn read_series(json: &Value) -> Result<((String, String), Counted), String> {
    let text = |key: &str| json[key].as_str().map(str::to_owned).ok_or_else(|| format!("{key} is missing"));
    let list = |key: &str| json[key].as_array().ok_or_else(|| format!("{key} is missing"));
    let counts: Vec<u64> = list("counts")?.iter().filter_map(Value::as_u64).collect();
    let &[sent, answered, late, lost, failed, duplicates, reordered] = counts.as_slice() else {
        return Err("expected seven counts".into());
    };
    let mut sketch = Sketch::default();
    sketch.add_zeros(number(json, "zero")?);
    for bucket in list("buckets")? {
        let place = bucket[0].as_i64().and_then(|place| i32::try_from(place).ok());
        let (Some(place), Some(times)) = (place, bucket[1].as_u64()) else {
            return Err(format!("invalid bucket {bucket}"));
        };
        sketch.add_times(place, times);
    }
    let tally = Tally { sent, answered, late, lost, failed, duplicates, reordered };
    let counted = Counted {
        since_ms: number(json, "since_ms")?,
        total: Window { tally, sketch },
        group: text("group")?,
        host: text("host")?,
    };
    Ok(((text("target")?, text("probe")?), counted))
}

fn number(json: &Value, key: &str) -> Result<u64, String> {
    json[key].as_u64().ok_or_else(|| format!("{key}: invalid number"))
}

/// Renames a damaged file to an unused name.
fn set_aside(path: &Path) -> Option<PathBuf> {
    let named = |n: u32| path.with_extension(format!("gz.damaged-{n}"));
    let free = (1..1_000).map(named).find(|name| !name.exists())?;
    fs::rename(path, &free).ok().map(|()| free)
}

#[cfg(test)]
#[path = "cursor_tests.rs"]
mod tests;
