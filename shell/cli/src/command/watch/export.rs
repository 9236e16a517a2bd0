//! `fathom watch export`: the history as a table.
use crate::args::{TableFormat, WatchExportArgs, period};
use crate::failure::{Exit, Outcome};
use crate::terminal::{Console, warn};
use fathom_text::counted;
use fathom_watch_app::{self as watch, Destination, ExportRequest, export};
use std::path::Path;

pub(crate) fn run(args: &WatchExportArgs, console: Console) -> Outcome {
    let request = ExportRequest {
        source: args.history.source(),
        period: period(args.from, args.to),
        window: args.every.clone(),
        targets: args.target.clone(),
        probes: args.probe.clone(),
        format: format(args),
    };
    let to = match &args.output {
        None => Destination::Stream(Box::new(std::io::stdout())),
        Some(path) => Destination::File(path),
    };
    let exported = export(&request, to)?;
    if let Some(path) = &args.output {
        let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
        let rows = counted(exported.rows, "row", "rows");
        console.note(&format!("{}: {rows} of {} series, {bytes} bytes", path.display(), exported.series));
    }
    exported.faults.iter().for_each(|fault| warn(&format!("fathom watch export: left out: {fault}")));
    Ok(Exit::Healthy)
}

fn format(args: &WatchExportArgs) -> watch::TableFormat {
    let is_parquet = |path: &Path| path.extension().is_some_and(|extension| extension == "parquet");
    let by_name = args.output.as_deref().is_some_and(is_parquet);
    match args.format {
        Some(TableFormat::Parquet) => watch::TableFormat::Parquet,
        None if by_name => watch::TableFormat::Parquet,
        Some(TableFormat::Csv) | None => watch::TableFormat::Csv,
    }
}
