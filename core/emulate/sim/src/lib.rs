//! Simulates a scenario in virtual time: event queue, clock, workloads, and the resulting `Run`.
//!
//! The line is [`fathom_link::Line`], which the lab uses too, with the same queue disciplines; the
//! endpoints are those of `fathom-tcp`. Event times do not depend on floating-point arithmetic, so
//! results are bit-identical on every machine.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod agenda;
mod conformance;
mod cost;
mod expand;
mod flow;
mod hops;
mod net;
mod outcome;
mod packet;
mod probe;
mod queue_log;
mod record;
mod results;
mod session;
mod shaper;
mod sim;
mod test;
mod unit;
mod watch;
mod world;

pub use conformance::check_control;
pub use cost::packets;
pub use outcome::{Counted, FlowOutcome, Options, Outcome, Probing, QueueOutcome};
pub use queue_log::{QueueLog, Wait};
pub use session::{Answer, Session};
pub use shaper::{ShaperConfig, ShaperStats};
pub use test::{TestOptions, test};

use fathom_scenario::Plan;

/// Simulates `plan` in virtual time.
pub fn simulate(plan: &Plan, options: &Options) -> Outcome {
    simulate_until(plan, options, &mut || false)
}

/// Simulates `plan` in virtual time until `stop` returns true: the run is then partial.
pub fn simulate_until(plan: &Plan, options: &Options, stop: &mut dyn FnMut() -> bool) -> Outcome {
    let mut sim = sim::Sim::new(plan, options);
    sim.run(stop);
    sim.outcome(plan)
}
