//! Conditions that raise an alert, and their evidence.
use crate::{Kind, Matcher, Pattern};
use alloc::string::String;
use fathom_units::Duration;

/// The condition of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// Share of probes without an answer over a window.
    Loss {
        /// Raised above this ratio.
        above: f64,
        /// Cleared at or below this ratio.
        clear: f64,
        /// The window.
        window: Duration,
        /// Fewer probes in the window are not judged.
        min_probes: u64,
    },
    /// A percentile of the delays over a window.
    Latency {
        /// Raised above this delay.
        above: Duration,
        /// Cleared at or below this delay.
        clear: Duration,
        /// The percentile, from 1 to 99.
        percentile: u64,
        /// The window.
        window: Duration,
        /// Fewer answers in the window are not judged.
        min_probes: u64,
    },
    /// A percentile of the delays over a window, compared with the same hour of previous weeks.
    Unusual {
        /// Raised if the delay exceeds the usual one by this much ...
        by: Duration,
        /// ... and by this many times the usual spread.
        spreads: u64,
        /// The percentile, from 1 to 99.
        percentile: u64,
        /// The window.
        window: Duration,
        /// Fewer answers in the window or in a past hour are not judged.
        min_probes: u64,
        /// With fewer weeks of history, the last day serves as the baseline.
        weeks: u64,
    },
    /// Delay that grows with the throughput of this host's own link.
    Bufferbloat {
        /// Raised if the delay under load exceeds the idle delay by more than this.
        above: Duration,
        /// Cleared if the delay under load exceeds the idle delay by no more than this.
        clear: Duration,
        /// The window.
        window: Duration,
        /// Fewer answers under load in the window are not judged.
        min_probes: u64,
    },
    /// A router of the path changed.
    Path {
        /// How long a change keeps the alert raised.
        window: Duration,
    },
    /// No answers: probes lost, refused, or without an address.
    Unreachable {
        /// Least number of consecutive failed probes.
        min_probes: u64,
    },
    /// A SmokePing pattern over rounds.
    Pattern {
        /// The values that the pattern tests.
        kind: Kind,
        /// The pattern.
        pattern: Pattern,
        /// Length of a round; `None` for that of the target.
        round: Option<Duration>,
    },
    /// A SmokePing matcher over rounds.
    Matcher {
        /// The matcher.
        matcher: Matcher,
        /// Length of a round; `None` for that of the target.
        round: Option<Duration>,
    },
}

impl Condition {
    /// The name in the configuration.
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
    /// The period of samples that the condition uses.
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
    /// The value that was judged: a ratio or seconds.
    pub value: Option<f64>,
    /// The limit it was compared with.
    pub limit: Option<f64>,
}

/// Result of evaluating a condition.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    /// Above the limit.
    Bad(Evidence),
    /// At or below the clear limit.
    Good(Evidence),
    /// Between the two limits: the alert keeps its state.
    Between(Evidence),
    /// Not enough data.
    Unknown,
}

impl Verdict {
    /// Compares a value with the limit that raises and the lower one that clears.
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
