//! ICMP timestamps (RFC 792): when a question came to a host and when its answer left, by that host's clock, in ms of UTC's day.

use crate::echo::without_ipv4_header;
use fathom_wire::checksum;

/// Bytes of a question, and of an answer.
pub const DAY_CLOCK_BYTES: usize = 20;
const QUESTION: u8 = 13;
const ANSWER: u8 = 14;
/// Set where a host's clock does not tell UTC's day.
const NOT_STANDARD: u32 = 1 << 31;
const DAY_MS: u32 = 86_400_000;

/// Names the questions of one socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DayClockSession {
    /// Any number that other programs on this host will not have.
    pub identifier: u16,
}

/// What a host's clock said, ms of UTC's day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DayClock {
    /// The low bits of the question's number.
    pub sequence: u16,
    /// When the question came.
    pub received_ms: u32,
    /// When the answer left.
    pub sent_ms: u32,
}

impl DayClockSession {
    /// The question with this number.
    pub fn request(&self, sequence: u16) -> [u8; DAY_CLOCK_BYTES] {
        let mut bytes = [0; DAY_CLOCK_BYTES];
        bytes[0] = QUESTION;
        bytes[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        bytes[6..8].copy_from_slice(&sequence.to_be_bytes());
        let sum = checksum::of(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
    /// What an answer to one of them says; `None` for anything else, and for a clock that does not tell UTC's day. A raw socket gives
    /// the IP header too.
    pub fn reply(&self, received: &[u8]) -> Option<DayClock> {
        let icmp = without_ipv4_header(received)?.first_chunk::<DAY_CLOCK_BYTES>()?;
        let half = |at: usize| u16::from_be_bytes([icmp[at], icmp[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let told = DayClock { sequence: half(6), received_ms: word(12), sent_ms: word(16) };
        let is_ours = icmp[0] == ANSWER && half(4) == self.identifier;
        let is_day = |ms: u32| ms & NOT_STANDARD == 0 && ms < DAY_MS;
        (is_ours && is_day(told.received_ms) && is_day(told.sent_ms)).then_some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    const SESSION: DayClockSession = DayClockSession { identifier: 0xbeef };

    fn answer(received_ms: u32, sent_ms: u32, header_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![0x45; header_bytes];
        bytes.extend(SESSION.request(7));
        let icmp = &mut bytes[header_bytes..];
        icmp[0] = ANSWER;
        icmp[12..16].copy_from_slice(&received_ms.to_be_bytes());
        icmp[16..20].copy_from_slice(&sent_ms.to_be_bytes());
        bytes
    }

    #[test]
    fn an_answer_is_read_and_nothing_else() {
        let told = Some(DayClock { sequence: 7, received_ms: 41_000_000, sent_ms: 41_000_001 });
        for header_bytes in [0, 20] {
            let bytes = answer(41_000_000, 41_000_001, header_bytes);
            assert_eq!(SESSION.reply(&bytes), told);
            assert_eq!(DayClockSession { identifier: 1 }.reply(&bytes), None, "another's");
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
