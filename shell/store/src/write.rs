//! Writing of run files and exports.
use crate::StoreError;
use fathom_metric::Run;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The JSON text of a run, as in its file.
///
/// # Panics
/// Never for a [`Run`]: all its maps have text keys.
pub fn to_json(run: &Run) -> String {
    serde_json::to_string(run).expect("maps of a run have text keys")
}

/// Writes `run` as JSON, packed if the name ends in `.gz`: whole or not at all.
///
/// # Errors
/// [`StoreError::Write`]; the run is untouched and can be saved elsewhere, or printed with [`to_json`].
pub fn save(path: &Path, run: &Run) -> Result<(), StoreError> {
    write(path, &to_json(run))
}

/// Foreign forms of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Export {
    /// Comma-separated values, one row for each observation.
    Csv,
    /// Flent's data file; packed if the name ends in `.gz`, as Flent expects.
    Flent,
}

/// Writes a foreign form of `run`, packed if the name ends in `.gz`: whole or not at all.
///
/// # Errors
/// [`StoreError::Write`].
pub fn export(path: &Path, run: &Run, form: Export) -> Result<(), StoreError> {
    match form {
        Export::Csv => write(path, &fathom_report::csv(run)),
        Export::Flent => write(path, &fathom_report::flent(run)),
    }
}

/// Writes `text`, packed if the name ends in `.gz`: whole or not at all.
///
/// # Errors
/// [`StoreError::Write`].
pub fn write(path: &Path, text: &str) -> Result<(), StoreError> {
    let packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let failed =
        |needed: usize, source| StoreError::Write { path: path.into(), needed: needed as u64, source };
    let bytes =
        if packed { pack(text).map_err(|e| failed(text.len(), e))? } else { text.as_bytes().to_vec() };
    replace(path, &bytes).map_err(|e| failed(bytes.len(), e))
}

fn pack(text: &str) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(text.as_bytes())?;
    packer.finish()
}

/// Writes a file beside `path` and renames it: a reader sees the old file or the new one, never half of one.
///
/// What is not a plain file (a pipe, `/dev/stdout`) cannot be replaced and is written directly.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return File::options().write(true).open(path)?.write_all(bytes);
    }
    let unfinished = unfinished_name(path)?;
    let written = write_through(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn unfinished_name(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    Ok(path.with_file_name(format!(".{}.{}.unfinished", name.to_string_lossy(), std::process::id())))
}

/// A full disk may show only when the data reach it.
fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// `fathom-COMMAND-2026-11-20T141000Z.json.gz` for a run that started at the RFC 3339 time `started`.
///
/// Only letters, digits, `-` and `_` of both are taken, so that the name is one on every system.
pub fn default_name(command: &str, started: &str) -> String {
    let safe = |text: &str| -> String {
        text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    let (whole, _fraction) = started.split_once('.').unwrap_or((started.trim_end_matches('Z'), ""));
    format!("fathom-{}-{}Z.json.gz", safe(command), safe(whole))
}
