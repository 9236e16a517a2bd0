//! A scenario in virtual time, and next to the lab.
use crate::emulated::{EmulatedTest, Load, measure};
use crate::scenario::rates;
use crate::{AppError, CancelToken, MeasureEvent, VERSION};
use fathom_os::clock::wall_now;
use fathom_run::Run;
use fathom_scenario::Plan;
use fathom_sim::Options;

/// A simulated run, with what else is known of it.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The run.
    pub run: Run,
    /// Digest of every event of the simulation: equal digests mean equal simulations.
    pub digest: u64,
    /// Packets that passed the line.
    pub packets: u64,
}

/// Simulates `plan`, and fills in what only the host knows.
#[must_use]
pub fn simulate(plan: &Plan, seed: u64) -> Simulated {
    let outcome = fathom_sim::simulate(plan, &Options::new(seed));
    let mut run = outcome.run;
    VERSION.clone_into(&mut run.tool_version);
    run.started = wall_now().to_string();
    run.host = fathom_client::host();
    Simulated { run, digest: outcome.digest, packets: outcome.packets }
}

/// A scenario's own load over its own line, with real kernel TCP.
///
/// # Errors
/// If the scenario sends nothing that a lab can send, or as [`measure`].
pub fn measure_in_lab(
    plan: &Plan,
    seed: u64,
    cancel: &CancelToken,
    progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Run, AppError> {
    let title = format!("{} ({})", plan.name, rates(&plan.line));
    let test = EmulatedTest { line: plan.line.clone(), load: Load::of(plan, seed)?, title, command: "lab" };
    measure(&test, cancel, progress)
}
