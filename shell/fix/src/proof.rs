//! The proof: predicates over a test through the shaper, beside the test without it.
use crate::budget::Budget;
use fathom_apply::{Look, Rung};
use fathom_diagnose::{Diagnosis, PhaseSummary};
use fathom_metric::PhaseKind;
use fathom_metric::text::{milliseconds, percent, rate};
use fathom_units::Rate;
use std::collections::BTreeMap;

/// What the interface carried and the shaper did not see, or the other way round, at most: frames of other protocols, and the moments
/// between the two readings.
const BYPASS_RATIO: f64 = 0.05;
/// A shaper that passes more than this share of its rate does not shape; a packet at either end of a phase is within.
const ABOVE_RATE_RATIO: f64 = 1.03;
/// What the line gave without a shaper, and must still give, as a share.
const GOODPUT_RATIO: f64 = 0.75;
/// Time at either end of a phase in which counters may not yet stand for it, as a share of its bytes.
const LEAST_LOAD_RATIO: f64 = 0.5;

/// One predicate.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// What is looked at: `up: delay under load`.
    pub what: String,
    /// What was seen.
    pub seen: String,
    /// What it has to be.
    pub wanted: String,
    /// Whether it is.
    pub holds: bool,
}

/// All predicates.
#[derive(Clone, PartialEq, Debug)]
pub struct Proof {
    /// Each of them, in the order in which they were looked at.
    pub checks: Vec<Check>,
}

impl Proof {
    /// Whether all hold.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }
    /// Those that do not.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }
}

/// What the shapers passed while a kind of load lasted: counters before and after.
pub(crate) type Looks = BTreeMap<PhaseKind, (Look, Look, f64)>;

/// What was wanted of a shaper.
pub(crate) struct Claim<'a> {
    pub(crate) budget: Budget,
    pub(crate) rung: Rung,
    /// Up, down.
    pub(crate) rates: [Option<Rate>; 2],
    pub(crate) before: &'a Diagnosis,
}

const WAYS: [&str; 2] = ["up", "down"];

impl Claim<'_> {
    /// Holds it against what was measured.
    pub(crate) fn prove(&self, after: &Diagnosis, looks: &Looks) -> Proof {
        let mut checks = Vec::new();
        for phase in &after.phases {
            checks.extend(self.delay(phase));
            checks.extend(self.goodput(phase));
        }
        for (kind, (first, last, seconds)) in looks {
            let loaded = [
                matches!(kind, PhaseKind::Up | PhaseKind::Both),
                matches!(kind, PhaseKind::Down | PhaseKind::Both),
            ];
            for way in [0, 1] {
                if loaded[way]
                    && let Some(limit) = self.rates[way]
                {
                    let passed = Passed::of(way, first, last, *seconds);
                    checks.extend([self.shapes(kind, way, limit, &passed), bypass(kind, way, &passed)]);
                }
            }
            checks.extend(direct(kind, first, last));
        }
        Proof { checks }
    }
    /// Working latency above idle.
    fn delay(&self, phase: &PhaseSummary) -> Option<Check> {
        let of = |way: usize| Some(self.budget.at(self.rung, self.rates[way]?));
        let limit = match phase.kind {
            PhaseKind::Up => of(0)?,
            PhaseKind::Down => of(1)?,
            // A probe passes both queues. A direction that is not shaped is not answered for.
            PhaseKind::Both => of(0)? + of(1)?,
            PhaseKind::Idle | PhaseKind::Drain => return None,
        };
        let limit = limit.as_secs_f64();
        let seen = phase.increase_p50_s;
        Some(Check {
            what: format!("{}: delay under load, above idle", phase.kind.name()),
            seen: seen.map_or_else(|| "no answers".to_owned(), |s| milliseconds(s.value)),
            wanted: format!("at most {}", milliseconds(limit)),
            holds: seen.is_some_and(|seen| !seen.at_least && seen.value <= limit),
        })
    }
    /// The cure must not be worse than the disease.
    fn goodput(&self, phase: &PhaseSummary) -> Option<Check> {
        let of = |p: &PhaseSummary| match p.kind {
            PhaseKind::Up => p.goodput_up_bits_per_second,
            PhaseKind::Down => p.goodput_down_bits_per_second,
            _ => None,
        };
        let before = self.before.phases.iter().find(|p| p.kind == phase.kind).and_then(of)?;
        let after = of(phase)?;
        Some(Check {
            what: format!("{}: goodput", phase.kind.name()),
            seen: format!("{} ({} of before)", rate(after), percent(after / before)),
            wanted: format!("at least {} of {}", percent(GOODPUT_RATIO), rate(before)),
            holds: after >= GOODPUT_RATIO * before,
        })
    }
    /// The queue is ours: the shaper passes no more than its rate, and has had to hold something up.
    fn shapes(&self, kind: &PhaseKind, way: usize, limit: Rate, passed: &Passed) -> Check {
        let limit = limit.as_bits_per_second() as f64;
        let share = passed.shaped_bytes * 8.0 / passed.seconds / limit;
        Check {
            what: format!("{} {}: the shaper is what limits", kind.name(), WAYS[way]),
            seen: format!("{} of its rate, {} held up", percent(share), passed.held),
            wanted: format!(
                "{} to {}, and some held up",
                percent(LEAST_LOAD_RATIO),
                percent(ABOVE_RATE_RATIO)
            ),
            holds: (LEAST_LOAD_RATIO..=ABOVE_RATE_RATIO).contains(&share) && passed.held > 0,
        }
    }
}

/// Counters of one direction over a phase.
struct Passed {
    interface_bytes: f64,
    shaped_bytes: f64,
    dropped_bytes: f64,
    /// Packets that the shaper dropped, marked or made wait.
    held: u64,
    seconds: f64,
}

/// What a packet has that was dropped, bytes; the kernel counts dropped packets alone.
const FULL_PACKET_BYTES: f64 = 1514.0;

impl Passed {
    fn of(way: usize, before: &Look, after: &Look, seconds: f64) -> Passed {
        let link = |look: &Look| [look.link.sent_bytes, look.link.received_bytes][way];
        let stats = |look: &Look| [&look.up, &look.down][way].clone();
        let (first, last) = (stats(before), stats(after));
        let grown = |of: fn(&fathom_tc::Stats) -> u64| {
            let value = |side: &Option<fathom_tc::Stats>| side.as_ref().map_or(0, of);
            value(&last).saturating_sub(value(&first))
        };
        let drops = grown(|s| u64::from(s.drops));
        let waited = grown(|s| u64::from(s.overlimits)) + grown(|s| s.marks().unwrap_or_default());
        Passed {
            interface_bytes: link(after).saturating_sub(link(before)) as f64,
            shaped_bytes: grown(|s| s.sent_bytes) as f64,
            // What leaves was dropped before the interface counted it.
            dropped_bytes: if way == 1 { drops as f64 * FULL_PACKET_BYTES } else { 0.0 },
            held: drops + waited,
            seconds,
        }
    }
}

/// All that the interface carried went through the shaper: else an offload, a fast path or another interface bypasses it.
fn bypass(kind: &PhaseKind, way: usize, passed: &Passed) -> Check {
    let seen = (passed.shaped_bytes + passed.dropped_bytes) / passed.interface_bytes.max(1.0);
    Check {
        what: format!("{} {}: all packets go through the shaper", kind.name(), WAYS[way]),
        seen: format!("{} of the interface's bytes", percent(seen)),
        wanted: format!("at least {}", percent(1.0 - BYPASS_RATIO)),
        holds: seen >= 1.0 - BYPASS_RATIO,
    }
}

/// HTB lets pass unshaped what it has no class for.
fn direct(kind: &PhaseKind, before: &Look, after: &Look) -> Option<Check> {
    let grown = after.direct_packets.saturating_sub(before.direct_packets);
    (grown > 0).then(|| Check {
        what: format!("{}: packets past all classes", kind.name()),
        seen: grown.to_string(),
        wanted: "none".to_owned(),
        holds: false,
    })
}
