//! Finds the result files of a directory.
use crate::cursor::SentResult;
use fathom_units::WallTime;
use flate2::read::MultiGzDecoder;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The start of a run is among the first members of its JSON.
const HEAD_BYTES: u64 = 4_096;
/// A file that is younger may be incomplete.
const COMPLETE_AFTER_MS: u64 = 60_000;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// A result file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) modified_ms: u64,
}

impl Found {
    /// Whether the file is the one that was sent.
    pub(crate) fn is(&self, sent: &SentResult) -> bool {
        (self.bytes, self.modified_ms) == (sent.bytes, sent.modified_ms)
    }
    /// Whether the file is no longer being written.
    pub(crate) fn is_complete(&self, now: WallTime) -> bool {
        // A time in the future is that of a wrong clock.
        (now.0 / NANOS_PER_MILLI).abs_diff(self.modified_ms) >= COMPLETE_AFTER_MS
    }
    /// The date of the start of the run, or else of the last change of the file.
    pub(crate) fn date(&self) -> String {
        let modified = WallTime(self.modified_ms.saturating_mul(NANOS_PER_MILLI));
        started(&self.path).unwrap_or(modified).date().to_string()
    }
}

/// The results of a directory, in order of name. Names that are no UTF-8 text are left out.
pub(crate) fn find(dir: &Path) -> io::Result<Vec<Found>> {
    let entries: Vec<fs::DirEntry> = fs::read_dir(dir)?.collect::<io::Result<_>>()?;
    let mut all: Vec<Found> = entries.iter().filter_map(|entry| found(&entry.path())).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

fn found(path: &Path) -> Option<Found> {
    let name = path.file_name()?.to_str()?;
    let is_result = name.ends_with(".json") || name.ends_with(".json.gz");
    if !is_result || name.starts_with('.') {
        return None;
    }
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(Found {
        name: name.to_owned(),
        path: path.to_owned(),
        bytes: metadata.len(),
        modified_ms: u64::try_from(modified.as_millis()).unwrap_or(u64::MAX),
    })
}

/// When the run of a result started.
fn started(path: &Path) -> Option<WallTime> {
    let file = File::open(path).ok()?;
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> = if is_packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut head = Vec::new();
    // A damaged file is sent, too.
    let _ = reader.take(HEAD_BYTES).read_to_end(&mut head);
    let text = String::from_utf8_lossy(&head);
    let (_, rest) = text.split_once("\"started\":")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn the_date_is_that_of_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let run = r#"{"schema_version":2,"started":"2026-11-20T23:59:59.540Z","series":[]}"#;
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(run.as_bytes()).unwrap();
        let packed = packer.finish().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, bytes).unwrap();
            let modified = UNIX_EPOCH + std::time::Duration::from_secs(1_767_571_200);
            File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        };
        write("a.json.gz", &packed);
        write("b.json.gz", &packed[..packed.len() / 2]);
        write("c.json", run.as_bytes());
        write("d.json", b"[]");
        write("e.csv", b"");
        write(".f.json", b"");
        fs::create_dir(dir.path().join("g.json")).unwrap();
        let all = find(dir.path()).unwrap();
        let dates: Vec<(&str, String)> = all.iter().map(|one| (one.name.as_str(), one.date())).collect();
        let expected = [
            ("a.json.gz", "2026-11-20"),
            ("b.json.gz", "2026-01-05"),
            ("c.json", "2026-11-20"),
            ("d.json", "2026-01-05"),
        ];
        assert_eq!(dates, expected.map(|(name, date)| (name, date.to_owned())));
        let at = |ms: u64| WallTime((1_767_571_200_000 + ms) * NANOS_PER_MILLI);
        assert!(!all[0].is_complete(at(59_999)) && all[0].is_complete(at(60_000)));
    }
}
