//! `fathom report` and `fathom compare`.
use super::watch::history::reader;
use crate::args::{CompareArgs, HistoryArgs, Moment, ReportArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::{result, terminal};
use fathom_app::output::{check_names, write};
use fathom_app::results::{load, worst};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_os::clock::{utc_offset_s, wall_now};
use fathom_run::Run;
use fathom_units::Duration;
use fathom_watch_web::{Period, period_run, zone_of};
use std::path::PathBuf;

/// A period of a watch as a run, with its name.
type NamedRun = (String, (Run, Diagnosis));

/// Periods of the history of a target.
fn periods(
    history: &HistoryArgs,
    target: &str,
    periods: &[(Moment, Moment)],
) -> Result<Vec<NamedRun>, Failure> {
    let mut past = reader(history)?;
    let now = wall_now();
    let one = |(from, to): &(Moment, Moment)| {
        let (from, to) = (from.before(now), to.before(now));
        if from >= to {
            return Err(Failure::input(format_args!("the period from {from} to {to} has no length")));
        }
        let period = Period { target: target.to_owned(), from, to };
        let zone = zone_of((from, to), utc_offset_s);
        let run = period_run(past.as_mut(), &period, &zone).map_err(Failure::input)?;
        let diagnosis = diagnose(&run);
        // To the minute.
        let name = from.to_string().chars().take(16).collect::<String>().replace('T', " ");
        Ok((name, (run, diagnosis)))
    };
    periods.iter().map(one).collect()
}

/// Shows each file, or a period of a watch; several go into one page.
pub(crate) fn run(args: &ReportArgs, when: When) -> Outcome {
    check_names(&args.output.output)?;
    let runs = match &args.history.watch {
        Some(target) => {
            let until = args.until.unwrap_or(Moment::Ago(Duration::ZERO));
            let named = periods(&args.history, target, &[(args.since, until)])?;
            named.into_iter().map(|(_, run)| run).collect()
        }
        None => load(&args.files)?,
    };
    let (style, columns) = terminal::stdout_form(when);
    for (run, diagnosis) in &runs {
        if args.output.json {
            result::print_json(run, diagnosis)?;
        } else {
            terminal::print(&fathom_report::summary(run, diagnosis, columns, style))?;
        }
    }
    write_all(&args.output.output, &runs)?;
    Ok(worst(&runs))
}

/// Shows the files, or periods of a watch, side by side.
pub(crate) fn compare(args: &CompareArgs, when: When) -> Outcome {
    check_names(&args.output)?;
    let (names, runs): (Vec<String>, Vec<(Run, Diagnosis)>) = match &args.history.watch {
        Some(_) if args.period.len() < 2 => {
            return Err(Failure::input(format_args!(
                "--watch needs two periods or more, not {}\n  try: --period 2026-11-23 --period 2026-11-24",
                args.period.len()
            )));
        }
        Some(target) => {
            let ranges: Vec<_> = args.period.iter().map(|range| (range.from, range.to)).collect();
            periods(&args.history, target, &ranges)?.into_iter().unzip()
        }
        None => {
            let names = args.files.iter().map(|file| file.display().to_string()).collect();
            (names, load(&args.files)?)
        }
    };
    let named: Vec<_> = names.iter().zip(&runs).map(|(n, (run, d))| (n.as_str(), run, d)).collect();
    let (style, columns) = terminal::stdout_form(when);
    terminal::print(&fathom_report::compare(&named, columns, style))?;
    write_all(&args.output, &runs)?;
    Ok(Exit::Healthy)
}

fn write_all(paths: &[PathBuf], runs: &[(Run, Diagnosis)]) -> Result<(), Failure> {
    let borrowed: Vec<_> = runs.iter().map(|(run, diagnosis)| (run, diagnosis)).collect();
    for path in paths {
        write(path, &borrowed)?;
        terminal::note(&format!("wrote {}", path.display()));
    }
    Ok(())
}
