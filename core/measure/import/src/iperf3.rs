//! Output of `iperf3 --json` and `--json-stream`, of the client or the server.
use crate::draft::{Draft, Flows, Interval, Loaded, delay, nanos, observed, of_flow};
use crate::error::Problem;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Interruption, Metric, Run, Unrecorded};
use fathom_units::{Direction, PerDirection};
use serde::Deserialize;

#[derive(Deserialize, Default)]
struct File {
    #[serde(default)]
    start: Start,
    #[serde(default)]
    intervals: Vec<Report>,
    #[serde(default)]
    end: End,
    server_output_json: Option<Output>,
    error: Option<String>,
}

/// The output of the other end.
#[derive(Deserialize)]
struct Output {
    #[serde(default)]
    intervals: Vec<Report>,
}

#[derive(Deserialize, Default)]
struct Start {
    #[serde(default)]
    version: String,
    timestamp: Option<Timestamp>,
    connecting_to: Option<Peer>,
    accepted_connection: Option<Peer>,
    test_start: Option<TestStart>,
}

#[derive(Deserialize)]
struct Timestamp {
    timesecs: f64,
}

#[derive(Deserialize)]
struct Peer {
    #[serde(default)]
    host: String,
}

#[derive(Deserialize, Default)]
struct TestStart {
    #[serde(default)]
    protocol: String,
    /// 1 if the server sends.
    #[serde(default)]
    reverse: u32,
}

#[derive(Deserialize)]
struct Report {
    streams: Vec<Stream>,
}

#[derive(Deserialize)]
struct Stream {
    socket: i64,
    start: f64,
    end: f64,
    bits_per_second: f64,
    #[serde(default)]
    omitted: bool,
    /// Whether this end sends; versions before 3.7 do not say.
    sender: Option<bool>,
    retransmits: Option<f64>,
    snd_cwnd: Option<f64>,
    /// In us.
    rtt: Option<f64>,
}

#[derive(Deserialize, Default)]
struct End {
    sum_received: Option<Sum>,
    sum_received_bidir_reverse: Option<Sum>,
    #[serde(default)]
    sender_tcp_congestion: String,
}

#[derive(Deserialize)]
struct Sum {
    bytes: f64,
}

impl End {
    /// Bytes that the receiving end of a direction counted, if it said so.
    fn received(&self, direction: Direction, is_both: bool, is_server: bool) -> Option<f64> {
        let sum = match direction {
            Direction::Down if is_both => &self.sum_received_bidir_reverse,
            _ => &self.sum_received,
        };
        // The sums of a server are not those of both ends.
        sum.as_ref().map(|sum| sum.bytes).filter(|bytes| *bytes > 0.0 && !is_server)
    }
}

/// A line of `--json-stream`.
#[derive(Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
enum Event {
    Start(Start),
    Interval(Report),
    End(End),
    Error(String),
    ServerOutputJson(Output),
    #[serde(other, deserialize_with = "ignore")]
    Other,
}

fn ignore<'d, D: serde::Deserializer<'d>>(from: D) -> Result<(), D::Error> {
    serde::de::IgnoredAny::deserialize(from).map(|_| ())
}

pub(crate) fn read_stream(text: &str) -> Result<Run, Problem> {
    let mut file = File::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line)? {
            Event::Start(start) => file.start = start,
            Event::Interval(report) => file.intervals.push(report),
            Event::End(end) => file.end = end,
            Event::Error(error) => file.error = Some(error),
            Event::ServerOutputJson(output) => file.server_output_json = Some(output),
            Event::Other => {}
        }
    }
    run(&file)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Run, Problem> {
    run(&serde_json::from_slice(bytes)?)
}

/// What one end reported of its flows.
#[derive(Default)]
struct Seen {
    /// By whether this end sends, then by socket.
    rates: BTreeMap<bool, BTreeMap<i64, Vec<Interval>>>,
    /// Of flows that this end sends, by socket: time, round trip, window, retransmissions so far.
    senders: BTreeMap<i64, Vec<Sender>>,
}

struct Sender {
    at: u64,
    rtt_s: Option<f64>,
    window_bytes: Option<f64>,
    retransmits: Option<f64>,
}

impl Seen {
    fn new(reports: &[Report], sends_by_default: bool) -> Result<Self, Problem> {
        let mut seen = Seen::default();
        for stream in reports.iter().flat_map(|report| &report.streams).filter(|stream| !stream.omitted) {
            let sends = stream.sender.unwrap_or(sends_by_default);
            let (start_ns, end_ns) = (nanos(stream.start)?, nanos(stream.end)?);
            let interval = Interval { start_ns, end_ns, bits_per_second: stream.bits_per_second };
            seen.rates.entry(sends).or_default().entry(stream.socket).or_default().push(interval);
            if sends {
                let of_flow = seen.senders.entry(stream.socket).or_default();
                let before = of_flow.last().and_then(|last| last.retransmits).unwrap_or(0.0);
                of_flow.push(Sender {
                    at: end_ns,
                    rtt_s: stream.rtt.map(|us| delay(us, 1e-6)).transpose()?.filter(|rtt| *rtt > 0.0),
                    window_bytes: stream.snd_cwnd,
                    retransmits: stream.retransmits.map(|count| before + count),
                });
            }
        }
        Ok(seen)
    }
    fn take(&mut self, sends: bool) -> Flows {
        Flows(self.rates.remove(&sends).unwrap_or_default().into_values().collect())
    }
}

/// Adds the rates of a direction; `None` if nothing was sent in it.
fn add_direction(
    draft: &mut Draft,
    (here, there): (&mut Seen, &mut Seen),
    (direction, sends, is_udp): (Direction, bool, bool),
    total_bytes: Option<f64>,
) -> Result<Option<Loaded>, Problem> {
    let (own, received) = (here.take(sends), there.take(false));
    let Some(span) = own.span() else { return Ok(None) };
    let flows = own.0.len() as u32;
    // The receiving end knows what was delivered.
    let is_received = !sends || received.span().is_some();
    let rates = if sends && is_received { received } else { own };
    let bytes = match total_bytes {
        Some(bytes) => bytes as u64,
        // A sender of UDP keeps its rate, whatever arrives.
        None if is_udp && !is_received => {
            return Err(Problem::Lacks { what: "received rates", command: "iperf3 --get-server-output" });
        }
        None => rates.bytes(),
    };
    if !is_received {
        draft.lacks(Unrecorded::ReceivedRates);
    }
    if is_received || !is_udp {
        rates.series(direction).into_iter().for_each(|series| draft.add(series));
    }
    Ok(Some(Loaded { flows, bytes, span }))
}

type Pick = fn(&Sender) -> Option<f64>;

/// Adds what the kernel of the sending end knows of its flows.
fn add_senders(draft: &mut Draft, direction: Direction, senders: &BTreeMap<i64, Vec<Sender>>) {
    let values: [(Metric, Pick); 3] = [
        (Metric::FlowRtt, |sender| sender.rtt_s),
        (Metric::FlowCwnd, |sender| sender.window_bytes),
        (Metric::FlowRetransmits, |sender| sender.retransmits),
    ];
    for (flow, samples) in (0..).zip(senders.values()) {
        for (metric, value) in values {
            let points = samples.iter().filter_map(|sender| Some((sender.at, value(sender)?)));
            draft.add(observed(of_flow(metric, direction, flow), points));
        }
    }
}

fn run(file: &File) -> Result<Run, Problem> {
    if let (Some(error), true) = (&file.error, file.intervals.is_empty()) {
        return Err(Problem::Failed(error.clone()));
    }
    let start = &file.start;
    let test = start.test_start.as_ref();
    let is_server = start.accepted_connection.is_some();
    let is_reverse = test.is_some_and(|test| test.reverse == 1);
    let is_udp = test.is_some_and(|test| test.protocol == "UDP");
    let mut here = Seen::new(&file.intervals, is_reverse == is_server)?;
    let there = file.server_output_json.as_ref().map(|output| output.intervals.as_slice());
    let mut there = Seen::new(there.unwrap_or_default(), is_reverse)?;
    let peer = start.connecting_to.as_ref().or(start.accepted_connection.as_ref());
    let host = peer.map_or("", |peer| peer.host.as_str());
    let mut draft = Draft::new("iperf3", start.version.trim_start_matches("iperf "), host);
    draft.started(start.timestamp.as_ref().map_or(0.0, |timestamp| timestamp.timesecs));
    // Directions are those of the client.
    let sent = if is_server { Direction::Down } else { Direction::Up };
    add_senders(&mut draft, sent, &here.senders);
    let is_both = here.rates.len() == 2;
    let mut loads = PerDirection::from_fn(|_| None);
    for direction in Direction::BOTH {
        let total = file.end.received(direction, is_both, is_server);
        let kind = (direction, direction == sent, is_udp);
        loads[direction] = add_direction(&mut draft, (&mut here, &mut there), kind, total)?;
    }
    draft.load(loads, &file.end.sender_tcp_congestion)?;
    draft.lacks(Unrecorded::Probes);
    if let Some(error) = &file.error {
        draft.interrupted(Interruption::SessionEnded { server: host.into(), message: error.clone() });
    }
    draft.finish()
}
