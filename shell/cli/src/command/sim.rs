//! `fathom sim`: a scenario in virtual time.
use crate::args::{ChangeArgs, SimAction, SimArgs, When};
use crate::command::{counterfactual, gallery, sweep, vs_lab};
use crate::failure::{Exit, Failure, Outcome};
use crate::{line, result, terminal};
use fathom_diagnose::diagnose;
use fathom_os::clock::{Clock, wall_now};
use fathom_run::Run;
use fathom_scenario::Plan;
use fathom_sim::Options;

/// Simulates, and shows what a test of that line would have shown.
pub(crate) fn run(args: &SimArgs, when: When) -> Outcome {
    match &args.action {
        Some(SimAction::Sweep(sweep)) => return sweep::run(sweep),
        Some(SimAction::Gallery(args)) => return gallery::run(args, when),
        None => {}
    }
    result::check_names(&args.output.output)?;
    if let Some(from) = &args.from {
        return counterfactual::run(args, from, when);
    }
    let name = args.scenario.as_deref().unwrap_or_default();
    let plan = line::load_with(name, &args.change)?;
    if args.vs_lab {
        return vs_lab::run(args, &plan, when);
    }
    let clock = Clock::start();
    let simulated = simulate(&plan, args.seed);
    terminal::note(&told(&simulated, clock.now().as_secs_f64()));
    let exit = result::deliver(&simulated.run, &args.output, when)?;
    // What a source says holds for the scenario as it stands in the file.
    if !args.output.json && args.change == ChangeArgs::default() {
        show_claims(&plan, &simulated.run, when)?;
    }
    Ok(exit)
}

/// A simulated run, with what else is known of it.
pub(crate) struct Simulated {
    pub(crate) run: Run,
    pub(crate) digest: u64,
    packets: u64,
}

/// Simulates `plan`, and fills in what only the host knows.
pub(crate) fn simulate(plan: &Plan, seed: u64) -> Simulated {
    let outcome = fathom_sim::simulate(plan, &Options::new(seed));
    let mut run = outcome.run;
    env!("CARGO_PKG_VERSION").clone_into(&mut run.tool_version);
    run.started = wall_now().to_string();
    run.host = fathom_client::host();
    Simulated { run, digest: outcome.digest, packets: outcome.packets }
}

fn told(simulated: &Simulated, cpu_s: f64) -> String {
    let end = simulated.run.phases.last().map_or(0, |phase| phase.end_ns);
    format!(
        "fathom sim: {:.0} s in {cpu_s:.2} s ({:.2} million packets through the line; digest {:016x})",
        end as f64 / 1e9,
        simulated.packets as f64 / 1e6,
        simulated.digest
    )
}

/// What the scenario's source says, beside what came out.
fn show_claims(plan: &Plan, run: &Run, when: When) -> Result<(), Failure> {
    if plan.claims.is_empty() {
        return Ok(());
    }
    let (style, columns) = terminal::stdout_form(when);
    let rows = gallery::rows(plan, run);
    let heading = format!("\n{} ({})\n", plan.about.trim(), plan.source.trim());
    terminal::print(&(heading + &fathom_report::claims(&rows, columns, style)))
}

/// Two or three runs side by side, and their files.
pub(crate) fn show_compared(args: &SimArgs, runs: &[(&str, Run)], when: When) -> Outcome {
    let diagnosed: Vec<_> = runs.iter().map(|(name, run)| (*name, run, diagnose(run))).collect();
    let named: Vec<_> = diagnosed.iter().map(|(name, run, diagnosis)| (*name, *run, diagnosis)).collect();
    if args.output.json {
        diagnosed.iter().try_for_each(|(_, run, diagnosis)| result::print_json(run, diagnosis))?;
    } else {
        let (style, columns) = terminal::stdout_form(when);
        terminal::print(&fathom_report::compare(&named, columns, style))?;
    }
    let pairs: Vec<_> = diagnosed.iter().map(|(_, run, diagnosis)| (*run, diagnosis)).collect();
    for path in &args.output.output {
        result::write(path, &pairs)?;
        terminal::note(&format!("wrote {}", path.display()));
    }
    Ok(Exit::Healthy)
}
