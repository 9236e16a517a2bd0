//! Time lines written by hand in `golden/trace/*.txt`: packets, and the events that a tracer
//! reports for each.
//!
//! ```text
//! flow
//! 0ms  | A 1:1001 ack 1 ts 5/7        | new out 1000
//! 10ms | B 1:1 ack 1001 sack 2001-3001 | rtt 10ms seq, acks 1000
//! ```
//! `flow` starts a new capture. A packet consists of its sender, the bytes it carries (relative to
//! its SYN, which is 0; omitted for a SYN), and words: `ack`, `win`, `sack`, `ts own/echo`, `id`,
//! `ce`, `ect`, `syn`, `fin`, `rst`, `psh`, `ece`, `cwr`; for a SYN also `mss`, `scale`. `isn 5`
//! adds 5 to both initial sequence numbers. `totals A` ends the capture and lists the nonzero
//! totals of A.
//!
//! Events: `open A` with the initiator; round-trip time samples; evidence of spurious
//! retransmissions; `acks` with the number of newly acknowledged bytes; `dup`; the kind of a
//! segment with the bytes in flight, and the other end's window in brackets if the handshake
//! revealed its scale; `lost` with the time of the original.
use crate::segments::{ENDS, Words, letter};
use fathom_capture::Address;
use fathom_flow::{
    Ack, End, FlowId, Lost, RetransmissionCause, RoundTrip, RttMethod, RttValidity, Segment, SegmentKind,
    Sink, Spurious, SpuriousProof, Times, Totals, Tracer,
};
use fathom_units::Duration;
use std::path::Path;

#[derive(Default)]
struct EventLog(Vec<String>);

const fn cause(cause: RetransmissionCause) -> &'static str {
    match cause {
        RetransmissionCause::Fast => "fast",
        RetransmissionCause::Probe => "probe",
        RetransmissionCause::Timeout => "timeout",
        RetransmissionCause::Spurious => "spurious",
        RetransmissionCause::Unknown => "unknown",
    }
}

fn time(nanos: i64) -> String {
    Duration::from_nanos(nanos as u64).to_string()
}

impl Sink for EventLog {
    fn opened(&mut self, _: FlowId, ends: [(Address, u16); 2], _: Times) {
        self.0.push(format!("open {}", if ends == ENDS { 'A' } else { 'B' }));
    }
    fn segment(&mut self, _: FlowId, segment: &Segment) {
        let kind = match segment.kind {
            SegmentKind::New => "new",
            SegmentKind::Retransmission(why) => cause(why),
            SegmentKind::Reordered => "reordered",
            SegmentKind::Duplicate => "duplicate",
            SegmentKind::KeepAlive => "keep-alive",
            SegmentKind::WindowProbe => "window-probe",
        };
        let window = segment.window_bytes.map_or(String::new(), |bytes| format!(" [{bytes}]"));
        self.0.push(format!("{kind} out {}{window}", segment.outstanding_bytes));
    }
    fn ack(&mut self, _: FlowId, ack: &Ack<'_>) {
        if ack.newly_bytes > 0 {
            self.0.push(format!("acks {}", ack.newly_bytes));
        }
        if ack.is_duplicate {
            self.0.push("dup".into());
        }
    }
    fn round_trip(&mut self, _: FlowId, round_trip: &RoundTrip) {
        let method = match round_trip.method {
            RttMethod::Sequence => "seq",
            RttMethod::Timestamps => "stamps",
            RttMethod::Handshake => "handshake",
        };
        let validity = if round_trip.validity == RttValidity::Clean { "" } else { " ambiguous" };
        self.0.push(format!("rtt {} {method}{validity}", time(round_trip.times.at - round_trip.sent_at)));
    }
    fn lost(&mut self, _: FlowId, lost: &Lost) {
        let since = lost.original.map_or("unseen".into(), |original| format!("since {}", time(original.at)));
        self.0.push(format!("lost {}:{} {since}", lost.start, lost.stop));
    }
    fn spurious(&mut self, _: FlowId, spurious: &Spurious) {
        let proof = match spurious.proof {
            SpuriousProof::Timestamps => "stamps",
            SpuriousProof::DuplicateSack => "dsack",
            SpuriousProof::TooSoon => "time",
        };
        let was = cause(spurious.cause);
        self.0.push(format!("needless {}:{} {was} by {proof}", spurious.start, spurious.stop));
    }
}

fn totals(totals: &Totals) -> String {
    let causes = totals.retransmissions;
    let counts = [
        ("unique", totals.unique_bytes),
        ("stream", totals.stream_bytes.unwrap_or(0)),
        ("fast", causes.fast),
        ("probe", causes.probe),
        ("timeout", causes.timeout),
        ("spurious", causes.spurious),
        ("unknown", causes.unknown),
        ("repeated", totals.repeated_packets),
        ("filled", totals.filled_packets),
        ("reordered", totals.reordered_packets),
        ("copies", totals.network_duplicates),
        ("dups", totals.duplicate_acks),
        ("super", totals.super_packets),
        ("initial", totals.initial_bytes),
        ("flight", totals.first_flight_segments),
        ("zero-windows", totals.zero_windows),
        ("ce", totals.ecn.ce),
        ("ece", totals.ecn.ece),
        ("cwr", totals.ecn.cwr),
        ("idle-ms", totals.longest_idle_ns / 1_000_000),
        ("network-ms", totals.shares.network_ns / 1_000_000),
        ("window-ms", totals.shares.window_ns / 1_000_000),
        ("application-ms", totals.shares.application_ns / 1_000_000),
        ("unseen", totals.unseen_bytes),
        ("strays", totals.strays),
    ];
    let reported: Vec<_> =
        counts.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}")).collect();
    reported.join(", ")
}

/// Replaces the expected events of a time line by the reported ones.
fn replay(text: &str) -> String {
    let mut tracer = Some(Tracer::new(EventLog::default()));
    let (mut frame, mut out) = (0, String::new());
    for line in text.lines() {
        let columns: Vec<&str> = line.split('|').collect();
        if line.trim() == "flow" {
            tracer = Some(Tracer::new(EventLog::default()));
        }
        let reported = match columns[..] {
            [at, packet, _] if !line.starts_with('#') => {
                frame += 1;
                let at = at.trim().parse::<Duration>().unwrap_or_else(|error| panic!("{error}: {line}"));
                let times = Times { at: at.as_nanos() as i64, frame };
                let mut current = tracer.take().unwrap_or_else(|| panic!("the capture is over: {line}"));
                let before = current.sink().0.len();
                Words::parse(packet).send(&mut current, times);
                let reported = current.sink().0[before..].join(", ");
                tracer = Some(current);
                reported
            }
            [action, _] if action.trim().starts_with("totals") => {
                let (flows, _) = tracer.take().unwrap().finish();
                let end = if action.contains('B') { End::B } else { End::A };
                let all: Vec<_> = flows.flows.iter().map(|flow| totals(flow.sent_by(end))).collect();
                assert!(letter(end) == action.trim().chars().last().unwrap(), "{line}");
                all.join("; ")
            }
            _ => {
                out += &format!("{line}\n");
                continue;
            }
        };
        let reported = if reported.is_empty() { "-".to_string() } else { reported };
        out += &format!("{}| {reported}\n", &line[..line.rfind('|').unwrap()]);
    }
    out
}

#[test]
fn time_lines_written_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden/trace");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    let mut differs = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let replayed = replay(&text);
        for (number, (line, reported)) in
            text.lines().zip(replayed.lines()).enumerate().filter(|(_, (a, b))| a != b)
        {
            differs.push(format!("{}:{}: {line}\n  reported {reported}", path.display(), number + 1));
        }
    }
    assert!(differs.is_empty(), "\n{}", differs.join("\n"));
}
