//! The client's end of a session.
use super::{ECHO_BYTES, IrttError, Layout, Params, Sealer, VERSION, echo, flag, token};
use alloc::vec::Vec;

/// A session that a client asks for.
#[derive(Clone, Debug)]
pub struct Asked {
    sealer: Sealer,
    params: Params,
}

/// An open session.
#[derive(Clone, Debug)]
pub struct Session {
    sealer: Sealer,
    token: u64,
    granted: Params,
}

/// What the server reports about a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Sequence number of the probe.
    pub sequence: u32,
    /// Number of probes that the server has received, including this one, if it counts them.
    pub received: Option<u32>,
    /// Its arrival, in ns on a clock of the server.
    pub received_ns: u64,
    /// When the reply was sent, in ns on the same clock.
    pub sent_ns: u64,
}

impl Asked {
    /// Asks for `params`, with an HMAC if there is a key.
    #[must_use]
    pub fn new(params: Params, key: Option<&[u8]>) -> Self {
        Asked { sealer: Sealer::new(key), params }
    }
    /// The datagram that opens the session. It is sent again until a reply arrives.
    #[must_use]
    pub fn request(&self) -> Vec<u8> {
        self.sealer.seal(flag::OPEN, &self.params.encode())
    }
    /// Reads the reply.
    ///
    /// # Errors
    /// If it is none, or the server grants no session with timestamps.
    pub fn opened(&self, datagram: &[u8]) -> Result<Session, IrttError> {
        let (flags, content) = self.sealer.open(datagram)?;
        if flags & (flag::OPEN | flag::REPLY) != flag::OPEN | flag::REPLY {
            return Err(IrttError::Form);
        }
        let (token, params) = token(content)?;
        let granted = Params::decode(params)?;
        if granted.version != VERSION {
            return Err(IrttError::Version(granted.version));
        }
        if flags & flag::CLOSE != 0 || token == 0 {
            return Err(IrttError::Closed);
        }
        // A server may allow one time only, which is then the middle of both.
        match granted.layout.stamp_at {
            3 | 4 if granted.layout.clock > 0 => Ok(Session { sealer: self.sealer.clone(), token, granted }),
            _ => Err(IrttError::Unstamped),
        }
    }
}

impl Session {
    /// What the server granted.
    #[must_use]
    pub const fn granted(&self) -> &Params {
        &self.granted
    }
    /// A probe, as long as its reply.
    #[must_use]
    pub fn probe(&self, sequence: u32) -> Vec<u8> {
        let mut content = Vec::from(self.token.to_le_bytes());
        content.extend(sequence.to_le_bytes());
        let wanted = usize::try_from(self.granted.length_bytes).unwrap_or(0);
        let padded = wanted.saturating_sub(self.sealer.header_bytes()).min(PROBE_LIMIT_BYTES);
        content.resize(padded.max(ECHO_BYTES + self.granted.layout.bytes()), 0);
        self.sealer.seal(0, &content)
    }
    /// The datagram that ends the session. It has no reply.
    #[must_use]
    pub fn close(&self) -> Vec<u8> {
        self.sealer.seal(flag::CLOSE, &self.token.to_le_bytes())
    }
    /// Reads the reply to a probe.
    ///
    /// # Errors
    /// If it is none, or of another session, or the server ended the session.
    pub fn reply(&self, datagram: &[u8]) -> Result<Reply, IrttError> {
        let (flags, content) = self.sealer.open(datagram)?;
        if flags & flag::REPLY == 0 || flags & flag::OPEN != 0 {
            return Err(IrttError::Form);
        }
        let (token, sequence, mut fields) = echo(content)?;
        if token != self.token {
            return Err(IrttError::Token);
        }
        if flags & flag::CLOSE != 0 {
            return Err(IrttError::Closed);
        }
        let Layout { received_stats, stamp_at, clock } = self.granted.layout;
        let received = match received_stats & 1 {
            0 => None,
            _ => Some(u32::from_le_bytes(take(&mut fields)?)),
        };
        if received_stats & 2 != 0 {
            take::<8>(&mut fields)?;
        }
        let received_ns = time(&mut fields, clock)?;
        let sent_ns = if stamp_at == 4 { received_ns } else { time(&mut fields, clock)? };
        Ok(Reply { sequence, received, received_ns, sent_ns })
    }
}

/// A probe fills a frame of Ethernet at most.
const PROBE_LIMIT_BYTES: usize = 1_400;

/// A time by the monotonic clock, or by the wall clock if there is no other.
fn time(fields: &mut &[u8], clock: u8) -> Result<u64, IrttError> {
    let mut ns = 0;
    for _ in 0..clock.count_ones() {
        ns = u64::from_le_bytes(take(fields)?);
    }
    Ok(ns)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], IrttError> {
    let (field, rest) = bytes.split_first_chunk::<N>().ok_or(IrttError::Form)?;
    *bytes = rest;
    Ok(*field)
}
