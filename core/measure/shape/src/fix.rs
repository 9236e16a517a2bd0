//! `fathom fix` as a state machine without I/O: measure a line, find its knees, shape it, verify that this helped, or roll back.
//!
//! ```text
//!  preflight    a shaper can be put on the interface, and nothing of an earlier fix is left
//!  baseline     test: idle, up, down         -> is there bufferbloat, and how fast is the line?
//!  overhead     two tests: small and large packets -> bytes of each packet on the line beyond IP
//!  search       shaper on; test: a series of trials, each a load through the shaper at one rate -> the knee; shaper off
//!  attempt      shaper on at a margin below the knees; test: idle, up, down, both -> checks
//!  commit       all checks pass: the shaper stays
//!  roll back    a check fails: the interface is restored, and the next margin is tried
//! ```
//! [`Fix`] makes every decision: the order of the steps, the rate of each trial, the margins, the checks. It does nothing itself. Its
//! driver does, which has a real interface and server, or simulated ones:
//!
//! ```text
//!  loop {
//!      while let Some(output) = fix.poll_output() {
//!          Output::Action(action)  perform it, then fix.handle_input(its answer, now)
//!          Output::Event(event)    report it
//!          Output::Ended(result)   return it
//!      }
//!      // Only while a measurement runs is there something to wait for.
//!      fix.poll_timeout()     -> at that time fix.handle_timeout(now)
//!      what the test reports  -> fix.handle_input(input, now)
//!  }
//! ```
//! - Each [`Action`] names its answers. Actions are performed in order, and the answer to one is given before the next.
//! - A measurement is one action with all its phases: both ends of a test must agree on them, and only the test knows when a queue has
//!   drained. The inputs of the test ([`Input::PhaseStarted`], [`Input::Observed`], [`Input::PhaseEnded`]) come while it runs.
//! - What fails is an input too ([`Input::ShaperFailed`], [`Input::MeasurementFailed`]). Whatever ends the fix, a shaper that is on is
//!   rolled back first.
//! - [`Input::Stop`] is accepted at any time, and ends the fix as soon as the interface is restored.
//!
//! Nothing here is a sentence: [`Failure`], [`Event`] and [`fathom_run::ShaperCheck`] hold numbers, which `fathom-prose` puts into words.
mod budget;
mod bypass;
mod config;
mod latency;
mod machine;
mod message;
mod overhead;
mod search;
mod throughput;
mod verify;

pub use budget::{Budget, Isolation};
pub use bypass::detect_bypass;
pub use config::{Failure, FixConfig, LinkType, Outcome, Report};
pub use machine::Fix;
pub use message::{
    Action, Counters, Event, Input, InterfaceCounters, IpVersion, LoadSummary, MeasuredOverhead, Measurement,
    Output, OverheadSource, Phase, ProcessorTime, Purpose, RollBackReason, ShaperCounters,
};
