//! The proof: predicates over a test through the shaper, beside the test without it.
use crate::beside::{Span, Spans};
use crate::budget::Budget;
use fathom_diagnose::{Diagnosis, PhaseSummary};
use fathom_run::PhaseKind;
use fathom_shaper::{Look, Rung, defeat};
use fathom_tc::Stats;
use fathom_text::{milliseconds, percent, rate};
use fathom_units::Rate;

/// A shaper that passes more than this share of its rate does not shape; a packet at either end of a phase is within.
const ABOVE_RATE_RATIO: f64 = 1.03;
/// What the line gave without a shaper, and must still give, as a share.
const GOODPUT_RATIO: f64 = 0.75;
/// Of a processor's time, interrupts and soft interrupts at most.
const PROCESSOR_RATIO: f64 = 0.9;
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
    pub(crate) fn prove(&self, after: &Diagnosis, spans: &Spans) -> Proof {
        let mut checks = Vec::new();
        for phase in &after.phases {
            checks.extend(self.delay(phase));
            checks.extend(self.goodput(phase));
        }
        for (kind, span) in spans {
            let loaded = [
                matches!(kind, PhaseKind::Up | PhaseKind::Both),
                matches!(kind, PhaseKind::Down | PhaseKind::Both),
            ];
            for way in [0, 1] {
                if loaded[way]
                    && let Some(limit) = self.rates[way]
                {
                    checks.push(shapes(*kind, way, limit, &Passed::of(way, span)));
                }
            }
            checks.push(bypass(*kind, &span.first, &span.last));
            checks.extend(processor(*kind, span.busiest));
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
}

/// The queue is ours: the shaper passes no more than its rate, and has had to hold something up.
fn shapes(kind: PhaseKind, way: usize, limit: Rate, passed: &Passed) -> Check {
    let share = passed.bytes * 8.0 / passed.seconds / limit.as_bits_per_second() as f64;
    Check {
        what: format!("{} {}: the shaper is what limits", kind.name(), WAYS[way]),
        seen: format!("{} of its rate, {} held up", percent(share), passed.held),
        wanted: format!("{} to {}, and some held up", percent(LEAST_LOAD_RATIO), percent(ABOVE_RATE_RATIO)),
        holds: (LEAST_LOAD_RATIO..=ABOVE_RATE_RATIO).contains(&share) && passed.held > 0,
    }
}

/// All that the interface carried went through the shaper: else an offload, a fast path or another interface bypasses it.
fn bypass(kind: PhaseKind, first: &Look, last: &Look) -> Check {
    let found = defeat::seen(first, last);
    let words = |of: fn(&defeat::Defeat) -> &str| found.iter().map(of).collect::<Vec<_>>().join("; ");
    let is_clean = found.is_empty();
    Check {
        what: format!("{}: all packets go through the shaper", kind.name()),
        seen: if is_clean { "they do".to_owned() } else { words(|one| &one.what) },
        wanted: if is_clean { "all".to_owned() } else { format!("try: {}", words(|one| &one.advice)) },
        holds: is_clean,
    }
}

/// A processor that has no time left for packets is what limits, whatever the shaper's rate: it delays, and nobody manages that queue.
fn processor(kind: PhaseKind, busiest: Option<f64>) -> Option<Check> {
    let share = busiest?;
    Some(Check {
        what: format!("{}: a processor has time for all packets", kind.name()),
        seen: format!("the busiest spends {} on them", percent(share)),
        wanted: format!(
            "at most {}; else try a lower rate, or a lighter shaper by --rung",
            percent(PROCESSOR_RATIO)
        ),
        holds: share <= PROCESSOR_RATIO,
    })
}

/// Counters of one shaper over a phase.
struct Passed {
    bytes: f64,
    /// Packets that it dropped, marked or made wait.
    held: u64,
    seconds: f64,
}

impl Passed {
    fn of(way: usize, span: &Span) -> Passed {
        let stats = |look: &Look| [&look.up, &look.down][way].clone().unwrap_or_default();
        let (before, after) = (stats(&span.first), stats(&span.last));
        let grown = |of: fn(&Stats) -> u64| of(&after).saturating_sub(of(&before));
        let held = grown(|s| u64::from(s.drops) + u64::from(s.overlimits) + s.marks().unwrap_or_default());
        Passed { bytes: grown(|s| s.sent_bytes) as f64, held, seconds: span.seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_tc::Link;

    fn look(link_bytes: u64, shaped_bytes: u64, held: u32) -> Look {
        let link = Link { name: "wan".into(), sent_bytes: link_bytes, ..Link::default() };
        let up = Stats { sent_bytes: shaped_bytes, overlimits: held, ..Stats::default() };
        Look { link, up: Some(up), down: None, direct_packets: 0 }
    }

    /// Ten seconds at 10 Mbit/s are 12.5 MB.
    const RATE: Rate = Rate::from_bits_per_second(10_000_000);

    #[test]
    fn a_shaper_limits_if_it_holds_up_and_passes_its_rate_at_most() {
        let rows = [
            // Bytes through it, packets held up, and whether it is what limits.
            (12_000_000, 900, true),
            (12_800_000, 900, true),
            (13_000_000, 900, false),
            (6_000_000, 900, false),
            (12_000_000, 0, false),
        ];
        for (bytes, held, holds) in rows {
            let (first, last) = (look(0, 0, 0), look(bytes, bytes, held));
            let passed = Passed::of(0, &Span { first, last, seconds: 10.0, busiest: None });
            assert_eq!(shapes(PhaseKind::Up, 0, RATE, &passed).holds, holds, "{bytes} bytes, {held} held up");
        }
    }

    #[test]
    fn a_processor_at_its_end_is_named() {
        let holds = |share| processor(PhaseKind::Up, share).map(|check| check.holds);
        assert_eq!([None, Some(0.3), Some(0.95)].map(holds), [None, Some(true), Some(false)]);
    }

    #[test]
    fn what_passes_by_the_shaper_is_found_and_named() {
        assert!(bypass(PhaseKind::Up, &look(0, 0, 0), &look(12_000_000, 12_000_000, 9)).holds);
        let check = bypass(PhaseKind::Up, &look(0, 0, 0), &look(12_000_000, 3_000_000, 9));
        assert!(!check.holds && check.seen.contains("wan"), "{check:?}");
        assert!(check.wanted.starts_with("try: "), "{check:?}");
    }
}
