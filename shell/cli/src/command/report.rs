//! `fathom report` and `fathom compare`.
use crate::args::{CompareArgs, ReportArgs, period};
use crate::failure::{Exit, Failure, Outcome};
use crate::result;
use crate::terminal::Console;
use fathom_app::output::check_names;
use fathom_app::results::{borrowed, load, worst};
use fathom_prose::Origin;

/// Shows each file, or a period of a watch. A page holds all of them.
pub(crate) fn run(args: &ReportArgs, console: Console) -> Outcome {
    check_names(&args.output.output)?;
    let runs = load(&args.history.results(&args.files, vec![period(args.since, args.until)]))?;
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

/// Shows files, or periods of a watch, side by side.
pub(crate) fn compare(args: &CompareArgs, console: Console) -> Outcome {
    check_names(&args.output)?;
    if args.history.watch.is_some() && args.period.len() < 2 {
        return Err(Failure::input(format_args!(
            "--watch: {} periods given, at least 2 needed\n  try: --period 2026-11-23 --period 2026-11-24",
            args.period.len()
        )));
    }
    let periods = args.period.iter().map(|range| period(range.from, Some(range.to))).collect();
    let source = args.history.results(&args.files, periods);
    let (names, runs) = (source.names(), load(&source)?);
    let named: Vec<_> = names.iter().zip(&runs).map(|(n, (run, d))| (n.as_str(), run, d)).collect();
    result::print_compared(&named, console)?;
    result::write_all(&args.output, &borrowed(&runs), console)?;
    Ok(Exit::Healthy)
}
