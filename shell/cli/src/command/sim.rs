//! `fathom sim`: a scenario in virtual time.
use crate::args::{ChangeArgs, SimAction, SimArgs, When};
use crate::command::{counterfactual, gallery, sweep};
use crate::failure::{Failure, Outcome};
use crate::live::follow;
use crate::{result, signal, terminal};
use fathom_app::emulated::{EmulatedTest, Load, measure};
use fathom_app::gallery::rows;
use fathom_app::output::check_names;
use fathom_app::scenario::{load, rates};
use fathom_app::sim::{Simulated, simulate};
use fathom_os::clock::Clock;
use fathom_run::Run;
use fathom_scenario::Plan;

/// Simulates, and shows what a test of that line would have shown.
pub(crate) fn run(args: &SimArgs, when: When) -> Outcome {
    match &args.action {
        Some(SimAction::Sweep(sweep)) => return sweep::run(sweep),
        Some(SimAction::Gallery(args)) => return gallery::run(args, when),
        None => {}
    }
    check_names(&args.output.output)?;
    if let Some(from) = &args.from {
        return counterfactual::run(args, from, when);
    }
    let name = args.scenario.as_deref().unwrap_or_default();
    let plan = load(name, &args.change.changes())?;
    if args.vs_lab {
        return compare_with_lab(args, &plan, when);
    }
    let clock = Clock::start();
    let simulated = simulate(&plan, args.seed);
    terminal::note(&cost(&simulated, clock.now().as_secs_f64()));
    let exit = result::deliver(&simulated.run, &args.output, when)?;
    // What a source says holds for the scenario as it is in the file.
    if !args.output.json && args.change == ChangeArgs::default() {
        show_claims(&plan, &simulated.run, when)?;
    }
    Ok(exit)
}

/// The same file in virtual time and with real kernel TCP, side by side.
fn compare_with_lab(args: &SimArgs, plan: &Plan, when: When) -> Outcome {
    let load = Load::of(plan, args.seed)?;
    let simulated = simulate(plan, args.seed).run;
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let cancel = signal::cancel_token()?;
    let title = format!("{} ({}), lab", plan.name, rates(&plan.line));
    let test = EmulatedTest { line: plan.line.clone(), load, title, command: "lab" };
    let measured = measure(&test, &cancel, &mut follow(when))?;
    result::deliver_compared(&args.output, &[("sim", simulated), ("lab", measured)], when)
}

fn cost(simulated: &Simulated, cpu_s: f64) -> String {
    let end = simulated.run.phases.last().map_or(0, |phase| phase.end_ns);
    format!(
        "fathom sim: {:.0} s in {cpu_s:.2} s ({:.2} million packets through the line; digest {:016x})",
        end as f64 / 1e9,
        simulated.packets as f64 / 1e6,
        simulated.digest
    )
}

/// What the scenario's source says, next to what came out.
fn show_claims(plan: &Plan, run: &Run, when: When) -> Result<(), Failure> {
    if plan.claims.is_empty() {
        return Ok(());
    }
    let (style, columns) = terminal::stdout_form(when);
    let rows = rows(plan, run);
    let heading = format!("\n{} ({})\n", plan.about.trim(), plan.source.trim());
    terminal::print(&(heading + &fathom_report::claims(&rows, columns, style)))
}
