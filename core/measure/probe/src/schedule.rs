//! When probes are due: open loop, on fixed slots.
use crate::ProbeKind;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rate, Time};

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

/// Wire bytes of one probe and its answer, Ethernet, IPv6 (the larger) and transport headers included.
const fn probe_bytes(kind: ProbeKind) -> (u64, u64) {
    match kind {
        // 14 Ethernet + 40 IP + 8 ICMP + 56 payload.
        ProbeKind::Icmp => (118, 118),
        // 14 + 40 + 8 UDP + 64 payload.
        ProbeKind::Udp => (126, 126),
        // Up: SYN 94, ACK 86, GET 86 + 60, ACK 86, RST 74. Down: SYN-ACK 94, ACK 86, answer 86 + 100.
        ProbeKind::Connect => (486, 366),
        // Up: GET 86 + 60, ACK 86. Down: answer 86 + 100.
        ProbeKind::Kept => (232, 186),
    }
}

/// Wire bytes of one round: one probe of each of `kinds`, and its answer.
pub fn round_bytes(kinds: &[ProbeKind]) -> BytesPerRound {
    kinds.iter().map(|k| probe_bytes(*k)).fold(BytesPerRound::default(), |sum, (up, down)| BytesPerRound {
        up: sum.up + Bytes(up),
        down: sum.down + Bytes(down),
    })
}

/// A probe that is due now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Due {
    /// Of which kind.
    pub kind: ProbeKind,
    /// The moment it was due.
    pub slot: Time,
    /// Slots of this kind before it that passed without anyone looking: probes not sent.
    pub missed: u32,
}

/// One row of slots per kind, spread evenly over the interval so that no two kinds leave together.
///
/// Slots stay where they are however late the caller wakes: a late probe does not move the next.
#[derive(Clone, Debug)]
pub struct Schedule {
    base: Duration,
    interval: Duration,
    round: BytesPerRound,
    rows: Vec<(ProbeKind, Time)>,
}

impl Schedule {
    /// One probe of each kind every `interval`, from `start`.
    pub fn new(kinds: &[ProbeKind], interval: Duration, start: Time) -> Self {
        let count = kinds.len().max(1) as u64;
        let offset = |n: usize| interval * (n as u64) / count;
        let rows = kinds.iter().enumerate().map(|(n, kind)| (*kind, start + offset(n))).collect();
        Schedule { base: interval, interval, round: round_bytes(kinds), rows }
    }
    /// The interval in force.
    pub const fn interval(&self) -> Duration {
        self.interval
    }
    /// Stretches the interval so that all probes together take at most 4 % of the line as known so far, each way. It is
    /// never shorter than the one asked for. The next slot of each kind stays; the new interval counts from there.
    pub fn limit_to(&mut self, up: Option<Rate>, down: Option<Rate>) {
        let needed = |rate: Option<Rate>, bytes: Bytes| {
            let share =
                rate.map(|r| r.as_bits_per_second() * PROBE_CAPACITY_PERCENT / 100).filter(|r| *r > 0);
            let one = Duration::from_nanos(1); // serialization_time rounds down
            share.map_or(Duration::ZERO, |r| Rate::from_bits_per_second(r).serialization_time(bytes) + one)
        };
        self.interval = self.base.max(needed(up, self.round.up)).max(needed(down, self.round.down));
    }
    /// Takes a kind out, because it cannot be sent at all.
    pub fn remove(&mut self, kind: ProbeKind) {
        self.rows.retain(|(k, _)| *k != kind);
        self.round = round_bytes(&self.rows.iter().map(|(k, _)| *k).collect::<Vec<_>>());
    }
    /// The next moment at which something is due.
    pub fn next(&self) -> Option<Time> {
        self.rows.iter().map(|(_, at)| *at).min()
    }
    /// The earliest probe due at `now`, if there is one. Of several missed slots of a kind only the last is sent.
    pub fn due(&mut self, now: Time) -> Option<Due> {
        let interval = self.interval;
        let (kind, next) = self.rows.iter_mut().filter(|(_, at)| *at <= now).min_by_key(|(_, at)| *at)?;
        let missed = (now - *next).as_nanos() / interval.as_nanos().max(1);
        let slot = *next + interval * missed;
        *next = slot + interval;
        Some(Due { kind: *kind, slot, missed: u32::try_from(missed).unwrap_or(u32::MAX) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }
    fn two_kinds() -> Schedule {
        Schedule::new(&[ProbeKind::Icmp, ProbeKind::Udp], Duration::from_millis(50), Time::ZERO)
    }

    #[test]
    fn kinds_are_spread_and_late_wakeups_do_not_shift_slots() {
        let mut schedule = two_kinds();
        let mut slots = vec![];
        // Awake at these milliseconds only.
        for now in [0, 24, 25, 57, 76, 260] {
            while let Some(due) = schedule.due(ms(now)) {
                slots.push((now, due.kind, due.slot, due.missed));
            }
        }
        let (i, u) = (ProbeKind::Icmp, ProbeKind::Udp);
        assert_eq!(
            slots,
            vec![
                (0, i, ms(0), 0),
                (25, u, ms(25), 0),
                (57, i, ms(50), 0),
                (76, u, ms(75), 0),
                (260, i, ms(250), 3),
                (260, u, ms(225), 2),
            ]
        );
        assert_eq!(schedule.next(), Some(ms(275)));
    }

    #[test]
    fn all_probes_together_take_at_most_a_twentieth_of_either_direction() {
        let mut schedule = Schedule::new(&ProbeKind::ALL, Duration::from_millis(50), Time::ZERO);
        let (fast, slow) = (Rate::from_bits_per_second(100_000_000), Rate::from_bits_per_second(500_000));
        schedule.limit_to(Some(fast), Some(fast));
        assert_eq!(schedule.interval(), Duration::from_millis(50));
        for (up, down) in [(slow, fast), (fast, slow), (slow, slow)] {
            schedule.limit_to(Some(up), Some(down));
            let round = round_bytes(&ProbeKind::ALL);
            let rate = |bytes| Rate::from_bytes_per(bytes, schedule.interval()).as_bits_per_second();
            // A twenty-fifth: with the server's reports, which take a hundredth, it is a twentieth.
            assert!(rate(round.up) <= up.as_bits_per_second() / 25, "up {up} {}", schedule.interval());
            assert!(rate(round.down) <= down.as_bits_per_second() / 25, "down {down}");
            assert!(rate(round.up) > up.as_bits_per_second() / 30 || up == fast, "more than needed");
        }
        schedule.limit_to(None, None);
        assert_eq!(schedule.interval(), Duration::from_millis(50));
    }

    #[test]
    fn a_removed_kind_is_never_due() {
        let mut schedule = two_kinds();
        schedule.remove(ProbeKind::Icmp);
        assert_eq!(schedule.next(), Some(ms(25)));
        assert_eq!(schedule.due(ms(24)), None);
    }
}
