//! TCP options. Source: RFC 9293 section 3.2, RFC 2018, RFC 7323; later options name their RFC.

/// Option kinds. Source: IANA TCP option kinds.
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NO_OPERATION: u8 = 1;
    pub(super) const SEGMENT_SIZE: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
    pub(super) const USER_TIMEOUT: u8 = 28;
    pub(super) const MULTIPATH: u8 = 30;
    pub(super) const FAST_OPEN: u8 = 34;
    pub(super) const ACCURATE_ECN_0: u8 = 172;
    pub(super) const ACCURATE_ECN_1: u8 = 174;
    pub(super) const EXPERIMENT: u8 = 254;
}

/// Maximum number of SACK blocks in 40 bytes of options.
const MAX_BLOCKS: usize = 4;

/// An option other than padding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpOption {
    /// Timestamps.
    Timestamps {
        /// TSval.
        value: u32,
        /// TSecr.
        echo: u32,
    },
    /// SACK blocks: first byte, and the one after the last. Unused blocks are empty.
    Sack([(u32, u32); MAX_BLOCKS]),
    /// Maximum segment size that the sender accepts (RFC 9293 section 3.7.1), in bytes. In a SYN.
    SegmentSize(u16),
    /// Shift of the sender's windows (RFC 7323 section 2). In a SYN.
    WindowScale(u8),
    /// The sender supports SACK (RFC 2018 section 2). In a SYN.
    SackPermitted,
    /// Fast Open (RFC 7413 section 4.1.1): length of the cookie, 0 to request one. In a SYN.
    FastOpen(u8),
    /// AccECN counters (RFC 9768 section 3.2.3), 24 bits each, if present.
    AccurateEcn {
        /// Payload bytes received with ECT(0).
        ect_0_bytes: Option<u32>,
        /// Payload bytes received with CE.
        ce_bytes: Option<u32>,
        /// Payload bytes received with ECT(1).
        ect_1_bytes: Option<u32>,
    },
    /// Subtype of Multipath TCP (RFC 8684 section 3): 0 is MP_CAPABLE, 1 is MP_JOIN, 2 is DSS.
    Multipath(u8),
    /// How long the sender keeps unacknowledged data (RFC 5482 section 3), in seconds.
    UserTimeout(u32),
    /// The kind of another option, or of a malformed one.
    Other(u8),
}

/// Iterates over the options of a header, up to one with an invalid length.
#[derive(Clone, Debug)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> TcpOptions<'a> {
    /// Parses the bytes after the fixed header, which may be truncated.
    pub const fn new(rest: &'a [u8]) -> Self {
        TcpOptions { rest }
    }
}

impl Iterator for TcpOptions<'_> {
    type Item = TcpOption;

    fn next(&mut self) -> Option<TcpOption> {
        let padding = self.rest.iter().take_while(|byte| **byte == kind::NO_OPERATION).count();
        let rest = &self.rest[padding..];
        let kind = rest.first().copied().filter(|kind| *kind != kind::END);
        let Some(kind) = kind else {
            self.rest = &[];
            return None;
        };
        let length = rest.get(1).map_or(0, |length| usize::from(*length));
        let Some(body) = rest.get(2..length) else {
            self.rest = &[];
            return Some(TcpOption::Other(kind));
        };
        self.rest = &rest[length..];
        Some(read(kind, body))
    }
}

fn read(kind: u8, body: &[u8]) -> TcpOption {
    match (kind, body) {
        (kind::TIMESTAMPS, &[v0, v1, v2, v3, e0, e1, e2, e3]) => TcpOption::Timestamps {
            value: u32::from_be_bytes([v0, v1, v2, v3]),
            echo: u32::from_be_bytes([e0, e1, e2, e3]),
        },
        (kind::SACK, _) => sack(body).map_or(TcpOption::Other(kind), TcpOption::Sack),
        (kind::SEGMENT_SIZE, &[high, low]) => TcpOption::SegmentSize(u16::from_be_bytes([high, low])),
        (kind::WINDOW_SCALE, &[shift]) => TcpOption::WindowScale(shift),
        (kind::SACK_PERMITTED, []) => TcpOption::SackPermitted,
        (kind::MULTIPATH, [first, ..]) => TcpOption::Multipath(first >> 4),
        (kind::USER_TIMEOUT, &[high, low]) => {
            TcpOption::UserTimeout(user_timeout(u16::from_be_bytes([high, low])))
        }
        (kind::FAST_OPEN, cookie) | (kind::EXPERIMENT, [0xf9, 0x89, cookie @ ..]) => {
            TcpOption::FastOpen(cookie.len() as u8)
        }
        (kind::ACCURATE_ECN_0, _) => accurate_ecn(body, false).unwrap_or(TcpOption::Other(kind)),
        (kind::ACCURATE_ECN_1, _) => accurate_ecn(body, true).unwrap_or(TcpOption::Other(kind)),
        _ => TcpOption::Other(kind),
    }
}

/// SACK blocks; `None` if there is none, an incomplete one, or too many.
fn sack(body: &[u8]) -> Option<[(u32, u32); MAX_BLOCKS]> {
    if body.is_empty() || !body.len().is_multiple_of(8) || body.len() > 8 * MAX_BLOCKS {
        return None;
    }
    let mut blocks = [(0, 0); MAX_BLOCKS];
    for (block, bytes) in blocks.iter_mut().zip(body.chunks_exact(8)) {
        *block = (u32_at(bytes, 0), u32_at(bytes, 4));
    }
    Some(blocks)
}

/// The first bit selects minutes or seconds.
const fn user_timeout(field: u16) -> u32 {
    const MINUTES: u16 = 0x8000;
    let count = (field & !MINUTES) as u32;
    if field & MINUTES == 0 { count } else { count * 60 }
}

/// Up to three counters. The second is CE; the kind of option determines which is first.
fn accurate_ecn(body: &[u8], ect_1_first: bool) -> Option<TcpOption> {
    if !body.len().is_multiple_of(3) || body.len() > 9 {
        return None;
    }
    let counter = |index: usize| match body.get(3 * index..3 * index + 3) {
        Some(&[a, b, c]) => Some(u32::from_be_bytes([0, a, b, c])),
        _ => None,
    };
    let (first, ce_bytes, last) = (counter(0), counter(1), counter(2));
    let (ect_0_bytes, ect_1_bytes) = if ect_1_first { (last, first) } else { (first, last) };
    Some(TcpOption::AccurateEcn { ect_0_bytes, ce_bytes, ect_1_bytes })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
