//! What is wrong when an alert is raised, and the evidence for it.
use crate::{Kind, Matcher, Pattern};
use alloc::string::String;
use fathom_units::Duration;

/// The condition of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// The share of probes without an answer over a window.
    Loss {
        /// Raised above it.
        above: f64,
        /// Cleared at or below it.
        clear: f64,
        /// The window.
        window: Duration,
        /// Fewer probes in the window say nothing.
        min_probes: u64,
    },
    /// A percentile of the delays over a window.
    Latency {
        /// Raised above it.
        above: Duration,
        /// Cleared at or below it.
        clear: Duration,
        /// From 1 to 99.
        percentile: u64,
        /// The window.
        window: Duration,
        /// Fewer answers in the window say nothing.
        min_probes: u64,
    },
    /// A percentile of the delays over a window, against those of the same hour in the weeks before.
    Unusual {
        /// Raised when it is above the usual by this ...
        by: Duration,
        /// ... and by so many times the usual spread.
        spreads: u64,
        /// From 1 to 99.
        percentile: u64,
        /// The window.
        window: Duration,
        /// Fewer answers in the window, or in an hour of the past, say nothing.
        min_probes: u64,
        /// With fewer weeks of past the last day is taken instead.
        weeks: u64,
    },
    /// Delay grows with the throughput of this host's own link.
    Bufferbloat {
        /// Raised when the delay under load is above the idle one by this.
        above: Duration,
        /// Cleared when it is above it by no more than this.
        clear: Duration,
        /// The window.
        window: Duration,
        /// Fewer answers under load in the window say nothing.
        min_probes: u64,
    },
    /// A router of the path is another one.
    Path {
        /// A change counts for that long.
        window: Duration,
    },
    /// No answer at all: lost, refused, no address.
    Unreachable {
        /// So many probes in turn, at least.
        min_probes: u64,
    },
    /// A pattern of SmokePing over rounds.
    Pattern {
        /// What its values are.
        kind: Kind,
        /// The pattern.
        pattern: Pattern,
        /// How long a round is; `None` for the target's own.
        round: Option<Duration>,
    },
    /// A matcher of SmokePing over rounds.
    Matcher {
        /// The matcher.
        matcher: Matcher,
        /// How long a round is; `None` for the target's own.
        round: Option<Duration>,
    },
}

impl Condition {
    /// As it is written in the file.
    pub const fn name(&self) -> &'static str {
        match self {
            Condition::Loss { .. } => "loss",
            Condition::Latency { .. } => "latency",
            Condition::Unusual { .. } => "unusual",
            Condition::Bufferbloat { .. } => "bufferbloat",
            Condition::Path { .. } => "path",
            Condition::Unreachable { .. } => "unreachable",
            Condition::Pattern { kind: Kind::Loss, .. } => "loss pattern",
            Condition::Pattern { kind: Kind::Rtt, .. } => "rtt pattern",
            Condition::Matcher { .. } => "matcher",
        }
    }
    /// The past that it looks at in the samples.
    pub const fn window(&self) -> Duration {
        match self {
            Condition::Loss { window, .. }
            | Condition::Latency { window, .. }
            | Condition::Unusual { window, .. }
            | Condition::Bufferbloat { window, .. } => *window,
            _ => Duration::ZERO,
        }
    }
}

/// Why an alert is raised or cleared.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Evidence {
    /// In words: `loss is 12.0% of 100 probes in 5min (limit 5.0%)`.
    pub text: String,
    /// The value that was judged, as a ratio or in seconds.
    pub value: Option<f64>,
    /// What it was held against.
    pub limit: Option<f64>,
}

/// How things are by a condition.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    /// As the rule forbids.
    Bad(Evidence),
    /// Better than what clears it.
    Good(Evidence),
    /// Neither: what is raised stays so, what is not does not become so.
    Between(Evidence),
    /// Too little is known.
    Unknown,
}

impl Verdict {
    /// Of a value that must not be above a limit, with a lower one that clears.
    pub(crate) fn of(value: f64, (above, clear): (f64, f64), text: String) -> Verdict {
        let evidence = Evidence { text, value: Some(value), limit: Some(above) };
        if value > above {
            Verdict::Bad(evidence)
        } else if value <= clear {
            Verdict::Good(evidence)
        } else {
            Verdict::Between(evidence)
        }
    }
}
