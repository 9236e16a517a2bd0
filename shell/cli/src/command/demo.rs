//! `fathom demo`: the same upload twice, over a bloated line and over one whose queue manages itself.
use crate::args::{DemoArgs, When};
use crate::failure::{Exit, Failure, Outcome};
use crate::over_line::{Load, test_over_line};
use crate::{line, result, signal, terminal};
use fathom_client::PhasePlan;
use fathom_diagnose::{Diagnosis, diagnose};
use fathom_qdisc::Spec;
use fathom_run::{PhaseKind, Run};
use fathom_scenario::LinePlan;
use fathom_units::Duration;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest that the two runs may take together is 60 s. CUBIC fills seed 3's buffer in about 12 s.
const BEFORE: [(PhaseKind, u64, u64); 3] =
    [(PhaseKind::Idle, 2, 3), (PhaseKind::Up, 16, 22), (PhaseKind::Drain, 1, 4)];
/// A queue that manages itself has nothing to show after 12 s that it did not show before.
const AFTER: [(PhaseKind, u64, u64); 3] =
    [(PhaseKind::Idle, 2, 3), (PhaseKind::Up, 12, 14), (PhaseKind::Drain, 1, 2)];

/// Measures both, shows both, writes the report.
pub(crate) fn run(args: &DemoArgs, when: When) -> Outcome {
    let plan = line::load(&args.line)?;
    if !args.no_save {
        make_folder(&args.output_dir)?;
    }
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let stop = signal::stop_flag()?;
    let before_queue = bottleneck_queue(&plan.line);
    let queue: Spec =
        args.queue.parse().map_err(|e| Failure::input(format_args!("--queue \"{}\": {e}", args.queue)))?;
    let managed = line::with_queue(&plan.line, &queue);
    let title = |name: &str| format!("{} ({}), {name}", plan.name, line::rates(&plan.line));
    let before = measure(args, &plan.line, &title(&before_queue), &BEFORE, &stop, when)?;
    let after = if stop.load(Ordering::Relaxed) {
        None
    } else {
        Some(measure(args, &managed, &title(&args.queue), &AFTER, &stop, when)?)
    };
    let runs: Vec<(Run, Diagnosis)> = std::iter::once(before).chain(after).collect();
    show(args, &runs, when)?;
    if !args.no_save {
        save(&args.output_dir, &runs)?;
    }
    Ok(runs
        .iter()
        .map(|(r, d)| result::exit_of(r, d))
        .find(|e| *e as u8 >= Exit::Input as u8)
        .unwrap_or(Exit::Healthy))
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| {
        Failure::environment(format_args!("{}: {e}\n  try: --output-dir DIR, or --no-save", folder.display()))
    })
}

/// The queue in front of the slowest uplink, in words.
fn bottleneck_queue(line: &LinePlan) -> String {
    let slowest =
        line.hops.iter().filter(|h| h.up.nominal_rate().is_some()).min_by_key(|h| h.up.nominal_rate());
    slowest.map_or_else(|| "no limit".to_owned(), |hop| hop.up.queue.to_string())
}

fn measure(
    args: &DemoArgs,
    line: &LinePlan,
    title: &str,
    phases: &[(PhaseKind, u64, u64)],
    stop: &AtomicBool,
    when: When,
) -> Result<(Run, Diagnosis), Failure> {
    let plan = |(kind, min, max): &(PhaseKind, u64, u64)| PhasePlan {
        kind: *kind,
        min: Duration::from_secs(*min),
        max: Duration::from_secs(*max),
    };
    let load = Load {
        flows: args.flows,
        congestion_control: args.congestion_control.clone(),
        phases: phases.iter().map(plan).collect(),
        seed: 1,
        played: None,
    };
    let mut run = test_over_line(line, &load, title, stop, when)?;
    "demo".clone_into(&mut run.command);
    let diagnosis = diagnose(&run);
    Ok((run, diagnosis))
}

fn show(args: &DemoArgs, runs: &[(Run, Diagnosis)], when: When) -> Result<(), Failure> {
    if args.json {
        return runs.iter().try_for_each(|(run, diagnosis)| result::print_json(run, diagnosis));
    }
    let (style, columns) = terminal::stdout_form(when);
    let named: Vec<_> = ["before", "after"].into_iter().zip(runs).map(|(n, (run, d))| (n, run, d)).collect();
    terminal::print(&fathom_report::compare(&named, columns, style))
}

fn save(folder: &Path, runs: &[(Run, Diagnosis)]) -> Result<(), Failure> {
    for (name, (run, diagnosis)) in ["before.json.gz", "after.json.gz"].iter().zip(runs) {
        result::write(&folder.join(name), &[(run, diagnosis)])?;
    }
    let page = folder.join("report.html");
    let borrowed: Vec<_> = runs.iter().map(|(run, d)| (run, d)).collect();
    result::write(&page, &borrowed)?;
    terminal::note(&format!("wrote {} (open it in a browser)", page.display()));
    Ok(())
}
