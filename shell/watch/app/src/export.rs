//! Exports the history as a table.
use crate::{HistorySource, Period};
use fathom_app::AppError;
pub use fathom_watch_store::export::WINDOWS;
use fathom_watch_store::export::{Csv, Export, ExportError, Parquet, Table};
use fathom_watch_store::{HistoryReader, SeriesId, SeriesKey};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Maximum number of targets that an error lists.
const NAMED: usize = 10;

/// The format of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableFormat {
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
}

/// A request to export a part of a history.
#[derive(Clone, Debug)]
pub struct ExportRequest {
    /// The history.
    pub source: HistorySource,
    /// The period.
    pub period: Period,
    /// Name of a window of [`WINDOWS`], for one row per window. `None` is one row per probe.
    pub window: Option<String>,
    /// Names of targets, or prefixes followed by `*`. If empty, all targets.
    pub targets: Vec<String>,
    /// Names of probes. If empty, all probes.
    pub probes: Vec<String>,
    /// The format.
    pub format: TableFormat,
}

/// Destination of a table.
pub enum Destination<'a> {
    /// A file. It appears under its name when it is complete.
    File(&'a Path),
    /// A stream. If its reader closes it, that is not an error.
    Stream(Box<dyn Write + Send>),
}

/// Summary of an export.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// Rows of the table.
    pub rows: u64,
    /// Series in the table.
    pub series: usize,
    /// Parts of the history that were left out because they cannot be read.
    pub faults: Vec<String>,
}

/// Writes the table.
///
/// # Errors
/// If the period is empty, a name matches no target, the history cannot be read, or the table
/// cannot be written.
pub fn export(request: &ExportRequest, to: Destination<'_>) -> Result<Exported, AppError> {
    let Period { from, to: until } = request.period.check()?;
    let length = |name: &String| WINDOWS.iter().find(|(known, _)| known == name).map(|(_, length)| *length);
    let export = Export { from, to: until, every: request.window.as_ref().and_then(length) };
    let mut reader = request.source.open()?;
    let chosen = chosen(&mut reader, request)?;
    let mut fill = |table: io::Result<Box<dyn Table>>| {
        let mut table = table.map_err(ExportError::Write)?;
        let rows = export.write(&mut reader, &chosen, table.as_mut())?;
        table.finish()?;
        Ok(rows)
    };
    let (path, written) = match to {
        Destination::Stream(stream) => {
            (PathBuf::from("stdout"), fill(table(stream, request.format, &export)))
        }
        Destination::File(path) => {
            let part = PathBuf::from(format!("{}.part", path.display()));
            let written = fill(File::create(&part).and_then(|file| table(file, request.format, &export)));
            let moved = |rows| fs::rename(&part, path).map(|()| rows).map_err(ExportError::Write);
            let whole = written.and_then(moved);
            if whole.is_err() {
                // The incomplete file is useless.
                let _ = fs::remove_file(&part);
            }
            (path.to_owned(), whole)
        }
    };
    let rows = match written {
        Ok(rows) => rows,
        Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(ExportError::Write(error)) => {
            return Err(AppError::Unwritable { path, reason: error.to_string() });
        }
        Err(error @ ExportError::History(_)) => return Err(AppError::History(error.to_string())),
    };
    Ok(Exported { rows, series: chosen.len(), faults: reader.faults() })
}

/// The requested series. A name that matches none is an error.
fn chosen(
    reader: &mut HistoryReader,
    request: &ExportRequest,
) -> Result<Vec<(SeriesId, SeriesKey)>, AppError> {
    let mut all = reader.series().map_err(AppError::history)?;
    let fits = |pattern: &String, name: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    if let Some(name) =
        request.targets.iter().find(|pattern| !all.iter().any(|(_, key)| fits(pattern, &key.target)))
    {
        let mut names: Vec<&str> = all.iter().map(|(_, key)| key.target.as_str()).collect();
        names.dedup();
        names.truncate(NAMED);
        return Err(AppError::no_such("target", name, &names));
    }
    let any = |patterns: &[String], name: &str| patterns.is_empty() || patterns.iter().any(|p| fits(p, name));
    all.retain(|(_, key)| any(&request.targets, &key.target) && any(&request.probes, &key.probe));
    Ok(all)
}

fn table<W: Write + Send + 'static>(
    to: W,
    format: TableFormat,
    export: &Export,
) -> io::Result<Box<dyn Table>> {
    Ok(match format {
        TableFormat::Csv => Box::new(Csv::new(to, export.fields())?),
        TableFormat::Parquet => Box::new(Parquet::new(to, export.fields())?),
    })
}
