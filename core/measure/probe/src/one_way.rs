//! One-way delays of UDP probes, and the direction in which lost probes were lost.
use crate::{ClockFit, FourStamps};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Duration, PerDirection, Time};

/// The server's response to a UDP probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpAnswer {
    /// Sequence number of the probe.
    pub sequence: u32,
    /// Its timestamps.
    pub stamps: FourStamps,
    /// Number of probes that the server had received when it responded, including this one; `None`
    /// if it does not count them.
    pub received: Option<u64>,
    /// Traffic class with which the probe and its reply arrived, as far as it is known.
    pub class: PerDirection<Option<u8>>,
}

/// The UDP probes of a test.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct UdpRecord {
    /// Send time of every probe by sequence number, and the time waited for its response.
    pub sent: Vec<(Time, Duration)>,
    /// The first response to each probe.
    pub answers: Vec<UdpAnswer>,
}

/// Arrivals of probes at a server that reports them apart from its replies: by sequence number, how
/// many had arrived, including this one, and the time in ns on the server's clock.
pub type Arrivals = BTreeMap<u32, (u64, u64)>;

impl UdpRecord {
    /// Adds the times and counts of such a server to its answers, and returns its final count. If
    /// an answered probe is not among the arrivals, others may be missing too, so nothing is
    /// counted.
    pub fn add_arrivals(&mut self, arrivals: &Arrivals) -> Option<u64> {
        let before = self.answers.len();
        self.answers.retain_mut(|answer| {
            let Some((count, at_ns)) = arrivals.get(&answer.sequence) else { return false };
            answer.received = Some(*count);
            (answer.stamps.server_received_ns, answer.stamps.server_sent_ns) = (*at_ns, *at_ns);
            true
        });
        if self.answers.len() < before {
            self.answers.iter_mut().for_each(|answer| answer.received = None);
            return None;
        }
        Some(arrivals.len() as u64)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Loss {
    Up,
    Down,
    Unknown,
}

/// One-way delays of one probe; `at` is the time of its sample.
pub fn one_way_observations(fit: &ClockFit, at: Time, stamps: &FourStamps) -> PerDirection<Observation> {
    fit.one_way(stamps).map(|delay| Observation { at, value: Value::Observed(delay.as_secs_f64()) })
}

/// One-way delays in send order. `total` is the server's final count of probes, if it reported one.
///
/// A probe that the server received but whose response was lost has an unknown upload delay; one
/// that the server did not receive has no download delay. The series of that direction omits it. If
/// a gap contains losses in both directions, only their numbers are known; the first ones are then
/// attributed to the upload.
pub fn one_way_series(fit: &ClockFit, record: &UdpRecord, total: Option<u64>) -> PerDirection<Series> {
    let mut series = PerDirection::from_fn(|d| Series::new(SeriesKey::directed(Metric::OneWayDelay, d)));
    for ((at, _), values) in record.sent.iter().zip(one_way_values(fit, record, total)) {
        for (direction, value) in values {
            value.into_iter().for_each(|value| series[direction].push(Observation { at: *at, value }));
        }
    }
    series
}

/// As [`one_way_series`], for each probe; `None` is unknown.
pub fn one_way_values(
    fit: &ClockFit,
    UdpRecord { sent, answers }: &UdpRecord,
    total: Option<u64>,
) -> Vec<PerDirection<Option<Value>>> {
    let mut by_number: Vec<Option<&UdpAnswer>> = alloc::vec![None; sent.len()];
    for answer in answers {
        let place = by_number.get_mut(answer.sequence as usize);
        place.into_iter().for_each(|p| *p = Some(answer));
    }
    let losses = losses(&by_number, total);
    let of = |(((at, waited), answer), loss): ((&(Time, Duration), &Option<&UdpAnswer>), Loss)| {
        let censored = Some(Value::Censored { at_least: waited.as_secs_f64() });
        match (answer, loss) {
            (Some(answer), _) => one_way_observations(fit, *at, &answer.stamps).map(|one| Some(one.value)),
            (None, Loss::Up) => PerDirection { up: censored, down: None },
            (None, Loss::Down) => PerDirection { up: None, down: censored },
            (None, Loss::Unknown) => PerDirection::default(),
        }
    };
    sent.iter().zip(&by_number).zip(losses).map(of).collect()
}

/// Appends the losses of a gap of `gap` probes, `arrived` of which the server received.
fn fill(losses: &mut Vec<Loss>, gap: usize, arrived: u64) {
    let arrived = usize::try_from(arrived).unwrap_or(gap).min(gap);
    losses.resize(losses.len() + gap - arrived, Loss::Up);
    losses.resize(losses.len() + arrived, Loss::Down);
}

/// Direction in which each probe was lost. The server's counts in the responses before and after a
/// gap show how many probes of the gap it received.
fn losses(by_number: &[Option<&UdpAnswer>], total: Option<u64>) -> Vec<Loss> {
    let mut losses = Vec::with_capacity(by_number.len());
    let (mut gap, mut counted) = (0_usize, 0_u64);
    for answer in by_number {
        let Some(answer) = answer else {
            gap += 1;
            continue;
        };
        match answer.received {
            Some(received) => fill(&mut losses, gap, received.saturating_sub(counted + 1)),
            None => losses.resize(losses.len() + gap, Loss::Unknown),
        }
        losses.push(Loss::Unknown);
        (gap, counted) = (0, counted.max(answer.received.unwrap_or(0)));
    }
    match total {
        Some(total) => fill(&mut losses, gap, total.saturating_sub(counted)),
        None => losses.resize(losses.len() + gap, Loss::Unknown),
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const FIT: ClockFit = ClockFit { offset_ns: 1_000_000, drift_ratio: 0.0, uncertainty: Duration::ZERO };

    fn answer(sequence: u32, received: u64) -> UdpAnswer {
        let sent = Time::from_nanos(u64::from(sequence) * 50);
        UdpAnswer {
            sequence,
            stamps: FourStamps {
                sent,
                server_received_ns: sent.as_nanos() + 1_000_000 + 10,
                server_sent_ns: sent.as_nanos() + 1_000_000 + 12,
                received: sent + Duration::from_nanos(32),
            },
            received: Some(received),
            class: PerDirection::default(),
        }
    }

    #[test]
    fn losses_have_a_direction() {
        let sent = (0..10).map(|n| (Time::from_nanos(n * 50), Duration::from_secs(n))).collect();
        // 1 lost up; 3 and 4 lost down; of 6 and 7 one each way; 9 lost up, by the final count.
        let answers = vec![answer(2, 2), answer(0, 1), answer(5, 5), answer(8, 7)];
        let record = UdpRecord { sent, answers };
        let PerDirection { up, down } = one_way_series(&FIT, &record, Some(7));
        let censored = |s: &Series| s.censored.iter().map(|i| s.values[*i as usize]).collect::<Vec<_>>();
        assert_eq!((censored(&up), censored(&down)), (vec![1.0, 6.0, 9.0], vec![3.0, 4.0, 7.0]));
        assert_eq!((up.values[0], down.values[0]), (10e-9, 20e-9));
        let without_total = one_way_series(&FIT, &record, None).up;
        assert_eq!(censored(&without_total), vec![1.0, 6.0]);
    }

    #[test]
    fn losses_of_a_server_that_does_not_count_have_no_direction() {
        let sent = vec![(Time::ZERO, Duration::from_secs(1)); 4];
        let answers = [0, 3].map(|sequence| UdpAnswer { received: None, ..answer(sequence, 1) }).to_vec();
        let PerDirection { up, down } = one_way_series(&FIT, &UdpRecord { sent, answers }, None);
        assert_eq!((up.values.len(), down.values.len(), up.censored.len() + down.censored.len()), (2, 2, 0));
    }

    #[test]
    fn arrivals_that_are_reported_apart_show_delays_and_losses() {
        let bare = |sequence| {
            let FourStamps { sent, received, .. } = answer(sequence, 1).stamps;
            let stamps = FourStamps { sent, server_received_ns: 0, server_sent_ns: 0, received };
            UdpAnswer { stamps, received: None, ..answer(sequence, 1) }
        };
        let sent = (0..5).map(|n| (Time::from_nanos(n * 50), Duration::from_secs(n))).collect();
        // 1 is lost up, 3 down.
        let record = UdpRecord { sent, answers: [0, 2, 4].map(bare).to_vec() };
        let at = |sequence: u32| 1_000_010 + u64::from(sequence) * 50;
        let all = Arrivals::from([0, 2, 3, 4].map(|n| (n, (u64::from(n.max(1)), at(n)))));
        let mut complete = record.clone();
        assert_eq!(complete.add_arrivals(&all), Some(4));
        let series = one_way_series(&FIT, &complete, Some(4));
        assert_eq!(
            (&series.up.values[..], &series.up.censored[..]),
            (&[10e-9, 1.0, 10e-9, 10e-9][..], &[1][..])
        );
        assert_eq!(series.down.values, [22e-9, 22e-9, 3.0, 22e-9]);
        let mut partial = record;
        assert_eq!(partial.add_arrivals(&Arrivals::from([(4, (4, at(4)))])), None);
        let partly = one_way_series(&FIT, &partial, None).map(|s| (s.values.len(), s.censored.len()));
        assert_eq!(partly, PerDirection { up: (1, 0), down: (1, 0) });
    }

    #[test]
    fn without_responses_only_the_total_is_known() {
        let sent = vec![(Time::ZERO, Duration::from_secs(1)); 3];
        let record = UdpRecord { sent, answers: vec![] };
        let counts = |total| one_way_series(&FIT, &record, total).map(|s| s.censored.len());
        for (total, (up, down)) in [(Some(0), (3, 0)), (Some(3), (0, 3)), (None, (0, 0))] {
            assert_eq!(counts(total), PerDirection { up, down }, "{total:?}");
        }
    }

    #[test]
    fn implausible_counts_of_a_server_are_harmless() {
        let sent = vec![(Time::ZERO, Duration::ZERO); 4];
        let answers = vec![answer(3, u64::MAX), answer(1, 0), answer(77, 5)];
        let record = UdpRecord { sent, answers };
        let PerDirection { up, down } = one_way_series(&FIT, &record, Some(1));
        assert_eq!((up.values.len(), down.values.len()), (3, 3));
    }
}
