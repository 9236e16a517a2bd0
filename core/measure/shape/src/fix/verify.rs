//! Verification: compares a test through the shaper with the test without it.
use super::bypass::SHAPED_RATIO;
use super::message::{Action, LoadSummary, Measurement, Output, Phase, Purpose};
use super::{Budget, Counters, Isolation, ShaperCounters};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_run::{Criterion, PhaseKind, ShaperBypass, ShaperCheck};
use fathom_units::{Direction, Duration, PerDirection, Rate, Time};

const PROBE_INTERVAL: Duration = Duration::from_millis(50);
/// A shaper that passes more than this ratio of its rate does not shape; the margin covers a packet
/// at each end of a phase.
const ABOVE_RATE_RATIO: f64 = 1.03;
/// With less than this share of its rate, the shaper was not loaded in a phase.
const LEAST_LOAD_RATIO: f64 = 0.5;
/// Minimum goodput through the shaper relative to that without it.
const GOODPUT_RATIO: f64 = 0.75;
/// Maximum share of a CPU's time in interrupts and soft interrupts.
const PROCESSOR_RATIO: f64 = 0.9;
const READ_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Claim {
    pub(super) budget: Budget,
    pub(super) isolation: Isolation,
    pub(super) rates: PerDirection<Option<Rate>>,
}

#[derive(Clone, PartialEq, Debug)]
struct Span {
    kind: PhaseKind,
    first: Counters,
    last: Counters,
    duration: Duration,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Reading {
    PhaseStart,
    PhaseEnd(PhaseKind, Duration),
    Record,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Verifier {
    claim: Claim,
    readings: VecDeque<Reading>,
    last_read: Option<Time>,
    first: Option<Counters>,
    spans: Vec<Span>,
}

impl Verifier {
    pub(super) const fn new(claim: Claim) -> Self {
        Verifier { claim, readings: VecDeque::new(), last_read: None, first: None, spans: Vec::new() }
    }
    pub(super) fn measurement(idle: Phase, loaded: impl Fn(PhaseKind) -> Phase) -> Measurement {
        let mut phases = Vec::from([idle]);
        phases.extend([PhaseKind::Up, PhaseKind::Down, PhaseKind::Both].map(loaded));
        measurement(Purpose::Verification, phases)
    }
    fn read(&mut self, reading: Reading, now: Time, outputs: &mut VecDeque<Output>) {
        self.last_read = Some(now);
        self.readings.push_back(reading);
        outputs.push_back(Output::Action(Action::ReadCounters));
    }
    pub(super) fn phase_started(&mut self, now: Time, outputs: &mut VecDeque<Output>) {
        self.read(Reading::PhaseStart, now, outputs);
    }
    pub(super) fn phase_ended(
        &mut self,
        kind: PhaseKind,
        duration: Duration,
        now: Time,
        outputs: &mut VecDeque<Output>,
    ) {
        self.read(Reading::PhaseEnd(kind, duration), now, outputs);
    }
    pub(super) fn next_read(&self) -> Option<Time> {
        self.last_read.map(|last| last + READ_INTERVAL)
    }
    pub(super) fn read_due(&mut self, now: Time, outputs: &mut VecDeque<Output>) {
        self.read(Reading::Record, now, outputs);
    }
    pub(super) fn counters(&mut self, counters: Counters) {
        match self.readings.pop_front() {
            Some(Reading::PhaseStart) => self.first = Some(counters),
            Some(Reading::PhaseEnd(kind, duration)) if kind.is_loaded() => {
                let Some(first) = self.first.take() else { return };
                self.spans.push(Span { kind, first, last: counters, duration });
            }
            _ => {}
        }
    }
    /// All checks, from the test without a shaper and the test through it.
    pub(super) fn verify(&self, before: &[LoadSummary], after: &[LoadSummary]) -> Vec<ShaperCheck> {
        let mut checks = Vec::new();
        for phase in after {
            checks.extend(self.claim.latency(phase));
            checks.extend(goodput(before, phase));
        }
        let mut spans: Vec<&Span> = self.spans.iter().collect();
        spans.sort_by_key(|span| span.kind);
        for span in spans {
            for direction in span.kind.loads() {
                if let Some(rate) = self.claim.rates[*direction] {
                    checks.push(bottleneck(*direction, rate, span));
                }
            }
            checks.push(bypass(span));
            checks.extend(processor(span));
        }
        checks
    }
}

impl Claim {
    /// Checks the median latency increase. With both directions loaded, a probe passes both queues.
    /// Directions without a shaper are not checked.
    fn latency(&self, phase: &LoadSummary) -> Option<ShaperCheck> {
        let of = |direction: &Direction| {
            Some(self.budget.at(self.isolation, self.rates[*direction]?).as_secs_f64())
        };
        let limits: Vec<f64> = phase.kind.loads().iter().map(of).collect::<Option<_>>()?;
        if limits.is_empty() {
            return None;
        }
        let limit_s: f64 = limits.iter().sum();
        let passed = phase.increase_s.is_some_and(|increase| !increase.at_least && increase.value <= limit_s);
        let increase_p50_s = phase.increase_s.map(|increase| increase.value);
        let criterion = Criterion::Latency { increase_p50_s, limit_s };
        Some(ShaperCheck { phase: phase.kind, passed, criterion })
    }
}

fn goodput(before: &[LoadSummary], after: &LoadSummary) -> Option<ShaperCheck> {
    let [direction] = after.kind.loads() else { return None };
    let of = |phase: &LoadSummary| phase.goodput_bits_per_second[*direction];
    let before_bits_per_second = before.iter().find(|phase| phase.kind == after.kind).and_then(of)?;
    let after_bits_per_second = of(after)?;
    let passed = after_bits_per_second >= GOODPUT_RATIO * before_bits_per_second;
    let criterion =
        Criterion::Goodput { before_bits_per_second, after_bits_per_second, required_ratio: GOODPUT_RATIO };
    Some(ShaperCheck { phase: after.kind, passed, criterion })
}

/// Checks that the queue is in the shaper: it passes no more than its rate, and delayed packets.
fn bottleneck(direction: Direction, rate: Rate, span: &Span) -> ShaperCheck {
    let counters = |at: &Counters| at.shapers[direction].unwrap_or_default();
    let (first, last) = (counters(&span.first), counters(&span.last));
    let grown = |of: fn(&ShaperCounters) -> u64| of(&last).saturating_sub(of(&first));
    let held_packets = grown(|s| s.dropped_packets + s.overlimits + s.marked_packets);
    let bits = grown(|s| s.sent_bytes) as f64 * 8.0;
    let throughput_ratio = bits / span.duration.as_secs_f64() / rate.as_bits_per_second() as f64;
    let passed = (LEAST_LOAD_RATIO..=ABOVE_RATE_RATIO).contains(&throughput_ratio) && held_packets > 0;
    let (min_ratio, max_ratio) = (LEAST_LOAD_RATIO, ABOVE_RATE_RATIO);
    let criterion = Criterion::Bottleneck { direction, throughput_ratio, min_ratio, max_ratio, held_packets };
    ShaperCheck { phase: span.kind, passed, criterion }
}

/// Checks that all traffic of the interface passed through the shaper.
fn bypass(span: &Span) -> ShaperCheck {
    let bypasses = span.last.bypass(&span.first);
    let shaped = bypasses.iter().filter_map(|bypass| match *bypass {
        ShaperBypass::Unshaped { interface_bytes, shaped_bytes, .. } => {
            Some(shaped_bytes as f64 / interface_bytes as f64)
        }
        ShaperBypass::Unclassified { .. } => None,
    });
    let shaped_ratio = shaped.min_by(f64::total_cmp);
    let passed = bypasses.is_empty();
    let criterion = Criterion::Bypass { shaped_ratio, min_ratio: SHAPED_RATIO, bypasses };
    ShaperCheck { phase: span.kind, passed, criterion }
}

/// Checks the CPUs. A CPU without time for packets is the bottleneck regardless of the shaper's
/// rate; it adds a delay that no AQM manages.
fn processor(span: &Span) -> Option<ShaperCheck> {
    let busy_ratio = span.last.busiest_processor(&span.first)?;
    let criterion = Criterion::Processor { busy_ratio, max_ratio: PROCESSOR_RATIO };
    Some(ShaperCheck { phase: span.kind, passed: busy_ratio <= PROCESSOR_RATIO, criterion })
}

/// The test without a shaper, or the one that verifies it.
pub(super) fn measurement(purpose: Purpose, phases: Vec<Phase>) -> Measurement {
    Measurement { purpose, phases, probe_interval: PROBE_INTERVAL, segment_bytes: None }
}

#[cfg(test)]
mod tests {
    use super::super::{InterfaceCounters, ProcessorTime};
    use super::*;

    fn counters(interface_bytes: u64, sent_bytes: u64, overlimits: u64) -> Counters {
        let up = ShaperCounters { sent_bytes, overlimits, ..ShaperCounters::default() };
        let bytes = PerDirection { up: interface_bytes, down: 0 };
        Counters {
            interface: InterfaceCounters { bytes, full_frame_bytes: 1514 },
            shapers: PerDirection { up: Some(up), down: None },
            ..Counters::default()
        }
    }

    fn span(first: Counters, last: Counters) -> Span {
        Span { kind: PhaseKind::Up, first, last, duration: Duration::from_secs(10) }
    }

    /// Ten seconds at 10 Mbit/s are 12.5 MB.
    const RATE: Rate = Rate::from_bits_per_second(10_000_000);

    #[test]
    fn a_shaper_limits_if_packets_wait_and_it_passes_its_rate_at_most() {
        let rows = [
            // Bytes through the shaper, delayed packets, and whether it is the bottleneck.
            (12_000_000, 900, true),
            (12_800_000, 900, true),
            (13_000_000, 900, false),
            (6_000_000, 900, false),
            (12_000_000, 0, false),
        ];
        for (bytes, waited, passed) in rows {
            let span = span(counters(0, 0, 0), counters(bytes, bytes, waited));
            assert_eq!(bottleneck(Direction::Up, RATE, &span).passed, passed, "{bytes} bytes, {waited}");
        }
    }

    #[test]
    fn a_busy_processor_fails() {
        let processors = |all: &[u64]| {
            let of = |packets: &u64| ProcessorTime { packets: *packets, total: 1000 };
            let last = Counters { processors: all.iter().map(of).collect(), ..Counters::default() };
            let first = Counters {
                processors: all.iter().map(|_| ProcessorTime::default()).collect(),
                ..last.clone()
            };
            processor(&span(first, last)).map(|check| check.passed)
        };
        assert_eq!([&[][..], &[300], &[300, 950]].map(processors), [None, Some(true), Some(false)]);
    }

    #[test]
    fn bytes_bypassing_the_shaper_are_found() {
        let whole = bypass(&span(counters(0, 0, 0), counters(12_000_000, 12_000_000, 9)));
        assert!(whole.passed, "{whole:?}");
        let part = bypass(&span(counters(0, 0, 0), counters(12_000_000, 3_000_000, 9)));
        let unshaped = ShaperBypass::Unshaped {
            direction: Direction::Up,
            interface_bytes: 12_000_000,
            shaped_bytes: 3_000_000,
        };
        let found = |shaped_ratio, bypass| Criterion::Bypass {
            shaped_ratio,
            min_ratio: SHAPED_RATIO,
            bypasses: alloc::vec![bypass],
        };
        assert_eq!((part.criterion, part.passed), (found(Some(0.25), unshaped), false));
        let direct = Counters { unclassified_packets: 5, ..counters(12_000_000, 12_000_000, 9) };
        let check = bypass(&span(counters(0, 0, 0), direct));
        let unclassified = ShaperBypass::Unclassified { unclassified_packets: 5 };
        assert_eq!((check.criterion, check.passed), (found(None, unclassified), false));
    }
}
