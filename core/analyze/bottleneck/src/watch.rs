//! The sink that records data about queues.
use crate::cross_traffic::CrossTraffic;
use crate::datagrams::DatagramFlows;
use crate::flow::Sampled;
use crate::probes::Probes;
use crate::ticks::Ticks;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_capture::{Address, Packet, Stamps};
use fathom_flow::{
    Ack, End, FlowId, Header, Lost, Probe, RoundTrip, RttMethod, RttValidity, SHARDS, Segment, Sink,
    Spurious, Times,
};

/// Number of packets after which a flow is sampled; shorter flows only give round-trip times.
const FIRST_PACKETS: u32 = 24;
/// Each time this many more flows are sampled, the threshold rises by one packet. Of tens of
/// thousands of short flows, some hundreds suffice to show their delays, and each costs 3 kB and 10
/// us. Earlier short flows are preferred as a result.
const FLOWS_A_PACKET: usize = 16;
/// Minimum and maximum number of bins of a flow's series.
const BINS: core::ops::RangeInclusive<usize> = 64..=2048;
/// Maximum number of bins of all flows together: 10 series of 24 bytes each are 48 MB. Twice as
/// many would take an eighth of all time in a capture of 200 long flows, and change rate and buffer
/// by less than 0.001 %.
const ALL_BINS: usize = 200_000;

/// A flow: a few numbers, and more once it is sampled.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) flow: FlowId,
    pub(crate) ends: [(Address, u16); 2],
    /// Index of its path, set at the end: in a flood, forgotten flows need no path.
    pub(crate) path: u32,
    packets: u32,
    pub(crate) first: Times,
    /// Bytes of IP packets from A and B before it was sampled.
    passed: [u32; 2],
    stamps: [Option<(i64, u32)>; 2],
    /// Round-trip time of the first exchange, by the responding end, ns.
    pub(crate) first_trip: [Option<f64>; 2],
    /// Minimum round-trip time before it was sampled, ns.
    pub(crate) min_trip: [f64; 2],
    /// Its handshake was captured, so it existed before the queue that it filled.
    pub(crate) has_handshake: bool,
    /// Set at the end of the capture.
    pub(crate) sampled: Option<Box<Sampled>>,
}

/// Minimum round-trip times of all flows and probes between two addresses.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The smaller address first.
    pub(crate) addresses: [Address; 2],
    /// Minimum round-trip time to each address, ns.
    pub(crate) min_ns: [f64; 2],
}

/// Records queues. Pass it to a tracer as [`Sink`], then call [`QueueWatch::finish`].
#[derive(Clone, Debug)]
pub struct QueueWatch {
    pub(crate) origin: Option<i64>,
    pub(crate) slots: Vec<Option<Slot>>,
    /// Sampled flows by identifier; every packet accesses them.
    looked_into: Vec<Option<Box<Sampled>>>,
    room: Room,
    paths: BTreeMap<[Address; 2], u32>,
    pub(crate) path_list: Vec<Path>,
    pub(crate) probes: Probes,
    pub(crate) cross_traffic: CrossTraffic,
    pub(crate) datagrams: DatagramFlows,
    /// Traffic of flows that were not sampled, set at the end.
    pub(crate) short: CrossTraffic,
}

impl Default for QueueWatch {
    fn default() -> Self {
        QueueWatch {
            origin: None,
            slots: Vec::new(),
            looked_into: Vec::new(),
            room: Room::for_one_of(1),
            paths: BTreeMap::new(),
            path_list: Vec::new(),
            probes: Probes::default(),
            cross_traffic: CrossTraffic::default(),
            datagrams: DatagramFlows::default(),
            short: CrossTraffic::default(),
        }
    }
}

impl QueueWatch {
    /// Finishes recording, and computes the minimum round-trip times of each path.
    pub(crate) fn close(&mut self) {
        self.probes.close();
        self.cross_traffic.close();
        self.datagrams.close();
        self.gather();
        let mut slots = core::mem::take(&mut self.slots);
        self.short = short_flows(&slots, self.origin.unwrap_or(0));
        for slot in slots.iter_mut().flatten() {
            slot.sampled.iter_mut().for_each(|sampled| sampled.close());
            slot.path = self.path(in_order(slot.ends.map(|end| end.0)));
            let Some(path) = self.path_list.get_mut(slot.path as usize) else { continue };
            for (number, end) in slot.ends.iter().enumerate() {
                let side = usize::from(path.addresses[0] != end.0);
                let later = slot.sampled.as_ref().map_or(f64::INFINITY, |own| own.round_trips[number].min_ns);
                path.min_ns[side] = path.min_ns[side].min(slot.min_trip[number]).min(later);
            }
        }
        self.slots = slots;
    }
    fn gather(&mut self) {
        for (slot, sampled) in self.slots.iter_mut().zip(core::mem::take(&mut self.looked_into)) {
            slot.iter_mut().zip(sampled).for_each(|(slot, sampled)| slot.sampled = Some(sampled));
        }
    }
    /// Creates an empty watch.
    pub fn new() -> Self {
        QueueWatch::default()
    }
    /// Creates one of several watches of the same capture, to be combined by [`QueueWatch::join`].
    pub fn one_of(watches: usize) -> Self {
        QueueWatch { room: Room::for_one_of(watches), ..QueueWatch::default() }
    }
    /// Combines the two watches of a capture in shards. Flows are numbered in the order of first
    /// packets. Packets other than TCP come from the first watch.
    #[must_use]
    pub fn join([mut first, mut second]: [QueueWatch; SHARDS]) -> Self {
        first.gather();
        second.gather();
        let both = core::mem::take(&mut first.slots).into_iter().chain(second.slots);
        let mut slots: Vec<Slot> = both.flatten().collect();
        slots.sort_unstable_by_key(|slot| slot.first.frame);
        for (number, slot) in slots.iter_mut().enumerate() {
            slot.flow = FlowId(number as u32);
        }
        first.slots = slots.into_iter().map(Some).collect();
        first
    }
    fn path(&mut self, addresses: [Address; 2]) -> u32 {
        let next = self.path_list.len() as u32;
        let number = *self.paths.entry(addresses).or_insert(next);
        if number == next {
            self.path_list.push(Path { addresses, min_ns: [f64::INFINITY; 2] });
        }
        number
    }
    #[inline]
    fn sampled(&mut self, flow: FlowId) -> Option<&mut Sampled> {
        self.looked_into.get_mut(flow.0 as usize)?.as_deref_mut()
    }
    /// Counts a packet, and returns the data of its flow if it is sampled.
    #[inline(always)]
    fn count(
        &mut self,
        flow: FlowId,
        end: End,
        times: Times,
        stamps: Option<Stamps>,
    ) -> Option<&mut Sampled> {
        let place = self.looked_into.get_mut(flow.0 as usize)?;
        if place.is_none() {
            let slot = self.slots.get_mut(flow.0 as usize)?.as_mut()?;
            let origin = self.origin.unwrap_or(0);
            slot.count(end, times.at - origin, stamps);
            *place = self.room.begin(slot, times.at, origin);
        }
        place.as_deref_mut()
    }
}

/// Limits that depend on the number of sampled flows.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// Number of watches that share the bins.
    watches: usize,
    sampled: usize,
    /// Number of packets after which the next flow is sampled.
    first_packets: u32,
    bins: usize,
}

impl Room {
    const fn for_one_of(watches: usize) -> Self {
        Room { watches, sampled: 0, first_packets: FIRST_PACKETS, bins: *BINS.end() }
    }
    /// Starts to sample a flow if the packet just counted reached the threshold.
    fn begin(&mut self, slot: &Slot, at: i64, origin: i64) -> Option<Box<Sampled>> {
        if slot.packets < self.first_packets {
            return None;
        }
        self.sampled += 1;
        let sampled = self.sampled * self.watches;
        self.first_packets = FIRST_PACKETS + (sampled / FLOWS_A_PACKET) as u32;
        self.bins = (ALL_BINS / sampled).clamp(*BINS.start(), *BINS.end());
        let mut begun = Box::new(slot.begin(origin, self.bins));
        begun.grid.turn_to(at - origin, self.bins);
        Some(begun)
    }
}

/// Traffic of flows that were not sampled, each at its start time.
fn short_flows(slots: &[Option<Slot>], origin: i64) -> CrossTraffic {
    let mut short = CrossTraffic::default();
    for slot in slots.iter().flatten().filter(|slot| slot.sampled.is_none()) {
        let [a, b] = slot.ends.map(|end| end.0);
        let at = slot.first.at - origin;
        short.add([a, b], at, slot.passed[0]);
        short.add([b, a], at, slot.passed[1]);
    }
    short.close();
    short
}

pub(crate) fn in_order(mut addresses: [Address; 2]) -> [Address; 2] {
    addresses.sort();
    addresses
}

impl Slot {
    /// Counts a packet before the flow is sampled.
    fn count(&mut self, end: End, at: i64, stamps: Option<Stamps>) {
        self.packets += 1;
        if let Some(stamps) = stamps {
            self.stamps[end as usize].get_or_insert((at, stamps.value));
        }
    }
    fn begin(&self, origin: i64, limit: usize) -> Sampled {
        let mut sampled = Sampled::new(origin, self.first.frame, limit);
        for end in [End::A, End::B] {
            let stamps = self.stamps[end as usize];
            sampled.ticks[end as usize] = stamps.map(|(at, value)| Ticks::new(at, value));
            if let Some(first) = self.first_trip[end as usize] {
                sampled.round_trips[end as usize].add(first, self.first.frame);
            }
        }
        sampled
    }
}

impl Sink for QueueWatch {
    #[inline]
    fn capture_started(&mut self, times: Times) {
        self.origin.get_or_insert(times.at);
    }
    fn opened(&mut self, flow: FlowId, ends: [(Address, u16); 2], times: Times) {
        self.origin.get_or_insert(times.at);
        let number = flow.0 as usize;
        if self.slots.len() <= number {
            self.slots.resize_with(number + 1, || None);
            self.looked_into.resize_with(number + 1, || None);
        }
        let slot = Slot {
            flow,
            ends,
            path: 0,
            packets: 0,
            first: times,
            passed: [0; 2],
            stamps: [None; 2],
            first_trip: [None; 2],
            min_trip: [f64::INFINITY; 2],
            has_handshake: false,
            sampled: None,
        };
        if let Some(place) = self.slots.get_mut(number) {
            *place = Some(slot);
        }
    }
    #[inline]
    fn packet(&mut self, flow: FlowId, header: &Header) {
        let limit = self.room.bins;
        if let Some(sampled) = self.sampled(flow) {
            sampled.packet(header, limit);
        } else if let Some(Some(slot)) = self.slots.get_mut(flow.0 as usize) {
            let passed = &mut slot.passed[header.end as usize];
            *passed = passed.saturating_add(header.ip_bytes);
        }
    }
    fn non_tcp(&mut self, packet: &Packet<'_>, times: Times) {
        let origin = *self.origin.get_or_insert(times.at);
        self.cross_traffic.add([packet.source, packet.destination], times.at - origin, packet.ip_bytes);
        self.datagrams.add(packet, times.at - origin);
    }
    #[inline]
    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        let limit = self.room.bins;
        if let Some(sampled) = self.count(flow, segment.end, segment.times, segment.stamps) {
            sampled.segment(segment, limit);
        }
    }
    /// Its timestamps are recorded with its data.
    #[inline]
    fn unchanged_ack(&mut self, _: FlowId, _: &Ack<'_>) {}
    #[inline]
    fn ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
        if let Some(sampled) = self.count(flow, ack.end, ack.times, ack.stamps) {
            sampled.ack(ack);
        }
    }
    #[inline]
    fn round_trip(&mut self, flow: FlowId, trip: &RoundTrip) {
        if trip.validity == RttValidity::Ambiguous {
            return;
        }
        if let Some(sampled) = self.sampled(flow) {
            let is_first = sampled.round_trips[trip.end.other() as usize].count == 0;
            sampled.round_trip(trip);
            if !is_first && trip.method != RttMethod::Handshake {
                return;
            }
        }
        if let Some(Some(slot)) = self.slots.get_mut(flow.0 as usize) {
            slot.round_trip(trip);
        }
    }
    fn probe(&mut self, probe: &Probe) {
        let origin = *self.origin.get_or_insert(probe.asked.at);
        let Some(took) = self.probes.add(probe, origin) else { return };
        let asked = probe.ends[1].0;
        let path = self.path(in_order(probe.ends.map(|end| end.0)));
        if let Some(path) = self.path_list.get_mut(path as usize) {
            let side = usize::from(path.addresses[0] != asked);
            path.min_ns[side] = path.min_ns[side].min(took);
        }
    }
    fn forgotten(&mut self, flow: FlowId) {
        if let Some(slot) = self.slots.get_mut(flow.0 as usize) {
            *slot = None;
        }
        if let Some(sampled) = self.looked_into.get_mut(flow.0 as usize) {
            *sampled = None;
        }
    }
    fn spurious(&mut self, flow: FlowId, spurious: &Spurious) {
        let limit = self.room.bins;
        if let Some(sampled) = self.sampled(flow) {
            sampled.spurious(spurious, limit);
        }
    }
    fn lost(&mut self, flow: FlowId, lost: &Lost) {
        if let Some(sampled) = self.sampled(flow) {
            sampled.lost(lost);
        }
    }
}

impl Slot {
    #[inline]
    fn round_trip(&mut self, trip: &RoundTrip) {
        let to = trip.end.other() as usize;
        let took = (trip.times.at - trip.sent_at) as f64;
        self.has_handshake |= trip.method == RttMethod::Handshake;
        self.first_trip[to].get_or_insert(took);
        self.min_trip[to] = self.min_trip[to].min(took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a flow with few packets count at its start; a sampled flow counts its own.
    #[test]
    fn short_flows_count_as_traffic_of_the_link() {
        let socket = |last: u8| (Address::v4([10, 0, 0, last]), u16::from(last));
        let slot = |last: u8, at: i64, passed: [u32; 2]| {
            let mut watch = QueueWatch::new();
            watch.opened(FlowId(0), [socket(last), socket(9)], Times { at, frame: 1 });
            let begun = watch.slots.remove(0);
            begun.map(|begun| Slot { passed, ..begun })
        };
        let mut long = slot(1, 1000, [500, 500]);
        long.iter_mut().for_each(|long| long.sampled = Some(Box::new(Sampled::new(1000, 1, 64))));
        let slots =
            [slot(1, 1000, [100, 10]), None, long, slot(1, 3_000_000_000, [200, 20]), slot(2, 1000, [3, 4])];
        let short = short_flows(&slots, 1000);
        let sum = |from: u8, to: u8| {
            let (bins, _) = short.passed([socket(from).0, socket(to).0]).unwrap();
            bins.iter().map(|bin| bin.sum).collect::<Vec<_>>()
        };
        assert_eq!(sum(1, 9), [100.0, 200.0]);
        assert_eq!(sum(9, 1), [10.0, 20.0]);
        assert_eq!((sum(2, 9), sum(9, 2)), (alloc::vec![3.0], alloc::vec![4.0]));
    }
}
