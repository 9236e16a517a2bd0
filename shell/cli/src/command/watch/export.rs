//! `fathom watch export`: the history as a table.
use super::store::{store, usual_store};
use crate::args::{TableFormat, WatchExportArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::watch::Source;
use fathom_os::clock::wall_now;
use fathom_watch_store::export::{Csv, Export, ExportError, Parquet, Table, WINDOWS};
use fathom_watch_store::{HistoryReader, SeriesId, SeriesKey};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &WatchExportArgs) -> Outcome {
    let dir = match &args.config {
        Some(path) => store(None, &Source::File(path.clone()).read()?)?,
        None => args.store.clone().map_or_else(usual_store, Ok)?,
    };
    let export = wanted(args)?;
    let mut reader = HistoryReader::open(&dir).map_err(|e| {
        Failure::environment(format_args!(
            "{e}\n  try: --store DIR, or the configuration that is being watched"
        ))
    })?;
    let chosen = chosen(&mut reader, args)?;
    match &args.output {
        None => {
            let to = table(io::stdout(), format_of(args), &export);
            finished(
                to.map_err(ExportError::Write).and_then(|to| fill(&export, &mut reader, &chosen, to)),
                "stdout",
            )?;
        }
        Some(path) => to_file(path, args, &export, (&mut reader, &chosen))?,
    }
    reader
        .faults()
        .iter()
        .for_each(|fault| terminal::note(&format!("fathom watch export: left out: {fault}")));
    Ok(Exit::Healthy)
}

fn wanted(args: &WatchExportArgs) -> Result<Export, Failure> {
    let now = wall_now();
    let (from, to) = (args.from.before(now), args.to.map_or(now, |to| to.before(now)));
    if from >= to {
        return Err(Failure::input(format_args!("--from {from} is not before --to {to}")));
    }
    let length = |name: &String| WINDOWS.iter().find(|(known, _)| known == name).map(|(_, length)| *length);
    Ok(Export { from, to, every: args.every.as_ref().and_then(length) })
}

/// The series that are asked for; a name that fits none is a mistake.
fn chosen(reader: &mut HistoryReader, args: &WatchExportArgs) -> Result<Vec<(SeriesId, SeriesKey)>, Failure> {
    let all = reader.series().map_err(Failure::environment)?;
    let fits = |pattern: &str, name: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    for pattern in &args.target {
        if !all.iter().any(|(_, key)| fits(pattern, &key.target)) {
            let mut names: Vec<&str> = all.iter().map(|(_, key)| key.target.as_str()).collect();
            names.dedup();
            names.truncate(10);
            return Err(Failure::input(format_args!(
                "--target {pattern}: the history has no such target (it has: {})",
                names.join(", ")
            )));
        }
    }
    let any = |patterns: &[String], name: &str| patterns.is_empty() || patterns.iter().any(|p| fits(p, name));
    Ok(all
        .into_iter()
        .filter(|(_, key)| any(&args.target, &key.target) && any(&args.probe, &key.probe))
        .collect())
}

fn format_of(args: &WatchExportArgs) -> TableFormat {
    let ends = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "parquet");
    let by_name =
        if args.output.as_ref().is_some_and(ends) { TableFormat::Parquet } else { TableFormat::Csv };
    args.format.unwrap_or(by_name)
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

fn fill(
    export: &Export,
    reader: &mut HistoryReader,
    chosen: &[(SeriesId, SeriesKey)],
    mut to: Box<dyn Table>,
) -> Result<u64, ExportError> {
    let rows = export.write(reader, chosen, to.as_mut())?;
    to.finish()?;
    Ok(rows)
}

/// The file is written under another name, so that one that is not whole is taken for none.
fn to_file(
    path: &Path,
    args: &WatchExportArgs,
    export: &Export,
    (reader, chosen): (&mut HistoryReader, &[(SeriesId, SeriesKey)]),
) -> Result<(), Failure> {
    let part = PathBuf::from(format!("{}.part", path.display()));
    let written = File::create(&part)
        .and_then(|file| table(file, format_of(args), export))
        .map_err(ExportError::Write)
        .and_then(|to| fill(export, reader, chosen, to))
        .and_then(|rows| fs::rename(&part, path).map(|()| rows).map_err(ExportError::Write));
    if written.is_err() {
        // What is left of it is of no use.
        let _ = fs::remove_file(&part);
    }
    let rows = finished(written, &path.display().to_string())?;
    let bytes = fs::metadata(path).map_or(0, |meta| meta.len());
    terminal::note(&format!("{}: {rows} rows of {} series, {bytes} bytes", path.display(), chosen.len()));
    Ok(())
}

/// A closed pipe is a reader that has seen enough.
fn finished(result: Result<u64, ExportError>, name: &str) -> Result<u64, Failure> {
    match result {
        Ok(rows) => Ok(rows),
        Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        Err(ExportError::Write(error)) => {
            Err(Failure::environment(format_args!("{name}: {error}\n  try: -o FILE on another disk")))
        }
        Err(error @ ExportError::History(_)) => Err(Failure::environment(error)),
    }
}
