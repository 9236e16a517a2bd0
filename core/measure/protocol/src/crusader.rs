//! crusader: the client's end of its protocol, version 3 (crusader 0.1 to 0.3.2).
//!
//! A control connection and one connection per load stream carry messages of bincode after their
//! length in 8 bytes. UDP probes come back unchanged; the server reports the arrival of each on the
//! control connection. crusader has no specification; the source is `protocol.rs`, `serve.rs` and
//! `test.rs` of Zoxc/crusader.
use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use fathom_units::{Direction, Duration};

/// Default port of TCP and UDP.
pub const DEFAULT_PORT: u16 = 35_481;
/// Version of the protocol.
const VERSION: u64 = 3;
/// Start of the first message.
const MAGIC: u64 = 0x5372_ab82_ae7c_59cb;
/// Longest accepted message. 200 arrivals, which the server holds at most, take 3.2 kB.
const MESSAGE_LIMIT_BYTES: usize = 1 << 16;
/// Interval of the server's counts of an upload, which are not used. It ends a stream after one
/// only, and accepts no 0.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// Numbers of the client's messages.
mod to_server {
    pub(super) const NEW_CLIENT: u32 = 0;
    pub(super) const ASSOCIATE: u32 = 1;
    pub(super) const DONE: u32 = 2;
    pub(super) const SCHEDULE_LOADS: u32 = 3;
    pub(super) const LOAD_FROM_CLIENT: u32 = 4;
    pub(super) const LOAD_FROM_SERVER: u32 = 5;
    pub(super) const SEND_BYTE: u32 = 7;
    pub(super) const GET_MEASUREMENTS: u32 = 8;
    pub(super) const STOP_MEASUREMENTS: u32 = 9;
}

/// Numbers of the server's messages.
mod to_client {
    pub(super) const NEW_CLIENT: u32 = 0;
    pub(super) const LATENCY_MEASURES: u32 = 1;
    pub(super) const MEASURE: u32 = 2;
    pub(super) const LOAD_COMPLETE: u32 = 5;
    pub(super) const SCHEDULED_LOADS: u32 = 6;
    pub(super) const WAITING_FOR_LOAD: u32 = 7;
    pub(super) const WAITING_FOR_BYTE: u32 = 8;
}

/// A load stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    /// The client that it belongs to.
    pub client: u64,
    /// Streams of a group start together.
    pub group: u32,
    /// Its number in the group.
    pub number: u32,
    /// Its direction.
    pub direction: Direction,
    /// When the server ends it.
    pub duration: Duration,
}

/// A UDP probe that the server received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Its number.
    pub index: u64,
    /// When, in us on the server's clock.
    pub at_us: u64,
}

/// What the client has to do, or learns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send these bytes on the connection.
    Send(Vec<u8>),
    /// The server knows the client by this number. UDP probes may start.
    Joined(u64),
    /// These UDP probes arrived at the server.
    Arrived(Vec<Arrival>),
    /// The loads of a group start now.
    Scheduled,
    /// The stream waits for the start of its group.
    Ready,
    /// The connection cannot be used any more. Nothing follows.
    Failed(CrusaderError),
}

/// Why a connection ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CrusaderError {
    /// The server speaks this version.
    Version(u64),
    /// The server knows as many clients as it can.
    Full,
    /// The server closed the connection.
    Closed,
    /// The bytes do not follow the protocol.
    Protocol(String),
}

impl fmt::Display for CrusaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CrusaderError::Version(theirs) => {
                write!(
                    f,
                    "version {theirs} of crusader's protocol (expected {VERSION}: crusader 0.1 or later)"
                )
            }
            // crusader 0.3.2 never frees the place of a client.
            CrusaderError::Full => write!(f, "no place for another client: restart crusader"),
            CrusaderError::Closed => write!(f, "the server closed the connection"),
            CrusaderError::Protocol(seen) => write!(f, "the server does not speak crusader: {seen}"),
        }
    }
}
impl core::error::Error for CrusaderError {}

/// The next bytes from the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Awaited {
    Hello,
    Message,
    /// One byte without a length.
    Byte,
    Nothing,
}

/// A connection to a server: the control connection, or that of a stream.
#[derive(Clone, Debug)]
pub struct Connection {
    stream: Option<Stream>,
    awaited: Awaited,
    held: Vec<u8>,
    output: VecDeque<Output>,
}

impl Connection {
    /// Starts a new connection: that of `stream`, or else the control connection.
    #[must_use]
    pub fn new(stream: Option<Stream>) -> Self {
        let hello = framed(&[&MAGIC.to_le_bytes(), &VERSION.to_le_bytes()]);
        let request = stream.as_ref().map_or_else(|| message(to_server::NEW_CLIENT, &[]), load_request);
        let output = VecDeque::from([Output::Send([hello, request].concat())]);
        Connection { stream, awaited: Awaited::Hello, held: Vec::new(), output }
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
            self.end(Output::Failed(CrusaderError::Closed));
        }
    }
    /// What to do next.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.output.pop_front()
    }

    fn end(&mut self, last: Output) {
        self.awaited = Awaited::Nothing;
        self.held.clear();
        self.output.push_back(last);
    }
    fn fail(&mut self, seen: String) {
        self.end(Output::Failed(CrusaderError::Protocol(seen)));
    }
    /// Processes the next message in `held` and returns its size; `None` if it is incomplete.
    fn step(&mut self) -> Option<usize> {
        match self.awaited {
            Awaited::Nothing => {
                self.held.clear();
                return None;
            }
            Awaited::Byte => {
                self.held.first()?;
                self.end(Output::Ready);
                return None;
            }
            Awaited::Hello | Awaited::Message => {}
        }
        let length = number(&mut &self.held[..])?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MESSAGE_LIMIT_BYTES {
            self.fail(format!("a message of {length} bytes (at most {MESSAGE_LIMIT_BYTES})"));
            return None;
        }
        let content = self.held.get(8..8 + length)?.to_vec();
        if self.awaited == Awaited::Hello {
            self.greet(&content);
        } else if self.take(&content).is_none() {
            let start = &content[..content.len().min(12)];
            self.fail(format!("message {start:?}"));
        }
        (self.awaited != Awaited::Nothing).then_some(8 + length)
    }
    fn greet(&mut self, mut content: &[u8]) {
        match (number(&mut content), number(&mut content)) {
            (Some(MAGIC), Some(VERSION)) => self.awaited = Awaited::Message,
            (Some(MAGIC), Some(other)) => self.end(Output::Failed(CrusaderError::Version(other))),
            _ => self.fail("another greeting".to_owned()),
        }
    }
    /// Processes a message; `None` if it is none, or not expected on this connection.
    fn take(&mut self, mut content: &[u8]) -> Option<()> {
        let kind = u32::from_le_bytes(take(&mut content)?);
        let direction = self.stream.map(|stream| stream.direction);
        match (kind, direction) {
            (to_client::NEW_CLIENT, None) => match take(&mut content)? {
                [0] => self.end(Output::Failed(CrusaderError::Full)),
                [_] => {
                    self.output.push_back(Output::Joined(number(&mut content)?));
                    self.output.push_back(Output::Send(message(to_server::GET_MEASUREMENTS, &[])));
                }
            },
            (to_client::LATENCY_MEASURES, None) => {
                let count = number(&mut content)?;
                let arrivals = content.chunks_exact(16);
                if count != arrivals.len() as u64 {
                    return None;
                }
                let arrivals: Option<Vec<Arrival>> = arrivals
                    .map(|mut fields| {
                        Some(Arrival { at_us: number(&mut fields)?, index: number(&mut fields)? })
                    })
                    .collect();
                self.output.push_back(Output::Arrived(arrivals?));
            }
            // Counts, which this end has too.
            (to_client::MEASURE..=to_client::LOAD_COMPLETE, None) => {}
            (to_client::SCHEDULED_LOADS, None) => self.output.push_back(Output::Scheduled),
            (to_client::WAITING_FOR_BYTE, Some(Direction::Down)) => {
                self.output.push_back(Output::Send(Vec::from([1])));
            }
            (to_client::WAITING_FOR_LOAD, Some(Direction::Down)) => self.end(Output::Ready),
            (to_client::WAITING_FOR_LOAD, Some(Direction::Up)) => {
                self.output.push_back(Output::Send(message(to_server::SEND_BYTE, &[])));
                self.awaited = Awaited::Byte;
            }
            _ => return None,
        }
        Some(())
    }
}

/// The message that starts the streams of a group, for the control connection.
#[must_use]
pub fn schedule(group: u32) -> Vec<u8> {
    // One group, and no delay.
    message(to_server::SCHEDULE_LOADS, &[&1_u64.to_le_bytes(), &group.to_le_bytes(), &[0; 8]])
}

/// The messages that end the test, for the control connection. The server then closes it.
#[must_use]
pub fn end_of_test() -> Vec<u8> {
    [message(to_server::STOP_MEASUREMENTS, &[]), message(to_server::DONE, &[])].concat()
}

/// A UDP probe, padded to `length` bytes.
#[must_use]
pub fn probe(client: u64, index: u32, length: usize) -> Vec<u8> {
    let mut probe = [client.to_le_bytes(), u64::from(index).to_le_bytes()].concat();
    probe.resize(length.max(probe.len()), 0);
    probe
}

/// The number of the probe of `client` that came back; `None` if it is none.
#[must_use]
pub fn reply(mut datagram: &[u8], client: u64) -> Option<u32> {
    let theirs = number(&mut datagram)?;
    number(&mut datagram)?.try_into().ok().filter(|_| theirs == client)
}

fn load_request(stream: &Stream) -> Vec<u8> {
    let Stream { client, group, number, direction, duration } = stream;
    let [duration, every] = [*duration, COUNT_EVERY].map(|time| (time.as_nanos() / 1_000).to_le_bytes());
    let (group, number, delay) = (group.to_le_bytes(), number.to_le_bytes(), [0; 8]);
    let associate = message(to_server::ASSOCIATE, &[&client.to_le_bytes()]);
    let request = match direction {
        Direction::Up => message(to_server::LOAD_FROM_CLIENT, &[&group, &number, &duration, &delay, &every]),
        Direction::Down => message(to_server::LOAD_FROM_SERVER, &[&group, &number, &duration, &delay]),
    };
    [associate, request].concat()
}

fn message(kind: u32, fields: &[&[u8]]) -> Vec<u8> {
    framed(&[&kind.to_le_bytes(), &fields.concat()])
}

fn framed(parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    [&(content.len() as u64).to_le_bytes(), &content[..]].concat()
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes).map(u64::from_le_bytes)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (field, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*field)
}

#[cfg(test)]
mod tests;
