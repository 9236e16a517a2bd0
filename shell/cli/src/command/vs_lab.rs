//! `fathom sim SCENARIO --vs-lab`: the same file in virtual time and with real kernel TCP, side by side.
use crate::args::{SimArgs, When};
use crate::command::sim::{show_compared, simulate};
use crate::failure::{Failure, Outcome};
use crate::over_line::{Load, test_over_line};
use crate::{line, signal};
use fathom_scenario::Plan;

/// Simulates, measures in the lab, and compares.
pub(crate) fn run(args: &SimArgs, plan: &Plan, when: When) -> Outcome {
    let load = Load::of(plan, args.seed)?;
    let simulated = simulate(plan, args.seed).run;
    fathom_os::userns::become_root().map_err(Failure::environment)?;
    let stop = signal::stop_flag()?;
    let title = format!("{} ({}), lab", plan.name, line::rates(&plan.line));
    let mut measured = test_over_line(&plan.line, &load, &title, &stop, when)?;
    "lab".clone_into(&mut measured.command);
    show_compared(args, &[("sim", simulated), ("lab", measured)], when)
}
