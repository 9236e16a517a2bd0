//! `fathom sim`: a scenario in virtual time.
use crate::args::{ChangeArgs, SimAction, SimArgs};
#[cfg(feature = "full")]
use crate::command::sweep;
use crate::command::{counterfactual, gallery};
use crate::failure::{Failure, Outcome};
use crate::help;
#[cfg(feature = "lab")]
use crate::live::follow;
use crate::terminal::{self, Console};
use crate::{result, signal};
#[cfg(feature = "lab")]
use fathom_app::emulated::{EmulatedTest, Load, measure};
use fathom_app::gallery::rows;
use fathom_app::output::check_names;
use fathom_app::scenario::load;
#[cfg(feature = "lab")]
use fathom_app::scenario::rates;
use fathom_app::sim::{Simulated, simulate};
use fathom_os::clock::Clock;
use fathom_report::Detail;
use fathom_run::Run;
use fathom_scenario::Plan;

/// Simulates, and shows what a test of that line would measure.
pub(crate) fn run(args: &SimArgs, console: Console) -> Outcome {
    match &args.action {
        #[cfg(feature = "full")]
        Some(SimAction::Sweep(sweep)) => return sweep::run(sweep, console),
        Some(SimAction::Gallery(args)) => return gallery::run(args, console),
        None => {}
    }
    check_names(&args.output.output)?;
    if let Some(from) = &args.from {
        return counterfactual::run(args, from, console);
    }
    let name = args.scenario.as_deref().unwrap_or_default();
    help::refuse_misspelt("sim", name)?;
    let plan = load(name, &args.change.changes())?;
    #[cfg(feature = "lab")]
    if args.vs_lab {
        return compare_with_lab(args, &plan, console);
    }
    let (clock, cancel) = (Clock::start(), signal::cancel_token()?);
    let simulated = simulate(&plan, args.seed, &cancel);
    console.note(&cost(&simulated, clock.now().as_secs_f64()));
    result::warn_if_partial("sim", &simulated.run);
    let exit = result::deliver(&simulated.run, &args.output, console)?;
    // Published numbers hold only for the unchanged scenario.
    let is_whole = simulated.run.partial.is_none();
    if is_whole && !args.output.json && !console.is_quiet() && args.change == ChangeArgs::default() {
        show_claims(&plan, &simulated.run, console)?;
    }
    Ok(exit)
}

#[cfg(feature = "lab")]
/// Shows the scenario in virtual time and with real kernel TCP side by side.
fn compare_with_lab(args: &SimArgs, plan: &Plan, console: Console) -> Outcome {
    let load = Load::of(plan, args.seed)?;
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let cancel = signal::cancel_token()?;
    let simulated = simulate(plan, args.seed, &cancel).run;
    let title = format!("{} ({}), lab", plan.name, rates(&plan.line));
    let test = EmulatedTest { line: plan.line.clone(), load, title, command: "lab" };
    let measured = measure(&test, &cancel, &mut follow(console))?;
    result::deliver_compared(&args.output, &[("sim", simulated), ("lab", measured)], console)
}

fn cost(simulated: &Simulated, cpu_s: f64) -> String {
    let end = simulated.run.phases.last().map_or(0, |phase| phase.end_ns);
    format!(
        "fathom sim: {:.0} s in {cpu_s:.2} s ({} packets; digest {:016x})",
        end as f64 / 1e9,
        simulated.packets,
        simulated.digest
    )
}

/// Shows the published numbers of the scenario next to the simulated ones.
fn show_claims(plan: &Plan, run: &Run, console: Console) -> Result<(), Failure> {
    if plan.claims.is_empty() {
        return Ok(());
    }
    let (style, columns) = console.stdout_form();
    let rows = rows(plan, run);
    terminal::print(&if style.detail == Detail::Verbose {
        let heading = format!("\n{} ({})\n", plan.about.trim(), plan.source.trim());
        heading + &fathom_report::claims(&rows, columns, style)
    } else {
        fathom_report::claims_in_short(&rows, columns, style)
    })
}
