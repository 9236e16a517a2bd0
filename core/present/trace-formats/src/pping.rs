//! pping's lines for machines.
use crate::name::Endpoint;
use crate::number::Seconds;
use crate::per_flow::PerFlow;
use alloc::collections::VecDeque;
use core::fmt::{self, Write};
use fathom_capture::Address;
use fathom_flow::{End, FlowId, Header, RoundTrip, RttMethod, RttValidity, Sink, Times};

/// Packets of one end whose echo is awaited. Beyond, the oldest are forgotten: an end that never
/// answers costs no more than that.
const MAX_WAITING: usize = 1 << 16;

/// Writes a line for each round trip by timestamps, as `pping -m` does:
/// `time rtt minRTT fBytes dBytes pBytes flow`.
///
/// Times are in seconds. The flow is that of the packet that answers,
/// `source:port+destination:port`, and the round trip is from the capture point to its source.
/// `fBytes` are the bytes of the other direction up to the packet that was answered, `dBytes` those
/// of them that had been answered when it passed, and `pBytes` those of this direction since its
/// last line; bytes are those of frames.
///
/// Deliberately other than pping: an answer to an ACK without data does not count if its sender had
/// been silent, as that is how long it had nothing to send; and a timestamp does not expire after
/// 10 s.
#[derive(Debug)]
pub struct Pping<W> {
    out: W,
    flows: PerFlow<Flow>,
    result: fmt::Result,
}

#[derive(Debug)]
struct Flow {
    ends: [(Address, u16); 2],
    sides: [Side; 2],
}

/// What one end sent.
#[derive(Debug, Default)]
struct Side {
    /// Bytes of its frames.
    bytes: u64,
    /// Those of them up to the last that was answered.
    departed: u64,
    /// Bytes when its last line was written.
    reported_bytes: u64,
    /// Least round trip to it, ns.
    min: Option<i64>,
    /// Its last timestamp.
    stamp: Option<u32>,
    waiting: VecDeque<Waiting>,
}

/// A packet that is to be answered.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    frame: u64,
    bytes: u64,
    departed: u64,
}

impl Side {
    fn packet(&mut self, header: &Header) {
        self.bytes += u64::from(header.wire_bytes);
        let stamp = header.stamps.map(|stamps| stamps.value);
        if stamp.is_none() || stamp == self.stamp {
            return;
        }
        self.stamp = stamp;
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Waiting {
            frame: header.times.frame,
            bytes: self.bytes,
            departed: self.departed,
        });
    }
    /// What was known when this frame passed; those before it are answered with it.
    fn answered(&mut self, frame: u64) -> Option<Waiting> {
        while let Some(first) = self.waiting.front().copied().filter(|first| first.frame <= frame) {
            self.waiting.pop_front();
            if first.frame == frame {
                self.departed = first.bytes;
                return Some(first);
            }
        }
        None
    }
}

impl Flow {
    fn line(&mut self, trip: &RoundTrip, out: &mut impl Write) -> fmt::Result {
        let [a, b] = &mut self.sides;
        let (asked, answers) = if trip.end == End::A { (a, b) } else { (b, a) };
        let Some(was) = asked.answered(trip.sent_frame) else { return Ok(()) };
        let rtt = trip.times.at.saturating_sub(trip.sent_at);
        let min = answers.min.map_or(rtt, |min| min.min(rtt));
        let packet_bytes = answers.bytes - answers.reported_bytes;
        (answers.min, answers.reported_bytes) = (Some(min), answers.bytes);
        let [source, destination] = match trip.end {
            End::A => [self.ends[1], self.ends[0]],
            End::B => self.ends,
        };
        let (time, rtt, min) = (Seconds(trip.times.at), Seconds(rtt), Seconds(min));
        write!(out, "{time} {rtt} {min} {} {} {packet_bytes} ", was.bytes, was.departed)?;
        writeln!(out, "{}+{}", Endpoint(source), Endpoint(destination))
    }
}

impl<W: Write> Pping<W> {
    /// Writes to `out`.
    pub const fn new(out: W) -> Self {
        Pping { out, flows: PerFlow::new(), result: Ok(()) }
    }
    /// What it wrote to.
    ///
    /// # Errors
    /// The first that there was; nothing was written after it.
    pub fn finish(self) -> Result<W, fmt::Error> {
        self.result.map(|()| self.out)
    }
}

impl<W: Write> Sink for Pping<W> {
    fn opened(&mut self, flow: FlowId, ends: [(Address, u16); 2], _times: Times) {
        self.flows.add(flow, Flow { ends, sides: [Side::default(), Side::default()] });
    }
    fn packet(&mut self, flow: FlowId, header: &Header) {
        if let Some(flow) = self.flows.get(flow) {
            let [a, b] = &mut flow.sides;
            let side = if header.end == End::A { a } else { b };
            side.packet(header);
        }
    }
    fn round_trip(&mut self, flow: FlowId, trip: &RoundTrip) {
        if trip.method != RttMethod::Timestamps || trip.validity != RttValidity::Clean || self.result.is_err()
        {
            return;
        }
        if let Some(flow) = self.flows.get(flow) {
            self.result = flow.line(trip, &mut self.out);
        }
    }
    fn forgotten(&mut self, flow: FlowId) {
        self.flows.take(flow);
    }
}
