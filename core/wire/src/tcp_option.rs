//! Options of a TCP header. Source: RFC 9293 section 3.2, RFC 2018 section 3 and RFC 7323 section 3.2.

/// Types of options. Source: IANA TCP option kinds.
mod kind {
    pub(super) const END: u8 = 0;
    pub(super) const NO_OPERATION: u8 = 1;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
}

/// Blocks that fit into the 40 bytes which options may have.
const MAX_BLOCKS: usize = 4;

/// One option; padding is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpOption {
    /// Timestamps.
    Timestamps {
        /// TSval.
        value: u32,
        /// TSecr.
        echo: u32,
    },
    /// Blocks that arrived out of order: first byte and the one after the last. Empty where there are fewer.
    Sack([(u32, u32); MAX_BLOCKS]),
    /// One of this type, which is not taken apart, or one of those above that is malformed.
    Other(u8),
}

/// The options in a header, one after the other. One whose length cannot be ends them.
#[derive(Clone, Debug)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> TcpOptions<'a> {
    pub(crate) const fn new(rest: &'a [u8]) -> Self {
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
    match (kind, body.len()) {
        (kind::TIMESTAMPS, 8) => TcpOption::Timestamps { value: u32_at(body, 0), echo: u32_at(body, 4) },
        (kind::SACK, length) if length % 8 == 0 && length > 0 && length <= 8 * MAX_BLOCKS => {
            let mut blocks = [(0, 0); MAX_BLOCKS];
            for (block, bytes) in blocks.iter_mut().zip(body.chunks_exact(8)) {
                *block = (u32_at(bytes, 0), u32_at(bytes, 4));
            }
            TcpOption::Sack(blocks)
        }
        _ => TcpOption::Other(kind),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
