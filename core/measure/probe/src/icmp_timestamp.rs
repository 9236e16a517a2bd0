//! ICMP timestamp messages (RFC 792): when a request reached a host and when its reply left, by
//! that host's clock, in ms since midnight UTC.

use crate::echo::without_ipv4_header;
use fathom_wire::checksum;

/// Size of a request and of a reply.
pub const TIMESTAMP_BYTES: usize = 20;
const REQUEST_TYPE: u8 = 13;
const REPLY_TYPE: u8 = 14;
/// Set if a host's clock does not count from midnight UTC.
const NOT_STANDARD: u32 = 1 << 31;
const DAY_MS: u32 = 86_400_000;

/// Writes the timestamp requests of one socket and recognizes the replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimestampCodec {
    /// A number unlikely to be used by other programs on this host.
    pub identifier: u16,
}

/// Times in a reply, in ms since midnight UTC by the host's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimestampReply {
    /// Low bits of the request's sequence number.
    pub sequence: u16,
    /// Arrival of the request.
    pub received_ms: u32,
    /// Send time of the reply.
    pub sent_ms: u32,
}

impl TimestampCodec {
    /// The request with this sequence number.
    pub fn request(&self, sequence: u16) -> [u8; TIMESTAMP_BYTES] {
        let mut bytes = [0; TIMESTAMP_BYTES];
        bytes[0] = REQUEST_TYPE;
        bytes[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        bytes[6..8].copy_from_slice(&sequence.to_be_bytes());
        let sum = checksum::of(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
    /// Parses a reply to one of the requests; `None` for anything else, and for a clock that does
    /// not count from midnight UTC. Accepts the IP header that a raw socket delivers.
    pub fn reply(&self, received: &[u8]) -> Option<TimestampReply> {
        let icmp = without_ipv4_header(received)?.first_chunk::<TIMESTAMP_BYTES>()?;
        let half = |at: usize| u16::from_be_bytes([icmp[at], icmp[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let reply = TimestampReply { sequence: half(6), received_ms: word(12), sent_ms: word(16) };
        let is_ours = icmp[0] == REPLY_TYPE && half(4) == self.identifier;
        let is_day = |ms: u32| ms & NOT_STANDARD == 0 && ms < DAY_MS;
        (is_ours && is_day(reply.received_ms) && is_day(reply.sent_ms)).then_some(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    const SESSION: TimestampCodec = TimestampCodec { identifier: 0xbeef };

    fn answer(received_ms: u32, sent_ms: u32, header_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![0x45; header_bytes];
        bytes.extend(SESSION.request(7));
        let icmp = &mut bytes[header_bytes..];
        icmp[0] = REPLY_TYPE;
        icmp[12..16].copy_from_slice(&received_ms.to_be_bytes());
        icmp[16..20].copy_from_slice(&sent_ms.to_be_bytes());
        bytes
    }

    #[test]
    fn only_replies_are_accepted() {
        let expected = Some(TimestampReply { sequence: 7, received_ms: 41_000_000, sent_ms: 41_000_001 });
        for header_bytes in [0, 20] {
            let bytes = answer(41_000_000, 41_000_001, header_bytes);
            assert_eq!(SESSION.reply(&bytes), expected);
            assert_eq!(TimestampCodec { identifier: 1 }.reply(&bytes), None, "another's");
            for length in 0..bytes.len() {
                assert_eq!(SESSION.reply(&bytes[..length]), None, "{length} bytes");
            }
        }
        assert_eq!(SESSION.reply(&SESSION.request(7)), None, "a question is no answer");
        assert_eq!(SESSION.reply(&answer(NOT_STANDARD | 5, 5, 20)), None, "no clock of the day");
        assert_eq!(SESSION.reply(&answer(5, DAY_MS, 20)), None, "no time of a day");
    }

    #[test]
    fn the_checksum_makes_the_sum_zero() {
        assert_eq!(checksum::of(&SESSION.request(u16::MAX)), 0);
    }
}
