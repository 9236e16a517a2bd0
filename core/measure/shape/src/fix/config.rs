//! What is to be fixed, and what comes of it.
use super::message::MeasuredOverhead;
use super::{Budget, Isolation};
use crate::knee::{self, Found, Trial};
use alloc::vec::Vec;
use fathom_run::ShaperCheck;
use fathom_units::{Direction, Duration, PerDirection, Rate};

/// Type of the interface, where it says something about the line behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkType {
    /// PPP, as on DSL.
    Ppp,
    /// Any other.
    Other,
}

/// What is to be fixed, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct FixConfig {
    /// Directions that may be shaped.
    pub directions: PerDirection<bool>,
    /// Rates to take without a search.
    pub rates: PerDirection<Option<Rate>>,
    /// Largest increase of latency.
    pub budget: Budget,
    /// Isolation of the requested shaper; [`Isolation::PerFlow`] if none is.
    pub isolation: Isolation,
    /// Whether the overhead of packets is to be measured: it was not given.
    pub measures_overhead: bool,
    /// Type of the interface.
    pub link: LinkType,
    /// Shape even a line without bufferbloat.
    pub force: bool,
    /// End with the plan; keep the trials for a fix that follows.
    pub dry_run: bool,
}

/// How a fix ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The line has no bufferbloat. Nothing was changed.
    NotNeeded,
    /// The shaper passed all checks, and stays.
    Verified,
    /// No attempt passed all checks. The interface is as before.
    NotVerified,
    /// The plan is made, and as requested nothing was changed.
    Planned,
}

/// Why a fix has no outcome. The interface is as before, unless it could not be restored, which is a [`Failure::Shaper`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// A test failed ([`super::Input::MeasurementFailed`]).
    Measurement,
    /// A test ended early ([`super::Input::MeasurementIncomplete`]).
    Incomplete,
    /// An action on the shaper failed ([`super::Input::ShaperFailed`]).
    Shaper,
    /// A direction has no knee.
    NoKnee(Direction, knee::Failure),
    /// All trials were made, and the knee of a direction is still not known.
    OutOfTrials(Direction),
    /// The user stopped it.
    Stopped,
}

/// What is known so far.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Report {
    /// Bytes of each packet beyond IP, where measured.
    pub overhead: Option<MeasuredOverhead>,
    /// Knees, where searched.
    pub knees: PerDirection<Option<Found>>,
    /// Trials of the searches.
    pub trials: PerDirection<Vec<Trial>>,
    /// Duration of the searches.
    pub search_time: PerDirection<Duration>,
    /// Checks of the last attempt, in the order in which they were made.
    pub checks: Vec<ShaperCheck>,
}
