//! The server's end of the control connection of one test.
use super::datagrams::{LONGEST_BYTES, Numbers};
use super::{Mode, STREAMS_LIMIT, StreamResult, number, state};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Longest accepted parameters (`MAX_PARAMS_JSON_STRING`).
const PARAMETERS_LIMIT_BYTES: usize = 8 << 10;
/// Longest accepted results of a client. Those of 256 streams have about 40 kB.
const RESULTS_LIMIT_BYTES: usize = 1 << 20;
/// Error of iperf3 for an option that is not implemented (`IEUNIMP`).
const NOT_IMPLEMENTED: u32 = 13;
/// Its error for too many streams (`IENUMSTREAMS`).
const TOO_MANY_STREAMS: u32 = 6;

/// What a client wants to test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Directions, seen from the client.
    pub mode: Mode,
    /// Streams of each direction, 1 to [`STREAMS_LIMIT`].
    pub streams: u32,
    /// Congestion control of this end's streams; `None` for the default.
    pub congestion_control: Option<String>,
    /// Rate of each stream in bit/s, if it is limited. It is in those of UDP that this end sends.
    pub bits_per_second: Option<u64>,
    /// UDP instead of TCP.
    pub udp: Option<UdpStreams>,
}

/// Datagrams that a client asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpStreams {
    /// Length of a datagram in bytes, with the header.
    pub length: u32,
    /// Their numbers.
    pub numbers: Numbers,
}

impl Request {
    /// Number of connections that the client opens.
    #[must_use]
    pub const fn connections(&self) -> u32 {
        match self.mode {
            Mode::Bidirectional => 2 * self.streams,
            Mode::Forward | Mode::Reverse => self.streams,
        }
    }
}

/// What the server has to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Output {
    /// Send these bytes on the control connection.
    Send(Vec<u8>),
    /// Wait for the streams, then call [`Server::start`].
    AwaitStreams(Request),
    /// The load starts.
    Start,
    /// The load ends. When it has, call [`Server::report`].
    Stop,
    /// The test is complete. Nothing follows.
    Done,
    /// The test is over. Nothing follows.
    Failed(Failure),
}

/// Why a test is not complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The client closed the connection, or said that it ends the test.
    Closed,
    /// [`Server::terminate`] was called.
    Terminated,
    /// The client asks for something that is not supported.
    Unsupported(String),
    /// The bytes do not follow the protocol.
    Protocol(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Closed => write!(f, "closed"),
            Failure::Terminated => write!(f, "terminated"),
            Failure::Unsupported(what) => write!(f, "iperf3: {what}"),
            Failure::Protocol(seen) => write!(f, "not iperf3: {seen}"),
        }
    }
}

/// The next bytes from the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaited {
    /// A length and JSON.
    Parameters,
    /// Nothing, until [`Server::start`].
    Streams,
    /// The end of the load.
    End,
    /// A length and JSON.
    Results,
    /// Nothing, until [`Server::report`].
    Report,
    /// The end of the test.
    Goodbye,
    Nothing,
}

/// The control connection of one test, after its cookie.
#[derive(Clone, Debug)]
pub struct Server {
    awaited: Awaited,
    held: Vec<u8>,
    /// Own results, while those of the client are awaited.
    results: Option<Vec<u8>>,
    output: VecDeque<Output>,
}

impl Default for Server {
    fn default() -> Self {
        let output = VecDeque::from([Output::Send(Vec::from([state::PARAM_EXCHANGE]))]);
        Server { awaited: Awaited::Parameters, held: Vec::new(), results: None, output }
    }
}

impl Server {
    /// Takes received bytes.
    pub fn handle_input(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        while let Some(used) = self.step() {
            self.held.drain(..used);
        }
    }
    /// The client closed the connection.
    pub fn handle_close(&mut self) {
        match self.awaited {
            Awaited::Nothing => {}
            // Some clients leave without the last byte.
            Awaited::Goodbye => self.end(Output::Done),
            _ => self.end(Output::Failed(Failure::Closed)),
        }
    }
    /// All streams are open.
    pub fn start(&mut self) {
        if self.awaited == Awaited::Streams {
            self.awaited = Awaited::End;
            self.send(&[state::TEST_START, state::TEST_RUNNING]);
            self.output.push_back(Output::Start);
            self.handle_input(&[]);
        }
    }
    /// The load has ended with these results of this end.
    pub fn report(&mut self, streams: &[StreamResult], congestion_control: &str, seconds: f64) {
        if matches!(self.awaited, Awaited::Results | Awaited::Report) {
            let has_retransmits = streams.iter().any(|stream| stream.retransmits >= 0);
            let stream = |stream: &StreamResult| StreamReport {
                id: stream.id,
                bytes: stream.bytes,
                retransmits: stream.retransmits,
                jitter: stream.jitter,
                errors: stream.errors,
                packets: stream.packets,
                end_time: seconds,
                ..StreamReport::default()
            };
            let results = Report {
                sender_has_retransmits: i32::from(has_retransmits),
                congestion_used: congestion_control,
                streams: streams.iter().map(stream).collect(),
                ..Report::default()
            };
            let text = serde_json::to_vec(&results).unwrap_or_default();
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
            self.results = Some([&length[..], &text, &[state::DISPLAY_RESULTS]].concat());
            self.exchange();
            self.handle_input(&[]);
        }
    }
    /// Refuses the streams that a client asks for, before it opens them. `limit` is that of both
    /// directions together.
    pub fn refuse_streams(&mut self, limit: u32) {
        if self.awaited == Awaited::Streams {
            self.output.clear();
            self.refuse(TOO_MANY_STREAMS, format!("more than {limit} streams"));
        }
    }
    /// Refuses the test because another one of its host is about to start.
    pub fn deny(&mut self) {
        self.output.clear();
        self.send(&[state::ACCESS_DENIED]);
        self.end(Output::Failed(Failure::Unsupported("two UDP tests of one host start at once".to_string())));
    }
    /// The server ends the test.
    pub fn terminate(&mut self) {
        if self.awaited != Awaited::Nothing {
            self.send(&[state::SERVER_TERMINATE]);
            self.end(Output::Failed(Failure::Terminated));
        }
    }
    /// What to do next.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.output.pop_front()
    }

    /// Sends the own results once those of the client have arrived.
    fn exchange(&mut self) {
        if self.awaited == Awaited::Report
            && let Some(results) = self.results.take()
        {
            self.awaited = Awaited::Goodbye;
            self.send(&results);
        }
    }
    fn send(&mut self, bytes: &[u8]) {
        self.output.push_back(Output::Send(bytes.to_vec()));
    }
    /// Ends the test with an error of iperf3.
    fn refuse(&mut self, error: u32, reason: String) {
        let numbers = [error.to_be_bytes(), [0; 4]].concat();
        self.send(&[&[state::SERVER_ERROR][..], &numbers].concat());
        self.end(Output::Failed(Failure::Unsupported(reason)));
    }
    fn end(&mut self, last: Output) {
        self.awaited = Awaited::Nothing;
        self.held.clear();
        self.output.push_back(last);
    }
    /// Processes the next message in `held` and returns its size; `None` if it is incomplete or not
    /// awaited yet.
    fn step(&mut self) -> Option<usize> {
        match self.awaited {
            Awaited::Nothing => {
                self.held.clear();
                None
            }
            // A client sends nothing now; more would be held without limit.
            Awaited::Streams | Awaited::Report if self.held.len() <= RESULTS_LIMIT_BYTES => None,
            Awaited::Streams | Awaited::Report => {
                self.end(Output::Failed(Failure::Protocol("too many bytes".to_string())));
                None
            }
            Awaited::Parameters => {
                let (text, used) = self.json(PARAMETERS_LIMIT_BYTES)?;
                match Request::parse(&text) {
                    Ok(request) => {
                        self.awaited = Awaited::Streams;
                        self.output.push_back(Output::AwaitStreams(request));
                        self.send(&[state::CREATE_STREAMS]);
                    }
                    Err(error) => {
                        self.refuse(NOT_IMPLEMENTED, error);
                        return None;
                    }
                }
                Some(used)
            }
            Awaited::Results => {
                let (_, used) = self.json(RESULTS_LIMIT_BYTES)?;
                self.awaited = Awaited::Report;
                self.exchange();
                Some(used)
            }
            Awaited::End | Awaited::Goodbye => {
                let state = *self.held.first()?;
                self.enter(state);
                Some(usize::from(!self.held.is_empty()))
            }
        }
    }
    fn enter(&mut self, state: u8) {
        match (self.awaited, state) {
            (Awaited::End, state::TEST_END) => {
                self.awaited = Awaited::Results;
                self.output.push_back(Output::Stop);
                self.send(&[state::EXCHANGE_RESULTS]);
            }
            (Awaited::Goodbye, state::IPERF_DONE) => self.end(Output::Done),
            (_, state::CLIENT_TERMINATE) => self.end(Output::Failed(Failure::Closed)),
            (_, other) => {
                let seen = format!("state {other}");
                self.end(Output::Failed(Failure::Protocol(seen)));
            }
        }
    }
    /// A length and as many bytes, with the size of both; `None` if they are incomplete or too
    /// long.
    fn json(&mut self, limit: usize) -> Option<(Vec<u8>, usize)> {
        let length = usize::try_from(number(self.held.get(..4)?)).unwrap_or(usize::MAX);
        if length > limit {
            let seen = format!("{length} bytes (at most {limit})");
            self.end(Output::Failed(Failure::Protocol(seen)));
            return None;
        }
        Some((self.held.get(4..4 + length)?.to_vec(), 4 + length))
    }
}

impl Request {
    /// # Errors
    /// What is wrong or not supported.
    fn parse(text: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Parameters {
            #[serde(default)]
            tcp: bool,
            #[serde(default = "one")]
            parallel: u32,
            #[serde(default)]
            reverse: bool,
            #[serde(default)]
            bidirectional: bool,
            congestion: Option<String>,
            #[serde(default)]
            bandwidth: u64,
            #[serde(default)]
            fqrate: u64,
            #[serde(default)]
            udp: bool,
            #[serde(default)]
            len: u32,
            #[serde(default)]
            udp_counters_64bit: u32,
        }
        const fn one() -> u32 {
            1
        }
        let read: Parameters = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        if read.tcp == read.udp {
            return Err("neither TCP nor UDP".to_string());
        }
        if !(1..=STREAMS_LIMIT).contains(&read.parallel) {
            return Err(format!("{} streams (1 to {STREAMS_LIMIT})", read.parallel));
        }
        let mode = match (read.bidirectional, read.reverse) {
            (true, _) => Mode::Bidirectional,
            (false, true) => Mode::Reverse,
            (false, false) => Mode::Forward,
        };
        let bits_per_second = [read.bandwidth, read.fqrate].into_iter().filter(|rate| *rate > 0).min();
        let numbers = if read.udp_counters_64bit > 0 { Numbers::Wide } else { Numbers::Narrow };
        let udp = read.udp.then_some(UdpStreams { length: read.len, numbers });
        let lengths = Numbers::Wide.header_bytes() as u32..=LONGEST_BYTES;
        if udp.is_some_and(|udp| !lengths.contains(&udp.length)) {
            let (least, most) = lengths.into_inner();
            return Err(format!("datagrams of {} bytes ({least} to {most})", read.len));
        }
        if udp.is_some() && mode != Mode::Forward && bits_per_second.is_none() {
            return Err("UDP from the server without a rate (-b)".to_string());
        }
        Ok(Request {
            mode,
            streams: read.parallel,
            congestion_control: read.congestion.filter(|name| !name.is_empty()),
            bits_per_second,
            udp,
        })
    }
}

/// Results of the server, as iperf3 sends them.
#[derive(Default, Serialize)]
struct Report<'a> {
    cpu_util_total: f64,
    cpu_util_user: f64,
    cpu_util_system: f64,
    sender_has_retransmits: i32,
    congestion_used: &'a str,
    streams: Vec<StreamReport>,
}

#[derive(Default, Serialize)]
struct StreamReport {
    id: i64,
    bytes: u64,
    retransmits: i64,
    jitter: f64,
    errors: u64,
    packets: u64,
    start_time: f64,
    end_time: f64,
}

/// Number of the stream that was opened as the `nth`, from 0: iperf3 leaves out 2.
#[must_use]
pub const fn stream_id(nth: u32) -> i64 {
    if nth == 0 { 1 } else { nth as i64 + 2 }
}

#[cfg(test)]
mod tests {
    use super::super::{Client, Cookie, Output as ClientOutput, Plan, Results};
    use super::*;
    use alloc::borrow::ToOwned;
    use alloc::vec;

    fn framed(text: &str) -> Vec<u8> {
        [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat()
    }
    fn all(server: &mut Server) -> Vec<Output> {
        core::iter::from_fn(|| server.poll_output()).collect()
    }
    /// Passes what each end sends to the other until both are silent; returns the other outputs.
    fn converse(client: &mut Client, server: &mut Server) -> (Vec<ClientOutput>, Vec<Output>) {
        let (mut of_client, mut of_server) = (Vec::new(), Vec::new());
        loop {
            match (client.poll_output(), server.poll_output()) {
                (None, None) => return (of_client, of_server),
                (from_client, from_server) => {
                    match from_client {
                        // The cookie is read before.
                        Some(ClientOutput::Send(bytes)) if bytes.len() != 37 => server.handle_input(&bytes),
                        Some(ClientOutput::Send(_)) | None => {}
                        Some(other) => of_client.push(other),
                    }
                    match from_server {
                        Some(Output::Send(bytes)) => client.handle_input(&bytes),
                        None => {}
                        Some(other) => of_server.push(other),
                    }
                }
            }
        }
    }

    #[test]
    fn both_ends_agree_on_a_whole_test() {
        let plan = Plan {
            mode: Mode::Bidirectional,
            streams: 2,
            congestion_control: Some("reno".into()),
            udp: None,
        };
        let mut client = Client::new(plan, &Cookie::new([1; 36]));
        let mut server = Server::default();
        let (asked, offered) = converse(&mut client, &mut server);
        let request = Request {
            mode: Mode::Bidirectional,
            streams: 2,
            congestion_control: Some("reno".to_owned()),
            bits_per_second: None,
            udp: None,
        };
        assert_eq!(request.connections(), 4);
        assert_eq!((asked, offered), (vec![ClientOutput::OpenStreams], vec![Output::AwaitStreams(request)]));
        server.start();
        server.start();
        let (ran, started) = converse(&mut client, &mut server);
        assert_eq!((ran, started), (vec![ClientOutput::Running], vec![Output::Start]));
        client.finish();
        assert_eq!(converse(&mut client, &mut server).1, [Output::Stop]);
        let streams = [(0, -1), (3, 5)].map(|(nth, retransmits)| StreamResult {
            id: stream_id(nth),
            bytes: 9,
            retransmits,
            ..StreamResult::default()
        });
        server.report(&streams, "reno", 1.5);
        let (ended, done) = converse(&mut client, &mut server);
        assert_eq!(done, [Output::Done]);
        let results = Results { congestion_used: Some("reno".to_owned()), streams: streams.to_vec() };
        assert_eq!(ended, [ClientOutput::Results(results)]);
        assert_eq!((streams[0].id, streams[1].id), (1, 5));
        server.handle_close();
        assert!(all(&mut server).is_empty());
    }

    #[test]
    fn what_is_not_supported_or_not_iperf3_ends_the_test() {
        let refused = |text: &str| {
            let mut server = Server::default();
            server.handle_input(&framed(text));
            let outputs = all(&mut server);
            let Some(Output::Failed(error)) = outputs.last() else { panic!("{outputs:?}") };
            (error.to_string(), outputs[1].clone())
        };
        let (reason, sent) = refused(r#"{"sctp":true,"parallel":1}"#);
        assert!(reason.contains("neither TCP nor UDP"), "{reason}");
        assert_eq!(sent, Output::Send(vec![254, 0, 0, 0, 13, 0, 0, 0, 0]));
        assert!(refused(r#"{"tcp":true,"parallel":129}"#).0.contains("129 streams (1 to 128)"));
        assert!(refused(r#"{"tcp":true,"parallel":0}"#).0.contains("0 streams"));
        for (text, expected) in [
            (r#"{"udp":true,"len":15}"#, "datagrams of 15 bytes (16 to 65507)"),
            (r#"{"udp":true,"len":65508}"#, "datagrams of 65508 bytes"),
            (r#"{"udp":true,"len":1448,"reverse":true}"#, "without a rate"),
            (r#"{"udp":true,"tcp":true,"len":1448}"#, "neither"),
        ] {
            assert!(refused(text).0.contains(expected), "{text}");
        }
        assert!(refused("1").0.starts_with("iperf3: invalid type"));
        let mut long = Server::default();
        long.handle_input(&[0xff; 4]);
        assert!(matches!(all(&mut long).last(), Some(Output::Failed(_))));
        let mut second = Server::default();
        second.handle_input(&framed(r#"{"udp":true,"len":1448,"bandwidth":1000,"udp_counters_64bit":1}"#));
        let Some(Output::AwaitStreams(of_udp)) = all(&mut second).into_iter().nth(1) else { panic!() };
        assert_eq!(of_udp.udp, Some(UdpStreams { length: 1448, numbers: Numbers::Wide }));
        second.deny();
        let denied = all(&mut second);
        assert!(matches!(&denied[..], [Output::Send(bytes), Output::Failed(_)] if bytes[..] == [255]));
        let mut many = Server::default();
        many.handle_input(&framed(r#"{"tcp":true,"parallel":9}"#));
        let first = (many.poll_output(), many.poll_output());
        assert!(matches!(first, (Some(Output::Send(_)), Some(Output::AwaitStreams(_)))));
        many.refuse_streams(8);
        let refusal = Output::Failed(Failure::Unsupported("more than 8 streams".into()));
        assert_eq!(all(&mut many), [Output::Send(vec![254, 0, 0, 0, 6, 0, 0, 0, 0]), refusal]);

        let running = || {
            let mut server = Server::default();
            server.handle_input(&framed(r#"{"tcp":true,"bandwidth":5000000,"fqrate":0}"#));
            let request = all(&mut server).swap_remove(1);
            assert!(matches!(
                request,
                Output::AwaitStreams(Request { bits_per_second: Some(5_000_000), streams: 1, .. })
            ));
            server.start();
            drop(all(&mut server));
            server
        };
        for (bytes, expected) in [(&[12][..], Failure::Closed), (&[7], Failure::Protocol("state 7".into()))] {
            let mut server = running();
            server.handle_input(bytes);
            assert_eq!(all(&mut server), [Output::Failed(expected)]);
        }
        let mut server = running();
        server.terminate();
        assert_eq!(all(&mut server), [Output::Send(vec![11]), Output::Failed(Failure::Terminated)]);
        server.handle_close();
        server.handle_input(&[4; 100]);
        assert!(all(&mut server).is_empty());
        // A client that sends its end and results at once, before the server asks for them.
        let mut eager = running();
        eager.handle_input(&[&[4][..], &framed("{}"), &[16]].concat());
        assert_eq!(all(&mut eager), [Output::Stop, Output::Send(vec![13])]);
        eager.report(&[], "cubic", 1.0);
        assert_eq!(all(&mut eager).last(), Some(&Output::Done));
    }
}
