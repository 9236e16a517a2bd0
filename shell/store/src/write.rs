//! Writes run files and exports.
use crate::StoreError;
use fathom_run::Run;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Writes `run` as JSON, compressed if the name ends in `.gz`. The file is written completely or
/// not at all.
///
/// A run costs time and traffic, so if the file cannot be written, the run is saved in the
/// directory for temporary files, if there is space.
///
/// # Errors
/// [`StoreError::Write`], which says where the run was saved.
pub fn save(path: &Path, run: &Run) -> Result<(), StoreError> {
    let text = serde_json::to_string(run).map_err(|e| refused(path, 0, io::Error::other(e)))?;
    let Err(StoreError::Write { path, needed, source, .. }) = write(path, &text) else { return Ok(()) };
    // The process ID makes the name unique.
    let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let rescued = std::env::temp_dir().join(format!("fathom-{}-{name}", std::process::id()));
    let kept = write(&rescued, &text).is_ok();
    Err(StoreError::Write { path, needed, source, rescued: kept.then_some(rescued) })
}

/// Writes `text`, compressed if the name ends in `.gz`. The file is written completely or not at
/// all.
///
/// # Errors
/// [`StoreError::Write`].
pub fn write(path: &Path, text: &str) -> Result<(), StoreError> {
    let packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let bytes =
        if packed { pack(text).map_err(|e| refused(path, text.len(), e))? } else { text.as_bytes().to_vec() };
    replace(path, &bytes).map_err(|e| refused(path, bytes.len(), e))
}

fn refused(path: &Path, needed: usize, source: io::Error) -> StoreError {
    StoreError::Write { path: path.into(), needed: needed as u64, source, rescued: None }
}

fn pack(text: &str) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(text.as_bytes())?;
    packer.finish()
}

/// Writes a temporary file next to `path` and renames it, so that readers see either the old or the
/// new file.
///
/// Special files (a pipe, `/dev/stdout`) cannot be replaced and are written directly.
///
/// # Errors
/// If the file cannot be written. Then the old one is still there.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return File::options().write(true).open(path)?.write_all(bytes);
    }
    let unfinished = unfinished_name(path)?;
    let written = write_through(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // Report the first error, not this one.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// Number of the next temporary file of this process.
static NEXT: AtomicUsize = AtomicUsize::new(0);

fn unfinished_name(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    // Several threads may write the same file.
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Ok(path.with_file_name(format!(".{}.{process}-{number}.unfinished", name.to_string_lossy())))
}

/// A full disk may show only when data is flushed.
fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // In a shared directory the name may be a symbolic link planted by someone else: the file must
    // be new.
    let _ = fs::remove_file(path);
    let mut file = File::options().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// `fathom-COMMAND-2026-11-20T141000Z.json.gz` for a run that started at the RFC 3339 time
/// `started`.
///
/// Only letters, digits, `-` and `_` are kept, so that the name is valid on every system.
pub fn default_name(command: &str, started: &str) -> String {
    let safe = |text: &str| -> String {
        text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    let (whole, _fraction) = started.split_once('.').unwrap_or((started.trim_end_matches('Z'), ""));
    format!("fathom-{}-{}Z.json.gz", safe(command), safe(whole))
}
