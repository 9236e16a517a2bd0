//! The share of the line's capacity that probes may use.
use crate::ProbeKind;
use fathom_units::{Bytes, Duration, Rate};

/// Share of the capacity for probes in each direction: 5 % (draft-ietf-ippm-responsiveness, PTC)
/// minus 1 % for the server's load reports.
const PROBE_CAPACITY_PERCENT: u64 = 4;

/// Bytes on the wire in each direction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BytesPerRound {
    /// Upload.
    pub up: Bytes,
    /// Download.
    pub down: Bytes,
}

/// Wire bytes of one round: one probe of each of `kinds`, and its response.
pub fn round_bytes(kinds: &[ProbeKind]) -> BytesPerRound {
    kinds.iter().map(|kind| kind.spec()).fold(BytesPerRound::default(), |sum, spec| BytesPerRound {
        up: sum.up + spec.up,
        down: sum.down + spec.down,
    })
}

/// Computes the probe interval that respects the budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeBudget {
    round: BytesPerRound,
    requested: Duration,
    percent: u64,
}

impl ProbeBudget {
    /// One probe of each of `kinds` per `requested` interval, if the capacity allows it.
    pub fn new(kinds: &[ProbeKind], requested: Duration) -> Self {
        ProbeBudget { round: round_bytes(kinds), requested, percent: PROBE_CAPACITY_PERCENT }
    }
    /// Divides the budget in halves: for the first of `kinds`, and for all others. On a slow line
    /// the others are much larger, so the first, which determines latency, is sent more often than
    /// they.
    pub fn halves(kinds: &[ProbeKind], requested: Duration) -> [Self; 2] {
        let (first, others) = kinds.split_at(kinds.len().min(1));
        let half = |part| ProbeBudget { percent: PROBE_CAPACITY_PERCENT / 2, ..Self::new(part, requested) };
        if others.is_empty() {
            [Self::new(first, requested), half(others)]
        } else {
            [half(first), half(others)]
        }
    }
    /// The requested interval.
    pub const fn requested(&self) -> Duration {
        self.requested
    }
    /// The shortest interval, at least the requested one, at which all probes together use at most
    /// their share of the capacity in each direction. An unknown rate imposes no limit.
    pub fn interval(&self, up: Option<Rate>, down: Option<Rate>) -> Duration {
        let needed = |rate: Option<Rate>, bytes: Bytes| {
            let share = rate.map(|r| r.as_bits_per_second() * self.percent / 100).filter(|r| *r > 0);
            let one = Duration::from_nanos(1); // serialization_time rounds down
            share.map_or(Duration::ZERO, |r| Rate::from_bits_per_second(r).serialization_time(bytes) + one)
        };
        self.requested.max(needed(up, self.round.up)).max(needed(down, self.round.down))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_probes_together_take_at_most_a_twentieth_of_either_direction() {
        let requested = Duration::from_millis(50);
        let budget = ProbeBudget::new(&ProbeKind::ALL, requested);
        let (fast, slow) = (Rate::from_bits_per_second(100_000_000), Rate::from_bits_per_second(500_000));
        assert_eq!(budget.interval(Some(fast), Some(fast)), requested);
        for (up, down) in [(slow, fast), (fast, slow), (slow, slow)] {
            let interval = budget.interval(Some(up), Some(down));
            let round = round_bytes(&ProbeKind::ALL);
            let rate = |bytes| Rate::from_bytes_per(bytes, interval).as_bits_per_second();
            // 1/25; together with the server's reports, which take 1/100, this is 1/20.
            assert!(rate(round.up) <= up.as_bits_per_second() / 25, "up {up} {interval}");
            assert!(rate(round.down) <= down.as_bits_per_second() / 25, "down {down}");
            assert!(rate(round.up) > up.as_bits_per_second() / 30 || up == fast, "more than needed");
        }
        assert_eq!(budget.interval(None, None), requested);
    }

    #[test]
    fn on_a_slow_line_the_first_kind_is_sent_more_often_and_all_within_the_budget() {
        let kinds = [ProbeKind::Udp, ProbeKind::Icmp, ProbeKind::Connect, ProbeKind::Persistent];
        let slow = Rate::from_bits_per_second(100_000);
        let [first, others] = ProbeBudget::halves(&kinds, Duration::from_millis(50));
        let (often, rarely) =
            (first.interval(Some(slow), Some(slow)), others.interval(Some(slow), Some(slow)));
        assert!(often * 5 < rarely, "{often} {rarely}");
        let rate = |part, interval| Rate::from_bytes_per(round_bytes(part).up, interval).as_bits_per_second();
        assert!(rate(&kinds[..1], often) + rate(&kinds[1..], rarely) <= 4_000);
        let [alone, none] = ProbeBudget::halves(&kinds[..1], Duration::from_millis(50));
        assert!(alone.interval(Some(slow), None) * 2 < often + Duration::from_millis(1));
        assert_eq!(none.interval(Some(slow), None), Duration::from_millis(50));
    }
}
