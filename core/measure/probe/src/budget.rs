//! The share of the line's capacity that probes may use.
use crate::ProbeKind;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, PerDirection, Rate};

/// Share of the capacity for probes in each direction, in per mille: 5 %
/// (draft-ietf-ippm-responsiveness, PTC) minus 1 % for the server's load reports.
const PER_MILLE: u64 = 40;
/// The 1 % of the load reports, which web servers do not send, is for TLS: a mean over few
/// connections is that of the moments at which they were opened.
const TLS_PER_MILLE: u64 = 10;
/// The half for the first kind, which determines latency, and the shares of the slow kinds, of
/// QUIC and of the hops, if there are any. The other quick kinds have the rest.
const FIRST_PER_MILLE: u64 = 20;
const SLOW_PER_MILLE: u64 = 5;
const QUIC_PER_MILLE: u64 = 2;
/// Three routers and the server answer three times each within 12 s at 200 kbit/s.
const HOPS_PER_MILLE: u64 = 8;

/// Wire bytes of one round: one probe of each of `kinds`, and its response.
fn round_bytes(kinds: &[ProbeKind]) -> PerDirection<Bytes> {
    kinds.iter().map(|kind| kind.spec()).fold(PerDirection::default(), |sum, spec| PerDirection {
        up: sum.up + spec.up,
        down: sum.down + spec.down,
    })
}

/// Computes the probe interval that respects the budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeBudget {
    round: PerDirection<Bytes>,
    requested: Duration,
    per_mille: u64,
}

impl ProbeBudget {
    /// One probe of each of `kinds` per `requested` interval, if the capacity allows it.
    pub fn new(kinds: &[ProbeKind], requested: Duration) -> Self {
        ProbeBudget { round: round_bytes(kinds), requested, per_mille: PER_MILLE }
    }
    /// Divides the budget by interval: the first of `kinds`, the other quick kinds, TLS, the slow
    /// ones, QUIC, whose handshake takes two full packets up, and the hops. On a slow line the
    /// others are much larger than the first, which determines latency, so it gets half of the
    /// budget and is sent more often than they.
    pub fn groups(kinds: &[ProbeKind], requested: Duration) -> [(Vec<ProbeKind>, Self); 6] {
        let only = |wanted: fn(&ProbeKind) -> bool| kinds.iter().copied().filter(wanted).collect::<Vec<_>>();
        let hops = only(|kind| *kind == ProbeKind::Hop);
        let mut tls = only(|kind| *kind == ProbeKind::Tls);
        let mut quic = only(|kind| *kind == ProbeKind::Http3);
        let mut slow = only(|kind| kind.is_slow() && !matches!(kind, ProbeKind::Tls | ProbeKind::Http3));
        let mut quick = only(|kind| !kind.is_slow() && *kind != ProbeKind::Hop);
        let non_empty =
            [&mut quick, &mut tls, &mut slow, &mut quic].into_iter().find(|part| !part.is_empty());
        let first: Vec<ProbeKind> = non_empty.map(|part| part.remove(0)).into_iter().collect();
        let share = |part: &[ProbeKind], per_mille| if part.is_empty() { 0 } else { per_mille };
        let (of_quic, of_hops) = (share(&quic, QUIC_PER_MILLE), share(&hops, HOPS_PER_MILLE));
        let others = PER_MILLE - FIRST_PER_MILLE - of_quic - of_hops;
        let of_slow = share(&slow, if quick.is_empty() { others } else { SLOW_PER_MILLE });
        let of_quick = share(&quick, others - of_slow);
        let of_first = PER_MILLE - of_quic - of_hops - of_slow - of_quick;
        let of_tls = share(&tls, TLS_PER_MILLE);
        let group = |part: Vec<ProbeKind>, per_mille| {
            let longest = part.iter().map(|kind| kind.interval(requested)).max().unwrap_or(requested);
            let budget = ProbeBudget { per_mille, ..Self::new(&part, longest) };
            (part, budget)
        };
        [
            group(first, of_first),
            group(quick, of_quick),
            group(tls, of_tls),
            group(slow, of_slow),
            group(quic, of_quic),
            group(hops, of_hops),
        ]
    }
    /// The requested interval.
    pub const fn requested(&self) -> Duration {
        self.requested
    }
    /// The shortest interval, at least the requested one, at which all probes together use at most
    /// their share of the capacity in each direction. An unknown rate imposes no limit.
    pub fn interval(&self, up: Option<Rate>, down: Option<Rate>) -> Duration {
        let needed = |rate: Option<Rate>, bytes: Bytes| {
            let share =
                rate.map(|r| r.as_bits_per_second().saturating_mul(self.per_mille) / 1000).filter(|r| *r > 0);
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
    fn the_highest_rate_there_is_imposes_no_limit() {
        let requested = Duration::from_millis(50);
        let budget = ProbeBudget::new(&ProbeKind::ALL[..4], requested);
        let most = Some(Rate::from_bits_per_second(u64::MAX));
        assert_eq!(budget.interval(most, most), requested);
    }

    #[test]
    fn all_probes_together_take_at_most_a_twentieth_of_either_direction() {
        let requested = Duration::from_millis(50);
        let kinds = &ProbeKind::ALL[..4];
        let budget = ProbeBudget::new(kinds, requested);
        let (fast, slow) = (Rate::from_bits_per_second(100_000_000), Rate::from_bits_per_second(500_000));
        assert_eq!(budget.interval(Some(fast), Some(fast)), requested);
        for (up, down) in [(slow, fast), (fast, slow), (slow, slow)] {
            let interval = budget.interval(Some(up), Some(down));
            let round = round_bytes(kinds);
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
        let kinds = [
            ProbeKind::Udp,
            ProbeKind::Icmp,
            ProbeKind::Connect,
            ProbeKind::Persistent,
            ProbeKind::Tls,
            ProbeKind::Http3,
            ProbeKind::Hop,
        ];
        let slow = Some(Rate::from_bits_per_second(100_000));
        let intervals = |all: &[ProbeKind]| {
            let groups = ProbeBudget::groups(all, Duration::from_millis(50));
            groups.map(|(part, budget)| (round_bytes(&part).up, budget.interval(slow, slow)))
        };
        let [(_, first), (_, others), (_, tls), _, (_, quic), _] = intervals(&kinds);
        assert!(first * 4 < others && first * 4 < tls && tls < quic, "{first} {others} {tls} {quic}");
        let total = |all: &[ProbeKind]| -> u64 {
            let rates = intervals(all).map(|(bytes, every)| Rate::from_bytes_per(bytes, every));
            rates.map(Rate::as_bits_per_second).iter().sum()
        };
        // 5 %, with the 1 % of the load reports where they are sent.
        assert!(total(&kinds) <= 5_000, "{}", total(&kinds));
        let without_tls = kinds.map(|kind| if kind == ProbeKind::Tls { ProbeKind::Dns } else { kind });
        assert!(total(&without_tls) <= 4_000, "{}", total(&without_tls));
        let [(_, alone), (none, idle), ..] = ProbeBudget::groups(&kinds[..1], Duration::from_millis(50));
        assert!(
            alone.interval(Some(Rate::from_bits_per_second(100_000)), None) * 2
                < first + Duration::from_millis(1)
        );
        assert!(
            none.is_empty()
                && idle.interval(Some(Rate::from_bits_per_second(100_000)), None)
                    == Duration::from_millis(50)
        );
    }
}
