//! Data recorded for each flow.
use crate::bins::Grid;
use crate::losses::{DelaySource, Losses, Point};
use crate::recent_round_trips::RecentRoundTrips;
use crate::ticks::Ticks;
use alloc::boxed::Box;
use fathom_capture::Stamps;
use fathom_flow::{Ack, End, Header, Lost, RetransmissionCause, RoundTrip, Segment, SegmentKind, Spurious};

/// Series of a flow for both ends, in the order in which a packet adds to them.
pub(crate) mod series {
    use fathom_flow::End;

    const EACH: usize = 5;
    /// Delay from the end to the capture point, relative to an arbitrary zero, ns.
    pub(crate) const fn from(end: End) -> usize {
        end as usize * EACH
    }
    /// Bytes on the wire from the end past the capture point; the levels are bytes in flight.
    pub(crate) const fn passed(end: End) -> usize {
        from(end) + 1
    }
    /// Round-trip time between the capture point and the end, ns.
    pub(crate) const fn round_trip(end: End) -> usize {
        from(end) + 2
    }
    /// Delay from the capture point to the end, relative to an arbitrary zero, ns.
    pub(crate) const fn to(end: End) -> usize {
        from(end) + 3
    }
    /// Payload bytes from the end that the other end has acknowledged.
    pub(crate) const fn delivered(end: End) -> usize {
        from(end.other()) + 4
    }
    pub(crate) const COUNT: usize = 2 * EACH;
}

/// Larger packets cannot occur on Ethernet: offload (GSO, GRO) created them.
const LARGEST_IP_BYTES: u32 = 1500;

/// Extremes of the round-trip time to one end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extremes {
    pub(crate) min_ns: f64,
    pub(crate) max_ns: f64,
    pub(crate) max_frame: u64,
    pub(crate) min_frame: u64,
    pub(crate) count: u64,
}

impl Extremes {
    pub(crate) const NONE: Extremes =
        Extremes { min_ns: f64::INFINITY, max_ns: 0.0, max_frame: 0, min_frame: 0, count: 0 };

    #[inline]
    pub(crate) fn add(&mut self, value: f64, frame: u64) {
        if value < self.min_ns {
            (self.min_ns, self.min_frame) = (value, frame);
        }
        if value > self.max_ns {
            (self.max_ns, self.max_frame) = (value, frame);
        }
        self.count += 1;
    }
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Sent {
    pub(crate) payload_bytes: u64,
    /// Bytes of IP packets with payload, and their number on the wire.
    pub(crate) ip_bytes: u64,
    pub(crate) packets: u64,
    pub(crate) largest_payload: u32,
    /// Number of packets merged or not yet segmented by offload.
    pub(crate) joined: u64,
    is_echoing: bool,
    highest: u64,
    /// All bytes below are acknowledged.
    acknowledged: u64,
    /// Delay of its last segment to the capture point, as returned by [`Sampled::observe`].
    last_delay: Option<f64>,
    pub(crate) losses: Losses,
    pub(crate) recent: RecentRoundTrips,
    /// Duplicate payload bytes that arrived at the other end, over time, if any.
    pub(crate) again: Option<Box<Grid<1>>>,
    /// Payload bytes retransmitted for an unknown reason; they may have been lost or arrived twice.
    pub(crate) doubtful_bytes: u64,
}

/// A flow with enough packets for the analysis.
#[derive(Clone, Debug)]
pub(crate) struct Sampled {
    pub(crate) grid: Grid<{ series::COUNT }>,
    pub(crate) ticks: [Option<Ticks>; 2],
    pub(crate) round_trips: [Extremes; 2],
    pub(crate) sent: [Sent; 2],
    /// Start of the capture; all times are relative to it.
    origin: i64,
    /// Frame numbers of the first and last sampled packet.
    pub(crate) frames: [u64; 2],
    delay: Option<f64>,
}

impl Sampled {
    pub(crate) fn new(origin: i64, frame: u64, limit: usize) -> Self {
        Sampled {
            origin,
            grid: Grid::of(limit),
            ticks: [None, None],
            round_trips: [Extremes::NONE; 2],
            sent: [Sent::default(), Sent::default()],
            frames: [frame, frame],
            delay: None,
        }
    }
    pub(crate) fn close(&mut self) {
        self.grid.close();
        self.sent.iter_mut().filter_map(|sent| sent.again.as_deref_mut()).for_each(Grid::close);
    }
    /// Records the timestamps of a packet once, and returns its delay to the capture point.
    #[inline]
    fn observe(&mut self, end: End, at: i64, frame: u64, stamps: Option<Stamps>) -> Option<f64> {
        if self.frames[1] != frame {
            self.frames[1] = frame;
            self.delay = stamps.and_then(|stamps| self.stamp(end, at, frame, stamps.value));
        }
        self.delay
    }
    #[inline(always)]
    fn stamp(&mut self, end: End, at: i64, frame: u64, value: u32) -> Option<f64> {
        let Some(ticks) = &mut self.ticks[end as usize] else {
            self.ticks[end as usize] = Some(Ticks::new(at, value));
            self.grid.add(series::from(end), at as f64);
            return Some(at as f64);
        };
        let before = ticks.tick_ns();
        let delay = ticks.observe(at, value, frame)?;
        if ticks.tick_ns() != before {
            let after = ticks.tick_ns();
            self.retime(end, before, after);
        }
        self.grid.add(series::from(end), delay);
        Some(delay)
    }
    /// Converts series from ticks of `before` ns to ticks of `after` ns. The value for a delay `d`
    /// at time `t` depends on `(t - d) / before`.
    #[cold]
    fn retime(&mut self, end: End, before: f64, after: f64) {
        let scale = after / before;
        let first = self.ticks[end as usize].as_ref().map_or(0.0, Ticks::first_ns);
        self.grid.map(series::from(end), scale, 1.0 - scale, 0.0);
        // The series to the end is relative to the ticks since the first, which last as long as the
        // elapsed time, except for delays.
        self.grid.map(series::to(end), 1.0, scale - 1.0, first);
        self.sent[end as usize].losses.retime(scale);
        self.sent[end as usize].last_delay = None;
    }
    #[inline]
    pub(crate) fn segment(&mut self, segment: &Segment, limit: usize) {
        let (end, at, frame) = (segment.end, segment.times.at - self.origin, segment.times.frame);
        // A pacing sender retransmits by a timer; the timestamp is when the next segment departs.
        let is_again = matches!(segment.kind, SegmentKind::Retransmission(_));
        if let SegmentKind::Retransmission(cause) = segment.kind {
            self.sent[end as usize].sent_again(cause, at, segment.stop - segment.start, limit);
        }
        let delay = if is_again { None } else { self.observe(end, at, frame, segment.stamps) };
        let wire = self.sent[end as usize].count(segment);
        self.grid.add_with_level(series::passed(end), wire, segment.outstanding_bytes as i64 as f64);
        let sent = &mut self.sent[end as usize];
        sent.losses.watch(segment.outstanding_bytes);
        if segment.start > sent.highest && sent.highest > 0 {
            // The buffer may have been fuller for the packet after the hole.
            let fuller = delay.map(|after| sent.last_delay.map_or(after, |before| before.max(after)));
            sent.losses.hole((sent.highest, segment.start), at, frame, fuller);
        }
        sent.last_delay = if is_again { sent.last_delay } else { delay };
        sent.highest = sent.highest.max(segment.stop);
        if segment.ecn == 3 {
            let delay = delay.map(|delay| (DelaySource::Arrival, delay as f32));
            sent.losses.marks.push(Point { at, frame, repair: 0, delay });
        }
    }
    /// Records a packet and sets the time for what is added next. ACKs without data use link
    /// capacity too; packets with data, SYN or FIN are counted as segments.
    #[inline]
    pub(crate) fn packet(&mut self, header: &Header, limit: usize) {
        self.grid.turn_to(header.times.at - self.origin, limit);
        if header.length() == 0 {
            self.grid.add(series::passed(header.end), f64::from(header.ip_bytes));
        }
    }
    #[inline]
    pub(crate) fn ack(&mut self, ack: &Ack<'_>) {
        let (at, frame) = (ack.times.at - self.origin, ack.times.frame);
        let sender = ack.end.other();
        self.sent[sender as usize].acknowledged = ack.acknowledgement;
        // A pacing sender timestamps such an ACK with the departure time of the next segment.
        let own = &self.sent[ack.end as usize];
        if own.highest <= own.acknowledged {
            self.observe(ack.end, at, frame, ack.stamps);
        }
        if ack.newly_bytes > 0 {
            self.grid.add(series::delivered(sender), ack.newly_bytes as i64 as f64);
        }
        self.sent[sender as usize].echoed(ack.echoes_congestion, at, frame);
    }
    /// Records an unambiguous round-trip time.
    #[inline]
    pub(crate) fn round_trip(&mut self, trip: &RoundTrip) {
        let (to, at) = (trip.end.other(), trip.times.at - self.origin);
        let took = (trip.times.at - trip.sent_at) as f64;
        self.round_trips[to as usize].add(took, trip.times.frame);
        self.grid.add(series::round_trip(to), took);
        self.sent[trip.end as usize].recent.push(trip.sent_at - self.origin, took);
        let ticks = self.ticks[to as usize].as_ref();
        let back = trip.stamps.and_then(|stamps| ticks.and_then(|ticks| ticks.delay(at, stamps.value)));
        if let Some(back) = back {
            self.grid.add(series::to(to), took - back);
        }
    }
    /// Removes a loss when its retransmission turns out to be spurious.
    pub(crate) fn spurious(&mut self, spurious: &Spurious, limit: usize) {
        let sent = &mut self.sent[spurious.end as usize];
        sent.losses.void(spurious.repair.frame);
        let bytes = spurious.stop - spurious.start;
        if spurious.cause == RetransmissionCause::Unknown {
            sent.doubtful_bytes = sent.doubtful_bytes.saturating_sub(bytes);
        }
        sent.arrived_again(spurious.times.at - self.origin, bytes, limit);
    }
    pub(crate) fn lost(&mut self, lost: &Lost) {
        let origin = self.origin;
        let Sent { losses, recent, .. } = &mut self.sent[lost.end as usize];
        match lost.original {
            Some(original) => {
                losses.lost_after(original.at - origin, original.frame, lost.repair.frame, recent)
            }
            None => losses.lost_before(lost.start, lost.repair.at - origin, lost.repair.frame),
        }
    }
}

impl Sent {
    /// Counts a segment, and returns its bytes on the wire as IP packets.
    #[inline]
    fn count(&mut self, segment: &Segment) -> f64 {
        let payload = (segment.stop - segment.start) as u32;
        if payload == 0 || segment.ip_bytes <= payload {
            return f64::from(segment.ip_bytes);
        }
        let header = segment.ip_bytes - payload;
        let (mut wire, mut packets) = (segment.ip_bytes, 1);
        if segment.ip_bytes > LARGEST_IP_BYTES && header < LARGEST_IP_BYTES {
            packets = payload.div_ceil(LARGEST_IP_BYTES - header);
            wire = payload + packets * header;
            self.joined += 1;
        }
        self.payload_bytes += u64::from(payload);
        self.ip_bytes += u64::from(wire);
        self.packets += u64::from(packets);
        self.largest_payload = self.largest_payload.max(payload);
        f64::from(wire)
    }
    fn sent_again(&mut self, cause: RetransmissionCause, at: i64, bytes: u64, limit: usize) {
        match cause {
            RetransmissionCause::Spurious => self.arrived_again(at, bytes, limit),
            RetransmissionCause::Unknown => self.doubtful_bytes += bytes,
            RetransmissionCause::Fast | RetransmissionCause::Probe | RetransmissionCause::Timeout => {}
        }
    }
    fn arrived_again(&mut self, at: i64, bytes: u64, limit: usize) {
        let again = self.again.get_or_insert_with(|| Box::new(Grid::of(limit)));
        again.turn_to(at, limit);
        again.add(0, bytes as f64);
    }
    /// Records whether an ACK echoes congestion. A run of echoes counts as one mark at its start.
    #[inline]
    fn echoed(&mut self, is_echo: bool, at: i64, frame: u64) {
        if is_echo && !self.is_echoing {
            let delay = self.recent.last().map(|took| (DelaySource::RoundTrip, took));
            self.losses.marks.push(Point { at, frame, repair: 0, delay });
        }
        self.is_echoing = is_echo;
    }
    /// Bytes of IP packets per byte of payload.
    pub(crate) fn overhead_ratio(&self) -> f64 {
        if self.payload_bytes == 0 { 1.0 } else { self.ip_bytes as f64 / self.payload_bytes as f64 }
    }
    pub(crate) fn packet_bytes(&self) -> f64 {
        if self.packets == 0 { 0.0 } else { self.ip_bytes as f64 / self.packets as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use fathom_flow::{SpuriousProof, Times};

    const MS: i64 = 1_000_000;

    fn times(ms: i64) -> Times {
        Times { at: ms * MS, frame: ms as u64 }
    }

    /// A segment of A at `ms` with timestamp `stamp` in ms.
    fn segment(ms: i64, start: u64, stamp: u32, kind: SegmentKind) -> Segment {
        Segment {
            times: times(ms),
            end: End::A,
            start,
            stop: start + 1000,
            ip_bytes: 1052,
            kind,
            stamps: Some(Stamps { value: stamp, echo: 0 }),
            ecn: 0,
            outstanding_bytes: 1000,
            window_bytes: None,
        }
    }

    /// An ACK of `end` without data.
    fn ack(ms: i64, end: End, acknowledgement: u64, stamp: u32) -> Ack<'static> {
        Ack {
            times: times(ms),
            end,
            acknowledgement,
            newly_bytes: 0,
            blocks: &[],
            is_duplicate: false,
            window_bytes: 0,
            stamps: Some(Stamps { value: stamp, echo: 0 }),
            echoes_congestion: false,
        }
    }

    /// Linux with BBR: early packets carry the departure time of the next segment.
    #[test]
    fn timestamps_in_the_future_are_no_delay() {
        let mut sampled = Sampled::new(0, 1, 2048);
        for number in 0..200_i64 {
            let (ms, start) = (number * 20, number as u64 * 1000 + 1);
            let late = if number % 10 == 5 { 50 } else { 0 };
            sampled.grid.turn_to(ms * MS, 2048);
            sampled.segment(&segment(ms, start, ms as u32, SegmentKind::New), 2048);
            if late > 0 {
                sampled.ack(&ack(ms + 1, End::A, 1, (ms + late) as u32));
                let again = SegmentKind::Retransmission(RetransmissionCause::Timeout);
                sampled.segment(&segment(ms + 2, start, (ms + late) as u32, again), 2048);
            }
            sampled.ack(&ack(ms + 10, End::B, start + 1000, ms as u32));
            // All data is acknowledged: now its ACKs count too.
            sampled.ack(&ack(ms + 11, End::A, 1, (ms + 11) as u32));
        }
        sampled.close();
        let bins = sampled.grid.bins(series::from(End::A));
        let min = bins.iter().map(|bin| bin.min).fold(f32::INFINITY, f32::min);
        let max = bins.iter().map(|bin| bin.max).fold(f32::NEG_INFINITY, f32::max);
        assert!(max - min < 1.1 * MS as f32, "{min} to {max} ns");
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u32>(), 400);
    }

    /// Retransmissions of data that had arrived also passed the link.
    #[test]
    fn duplicate_arrivals_are_counted_when_detected() {
        let mut sampled = Sampled::new(0, 1, 2048);
        sampled.segment(&segment(1, 1, 1, SegmentKind::New), 2048);
        sampled.segment(&segment(5, 1, 5, SegmentKind::Retransmission(RetransmissionCause::Spurious)), 2048);
        sampled.segment(&segment(7, 1, 7, SegmentKind::Retransmission(RetransmissionCause::Unknown)), 2048);
        assert_eq!(sampled.sent[0].doubtful_bytes, 1000);
        let cause = RetransmissionCause::Unknown;
        let proof = SpuriousProof::DuplicateSack;
        let spurious =
            Spurious { times: times(9), repair: times(7), end: End::A, start: 1, stop: 1001, cause, proof };
        sampled.spurious(&spurious, 2048);
        sampled.close();
        let again = sampled.sent[0].again.as_deref().unwrap();
        let bins: Vec<_> = again.bins(0).iter().map(|bin| (bin.index << again.shift(), bin.sum)).collect();
        assert_eq!(bins.iter().map(|bin| bin.1).collect::<Vec<_>>(), [1000.0, 1000.0]);
        assert_eq!(sampled.sent[0].doubtful_bytes, 0);
    }
}
