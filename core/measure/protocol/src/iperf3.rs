//! iperf3: the control connection of one test (iperf 3.1 and later), at the client's end and in
//! [`server`] at the server's.
//!
//! The client sends a cookie, then the server leads through states of one byte each. The streams
//! are connections to the same port that start with the same cookie. iperf3 has no specification;
//! the source is `iperf_api.h`, `iperf_server_api.c` and `iperf_client_api.c` of esnet/iperf.
pub mod datagrams;
pub mod server;

use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize};

/// Default port.
pub const DEFAULT_PORT: u16 = 5201;
/// Size of a cookie: 36 characters and NUL.
pub const COOKIE_BYTES: usize = 37;
/// Most streams of one direction (`MAX_STREAMS`).
pub const STREAMS_LIMIT: u32 = 128;
/// Longest accepted results. Those of 128 streams have about 30 kB.
const RESULTS_LIMIT_BYTES: usize = 1 << 20;

/// States, as sent in one byte.
mod state {
    pub(super) const TEST_START: u8 = 1;
    pub(super) const TEST_RUNNING: u8 = 2;
    pub(super) const TEST_END: u8 = 4;
    pub(super) const PARAM_EXCHANGE: u8 = 9;
    pub(super) const CREATE_STREAMS: u8 = 10;
    pub(super) const SERVER_TERMINATE: u8 = 11;
    pub(super) const CLIENT_TERMINATE: u8 = 12;
    pub(super) const EXCHANGE_RESULTS: u8 = 13;
    pub(super) const DISPLAY_RESULTS: u8 = 14;
    pub(super) const IPERF_DONE: u8 = 16;
    /// -1: the server has no place for another test.
    pub(super) const ACCESS_DENIED: u8 = 255;
    /// -2: followed by two numbers of 4 bytes, the error of iperf3 and that of the system.
    pub(super) const SERVER_ERROR: u8 = 254;
}

/// Directions of a test, seen from the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Upload.
    Forward,
    /// Download.
    Reverse,
    /// Both. The streams of uploads are opened first.
    Bidirectional,
}

/// What is tested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Directions.
    pub mode: Mode,
    /// Streams of each direction, at most [`STREAMS_LIMIT`].
    pub streams: u32,
    /// Congestion control of both ends; `None` for the defaults.
    pub congestion_control: Option<String>,
    /// UDP instead of TCP.
    pub udp: Option<Udp>,
}

/// Datagrams of each stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Udp {
    /// Rate of the whole datagrams, in bit/s.
    pub bits_per_second: u64,
    /// Length of a datagram, with the header, in bytes.
    pub length: u32,
}

/// Random letters that identify a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cookie([u8; COOKIE_BYTES]);

impl Cookie {
    /// A cookie of random bytes.
    #[must_use]
    pub fn new(random: [u8; COOKIE_BYTES - 1]) -> Self {
        // The alphabet of iperf3's `make_cookie`.
        const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let mut cookie = [0; COOKIE_BYTES];
        for (letter, byte) in cookie.iter_mut().zip(random) {
            *letter = LETTERS[usize::from(byte % 32)];
        }
        Cookie(cookie)
    }
    /// Its bytes, with which each connection starts.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; COOKIE_BYTES] {
        &self.0
    }
}

/// What the client has to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Output {
    /// Send these bytes on the control connection.
    Send(Vec<u8>),
    /// Open the streams.
    OpenStreams,
    /// The load may start.
    Running,
    /// The server's results; the test is over.
    Results(Results),
    /// The test is over. Nothing follows.
    Failed(Iperf3Error),
}

/// Results of the server.
#[derive(Clone, PartialEq, Default, Deserialize, Debug)]
#[serde(default)]
pub struct Results {
    /// Congestion control of its streams.
    pub congestion_used: Option<String>,
    /// Its streams.
    pub streams: Vec<StreamResult>,
}

/// Results of one stream at the server.
#[derive(Clone, PartialEq, Default, Deserialize, Debug)]
#[serde(default)]
pub struct StreamResult {
    /// Number of the stream.
    pub id: i64,
    /// Bytes sent or received.
    pub bytes: u64,
    /// Retransmissions of the server; -1 if it received.
    #[serde(deserialize_with = "wrapping")]
    pub retransmits: i64,
    /// Datagrams that the server received: the highest number.
    pub packets: u64,
    /// Those of them that were lost.
    pub errors: u64,
    /// Jitter of what the server received, in s.
    pub jitter: f64,
}

/// In a test of UDP, the server writes -1 as a number of 64 bit without a sign.
fn wrapping<'de, D: Deserializer<'de>>(number: D) -> Result<i64, D::Error> {
    Ok(i128::deserialize(number)? as i64)
}

/// Why a test ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Iperf3Error {
    /// Another client is being served.
    Busy,
    /// The server reports these errors: its own number, and that of its system.
    Server(i32, i32),
    /// The server was stopped.
    Terminated,
    /// The connection ended.
    Closed,
    /// The bytes do not follow the protocol.
    Protocol(String),
}

impl fmt::Display for Iperf3Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Iperf3Error::Busy => write!(f, "the server serves another client: try later"),
            Iperf3Error::Server(own, system) => {
                write!(f, "iperf3 error {own} (errno {system}): see its log")
            }
            Iperf3Error::Terminated => write!(f, "the server was stopped"),
            Iperf3Error::Closed => write!(f, "the server closed the connection"),
            Iperf3Error::Protocol(seen) => write!(f, "not iperf3: {seen}"),
        }
    }
}
impl core::error::Error for Iperf3Error {}

/// The next bytes from the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaited {
    State,
    /// The two numbers of an error.
    Error,
    /// A length and JSON.
    Results,
    Nothing,
}

/// The control connection of one test.
#[derive(Clone, Debug)]
pub struct Client {
    plan: Plan,
    awaited: Awaited,
    is_running: bool,
    held: Vec<u8>,
    results: Option<Results>,
    output: VecDeque<Output>,
}

impl Client {
    /// Starts a test on a new connection.
    #[must_use]
    pub fn new(plan: Plan, cookie: &Cookie) -> Self {
        let output = VecDeque::from([Output::Send(cookie.bytes().to_vec())]);
        let (held, results) = (Vec::new(), None);
        Client { plan, awaited: Awaited::State, is_running: false, held, results, output }
    }
    /// Takes received bytes.
    pub fn handle_input(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        while let Some(used) = self.step() {
            self.held.drain(..used);
        }
    }
    /// The server closed the connection.
    pub fn handle_close(&mut self) {
        if self.awaited != Awaited::Nothing {
            self.fail(Iperf3Error::Closed);
        }
    }
    /// Ends the load.
    pub fn finish(&mut self) {
        if core::mem::take(&mut self.is_running) {
            self.output.push_back(Output::Send(Vec::from([state::TEST_END])));
        }
    }
    /// What to do next.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.output.pop_front()
    }
    /// Whether the test is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.awaited == Awaited::Nothing
    }

    fn fail(&mut self, error: Iperf3Error) {
        self.awaited = Awaited::Nothing;
        self.held.clear();
        self.output.push_back(Output::Failed(error));
    }
    /// Processes the next message in `held` and returns its size; `None` if it is incomplete.
    fn step(&mut self) -> Option<usize> {
        match self.awaited {
            Awaited::Nothing => {
                self.held.clear();
                None
            }
            Awaited::State => {
                let state = *self.held.first()?;
                self.enter(state);
                Some(usize::from(!self.held.is_empty()))
            }
            Awaited::Error => {
                let (own, system) = (number(self.held.get(..4)?), number(self.held.get(4..8)?));
                self.fail(Iperf3Error::Server(own, system));
                None
            }
            Awaited::Results => {
                let length = usize::try_from(number(self.held.get(..4)?)).unwrap_or(usize::MAX);
                if length > RESULTS_LIMIT_BYTES {
                    let seen = format!("results of {length} bytes (at most {RESULTS_LIMIT_BYTES})");
                    self.fail(Iperf3Error::Protocol(seen));
                    return None;
                }
                let text = self.held.get(4..4 + length)?;
                match serde_json::from_slice(text) {
                    Ok(results) => (self.results, self.awaited) = (Some(results), Awaited::State),
                    Err(error) => {
                        self.fail(Iperf3Error::Protocol(error.to_string()));
                        return None;
                    }
                }
                Some(4 + length)
            }
        }
    }
    fn enter(&mut self, state: u8) {
        match state {
            state::PARAM_EXCHANGE => self.send_json(&Parameters::of(&self.plan)),
            state::CREATE_STREAMS => self.output.push_back(Output::OpenStreams),
            state::TEST_START => {}
            state::TEST_RUNNING => {
                self.is_running = true;
                self.output.push_back(Output::Running);
            }
            state::EXCHANGE_RESULTS => {
                self.is_running = false;
                self.send_json(&OwnResults::default());
                self.awaited = Awaited::Results;
            }
            state::DISPLAY_RESULTS => {
                self.output.push_back(Output::Send(Vec::from([state::IPERF_DONE])));
                self.awaited = Awaited::Nothing;
                let results = self.results.take().unwrap_or_default();
                self.output.push_back(Output::Results(results));
            }
            state::ACCESS_DENIED => self.fail(Iperf3Error::Busy),
            state::SERVER_ERROR => self.awaited = Awaited::Error,
            state::SERVER_TERMINATE => self.fail(Iperf3Error::Terminated),
            other => self.fail(Iperf3Error::Protocol(format!("state {other}"))),
        }
    }
    fn send_json(&mut self, value: &impl Serialize) {
        let text = serde_json::to_vec(value).unwrap_or_default();
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
        self.output.push_back(Output::Send([&length[..], &text].concat()));
    }
}

/// The number in network byte order; 0 if there are not 4 bytes.
fn number(bytes: &[u8]) -> i32 {
    bytes.try_into().map_or(0, i32::from_be_bytes)
}

/// Parameters of a test that the client ends.
#[derive(Serialize)]
struct Parameters {
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    tcp: bool,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    udp: bool,
    omit: u32,
    /// Seconds; 0 for no limit.
    time: u32,
    parallel: u32,
    /// Bytes per system call, as iperf3's default, or of a datagram.
    len: u32,
    /// Of each stream, in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    bandwidth: Option<u64>,
    /// Numbers of datagrams have 64 bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    udp_counters_64bit: Option<u8>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    reverse: bool,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    bidirectional: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion: Option<String>,
    client_version: String,
}

impl Parameters {
    fn of(plan: &Plan) -> Self {
        Parameters {
            tcp: plan.udp.is_none(),
            udp: plan.udp.is_some(),
            omit: 0,
            time: 0,
            parallel: plan.streams,
            len: plan.udp.map_or(128 * 1024, |udp| udp.length),
            bandwidth: plan.udp.map(|udp| udp.bits_per_second),
            udp_counters_64bit: plan.udp.map(|_| 1),
            reverse: plan.mode == Mode::Reverse,
            bidirectional: plan.mode == Mode::Bidirectional,
            congestion: plan.congestion_control.clone(),
            client_version: concat!("fathom ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// Results of this end, which the server prints. It has its own counts.
#[derive(Default, Serialize)]
struct OwnResults {
    cpu_util_total: f64,
    cpu_util_user: f64,
    cpu_util_system: f64,
    sender_has_retransmits: i32,
    streams: [(); 0],
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn plan(mode: Mode) -> Plan {
        Plan { mode, streams: 4, congestion_control: Some("cubic".to_owned()), udp: None }
    }
    fn all(client: &mut Client) -> Vec<Output> {
        core::iter::from_fn(|| client.poll_output()).collect()
    }
    fn framed(text: &str) -> Vec<u8> {
        [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat()
    }

    #[test]
    fn a_test_follows_the_states_of_the_server() {
        let cookie = Cookie::new([33; 36]);
        assert_eq!(cookie.bytes(), b"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\0");
        let mut client = Client::new(plan(Mode::Bidirectional), &cookie);
        assert_eq!(all(&mut client), [Output::Send(cookie.bytes().to_vec())]);
        client.handle_input(&[9]);
        let version = env!("CARGO_PKG_VERSION");
        let parameters = format!(
            r#"{{"tcp":true,"omit":0,"time":0,"parallel":4,"len":131072,"bidirectional":true,"congestion":"cubic","client_version":"fathom {version}"}}"#
        );
        assert_eq!(all(&mut client), [Output::Send(framed(&parameters))]);
        client.handle_input(&[10, 1, 2]);
        assert_eq!(all(&mut client), [Output::OpenStreams, Output::Running]);
        client.finish();
        client.finish();
        assert_eq!(all(&mut client), [Output::Send(vec![4])]);
        client.handle_input(&[13]);
        assert!(matches!(&all(&mut client)[..], [Output::Send(_)]));
        let framed_results = framed(
            r#"{"congestion_used":"bbr","streams":[{"id":1,"bytes":7,"retransmits":18446744073709551615,"packets":9,"errors":2,"new":0}]}"#,
        );
        framed_results.iter().for_each(|byte| client.handle_input(&[*byte]));
        assert!(all(&mut client).is_empty() && !client.is_over());
        client.handle_input(&[14]);
        let streams =
            vec![StreamResult { id: 1, bytes: 7, retransmits: -1, packets: 9, errors: 2, jitter: 0.0 }];
        let results = Results { congestion_used: Some("bbr".to_owned()), streams };
        assert_eq!(all(&mut client), [Output::Send(vec![16]), Output::Results(results)]);
        client.handle_close();
        assert!(client.is_over() && all(&mut client).is_empty());
    }

    #[test]
    fn a_test_of_udp_has_its_rate_and_length() {
        let udp = Some(Udp { bits_per_second: 5_000_000, length: 1_448 });
        let plan = Plan { udp, congestion_control: None, ..plan(Mode::Reverse) };
        let mut client = Client::new(plan, &Cookie::new([33; 36]));
        all(&mut client);
        client.handle_input(&[9]);
        let version = env!("CARGO_PKG_VERSION");
        let parameters = format!(
            r#"{{"udp":true,"omit":0,"time":0,"parallel":4,"len":1448,"bandwidth":5000000,"udp_counters_64bit":1,"reverse":true,"client_version":"fathom {version}"}}"#
        );
        assert_eq!(all(&mut client), [Output::Send(framed(&parameters))]);
    }

    #[test]
    fn every_failure_ends_the_test_with_its_reason() {
        let endless = [&[9, 10, 2, 13][..], &u32::MAX.to_be_bytes()].concat();
        let cases: [(&[u8], &str); 6] = [
            (&[255], "serves another client"),
            (&[9, 254, 0, 0, 0, 133, 0, 0, 0, 2], "iperf3 error 133 (errno 2)"),
            (&[11], "was stopped"),
            (b"SSH-2.0", "not iperf3: state 83"),
            (&endless, "results of"),
            (&[9, 10, 2, 13, 0, 0, 0, 1, b'x'], "not iperf3: expected value"),
        ];
        for (bytes, expected) in cases {
            let mut client = Client::new(plan(Mode::Forward), &Cookie::new([0; 36]));
            client.handle_input(bytes);
            let Some(Output::Failed(error)) = all(&mut client).pop() else { panic!("{bytes:?}") };
            assert!(error.to_string().contains(expected), "{error}");
            assert!(client.is_over());
            client.handle_input(&[9; 100]);
            client.handle_close();
            assert!(all(&mut client).is_empty());
        }
        let mut closed = Client::new(plan(Mode::Reverse), &Cookie::new([0; 36]));
        closed.handle_close();
        assert_eq!(all(&mut closed).pop(), Some(Output::Failed(Iperf3Error::Closed)));
    }
}
