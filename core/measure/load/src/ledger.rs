//! Accounting of load flows: delivered bytes and sender state.
use crate::Observe;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use fathom_probe::HighestRate;
use fathom_probe::protocol::{FlowReport, Reception};
use fathom_run::{Metric, SeriesKey};
use fathom_units::{Direction, Duration, PerDirection, Rate, Time};

/// Goodput over less than this would show the granularity of packets. Reports are more frequent if
/// TCP_INFO is; 5 ms less than 100 ms, for timer inaccuracy of the server.
const SHORTEST_COUNT_NS: u64 = 95_000_000;

/// The bytes of a shorter time, such as the last of a phase, are in no rate, or in the next one.
const SHORTEST_RATE_NS: u64 = 10_000_000;

/// Longer intervals include a pause between two phases.
const LONGEST_COUNT_NS: u64 = 1_000_000_000;

/// TCP state of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sender {
    /// Smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Segments sent again since the connection opened.
    pub retransmits: u32,
    /// Payload acknowledged, cumulatively or selectively.
    pub delivered_bytes: u64,
    /// Time in which the receive window limited it, in microseconds, if that is known.
    pub receiver_limited_us: Option<u64>,
    /// Payload written and not sent yet, in bytes, if that is known.
    pub unsent_bytes: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    direction: Direction,
    phase: usize,
    /// Its class of RRUL.
    class: Option<&'static str>,
    bytes: u64,
    /// Time of the last count from which a rate is computed, in ns on the clock of the end that
    /// counted, and the bytes then.
    counted: Option<(u64, u64)>,
    sender: Sender,
    datagrams: Reception,
}

/// All flows of a test, by number.
#[derive(Clone, Default, Debug)]
pub struct Ledger {
    entries: BTreeMap<u32, Entry>,
    capacity: PerDirection<HighestRate>,
    /// Time of the last count of up flows, on the server's clock.
    up_counted_ns: u64,
    /// Time of the last count at the senders, in ns on the clock of that end, and the total.
    acknowledged: PerDirection<Option<(u64, u64)>>,
    /// Payload of applications next to the load, and how much of it was counted.
    beside: PerDirection<u64>,
    beside_counted: PerDirection<u64>,
}

impl Ledger {
    /// Opens a flow, of a class of RRUL if it has one.
    pub fn open(&mut self, number: u32, direction: Direction, phase: usize, class: Option<&'static str>) {
        let (sender, datagrams) = (Sender::default(), Reception::default());
        let entry = Entry { direction, phase, class, bytes: 0, counted: None, sender, datagrams };
        self.entries.insert(number, entry);
    }
    /// Sets what applications next to the load have received in a direction: the rate of the line
    /// includes it.
    pub fn set_beside(&mut self, bytes: PerDirection<u64>) {
        self.beside = bytes;
    }
    /// The phase of a flow.
    pub fn phase_of(&self, number: u32) -> Option<usize> {
        self.entries.get(&number).map(|entry| entry.phase)
    }
    /// The highest rate over a second in a direction so far, once it has not grown for a round
    /// trip.
    pub fn capacity(&self, direction: Direction, round_trip: Duration) -> Option<Rate> {
        self.capacity[direction].rate(round_trip)
    }
    /// Bytes delivered in a direction, in one phase or in all.
    pub fn delivered(&self, direction: Direction, phase: Option<usize>) -> u64 {
        let counts = |e: &&Entry| e.direction == direction && phase.is_none_or(|p| e.phase == p);
        sum(self.entries.values().filter(counts).map(|e| e.bytes))
    }
    /// Bytes delivered in a direction, with those of applications next to the load.
    pub fn moved(&self, direction: Direction) -> u64 {
        self.delivered(direction, None).saturating_add(self.beside[direction])
    }
    /// Total congestion window of the phase's senders, and the retransmissions of the direction
    /// with fewer.
    pub fn senders(&self, phase: usize) -> (u64, u64) {
        let of = || self.entries.values().filter(|e| e.phase == phase);
        let window = sum(of().map(|e| e.sender.cwnd_bytes));
        let lost = |direction| {
            let flows = || of().filter(|e| e.direction == direction);
            flows().next().map(|_| flows().map(|e| u64::from(e.sender.retransmits)).sum::<u64>())
        };
        (window, Direction::BOTH.into_iter().filter_map(lost).min().unwrap_or(0))
    }
    /// Records the bytes delivered by each flow of one direction at `counted_ns` on the counter's
    /// clock, which is `at` on ours. Derives goodput per flow and in total.
    pub fn count(
        &mut self,
        direction: Direction,
        counts: impl Iterator<Item = (u32, u64)>,
        counted_ns: u64,
        at: Time,
        record: &mut impl Observe,
    ) {
        let (mut together, mut interval) = (0_u64, 0);
        for (number, bytes) in counts {
            let Some(entry) = self.entries.get_mut(&number).filter(|e| e.direction == direction) else {
                continue;
            };
            // A count that decreases or repeats is an error of the server and gives no rate.
            entry.bytes = entry.bytes.max(bytes);
            let (then_ns, before) = *entry.counted.get_or_insert((counted_ns, entry.bytes));
            let (since, more) = (counted_ns.saturating_sub(then_ns), entry.bytes - before);
            if since < SHORTEST_RATE_NS {
                continue;
            }
            entry.counted = Some((counted_ns, entry.bytes));
            (together, interval) = (together.saturating_add(more), interval.max(since));
            let (flow, scope) = (Some(number), entry.class.map(str::to_owned));
            let key = SeriesKey { flow, scope, ..SeriesKey::directed(Metric::Goodput, direction) };
            record.observe(key, at, bits_per_second(more, since));
        }
        if interval > 0 {
            let counted = core::mem::replace(&mut self.beside_counted[direction], self.beside[direction]);
            together = together.saturating_add(self.beside[direction].saturating_sub(counted));
            let rate = bits_per_second(together, interval);
            record.observe(SeriesKey::directed(Metric::Goodput, direction), at, rate);
            let total = self.moved(direction);
            self.capacity[direction].add(at, total);
        }
    }
    /// Datagrams of a direction that arrived in a phase, by ECN codepoint.
    pub fn codepoints(&self, direction: Direction, phase: usize) -> [u64; 4] {
        let flows = || self.entries.values().filter(|e| e.direction == direction && e.phase == phase);
        core::array::from_fn(|codepoint| sum(flows().map(|e| e.datagrams.ecn[codepoint])))
    }
    /// Records the state of a flow's sender.
    pub fn note_sender(&mut self, number: u32, sender: Sender, at: Time, record: &mut impl Observe) {
        let Some(entry) = self.entries.get_mut(&number) else { return };
        entry.sender = sender;
        let direction = entry.direction;
        let values = [
            (Metric::FlowRtt, f64::from(sender.rtt_us) / 1e6),
            (Metric::FlowCwnd, sender.cwnd_bytes as f64),
            (Metric::FlowRetransmits, f64::from(sender.retransmits)),
        ];
        let limited = sender.receiver_limited_us.map(|us| (Metric::FlowReceiverLimited, us as f64 / 1e6));
        let unsent = sender.unsent_bytes.map(|bytes| (Metric::FlowUnsent, f64::from(bytes)));
        for (metric, value) in values.into_iter().chain(limited).chain(unsent) {
            record.observe(
                SeriesKey { flow: Some(number), ..SeriesKey::directed(metric, direction) },
                at,
                value,
            );
        }
    }
    /// Records what has arrived of the datagrams of flows of a direction, and the share that was
    /// lost since the last call.
    pub fn note_datagrams(
        &mut self,
        direction: Direction,
        flows: impl Iterator<Item = (u32, Reception)>,
        at: Time,
        record: &mut impl Observe,
    ) {
        let (mut lost, mut received) = (0_u64, 0_u64);
        for (number, counts) in flows {
            let Some(entry) = self.entries.get_mut(&number).filter(|e| e.direction == direction) else {
                continue;
            };
            let before = core::mem::replace(&mut entry.datagrams, counts);
            // Late datagrams are no longer lost.
            lost = lost.saturating_add(counts.lost.saturating_sub(before.lost));
            received = received.saturating_add(counts.received.saturating_sub(before.received));
            let key = SeriesKey { flow: Some(number), ..SeriesKey::directed(Metric::FlowLost, direction) };
            record.observe(key, at, counts.lost as f64);
        }
        if received > 0 {
            let ratio = lost as f64 / lost.saturating_add(received) as f64;
            record.observe(SeriesKey::directed(Metric::LoadLoss, direction), at, ratio);
        }
    }
    /// Records the rate at which the receivers acknowledge the load of a direction, from the state
    /// of its senders at `counted_ns` on their clock, which is `at` on ours.
    pub fn count_acknowledged(
        &mut self,
        direction: Direction,
        counted_ns: u64,
        at: Time,
        record: &mut impl Observe,
    ) {
        let flows = self.entries.values().filter(|e| e.direction == direction);
        let total = sum(flows.map(|e| e.sender.delivered_bytes)).saturating_add(self.beside[direction]);
        let Some((then_ns, before)) = self.acknowledged[direction] else {
            self.acknowledged[direction] = Some((counted_ns, total));
            return;
        };
        let since_ns = counted_ns.saturating_sub(then_ns);
        if since_ns < SHORTEST_COUNT_NS {
            return;
        }
        // After a pause between phases, the rate of the first interval is unknown.
        if since_ns < LONGEST_COUNT_NS {
            let rate = bits_per_second(total.saturating_sub(before), since_ns);
            record.observe(SeriesKey::directed(Metric::DeliveryRate, direction), at, rate);
        }
        self.acknowledged[direction] = Some((counted_ns, total));
    }
    /// Processes a server report, made at `counted_ns` on its clock, which is `at` on ours.
    pub fn take_report(
        &mut self,
        flows: &[FlowReport],
        counted_ns: u64,
        at: Time,
        record: &mut impl Observe,
    ) {
        if counted_ns.saturating_sub(self.up_counted_ns) >= SHORTEST_COUNT_NS
            || counted_ns < self.up_counted_ns
        {
            self.up_counted_ns = counted_ns;
            let up = flows.iter().map(|f| (f.number, f.bytes));
            self.count(Direction::Up, up, counted_ns, at, record);
            let arrived = flows.iter().filter_map(|f| Some((f.number, f.datagrams?)));
            self.note_datagrams(Direction::Up, arrived, at, record);
        }
        for flow in flows {
            if let (Some(rtt_us), Some(cwnd_bytes), Some(retransmits)) =
                (flow.rtt_us, flow.cwnd_bytes, flow.retransmits)
            {
                let delivered_bytes = flow.delivered_bytes.unwrap_or(0);
                let FlowReport { receiver_limited_us, unsent_bytes, .. } = *flow;
                let sender = Sender {
                    rtt_us,
                    cwnd_bytes,
                    retransmits,
                    delivered_bytes,
                    receiver_limited_us,
                    unsent_bytes,
                };
                self.note_sender(flow.number, sender, at, record);
            }
        }
        // Connections of applications are no load.
        let is_load = |flow: &FlowReport| self.entries.contains_key(&flow.number);
        if flows.iter().any(|flow| flow.delivered_bytes.is_some() && is_load(flow)) {
            self.count_acknowledged(Direction::Down, counted_ns, at, record);
        }
    }
}

/// A server may claim any number, so the sum must not overflow.
fn sum(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0, u64::saturating_add)
}

fn bits_per_second(bytes: u64, nanos: u64) -> f64 {
    bytes as f64 * 8.0 / (nanos as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Observations;
    use alloc::vec;

    const MS: u64 = 1_000_000;

    fn report(number: u32, bytes: u64) -> FlowReport {
        FlowReport { number, bytes, ..FlowReport::default() }
    }

    #[test]
    fn goodput_is_bytes_over_the_counters_own_time() {
        let mut record = Observations::default();
        let mut ledger = Ledger::default();
        ledger.open(1, Direction::Up, 0, None);
        ledger.open(2, Direction::Up, 0, None);
        // The reports arrive irregularly, but the server counted every 100 ms of its clock.
        for (n, arrived) in [(0, 5), (1, 900), (2, 905)] {
            let flows = [report(1, n * 25_000), report(2, n * 12_500), report(99, 7)];
            ledger.take_report(
                &flows,
                7_000 * MS + n * 100 * MS,
                Time::from_nanos(arrived * MS),
                &mut record,
            );
        }
        let series = record.take();
        let of = |flow| {
            let key = SeriesKey { flow, ..SeriesKey::directed(Metric::Goodput, Direction::Up) };
            series.iter().find(|s| s.key == key).map(|s| s.values.clone()).unwrap()
        };
        assert_eq!(of(Some(1)), [2e6, 2e6]);
        assert_eq!(of(None), [3e6, 3e6]);
        assert_eq!(ledger.delivered(Direction::Up, Some(0)), 75_000);
        assert_eq!(ledger.delivered(Direction::Down, None), 0);
    }

    /// The last count of a phase may follow a regular one at once.
    #[test]
    fn counts_shortly_after_another_give_no_rate() {
        let mut record = Observations::default();
        let mut ledger = Ledger::default();
        ledger.open(1, Direction::Up, 0, None);
        for (at_ns, bytes) in [(0, 0), (100 * MS, 25_000), (100 * MS + 15_000, 28_000), (200 * MS, 50_000)] {
            let at = Time::from_nanos(at_ns);
            ledger.count(Direction::Up, [(1, bytes)].into_iter(), at_ns, at, &mut record);
            assert_eq!(ledger.delivered(Direction::Up, None), bytes);
        }
        for series in record.take() {
            assert_eq!((series.at_ns, series.values), (vec![100 * MS, 200 * MS], vec![2e6, 2e6]));
        }
    }

    #[test]
    fn the_delivery_rate_counts_what_is_acknowledged_behind_a_lost_segment() {
        let mut record = Observations::default();
        let mut ledger = Ledger::default();
        ledger.open(1, Direction::Up, 0, None);
        // The third interval follows a pause.
        for (ms, delivered_bytes) in [(0, 0), (50, 9_000), (100, 25_000), (200, 50_000), (5_000, 60_000)] {
            let at = Time::from_nanos(ms * MS);
            let sender = Sender { rtt_us: 1, cwnd_bytes: 1, delivered_bytes, ..Sender::default() };
            ledger.note_sender(1, sender, at, &mut record);
            ledger.count_acknowledged(Direction::Up, ms * MS, at, &mut record);
        }
        let key = SeriesKey::directed(Metric::DeliveryRate, Direction::Up);
        let rates = record.take().into_iter().find(|s| s.key == key).unwrap();
        assert_eq!((rates.at_ns, rates.values), (vec![100 * MS, 200 * MS], vec![2e6, 2e6]));
    }

    #[test]
    fn the_loss_of_datagrams_is_that_of_an_interval() {
        let mut record = Observations::default();
        let mut ledger = Ledger::default();
        ledger.open(1, Direction::Up, 0, None);
        ledger.open(2, Direction::Up, 0, None);
        for (ms, [first, second]) in [(100, [(90, 10), (100, 0)]), (200, [(130, 70), (200, 0)])] {
            let of = |number, (received, lost)| FlowReport {
                datagrams: Some(Reception { received, lost, ..Reception::default() }),
                ..report(number, 0)
            };
            let at = Time::from_nanos(ms * MS);
            ledger.take_report(&[of(1, first), of(2, second)], ms * MS, at, &mut record);
        }
        let series = record.take();
        let values = |key: SeriesKey| series.iter().find(|s| s.key == key).map(|s| s.values.clone()).unwrap();
        assert_eq!(values(SeriesKey::directed(Metric::LoadLoss, Direction::Up)), [0.05, 0.3]);
        let first = SeriesKey { flow: Some(1), ..SeriesKey::directed(Metric::FlowLost, Direction::Up) };
        assert_eq!(values(first), [10.0, 70.0]);
    }

    #[test]
    fn a_server_that_counts_backwards_does_no_harm() {
        let mut record = Observations::default();
        let mut ledger = Ledger::default();
        ledger.open(1, Direction::Up, 0, None);
        for (bytes, ns) in [(1_000, 100), (500, 50), (500, 50), (u64::MAX, 200)] {
            ledger.take_report(&[report(1, bytes)], ns, Time::ZERO, &mut record);
        }
        assert!(record.take().iter().all(|s| s.values.iter().all(|v| v.is_finite() && *v >= 0.0)));
    }
}
