//! `fathom report` and `fathom compare`.
use super::watch::history::reader;
use crate::args::{CompareArgs, HistoryArgs, Moment, ReportArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::{result, terminal};
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_os::clock::{utc_offset_s, wall_now};
use fathom_run::Run;
use fathom_watch_web::{Period, period_run, zone_of};
use std::path::{Path, PathBuf};

fn diagnosed(run: Run) -> (Run, Diagnosis) {
    let diagnosis = diagnose(&run);
    (run, diagnosis)
}

fn load(file: &Path) -> Result<(Run, Diagnosis), Failure> {
    fathom_store::load(file).map(diagnosed).map_err(Failure::input)
}

/// Periods of a watch as runs, each with its name.
fn periods(
    history: &HistoryArgs,
    target: &str,
    periods: &[(Moment, Moment)],
) -> Result<Vec<(String, (Run, Diagnosis))>, Failure> {
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
        Ok((format!("{target} from {from}"), diagnosed(run)))
    };
    periods.iter().map(one).collect()
}

/// Shows each file, or a period of a watch; several go into one page.
pub(crate) fn run(args: &ReportArgs, when: When) -> Outcome {
    result::check_names(&args.output.output)?;
    let now = Moment::Ago(fathom_units::Duration::ZERO);
    let runs: Vec<(Run, Diagnosis)> = match &args.history.watch {
        Some(target) => {
            let period = [(args.since, args.until.unwrap_or(now))];
            periods(&args.history, target, &period)?.into_iter().map(|(_, run)| run).collect()
        }
        None => args.files.iter().map(|file| load(file)).collect::<Result<_, _>>()?,
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

/// Shows the files, or the periods, side by side.
pub(crate) fn compare(args: &CompareArgs, when: When) -> Outcome {
    result::check_names(&args.output)?;
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
            (names, args.files.iter().map(|file| load(file)).collect::<Result<_, _>>()?)
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
        result::write(path, &borrowed)?;
        terminal::note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// The exit code of the worst of several results.
fn worst(runs: &[(Run, Diagnosis)]) -> Exit {
    runs.iter()
        .map(|(run, d)| result::exit_of(run, d))
        .max_by_key(|exit| *exit as u8)
        .unwrap_or(Exit::Healthy)
}
