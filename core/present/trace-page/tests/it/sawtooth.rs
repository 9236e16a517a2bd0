//! A small model of one upload through a tail-drop buffer: enough of CUBIC for its sawtooth, its
//! losses and their repair.
use fathom_capture::Address;
use fathom_flow::{
    Ack, End, FlowId, Lost, RetransmissionCause, RoundTrip, RttMethod, RttValidity, Segment, SegmentKind,
    Sink, Times,
};
use fathom_units::Rng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(crate) const FLOW: FlowId = FlowId(7);
pub(crate) const BEGIN: i64 = 1_700_000_000_123_456_789;
const MSS: u64 = 1448;
const IP_BYTES: u32 = 1500;
/// Bits of a frame on the line.
const LINE_BITS_PER_SEGMENT: i64 = 1_514 * 8;
/// Base round trip, ns.
const BASE_NS: i64 = 10_000_000;

/// What a model run did, to compare a page with.
#[derive(Default, Debug, Clone, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) segments: u64,
    pub(crate) retransmissions: u64,
    pub(crate) losses: u64,
    pub(crate) marks: u64,
    pub(crate) zero_windows: u64,
    pub(crate) acks: u64,
}

/// A sender, its line and its receiver.
pub(crate) struct Sawtooth<'a, S> {
    sink: &'a mut S,
    rng: Rng,
    ns_per_segment: i64,
    buffer_ns: i64,
    now: i64,
    frame: u64,
    line_free_at: i64,
    /// Answers on their way: when, and the segment.
    answers: VecDeque<(i64, u64)>,
    sent: BTreeMap<u64, (Times, bool)>,
    next: u64,
    outstanding: u64,
    /// Bytes that arrived since the last ACK.
    fresh: u64,
    missing: BTreeSet<u64>,
    arrived: u64,
    lost: BTreeMap<u64, Times>,
    window: f64,
    peak: f64,
    cut_at: i64,
    recover: u64,
    pub(crate) truth: Truth,
    /// Delay of the queue at each thousandth segment.
    pub(crate) queue: Vec<(i64, f64)>,
}

impl<'a, S: Sink> Sawtooth<'a, S> {
    /// A line of so many Mbit/s with a buffer of so many ms.
    pub(crate) fn new(sink: &'a mut S, seed: u64, mbit: i64, buffer_ms: i64) -> Self {
        let ends = [(Address::v4([10, 7, 0, 1]), 43210), (Address::v4([10, 7, 0, 2]), 5201)];
        sink.opened(FLOW, ends, Times { at: BEGIN, frame: 1 });
        Sawtooth {
            sink,
            rng: Rng::new(seed),
            ns_per_segment: LINE_BITS_PER_SEGMENT * 1000 / mbit,
            buffer_ns: buffer_ms * 1_000_000,
            now: BEGIN,
            frame: 1,
            line_free_at: BEGIN,
            answers: VecDeque::new(),
            sent: BTreeMap::new(),
            next: 0,
            outstanding: 0,
            fresh: 0,
            missing: BTreeSet::new(),
            arrived: 0,
            lost: BTreeMap::new(),
            window: 10.0,
            peak: 0.0,
            cut_at: BEGIN,
            recover: 0,
            truth: Truth::default(),
            queue: Vec::new(),
        }
    }
    pub(crate) fn run(&mut self, segments: u64) {
        while self.truth.segments < segments {
            while (self.outstanding as f64) < self.window {
                let number = self.next;
                self.next += 1;
                self.send(number, SegmentKind::New);
            }
            let Some((at, number)) = self.answers.pop_front() else { break };
            self.now = at;
            self.answer(number);
        }
    }
    fn times(&mut self) -> Times {
        self.frame += 1;
        Times { at: self.now, frame: self.frame }
    }
    fn send(&mut self, number: u64, kind: SegmentKind) {
        let times = self.times();
        self.outstanding += 1;
        let ecn = if self.rng.chance(0.000_02) { 3 } else { 0 };
        self.truth.segments += 1;
        self.truth.marks += u64::from(ecn == 3);
        self.truth.retransmissions += u64::from(kind != SegmentKind::New);
        let start = 1 + number * MSS;
        self.sink.segment(
            FLOW,
            &Segment {
                times,
                end: End::A,
                start,
                stop: start + MSS,
                ip_bytes: IP_BYTES,
                kind,
                stamps: None,
                ecn,
                outstanding_bytes: self.outstanding * MSS,
                window_bytes: Some(4 << 20),
            },
        );
        self.sent.insert(number, (times, kind == SegmentKind::New));
        let waits = (self.line_free_at - self.now).max(0);
        if self.truth.segments.is_multiple_of(1000) {
            self.queue.push((self.now, waits as f64 * 1e-9));
        }
        if waits > self.buffer_ns {
            self.missing.insert(number);
            self.lost.insert(number, times);
            return;
        }
        self.line_free_at = self.line_free_at.max(self.now) + self.ns_per_segment;
        self.answers.push_back((self.line_free_at + BASE_NS, number));
    }
    /// A segment arrived, and its ACK is here.
    fn answer(&mut self, number: u64) {
        self.outstanding = self.outstanding.saturating_sub(1);
        self.arrived = self.arrived.max(number + 1);
        self.fresh += MSS;
        let was_missing = self.missing.remove(&number);
        let up_to = self.missing.first().map_or(self.arrived, |first| (*first).min(self.arrived));
        if number % 2 == 1 || was_missing || up_to < self.arrived {
            self.acknowledge(number, up_to);
        }
        self.grow();
        self.repair(number);
        self.sent = self.sent.split_off(&up_to);
    }
    fn acknowledge(&mut self, number: u64, up_to: u64) {
        let times = self.times();
        let island = (1 + number * MSS, 1 + (number + 1) * MSS);
        let blocks = if number >= up_to { vec![island] } else { vec![] };
        let closed = self.rng.chance(0.000_01);
        self.truth.zero_windows += u64::from(closed);
        self.truth.acks += 1;
        let ack = Ack {
            times,
            end: End::B,
            acknowledgement: 1 + up_to * MSS,
            newly_bytes: core::mem::take(&mut self.fresh),
            blocks: &blocks,
            is_duplicate: up_to < self.arrived,
            window_bytes: if closed { 0 } else { 4 << 20 },
            stamps: None,
            echoes_congestion: false,
        };
        self.sink.ack(FLOW, &ack);
        let Some((sent, is_clean)) = self.sent.get(&number).copied() else { return };
        let validity = if is_clean { RttValidity::Clean } else { RttValidity::Ambiguous };
        let trip = RoundTrip {
            times,
            sent_at: sent.at,
            sent_frame: sent.frame,
            end: End::A,
            method: RttMethod::Sequence,
            validity,
            stamps: None,
        };
        self.sink.round_trip(FLOW, &trip);
    }
    /// RFC 9438: a cubic of the time since the cut, about the window at the cut.
    fn grow(&mut self) {
        if self.peak == 0.0 {
            self.window += 1.0;
            return;
        }
        let since = (self.now - self.cut_at) as f64 * 1e-9;
        let back = (self.peak * 0.3 / 0.4).cbrt();
        let target = 0.4 * (since - back).powi(3) + self.peak;
        self.window = self.window.max(target.min(self.window + 1.0));
    }
    /// Sends again what three later segments have passed.
    fn repair(&mut self, number: u64) {
        let Some((first, original)) = self.lost.first_key_value().map(|(k, v)| (*k, *v)) else { return };
        if first + 3 > number {
            return;
        }
        self.lost.remove(&first);
        self.outstanding = self.outstanding.saturating_sub(1);
        self.truth.losses += 1;
        if first >= self.recover {
            (self.peak, self.recover, self.cut_at) = (self.window, self.next, self.now);
            self.window *= 0.7;
        }
        self.send(first, SegmentKind::Retransmission(RetransmissionCause::Fast));
        let (start, repair) = (1 + first * MSS, Times { at: self.now, frame: self.frame });
        let lost = Lost {
            repair,
            original: Some(original),
            end: End::A,
            start,
            stop: start + MSS,
            cause: RetransmissionCause::Fast,
        };
        self.sink.lost(FLOW, &lost);
    }
}
