//! Configuration and result of a fix.
use super::message::MeasuredOverhead;
use super::{Budget, Isolation};
use crate::knee::{self, Found, Trial};
use alloc::vec::Vec;
use fathom_run::ShaperCheck;
use fathom_units::{Direction, Duration, PerDirection, Rate};

/// Interface type, if it indicates the type of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkType {
    /// PPP, as used on DSL.
    Ppp,
    /// Any other type.
    Other,
}

/// Configuration of a fix.
#[derive(Clone, PartialEq, Debug)]
pub struct FixConfig {
    /// Directions that may be shaped.
    pub directions: PerDirection<bool>,
    /// Rates to use without a search.
    pub rates: PerDirection<Option<Rate>>,
    /// Largest latency increase that passes.
    pub budget: Budget,
    /// Isolation of the requested shaper; [`Isolation::PerFlow`] by default.
    pub isolation: Isolation,
    /// Whether to measure the packet overhead, because it was not given.
    pub measures_overhead: bool,
    /// Interface type.
    pub link: LinkType,
    /// Also shape a line without bufferbloat.
    pub force: bool,
    /// End with the plan, and keep the trials for a following fix.
    pub dry_run: bool,
}

/// Result of a fix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The line has no bufferbloat; nothing was changed.
    NotNeeded,
    /// The shaper passed all checks and stays active.
    Verified,
    /// No attempt passed all checks; the previous configuration was restored.
    NotVerified,
    /// A plan was made; nothing was changed, as requested.
    Planned,
}

/// Why a fix failed. The interface was restored, unless [`Failure::Shaper`] says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// A test failed ([`super::Input::MeasurementFailed`]).
    Measurement,
    /// A test ended early ([`super::Input::MeasurementIncomplete`]).
    Incomplete,
    /// An action on the shaper failed ([`super::Input::ShaperFailed`]).
    Shaper,
    /// The knee of a direction does not exist.
    NoKnee(Direction, knee::Failure),
    /// The knee of a direction is still unknown after the maximum number of trials.
    OutOfTrials(Direction),
    /// The user stopped the fix.
    Stopped,
}

/// Results so far.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Report {
    /// Measured packet overhead beyond IP.
    pub overhead: Option<MeasuredOverhead>,
    /// Knees that were searched.
    pub knees: PerDirection<Option<Found>>,
    /// Trials of the searches.
    pub trials: PerDirection<Vec<Trial>>,
    /// Duration of the searches.
    pub search_time: PerDirection<Duration>,
    /// Checks of the last attempt, in the order in which they were made.
    pub checks: Vec<ShaperCheck>,
}
