//! The server's end of sessions, without an HMAC.
use super::{ECHO_BYTES, IrttError, Layout, Params, START_BYTES, Sealer, echo, flag, token};
use alloc::vec::Vec;
use core::net::{IpAddr, SocketAddr};
use fathom_units::{Duration, Time};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What a client sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Open a session.
    Open {
        /// What the client asks for.
        params: Params,
        /// Only to learn what the server would grant.
        is_trial: bool,
    },
    /// A probe.
    Echo {
        /// Token of the session.
        token: u64,
        /// Its sequence number.
        sequence: u32,
    },
    /// The session is over.
    Close {
        /// Token of the session.
        token: u64,
    },
}

/// Times of a probe at the server.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stamps {
    /// By the wall clock, in ns since 1970.
    pub wall_ns: u64,
    /// By the monotonic clock, in ns.
    pub monotonic_ns: u64,
}

/// Reads a request.
///
/// # Errors
/// If it is none.
pub fn request(datagram: &[u8]) -> Result<Request, IrttError> {
    let (flags, content) = Sealer(None).open(datagram)?;
    if flags & flag::REPLY != 0 {
        return Err(IrttError::Form);
    }
    if flags & flag::OPEN != 0 {
        let (params, is_trial) = (Params::decode(content)?, flags & flag::CLOSE != 0);
        return Ok(Request::Open { params, is_trial });
    }
    if flags & flag::CLOSE != 0 {
        return Ok(Request::Close { token: token(content)?.0 });
    }
    let (token, sequence, _) = echo(content)?;
    Ok(Request::Echo { token, sequence })
}

/// The reply to a request to open a session. With `is_closed`, there is none.
#[must_use]
pub fn open_reply(token: u64, granted: &Params, is_closed: bool) -> Vec<u8> {
    let content = [&token.to_le_bytes()[..], &granted.encode()].concat();
    Sealer(None).seal(flag::OPEN | flag::REPLY | if is_closed { flag::CLOSE } else { 0 }, &content)
}

/// The last 64 probes of a session that the server received.
#[derive(Clone, Copy, Default, Debug)]
pub struct Window {
    /// The highest sequence number, and bits for it and those before it.
    newest: Option<(u32, u64)>,
}

impl Window {
    /// Adds a probe. Returns a bit for it and each of the 63 before it, the lowest for itself; 0
    /// if it arrived late, as irtt does.
    pub fn add(&mut self, sequence: u32) -> u64 {
        let (newest, bits) = self.newest.unwrap_or((sequence, 0));
        let (ahead, behind) = (sequence.wrapping_sub(newest), newest.wrapping_sub(sequence));
        if (ahead as i32) < 0 {
            self.newest = Some((newest, bits | 1_u64.checked_shl(behind).unwrap_or(0)));
            return 0;
        }
        let moved = bits.checked_shl(ahead).unwrap_or(0) | 1;
        self.newest = Some((sequence, moved));
        moved
    }
}

/// Turns a probe into its reply of the same length. `received` is the number of received probes,
/// and a bit for each of the last 64. With `is_closed`, the session is over.
///
/// # Errors
/// If the probe has no room for the fields of its session.
pub fn echo_reply(
    probe: &[u8],
    layout: Layout,
    received: (u32, u64),
    [arrival, departure]: [Stamps; 2],
    is_closed: bool,
) -> Result<Vec<u8>, IrttError> {
    let mut fields = Vec::with_capacity(layout.bytes());
    if layout.received_stats & 1 != 0 {
        fields.extend(received.0.to_le_bytes());
    }
    if layout.received_stats & 2 != 0 {
        fields.extend(received.1.to_le_bytes());
    }
    let middle = Stamps {
        wall_ns: arrival.wall_ns.midpoint(departure.wall_ns),
        monotonic_ns: arrival.monotonic_ns.midpoint(departure.monotonic_ns),
    };
    for (at, stamps) in [(2, arrival), (4, middle), (1, departure)] {
        for (clock, ns) in [(1, stamps.wall_ns), (2, stamps.monotonic_ns)] {
            if layout.stamp_at & at != 0 && layout.clock & clock != 0 {
                fields.extend(ns.to_le_bytes());
            }
        }
    }
    let mut reply = Vec::from(probe);
    let start = START_BYTES + ECHO_BYTES;
    reply.get_mut(start..start + fields.len()).ok_or(IrttError::Form)?.copy_from_slice(&fields);
    reply[START_BYTES - 1] = flag::REPLY | if is_closed { flag::CLOSE } else { 0 };
    Ok(reply)
}

/// Makes and checks the tokens of sessions.
///
/// A token proves that its client receives what is sent to its address, as in RFC 4987 section 3.6:
/// it is a code of the address, the minute and the fields of probes. So a request to open a session
/// takes no memory.
#[derive(Clone, Debug)]
pub struct Tokens(Hmac<Sha256>);

impl Tokens {
    /// A token is valid in its minute and in the next.
    pub const VALID: Duration = Duration::from_secs(120);
    const MINUTE_NS: u64 = 60_000_000_000;
    /// Set in each token: 0 is none.
    const SET: u8 = 0x80;

    /// Tokens that only this secret makes.
    #[must_use]
    pub fn new(secret: [u8; 64]) -> Self {
        // Of the size of a block: no error is possible.
        Tokens(Hmac::new(&secret.into()))
    }
    /// The token of a session of `client`.
    #[must_use]
    pub fn make(&self, client: SocketAddr, layout: Layout, now: Time) -> u64 {
        self.of_minute(client, layout.packed() | Tokens::SET, now.as_nanos() / Tokens::MINUTE_NS)
    }
    /// The fields of probes, if the token is of `client` and at most a minute or two old.
    #[must_use]
    pub fn check(&self, token: u64, client: SocketAddr, now: Time) -> Option<Layout> {
        let (bits, this) = (token as u8, now.as_nanos() / Tokens::MINUTE_NS);
        let valid = |minute: u64| self.of_minute(client, bits, minute) == token;
        let is_valid = valid(this) || this.checked_sub(1).is_some_and(valid);
        Layout::unpacked(bits & !Tokens::SET).filter(|_| is_valid && bits & Tokens::SET != 0)
    }
    fn of_minute(&self, client: SocketAddr, bits: u8, minute: u64) -> u64 {
        let address = match client.ip() {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        let mut code = self.0.clone().chain_update(address.octets()).chain_update(minute.to_be_bytes());
        code.update(&client.port().to_be_bytes());
        code.update(&[bits]);
        let code = code.finalize().into_bytes();
        code.iter().take(7).fold(0, |token, byte| token << 8 | u64::from(*byte)) << 8 | u64::from(bits)
    }
}
