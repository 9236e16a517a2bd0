//! The folder of an archive: `windows/site=SITE/date=YYYY-MM-DD/HH.parquet`, `runs` likewise, and
//! `sites/site=SITE/site.json`.
use crate::columns::each_window;
use crate::window::{KnownSite, Window, Windows};
use fathom_fleet_query::{QueryError, ResultFile, Span};
use fathom_os::error::without_code;
use fathom_os::files::read_at_most;
use fathom_units::WallTime;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Characters that are escaped in the value of a partition, as Hive does.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');
/// Maximum size of the description of a site, in bytes.
const MAX_SITE_BYTES: u64 = 64 << 10;
/// Files that are reported as damaged; the others are counted.
const MAX_DAMAGED: usize = 3;

/// An archive.
pub struct Archive {
    path: PathBuf,
    damaged: Mutex<Damaged>,
}

#[derive(Default)]
struct Damaged {
    named: Vec<String>,
    more: usize,
}

impl Archive {
    /// Opens the folder of an archive.
    ///
    /// # Errors
    /// A folder without `windows`.
    pub fn open(path: &Path) -> Result<Archive, QueryError> {
        let windows = path.join("windows");
        if windows.is_dir() {
            Ok(Archive { path: path.to_owned(), damaged: Mutex::default() })
        } else {
            Err(QueryError::without(path.display(), "folder \"windows\""))
        }
    }
    /// What was left out so far because it is damaged, and forgets it.
    pub fn damaged(&self) -> Vec<String> {
        let Damaged { mut named, more } = std::mem::take(&mut *self.lock());
        if more > 0 {
            named.push(format!("{more} more files are damaged"));
        }
        named
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, Damaged> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn damage(&self, path: &Path, why: &str) {
        let mut damaged = self.lock();
        if damaged.named.len() < MAX_DAMAGED {
            damaged.named.push(format!("{}: {why}", path.display()));
        } else {
            damaged.more += 1;
        }
    }
    fn labels(&self, name: &str) -> Site {
        let path = self.path.join("sites").join(partition(name)).join("site.json");
        match read_at_most(&path, MAX_SITE_BYTES) {
            Ok(bytes) => site(&bytes).unwrap_or_else(|| {
                self.damage(&path, "no description of a site");
                Site::default()
            }),
            // It is sent after the first tables.
            Err(_) => Site::default(),
        }
    }
    /// The files of a site in the folders of the days of a period, in order of time.
    fn files(&self, kind: &str, name: &str, span: Span) -> Result<Vec<(WallTime, PathBuf)>, QueryError> {
        let mut found = Vec::new();
        for day in entries(&self.path.join(kind).join(partition(name)))? {
            let Some(start) = day_of(&day) else { continue };
            if start.0 < span.to.0 && start.0.saturating_add(DAY_NS) > span.from.0 {
                found.extend(entries(&day)?.into_iter().map(|path| (start, path)));
            }
        }
        Ok(found)
    }
}

const DAY_NS: u64 = 86_400_000_000_000;
const HOUR_NS: u64 = 3_600_000_000_000;

impl Windows for Archive {
    fn sites(&self) -> Result<Vec<KnownSite>, QueryError> {
        let folders = entries(&self.path.join("windows"))?;
        let known = folders.iter().filter_map(|path| {
            let encoded = path.file_name()?.to_str()?.strip_prefix("site=")?;
            let name = percent_decode_str(encoded).decode_utf8().ok()?.into_owned();
            let Site { labels, hops } = self.labels(&name);
            Some(KnownSite { name, labels, hops })
        });
        Ok(known.collect())
    }
    fn each(&self, site: &str, span: Span, take: &mut dyn FnMut(&Window<'_>)) -> Result<(), QueryError> {
        for (day, path) in self.files("windows", site, span)? {
            let hour = path.file_stem().and_then(|name| name.to_str()?.parse::<u64>().ok());
            let is_table = path.extension().is_some_and(|extension| extension == "parquet");
            let Some(hour) = hour.filter(|hour| is_table && *hour < 24) else { continue };
            let start = day.0 + hour * HOUR_NS;
            if start >= span.to.0 || start + HOUR_NS <= span.from.0 {
                continue;
            }
            let read = File::open(&path).map_err(|error| without_code(&error));
            if let Err(why) = read.and_then(|file| each_window(file, span, take)) {
                self.damage(&path, &why);
            }
        }
        Ok(())
    }
    fn results(&self, site: &str, span: Span) -> Result<Vec<ResultFile>, QueryError> {
        let named = self.files("runs", site, span)?.into_iter().filter_map(|(_, path)| {
            let name = path.file_name()?.to_str()?.to_owned();
            (name.ends_with(".json") || name.ends_with(".json.gz")).then_some(ResultFile { name, path })
        });
        Ok(named.collect())
    }
}

fn partition(site: &str) -> String {
    format!("site={}", utf8_percent_encode(site, ESCAPED))
}

/// The start of the day of `date=2026-01-05`.
fn day_of(path: &Path) -> Option<WallTime> {
    let date = path.file_name()?.to_str()?.strip_prefix("date=")?;
    format!("{date}T00:00:00Z").parse().ok()
}

/// The content of a folder, in order of name; none if it does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, QueryError> {
    let all = match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    let mut all: Vec<PathBuf> =
        all.map_err(|error| QueryError { object: folder.display().to_string(), why: without_code(&error) })?;
    all.sort();
    Ok(all)
}

/// What the description of a site contains.
#[derive(Default)]
struct Site {
    labels: BTreeMap<String, String>,
    hops: Vec<String>,
}

fn site(bytes: &[u8]) -> Option<Site> {
    let Value::Object(whole) = serde_json::from_slice(bytes).ok()? else { return None };
    let label = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    let labels = whole.get("labels").and_then(Value::as_object);
    let hops = whole.get("hops").and_then(Value::as_array);
    Some(Site {
        labels: labels.into_iter().flatten().filter_map(label).collect(),
        hops: hops.into_iter().flatten().filter_map(|hop| Some(hop.as_str()?.to_owned())).collect(),
    })
}
