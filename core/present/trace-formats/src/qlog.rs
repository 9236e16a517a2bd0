//! qlog (draft-ietf-quic-qlog-main-schema), as JSON text sequences (RFC 7464).
mod sent;

use crate::files::{Files, Gathered};
use crate::name::{Endpoint, file_of};
use crate::number::{MS, Milliseconds};
use crate::per_flow::PerFlow;
use core::fmt::{self, Write};
use fathom_capture::Address;
use fathom_flow::{
    Ack, End, FlowId, Header, Lost, RetransmissionCause, RoundTrip, RttMethod, RttValidity, Segment,
    SegmentKind, Sink, Times,
};
use sent::{Numbers, Unacknowledged};

/// Writes each direction that carries data into a separate file, `a2b.sqlog`, as the sender of
/// the data would have logged it. qvis shows it in its congestion graph.
///
/// The events are those of QUIC, as qlog has none of TCP. `transport:packet_sent` is a segment,
/// numbered from 0 in the order of sending as no retransmission has its original's number, with the
/// bytes it holds as a frame of stream 0. `transport:packet_received` is an ACK of the other end,
/// with the numbers of the segments that it is the first to acknowledge, also selectively.
/// `recovery:packet_lost` is a loss, written at the time of its repair. `recovery:metrics_updated`
/// has the round trip by sequence numbers, the least and the smoothed one (RFC 6298), and bytes in
/// flight; the congestion window is not known. Times are those of the capture point, in
/// milliseconds since the flow's first packet.
#[derive(Debug)]
pub struct Qlog<F, C> {
    files: F,
    choose: C,
    flows: PerFlow<Flow>,
    result: fmt::Result,
}

#[derive(Debug)]
struct Flow {
    id: FlowId,
    ends: [(Address, u16); 2],
    opened: i64,
    sides: [Option<Log>; 2],
    passing: Passing,
}

/// The packet that passes.
#[derive(Clone, Copy, Default, Debug)]
struct Passing {
    ip_bytes: u32,
    data_bytes: u32,
    is_fin: bool,
}

/// The log of one end's data.
#[derive(Debug)]
struct Log {
    file: Gathered,
    opened: i64,
    sent: Unacknowledged,
    /// ACKs so far.
    received: u64,
    rtt: Rtt,
    in_flight: u64,
}

/// RFC 6298 section 2, in ms.
#[derive(Clone, Copy, Debug)]
struct Rtt {
    least: f64,
    smoothed: f64,
}

impl Rtt {
    /// What a sample weighs (RFC 6298 section 2.3, alpha).
    const ALPHA: f64 = 0.125;
    const NONE: Rtt = Rtt { least: f64::INFINITY, smoothed: 0.0 };

    fn add(&mut self, rtt: f64) {
        self.smoothed =
            if self.least.is_finite() { self.smoothed + Self::ALPHA * (rtt - self.smoothed) } else { rtt };
        self.least = self.least.min(rtt);
    }
}

/// The flag of the last segment (RFC 9293 section 3.1).
const FIN: u16 = 1;
/// What begins a text of a sequence (RFC 7464 section 2.2).
const BEGIN: char = '\u{1e}';
/// All packets are of one number space, as those of QUIC after its handshake.
const PACKET_TYPE: &str = "1RTT";

/// Nothing where no number is acknowledged: qlog has no frame without ranges.
struct AckFrame(Numbers);

impl fmt::Display for AckFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(f, r#"{{"frame_type":"ack","acked_ranges":{}}}"#, self.0)
        }
    }
}

impl Log {
    fn new(flow: &Flow, end: End) -> Result<Self, fmt::Error> {
        let [a, b] = flow.ends;
        let (from, to, perspective) = if end == End::A { (a, b, "client") } else { (b, a, "server") };
        let mut file = Gathered::new(file_of(flow.id, end, ".sqlog"));
        let title = alloc::format!("{} to {}", Endpoint(from), Endpoint(to));
        write!(
            file,
            r#"{BEGIN}{{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"{title}","trace":{{"title":"{title}","#
        )?;
        write!(file, r#""vantage_point":{{"type":"network","flow":"{perspective}"}},"#)?;
        write!(file, r#""common_fields":{{"protocol_type":["TCP"],"time_format":"relative","#)?;
        writeln!(file, r#""reference_time":{}}}}}}}"#, Milliseconds(flow.opened))?;
        Ok(Log {
            file,
            opened: flow.opened,
            sent: Unacknowledged::default(),
            received: 0,
            rtt: Rtt::NONE,
            in_flight: 0,
        })
    }
    fn event(&mut self, at: i64, name: &str, data: fmt::Arguments<'_>) -> fmt::Result {
        let time = at.saturating_sub(self.opened) as f64 / MS;
        writeln!(self.file, r#"{BEGIN}{{"time":{time:.6},"name":"{name}","data":{{{data}}}}}"#)
    }
    fn segment(&mut self, segment: &Segment, passing: Passing) -> fmt::Result {
        let Segment { start, stop, ip_bytes, .. } = *segment;
        let (length, fin) = (passing.data_bytes, if passing.is_fin { r#","fin":true"# } else { "" });
        let number = self.sent.add(start, stop, segment.times.frame);
        self.in_flight = segment.outstanding_bytes;
        let trigger = match segment.kind {
            SegmentKind::Retransmission(RetransmissionCause::Timeout) => r#","trigger":"retransmit_timeout""#,
            SegmentKind::Retransmission(RetransmissionCause::Probe) => r#","trigger":"pto_probe""#,
            SegmentKind::Retransmission(_) => r#","trigger":"retransmit_reordered""#,
            _ => "",
        };
        self.event(
            segment.times.at,
            "transport:packet_sent",
            format_args!(
                r#""header":{{"packet_type":"{PACKET_TYPE}","packet_number":{number}}},"raw":{{"length":{ip_bytes},"payload_length":{length}}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{start},"length":{length}{fin}}}]{trigger}"#
            ),
        )
    }
    fn ack(&mut self, ack: &Ack<'_>, ip_bytes: u32) -> fmt::Result {
        let number = self.received;
        self.received += 1;
        let frame = AckFrame(self.sent.acknowledged(ack.acknowledgement, ack.blocks));
        self.event(
            ack.times.at,
            "transport:packet_received",
            format_args!(
                r#""header":{{"packet_type":"{PACKET_TYPE}","packet_number":{number}}},"raw":{{"length":{ip_bytes}}},"frames":[{frame}]"#
            ),
        )
    }
    fn round_trip(&mut self, trip: &RoundTrip) -> fmt::Result {
        let latest = trip.times.at.saturating_sub(trip.sent_at) as f64 / MS;
        self.rtt.add(latest);
        let (Rtt { least, smoothed }, in_flight) = (self.rtt, self.in_flight);
        self.event(
            trip.times.at,
            "recovery:metrics_updated",
            format_args!(
                r#""latest_rtt":{latest:.6},"min_rtt":{least:.6},"smoothed_rtt":{smoothed:.6},"bytes_in_flight":{in_flight}"#
            ),
        )
    }
    fn lost(&mut self, lost: &Lost) -> fmt::Result {
        // What was lost before the capture point was never logged as sent.
        let Some(number) = lost.original.and_then(|original| self.sent.number(lost.stop, original.frame))
        else {
            return Ok(());
        };
        let trigger = match lost.cause {
            RetransmissionCause::Timeout => "pto_expired",
            RetransmissionCause::Probe => "time_threshold",
            _ => "reordering_threshold",
        };
        let (offset, length) = (lost.start, lost.stop - lost.start);
        self.event(
            lost.repair.at,
            "recovery:packet_lost",
            format_args!(
                r#""header":{{"packet_type":"{PACKET_TYPE}","packet_number":{number}}},"frames":[{{"frame_type":"stream","stream_id":0,"offset":{offset},"length":{length}}}],"trigger":"{trigger}""#
            ),
        )
    }
}

impl<F: Files, C: FnMut(FlowId, [(Address, u16); 2]) -> bool> Qlog<F, C> {
    /// Logs into `files` the flows for which `choose` is true.
    pub const fn new(files: F, choose: C) -> Self {
        Qlog { files, choose, flows: PerFlow::new(), result: Ok(()) }
    }
    /// Completes all logs.
    ///
    /// # Errors
    /// The first that there was; nothing was written after it.
    pub fn finish(mut self) -> Result<F, fmt::Error> {
        self.result?;
        for log in self.flows.drain().flat_map(|flow| flow.sides).flatten() {
            let mut file = log.file;
            file.flush(&mut self.files)?;
        }
        Ok(self.files)
    }
    /// Writes into the log of one end's data; if it `begins` one, that is where its first data
    /// passes.
    fn log(
        &mut self,
        flow: FlowId,
        end: End,
        begins: bool,
        write: impl FnOnce(&mut Log, Passing) -> fmt::Result,
    ) {
        let Some(flow) = self.flows.get(flow).filter(|_| self.result.is_ok()) else { return };
        self.result = flow.log(end, begins, &mut self.files, write);
    }
}

impl Flow {
    fn log(
        &mut self,
        end: End,
        begins: bool,
        files: &mut impl Files,
        write: impl FnOnce(&mut Log, Passing) -> fmt::Result,
    ) -> fmt::Result {
        let begun = if begins
            && self.passing.data_bytes > 0
            && self.sides.get(end as usize).is_some_and(Option::is_none)
        {
            Some(Log::new(self, end)?)
        } else {
            None
        };
        let passing = self.passing;
        let Some(side) = self.sides.get_mut(end as usize) else { return Ok(()) };
        if begun.is_some() {
            *side = begun;
        }
        let Some(log) = side else { return Ok(()) };
        write(log, passing)?;
        log.file.pass(files)
    }
}

impl<F: Files, C: FnMut(FlowId, [(Address, u16); 2]) -> bool> Sink for Qlog<F, C> {
    fn opened(&mut self, flow: FlowId, ends: [(Address, u16); 2], times: Times) {
        if (self.choose)(flow, ends) {
            let new =
                Flow { id: flow, ends, opened: times.at, sides: [None, None], passing: Passing::default() };
            self.flows.add(flow, new);
        }
    }
    fn packet(&mut self, flow: FlowId, header: &Header) {
        let Header { ip_bytes, payload_bytes: data_bytes, flags, .. } = *header;
        if let Some(flow) = self.flows.get(flow) {
            flow.passing = Passing { ip_bytes, data_bytes, is_fin: flags & FIN != 0 };
        }
    }
    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        self.log(flow, segment.end, true, |log, passing| log.segment(segment, passing));
    }
    fn ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
        self.log(flow, ack.end.other(), false, |log, passing| log.ack(ack, passing.ip_bytes));
    }
    fn round_trip(&mut self, flow: FlowId, trip: &RoundTrip) {
        if trip.method != RttMethod::Timestamps && trip.validity == RttValidity::Clean {
            self.log(flow, trip.end, false, |log, _| log.round_trip(trip));
        }
    }
    fn lost(&mut self, flow: FlowId, lost: &Lost) {
        self.log(flow, lost.end, false, |log, _| log.lost(lost));
    }
    fn forgotten(&mut self, flow: FlowId) {
        self.flows.take(flow);
    }
}
