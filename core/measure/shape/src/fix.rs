//! `fathom fix` as a state machine without I/O: measure a line, find its knees, shape it, and
//! verify the result or roll back.
//!
//! ```text
//!  preflight    check that a shaper can be applied; remove the remains of an earlier fix
//!  baseline     test: idle, up, down -> is there bufferbloat, and how fast is the line?
//!  overhead     two tests: small and large packets -> packet overhead beyond IP
//!  search       apply the shaper; test: a series of trials, each a load at one shaper rate
//!               -> the knee; remove the shaper
//!  attempt      apply the shaper at a margin below the knees; test: idle, up, down, both -> checks
//!  commit       all checks pass: the shaper stays
//!  roll back    a check fails: restore the interface and try the next margin
//! ```
//! [`Fix`] makes all decisions: the order of the steps, the rate of each trial, the margins, the
//! checks. It has no side effects. Those are up to its driver, with a real or simulated interface
//! and server:
//!
//! ```text
//!  loop {
//!      while let Some(output) = fix.poll_output() {
//!          Output::Action(action)  perform it, then fix.handle_input(its answer, now)
//!          Output::Event(event)    report it
//!          Output::Ended(result)   return it
//!      }
//! There is only something to wait for while a measurement is running.
//!      fix.poll_timeout()     -> at that time fix.handle_timeout(now)
//!      reports of the test    -> fix.handle_input(input, now)
//!  }
//! ```
//! - Each [`Action`] documents its answers. Actions are performed in order, and each is answered
//!   before the next.
//! - A measurement is a single action with all its phases: both ends of a test must agree on them,
//!   and only the test knows when a queue has drained. The inputs of the test
//!   ([`Input::PhaseStarted`], [`Input::Observed`], [`Input::PhaseEnded`]) arrive while it runs.
//! - A failure is an input too ([`Input::ShaperFailed`], [`Input::MeasurementFailed`]). Whatever
//!   ends the fix, an active shaper is rolled back first.
//! - [`Input::Stop`] is accepted at any time, and ends the fix as soon as the interface is
//!   restored.
//!
//! This module contains no sentences: [`Failure`], [`Event`] and [`fathom_run::ShaperCheck`] hold
//! numbers, which `fathom-prose` puts into words.
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
