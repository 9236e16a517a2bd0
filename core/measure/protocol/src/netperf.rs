//! netperf (2.6 and later): the control connection of one test of a netserver, at the client's end.
//!
//! Each message has 164 words of 4 bytes, big endian: its kind, a word that has another meaning in
//! each direction, and fields. The test is `omni`, with the values of `netperf -t TCP_STREAM` and
//! `TCP_MAERTS`. The source is `netlib.h`, `nettest_bsd.h` and `nettest_omni.c` of netperf.
use core::fmt;
use fathom_units::Direction;

/// Default port.
pub const DEFAULT_PORT: u16 = 12_865;
/// Size of a message.
pub const MESSAGE_BYTES: usize = 656;
/// Longest name of a congestion control, with NUL.
const NAME_BYTES: usize = 16;

/// Kinds of messages.
mod kind {
    pub(super) const DEBUG_OFF: u32 = 2;
    pub(super) const DEBUG_OK: u32 = 3;
    pub(super) const PASSPHRASE: u32 = 6;
    pub(super) const DO_OMNI: u32 = 97;
    pub(super) const OMNI_RESPONSE: u32 = 98;
}

/// Places of words.
mod word {
    /// Of a request: the processor of the server. Of a response: `errno`.
    pub(super) const SECOND: usize = 1;
    pub(super) const FIELDS: usize = 2;
    /// Of the buffers for sending and receiving, in bytes. The server divides by them.
    pub(super) const ALIGNMENTS: [usize; 2] = [4, 10];
    /// Seconds after which the server stops to send, or 4 s later to receive.
    pub(super) const TEST_LENGTH: usize = 16;
    pub(super) const IP_FAMILY: usize = 23;
    pub(super) const SOCKET_TYPE: usize = 24;
    pub(super) const PROTOCOL: usize = 25;
    pub(super) const DIRECTION: usize = 26;
    pub(super) const CONGESTION_CONTROL: usize = 40;
    /// In a response.
    pub(super) const DATA_PORT: usize = 13;
}

/// Words of a request whose default is -1: the sizes of buffers, of requests and of responses, the
/// bytes that are written between calls, and the priority and TOS of the socket.
const DEFAULTS: [usize; 12] = [word::SECOND, 2, 3, 7, 8, 9, 13, 19, 20, 21, 38, 39];

/// A message.
pub type Message = [u8; MESSAGE_BYTES];

/// A test with one data connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan<'a> {
    /// Its direction.
    pub direction: Direction,
    /// Over IPv6.
    pub is_v6: bool,
    /// When it ends at the latest.
    pub seconds: u32,
    /// Congestion control of the server, which uses its default if it is not permitted; `None` for
    /// the default.
    pub congestion_control: Option<&'a str>,
}

/// Why a response is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NetperfError {
    /// It has this kind.
    Kind(u32),
    /// The server reports this `errno`.
    Server(u32),
    /// The port of the data connection is none.
    Port(u32),
}

impl fmt::Display for NetperfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetperfError::Kind(_) => write!(f, "not netperf"),
            NetperfError::Server(errno) => write!(f, "errno {errno}"),
            NetperfError::Port(port) => write!(f, "port {port} (expected 1 to 65535)"),
        }
    }
}
impl core::error::Error for NetperfError {}

/// A request without effect: the server stops to debug, which it does not do.
#[must_use]
pub fn greeting() -> Message {
    request(kind::DEBUG_OFF)
}

/// Checks the response to [`greeting`].
///
/// # Errors
/// If it is none.
pub fn greeted(response: &Message) -> Result<(), NetperfError> {
    expect(response, kind::DEBUG_OK)
}

/// The first message to a server that requires a passphrase, of which 647 bytes count. It has no
/// response.
#[must_use]
pub fn passphrase(text: &str) -> Message {
    let mut message = request(kind::PASSPHRASE);
    let place = &mut message[word::FIELDS * 4..];
    place.fill(0);
    let length = text.len().min(place.len() - 1);
    place[..length].copy_from_slice(&text.as_bytes()[..length]);
    message
}

/// Requests a test.
#[must_use]
pub fn omni(plan: &Plan<'_>) -> Message {
    let mut message = request(kind::DO_OMNI);
    word::ALIGNMENTS.iter().for_each(|place| set(&mut message, *place, 8));
    set(&mut message, word::TEST_LENGTH, plan.seconds);
    set(&mut message, word::IP_FAMILY, if plan.is_v6 { 6 } else { 4 });
    // NST_STREAM, IPPROTO_TCP.
    set(&mut message, word::SOCKET_TYPE, 1);
    set(&mut message, word::PROTOCOL, 6);
    // NETPERF_XMIT or NETPERF_RECV, of the server.
    set(&mut message, word::DIRECTION, if plan.direction == Direction::Down { 2 } else { 4 });
    let name = plan.congestion_control.unwrap_or_default();
    let length = name.len().min(NAME_BYTES - 1);
    let place = &mut message[word::CONGESTION_CONTROL * 4..];
    place[..length].copy_from_slice(&name.as_bytes()[..length]);
    message
}

/// The port of the data connection from the response to [`omni`].
///
/// # Errors
/// If it is none.
pub fn data_port(response: &Message) -> Result<u16, NetperfError> {
    expect(response, kind::OMNI_RESPONSE)?;
    let port = get(response, word::DATA_PORT);
    u16::try_from(port).ok().filter(|port| *port > 0).ok_or(NetperfError::Port(port))
}

fn request(kind: u32) -> Message {
    let mut message = [0; MESSAGE_BYTES];
    set(&mut message, 0, kind);
    DEFAULTS.iter().for_each(|place| set(&mut message, *place, u32::MAX));
    message
}

fn expect(response: &Message, kind: u32) -> Result<(), NetperfError> {
    match (get(response, 0), get(response, word::SECOND)) {
        (seen, _) if seen != kind => Err(NetperfError::Kind(seen)),
        (_, 0) => Ok(()),
        (_, errno) => Err(NetperfError::Server(errno)),
    }
}

fn get(message: &Message, place: usize) -> u32 {
    message.as_chunks().0.get(place).copied().map_or(0, u32::from_be_bytes)
}

fn set(message: &mut Message, place: usize, value: u32) {
    message[place * 4..][..4].copy_from_slice(&value.to_be_bytes());
}
