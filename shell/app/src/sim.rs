//! Runs a scenario in virtual time or in the lab.
#[cfg(feature = "lab")]
use crate::emulated::{EmulatedTest, Load, measure};
#[cfg(feature = "lab")]
use crate::scenario::rates;
#[cfg(feature = "lab")]
use crate::{AppError, MeasureEvent};
use crate::{CancelToken, VERSION};
use fathom_os::clock::wall_now;
use fathom_run::Run;
use fathom_scenario::Plan;
use fathom_sim::{Options, simulate_until};

/// A simulated run with its digest.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The run.
    pub run: Run,
    /// Digest of all events: equal digests mean equal simulations.
    pub digest: u64,
    /// Packets that the line has delivered.
    pub packets: u64,
}

/// Simulates `plan`, and adds the facts of the host. If it is cancelled, the run is partial.
#[must_use]
pub fn simulate(plan: &Plan, seed: u64, cancel: &CancelToken) -> Simulated {
    let outcome = simulate_until(plan, &Options::new(seed), &mut || cancel.is_cancelled());
    let mut run = outcome.run;
    VERSION.clone_into(&mut run.tool_version);
    run.started = wall_now().to_string();
    run.host = fathom_client::host();
    Simulated { run, digest: outcome.digest, packets: outcome.packets }
}

#[cfg(feature = "lab")]
/// Runs the load of a scenario over its line with real kernel TCP.
///
/// # Errors
/// If the lab cannot send the load of the scenario, or as [`measure`].
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
