//! An upload of four segments, of which the second is lost, written by hand as a tracer would tell
//! it.
use fathom_capture::{Address, Packet, Stamps, TcpHeader, Transport};
use fathom_flow::{
    Ack, End, FlowId, Header, Lost, RetransmissionCause, RoundTrip, RttMethod, RttValidity, Segment,
    SegmentKind, Sink, Times,
};

/// A packet: its time in ms, its frame, who sent it, its flags, bytes of data and timestamps.
struct Line {
    ms: i64,
    frame: u64,
    end: End,
    flags: u16,
    bytes: u32,
    stamps: (u32, u32),
}

const FLOW: FlowId = FlowId(0);
pub(crate) const ENDS: [(Address, u16); 2] =
    [(Address::v4([192, 0, 2, 1]), 50_000), (Address::v4([198, 51, 100, 2]), 443)];
const ZERO: i64 = 1_700_000_000_000_000_000;

impl Line {
    const fn times(&self) -> Times {
        Times { at: ZERO + self.ms * 1_000_000, frame: self.frame }
    }
    const fn stamps(&self) -> Stamps {
        Stamps { value: self.stamps.0, echo: self.stamps.1 }
    }
    fn write_to(&self, sink: &mut impl Sink) {
        let [a, b] = ENDS;
        let (from, to) = if self.end == End::A { (a, b) } else { (b, a) };
        let tcp = TcpHeader {
            source_port: from.1,
            destination_port: to.1,
            sequence: 0,
            acknowledgement: 0,
            flags: self.flags,
            window: 0,
            payload_bytes: self.bytes,
            stamps: Some(self.stamps()),
            options: &[],
            payload: &[],
        };
        let packet = Packet {
            source: from.0,
            destination: to.0,
            hop_limit: 64,
            dscp: 0,
            ecn: 0,
            identification: Some(self.frame as u16),
            ip_bytes: 52 + self.bytes,
            wire_bytes: 66 + self.bytes,
            transport: Transport::Tcp(tcp.clone()),
        };
        sink.packet(FLOW, &Header::new(self.times(), self.end, &packet, &tcp));
    }
    fn segment(
        &self,
        (start, stop): (u64, u64),
        kind: SegmentKind,
        outstanding_bytes: u64,
        sink: &mut impl Sink,
    ) {
        let segment = Segment {
            times: self.times(),
            end: self.end,
            start,
            stop,
            ip_bytes: 52 + self.bytes,
            kind,
            stamps: Some(self.stamps()),
            ecn: 0,
            outstanding_bytes,
            window_bytes: Some(65_536),
        };
        sink.segment(FLOW, &segment);
    }
    fn ack(&self, acknowledgement: u64, blocks: &[(u64, u64)], is_duplicate: bool, sink: &mut impl Sink) {
        let ack = Ack {
            times: self.times(),
            end: self.end,
            acknowledgement,
            newly_bytes: 0,
            blocks,
            is_duplicate,
            window_bytes: 65_536,
            stamps: Some(self.stamps()),
            echoes_congestion: false,
        };
        sink.ack(FLOW, &ack);
    }
    fn round_trip(&self, sent: &Line, method: RttMethod, sink: &mut impl Sink) {
        let trip = RoundTrip {
            times: self.times(),
            sent_at: sent.times().at,
            sent_frame: sent.frame,
            end: sent.end,
            method,
            validity: RttValidity::Clean,
            stamps: Some(self.stamps()),
        };
        sink.round_trip(FLOW, &trip);
    }
}

const fn line(ms: i64, frame: u64, end: End, flags: u16, bytes: u32, stamps: (u32, u32)) -> Line {
    Line { ms, frame, end, flags, bytes, stamps }
}

/// Flags of TCP.
mod flag {
    pub(super) const FIN: u16 = 1;
    pub(super) const SYN: u16 = 2;
    pub(super) const RST: u16 = 4;
    pub(super) const PSH: u16 = 8;
    pub(super) const ACK: u16 = 16;
}

/// SYN at 0 ms, its answer at 20 ms.
fn handshake(sink: &mut impl Sink) -> Line {
    let syn = line(0, 1, End::A, flag::SYN, 0, (100, 0));
    sink.opened(FLOW, ENDS, syn.times());
    syn.write_to(sink);
    syn.segment((0, 1), SegmentKind::New, 1, sink);
    let answer = line(20, 2, End::B, flag::SYN | flag::ACK, 0, (900, 100));
    answer.write_to(sink);
    answer.round_trip(&syn, RttMethod::Handshake, sink);
    answer.segment((0, 1), SegmentKind::New, 1, sink);
    answer.ack(1, &[], false, sink);
    let ack = line(21, 3, End::A, flag::ACK, 0, (121, 900));
    ack.write_to(sink);
    ack.round_trip(&answer, RttMethod::Handshake, sink);
    ack.ack(1, &[], false, sink);
    ack
}

/// All of it.
pub(crate) fn upload(sink: &mut impl Sink) {
    handshake(sink);
    let first = line(22, 4, End::A, flag::ACK, 1000, (122, 900));
    let second = line(23, 5, End::A, flag::ACK, 1000, (123, 900));
    let third = line(24, 6, End::A, flag::PSH | flag::ACK, 1000, (124, 900));
    for (segment, start) in [(&first, 1), (&second, 1001), (&third, 2001)] {
        segment.write_to(sink);
        segment.segment((start, start + 1000), SegmentKind::New, start + 999, sink);
    }
    let ack = line(43, 7, End::B, flag::ACK, 0, (923, 122));
    ack.write_to(sink);
    ack.round_trip(&first, RttMethod::Sequence, sink);
    ack.round_trip(&first, RttMethod::Timestamps, sink);
    ack.ack(1001, &[], false, sink);
    let duplicate = line(45, 8, End::B, flag::ACK, 0, (925, 122));
    duplicate.write_to(sink);
    duplicate.ack(1001, &[(2001, 3001)], true, sink);
    repair(&second, sink);
}

/// The second segment again, its ACK, and the end.
fn repair(second: &Line, sink: &mut impl Sink) {
    let again = line(46, 9, End::A, flag::ACK, 1000, (146, 925));
    again.write_to(sink);
    let lost = Lost {
        repair: again.times(),
        original: Some(second.times()),
        end: End::A,
        start: 1001,
        stop: 2001,
        cause: RetransmissionCause::Fast,
    };
    sink.lost(FLOW, &lost);
    again.segment((1001, 2001), SegmentKind::Retransmission(RetransmissionCause::Fast), 1000, sink);
    let last = line(67, 10, End::B, flag::ACK, 0, (946, 146));
    last.write_to(sink);
    last.round_trip(&again, RttMethod::Timestamps, sink);
    last.ack(3001, &[], false, sink);
    let fin = line(70, 11, End::A, flag::FIN | flag::ACK, 0, (170, 946));
    fin.write_to(sink);
    fin.segment((3001, 3002), SegmentKind::New, 1, sink);
    line(91, 12, End::B, flag::RST, 0, (991, 0)).write_to(sink);
}
