//! How much of the line probes may take.
use crate::ProbeKind;
use fathom_units::{Bytes, Duration, Rate};

/// Share of the line that probes may take in each direction: 5 % (draft-ietf-ippm-responsiveness, PTC) less 1 % for the
/// server's reports of the load.
const PROBE_CAPACITY_PERCENT: u64 = 4;

/// Bytes in each direction, on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BytesPerRound {
    /// From the user.
    pub up: Bytes,
    /// To the user.
    pub down: Bytes,
}

/// Wire bytes of one round: one probe of each of `kinds`, and its answer.
pub fn round_bytes(kinds: &[ProbeKind]) -> BytesPerRound {
    kinds.iter().map(|kind| kind.spec()).fold(BytesPerRound::default(), |sum, spec| BytesPerRound {
        up: sum.up + spec.up,
        down: sum.down + spec.down,
    })
}

/// The interval of probes that respects their share of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeBudget {
    round: BytesPerRound,
    requested: Duration,
}

impl ProbeBudget {
    /// One probe of each of `kinds` every `requested`, where the line allows it.
    pub fn new(kinds: &[ProbeKind], requested: Duration) -> Self {
        ProbeBudget { round: round_bytes(kinds), requested }
    }
    /// The shortest interval, not below the requested one, at which all probes together take at most 4 % of the line in each
    /// direction. An unknown rate does not limit.
    pub fn interval(&self, up: Option<Rate>, down: Option<Rate>) -> Duration {
        let needed = |rate: Option<Rate>, bytes: Bytes| {
            let share =
                rate.map(|r| r.as_bits_per_second() * PROBE_CAPACITY_PERCENT / 100).filter(|r| *r > 0);
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
            // A twenty-fifth: with the server's reports, which take a hundredth, it is a twentieth.
            assert!(rate(round.up) <= up.as_bits_per_second() / 25, "up {up} {interval}");
            assert!(rate(round.down) <= down.as_bits_per_second() / 25, "down {down}");
            assert!(rate(round.up) > up.as_bits_per_second() / 30 || up == fast, "more than needed");
        }
        assert_eq!(budget.interval(None, None), requested);
    }
}
