//! Output of `ndt7-client -format json`: a JSON document a line.
use crate::draft::{Draft, Flows, Interval, Loaded, alone, delay, nanos, observed, of_flow};
use crate::error::Problem;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use fathom_run::{Interruption, Load, Metric, Run, Unrecorded};
use fathom_units::Direction;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    key: String,
    value: Value,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Value {
    test: String,
    /// The end that measured: `client` or `server`.
    origin: String,
    server: String,
    failure: String,
    app_info: Option<AppInfo>,
    #[serde(rename = "TCPInfo")]
    tcp_info: Option<TcpInfo>,
}

/// What a program counted; times in us.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AppInfo {
    elapsed_time: u64,
    num_bytes: u64,
}

/// What the kernel of the server counted; times in us.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct TcpInfo {
    elapsed_time: u64,
    bytes_received: u64,
    #[serde(rename = "RTT")]
    rtt: u64,
    total_retrans: Option<u64>,
}

/// The measurements of a direction.
#[derive(Default)]
struct Test {
    /// Bytes that arrived until a time, in us, as the receiving end says.
    received: Vec<(u64, u64)>,
    /// Bytes that the client had sent.
    sent: Vec<(u64, u64)>,
    /// State of the sending server.
    sender: Vec<(u64, TcpInfo)>,
}

impl Test {
    fn add(&mut self, direction: Direction, value: Value) {
        let is_server = value.origin == "server";
        match (direction, is_server, value.app_info, value.tcp_info) {
            (Direction::Down, false, Some(app), _) => self.received.push((app.elapsed_time, app.num_bytes)),
            (Direction::Up, false, Some(app), _) => self.sent.push((app.elapsed_time, app.num_bytes)),
            (Direction::Down, true, _, Some(tcp)) => self.sender.push((tcp.elapsed_time, tcp)),
            (Direction::Up, true, _, Some(tcp)) => {
                self.received.push((tcp.elapsed_time, tcp.bytes_received));
            }
            _ => {}
        }
    }
}

/// A time of a test in us as nanoseconds of the run, in which the tests follow each other.
fn at(start_ns: u64, us: u64) -> Result<u64, Problem> {
    let ns = us.checked_mul(1_000).and_then(|ns| ns.checked_add(start_ns));
    ns.map_or_else(|| nanos(us as f64 / 1e6), Ok)
}

/// Rates between the reports, the first since the start of the test.
fn intervals(start_ns: u64, counts: &[(u64, u64)]) -> Result<Vec<Interval>, Problem> {
    let (mut before, mut bytes) = (start_ns, 0);
    let mut intervals = Vec::new();
    for (us, count) in counts {
        let now = at(start_ns, *us)?;
        let took = now.checked_sub(before).filter(|took| *took > 0).zip(count.checked_sub(bytes));
        if let Some((took_ns, more)) = took {
            let bits_per_second = more as f64 * 8e9 / took_ns as f64;
            intervals.push(Interval { start_ns: before, end_ns: now, bits_per_second });
            (before, bytes) = (now, *count);
        }
    }
    Ok(intervals)
}

pub(crate) fn read(text: &str) -> Result<Run, Problem> {
    let mut tests: [(Direction, Test); 2] =
        [(Direction::Down, Test::default()), (Direction::Up, Test::default())];
    let (mut server, mut failure) = (String::new(), String::new());
    for line in text.lines().filter(|line| line.contains("\"Key\"")) {
        let Event { key, value } = serde_json::from_str(line)?;
        match key.as_str() {
            "connected" => server = value.server,
            "error" => failure = value.failure,
            "measurement" => {
                let (direction, test) = &mut tests[usize::from(value.test == "upload")];
                test.add(*direction, value);
            }
            _ => {}
        }
    }
    let mut draft = Draft::new("ndt7-client", "", &server);
    let (mut start_ns, mut loads) = (0, Vec::new());
    for (direction, test) in &tests {
        let Some(loaded) = add_test(&mut draft, *direction, test, start_ns)? else { continue };
        start_ns = loaded.span.1;
        let mut load = Load::default();
        match direction {
            Direction::Up => (load.flows_up, load.delivered_up_bytes) = (1, loaded.bytes),
            Direction::Down => (load.flows_down, load.delivered_down_bytes) = (1, loaded.bytes),
        }
        loads.push((alone(*direction), loaded.span, load));
    }
    match (loads.is_empty(), failure.is_empty()) {
        (true, false) => return Err(Problem::Failed(failure)),
        (false, false) => draft.interrupted(Interruption::SessionEnded { server, message: failure }),
        _ => {}
    }
    draft.lacks(Unrecorded::Probes);
    draft.phases(loads)?;
    draft.finish()
}

fn add_test(
    draft: &mut Draft,
    direction: Direction,
    test: &Test,
    start_ns: u64,
) -> Result<Option<Loaded>, Problem> {
    let is_received = !test.received.is_empty();
    let counts = if is_received { &test.received } else { &test.sent };
    let flows = Flows(vec![intervals(start_ns, counts)?]);
    let Some(span) = flows.span() else { return Ok(None) };
    if !is_received {
        draft.lacks(Unrecorded::ReceivedRates);
    }
    flows.series(direction).into_iter().for_each(|series| draft.add(series));
    let (mut rtt, mut retransmits) = (Vec::new(), Vec::new());
    for (us, tcp) in &test.sender {
        let now = at(start_ns, *us)?;
        rtt.push((now, delay(tcp.rtt as f64, 1e-6)?));
        retransmits.extend(tcp.total_retrans.map(|count| (now, count as f64)));
    }
    draft.add(observed(of_flow(Metric::FlowRtt, direction, 0), rtt));
    draft.add(observed(of_flow(Metric::FlowRetransmits, direction, 0), retransmits));
    Ok(Some(Loaded { flows: 1, bytes: flows.bytes(), span }))
}
