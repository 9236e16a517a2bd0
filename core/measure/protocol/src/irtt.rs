//! irtt 0.9 (protocol version 1): UDP probes with timestamps of the server, at both ends.
//!
//! irtt has no specification; the source is `packet.go`, `params.go` and `sconn.go` of heistp/irtt.
//! All numbers are little-endian. Of a datagram, the HMAC and the fields after the sequence number
//! are optional: a flag announces the HMAC, the parameters of the session the other fields.
mod client;
mod params;
mod server;

pub use client::{Asked, Reply, Session};
pub use params::{Layout, Params};
pub use server::{Request, Stamps, Tokens, Window, echo_reply, open_reply, request};

use alloc::vec::Vec;
use core::fmt;
use hmac::{Hmac, KeyInit, Mac};
use md_5::Md5;

/// Default port of UDP.
pub const DEFAULT_PORT: u16 = 2112;
/// Version of the protocol.
pub const VERSION: i64 = 1;
const MAGIC: [u8; 3] = [0x14, 0xa7, 0x5b];
/// Magic and flags.
const START_BYTES: usize = 4;
const HMAC_BYTES: usize = 16;
/// Token of the session, and sequence number.
const ECHO_BYTES: usize = 8 + 4;

/// Flags of a datagram.
mod flag {
    /// A request or a reply that opens a session.
    pub(super) const OPEN: u8 = 1;
    /// From the server.
    pub(super) const REPLY: u8 = 2;
    /// The session is over.
    pub(super) const CLOSE: u8 = 4;
    pub(super) const HMAC: u8 = 8;
    pub(super) const ALL: u8 = OPEN | REPLY | CLOSE | HMAC;
}

/// Why a datagram is not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IrttError {
    /// It is not of irtt, or is cut.
    Form,
    /// An HMAC is missing, unexpected, or made with another key.
    Hmac,
    /// The parameters of the session are malformed.
    Params,
    /// It is of another session.
    Token,
    /// The server speaks this version.
    Version(i64),
    /// The server gives no timestamps.
    Unstamped,
    /// The server ended the session, or opens none.
    Closed,
}

impl fmt::Display for IrttError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IrttError::Form | IrttError::Params | IrttError::Token => write!(f, "malformed header"),
            IrttError::Hmac => write!(f, "missing or wrong token"),
            IrttError::Version(version) => write!(f, "version {version} (expected {VERSION})"),
            IrttError::Unstamped => write!(f, "no timestamps"),
            IrttError::Closed => write!(f, "closed the connection"),
        }
    }
}
impl core::error::Error for IrttError {}

/// Writes and reads datagrams, with an HMAC if there is a key.
#[derive(Clone, Debug)]
struct Sealer(Option<Hmac<Md5>>);

impl Sealer {
    fn new(key: Option<&[u8]>) -> Self {
        // HMAC takes keys of any length.
        Sealer(key.and_then(|key| Hmac::new_from_slice(key).ok()))
    }
    fn header_bytes(&self) -> usize {
        START_BYTES + if self.0.is_some() { HMAC_BYTES } else { 0 }
    }
    /// A datagram with these flags and this content.
    fn seal(&self, flags: u8, content: &[u8]) -> Vec<u8> {
        let flags = flags | if self.0.is_some() { flag::HMAC } else { 0 };
        let mut datagram = Vec::from(MAGIC);
        datagram.push(flags);
        datagram.resize(self.header_bytes(), 0);
        datagram.extend_from_slice(content);
        if let Some(hmac) = &self.0 {
            // Of the whole datagram, with zeros in its own place.
            let code = hmac.clone().chain_update(&datagram).finalize().into_bytes();
            datagram.splice(START_BYTES..START_BYTES + HMAC_BYTES, code);
        }
        datagram
    }
    /// Flags and content of a datagram.
    fn open<'d>(&self, datagram: &'d [u8]) -> Result<(u8, &'d [u8]), IrttError> {
        let (start, rest) = datagram.split_first_chunk::<START_BYTES>().ok_or(IrttError::Form)?;
        let [magic @ .., flags] = start;
        if *magic != MAGIC || flags & !flag::ALL != 0 {
            return Err(IrttError::Form);
        }
        let Some(hmac) = self.0.as_ref().filter(|_| flags & flag::HMAC != 0) else {
            let is_plain = self.0.is_none() && flags & flag::HMAC == 0;
            return if is_plain { Ok((*flags, rest)) } else { Err(IrttError::Hmac) };
        };
        let (code, content) = rest.split_first_chunk::<HMAC_BYTES>().ok_or(IrttError::Form)?;
        let expected = hmac.clone().chain_update(start).chain_update([0; HMAC_BYTES]).chain_update(content);
        expected.verify_slice(code).map_err(|_| IrttError::Hmac)?;
        Ok((*flags, content))
    }
}

/// Splits the token from the content of a datagram.
fn token(content: &[u8]) -> Result<(u64, &[u8]), IrttError> {
    let (token, rest) = content.split_first_chunk().ok_or(IrttError::Form)?;
    Ok((u64::from_le_bytes(*token), rest))
}

/// Splits token and sequence number from the content of a datagram.
fn echo(content: &[u8]) -> Result<(u64, u32, &[u8]), IrttError> {
    let (token, rest) = token(content)?;
    let (sequence, rest) = rest.split_first_chunk().ok_or(IrttError::Form)?;
    Ok((token, u32::from_le_bytes(*sequence), rest))
}

#[cfg(test)]
mod tests;
