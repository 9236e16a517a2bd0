//! `fathom report` and `fathom compare`.
#[cfg(feature = "full")]
use crate::args::period;
use crate::args::{CompareArgs, ReportArgs};
use crate::failure::{Exit, Failure, Outcome};
use crate::result;
use crate::terminal::Console;
use fathom_app::output::{check_names, write_for_provider, write_scatter};
use fathom_app::results::{ResultSource, borrowed, load, worst};
use fathom_diagnose::Diagnosis;
use fathom_prose::Origin;
use fathom_run::Run;
use fathom_text::counted;
use std::path::Path;

/// Shows each file, or a period of a watch. A page holds all of them.
pub(crate) fn run(args: &ReportArgs, console: Console) -> Outcome {
    check_names(&args.output.output)?;
    let runs = load(&source(args))?;
    if let Some(path) = &args.scatter {
        return draw_scatter(path, &runs, console);
    }
    if let Some(path) = &args.for_provider {
        return write_page(path, &runs, console);
    }
    for (at, (run, diagnosis)) in runs.iter().enumerate() {
        if args.output.json {
            result::print_json(run, diagnosis)?;
        } else {
            let file = args.files.get(at).map(|path| result::quoted(&path.to_string_lossy()));
            let origin = Origin { command: None, file: file.as_deref() };
            result::print_summary(run, diagnosis, origin, console)?;
        }
    }
    result::write_all(&args.output.output, &borrowed(&runs), console)?;
    Ok(worst(&runs))
}

#[cfg(feature = "full")]
fn source(args: &ReportArgs) -> ResultSource {
    args.history.results(&args.files, vec![period(args.since, args.until)])
}

#[cfg(not(feature = "full"))]
fn source(args: &ReportArgs) -> ResultSource {
    ResultSource::Files(args.files.clone())
}

fn draw_scatter(path: &Path, runs: &[(Run, Diagnosis)], console: Console) -> Outcome {
    let diagnoses: Vec<&Diagnosis> = runs.iter().map(|(_, diagnosis)| diagnosis).collect();
    let count = write_scatter(path, &diagnoses)?;
    if count == 0 {
        return Err(Failure::input(
            "--scatter: no result has a buffer size (expected those of test or buffer)",
        ));
    }
    let [buffers, results] = [(count, "buffer"), (runs.len(), "result")]
        .map(|(n, one)| counted(n as u64, one, &format!("{one}s")));
    console.note(&format!("wrote {}: {buffers} of {results}", path.display()));
    Ok(Exit::Healthy)
}

fn write_page(path: &Path, runs: &[(Run, Diagnosis)], console: Console) -> Outcome {
    let [(run, diagnosis)] = runs else {
        return Err(Failure::input(format_args!("--for-provider: {} results (expected 1)", runs.len())));
    };
    if !write_for_provider(path, run, diagnosis)? {
        return Err(Failure::input("--for-provider: this result shows no bufferbloat"));
    }
    console.note(&format!("wrote {}", path.display()));
    Ok(worst(runs))
}

/// Shows files, or periods of a watch, side by side.
pub(crate) fn compare(args: &CompareArgs, console: Console) -> Outcome {
    check_names(&args.output)?;
    let source = compared(args)?;
    let (names, runs) = (source.names(), load(&source)?);
    let named: Vec<_> = names.iter().zip(&runs).map(|(n, (run, d))| (n.as_str(), run, d)).collect();
    result::print_compared(&named, console)?;
    result::write_all(&args.output, &borrowed(&runs), console)?;
    Ok(Exit::Healthy)
}

#[cfg(feature = "full")]
fn compared(args: &CompareArgs) -> Result<ResultSource, Failure> {
    if args.history.watch.is_some() && args.period.len() < 2 {
        return Err(Failure::input(format_args!(
            "--watch: {} periods given, at least 2 needed\n  try: --period 2026-11-23 --period 2026-11-24",
            args.period.len()
        )));
    }
    let periods = args.period.iter().map(|range| period(range.from, Some(range.to))).collect();
    Ok(args.history.results(&args.files, periods))
}

#[cfg(not(feature = "full"))]
fn compared(args: &CompareArgs) -> Result<ResultSource, Failure> {
    Ok(ResultSource::Files(args.files.clone()))
}
