//! `fathom report` and `fathom compare`.
use crate::args::{CompareArgs, ReportArgs, When, period};
use crate::failure::{Exit, Failure, Outcome};
use crate::{result, terminal};
use fathom_app::output::check_names;
use fathom_app::results::{borrowed, load, worst};

/// Shows each file, or a period of a watch; several go into one page.
pub(crate) fn run(args: &ReportArgs, when: When) -> Outcome {
    check_names(&args.output.output)?;
    let runs = load(&args.history.results(&args.files, vec![period(args.since, args.until)]))?;
    let (style, columns) = terminal::stdout_form(when);
    for (run, diagnosis) in &runs {
        if args.output.json {
            result::print_json(run, diagnosis)?;
        } else {
            terminal::print(&fathom_report::summary(run, diagnosis, columns, style))?;
        }
    }
    result::write_all(&args.output.output, &borrowed(&runs))?;
    Ok(worst(&runs))
}

/// Shows the files, or periods of a watch, side by side.
pub(crate) fn compare(args: &CompareArgs, when: When) -> Outcome {
    check_names(&args.output)?;
    if args.history.watch.is_some() && args.period.len() < 2 {
        return Err(Failure::input(format_args!(
            "--watch needs two periods or more, not {}\n  try: --period 2026-11-23 --period 2026-11-24",
            args.period.len()
        )));
    }
    let periods = args.period.iter().map(|range| period(range.from, Some(range.to))).collect();
    let source = args.history.results(&args.files, periods);
    let (names, runs) = (source.names(), load(&source)?);
    let named: Vec<_> = names.iter().zip(&runs).map(|(n, (run, d))| (n.as_str(), run, d)).collect();
    let (style, columns) = terminal::stdout_form(when);
    terminal::print(&fathom_report::compare(&named, columns, style))?;
    result::write_all(&args.output, &borrowed(&runs))?;
    Ok(Exit::Healthy)
}
