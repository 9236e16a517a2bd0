//! Streams of UDP: their start, and the header of their datagrams (`iperf_udp.c`).

/// Longest datagram in bytes (`MAX_UDP_BLOCKSIZE`).
pub const LONGEST_BYTES: u32 = 65_507;

/// First datagram of a stream, from the client (`UDP_CONNECT_MSG`). iperf3 writes it in the byte
/// order of its host, which is nearly always this one, and ignores what it says.
pub const OPENING: [u8; 4] = 0x3637_3839_u32.to_le_bytes();

/// The server's answers to it, of this and of older versions (`UDP_CONNECT_REPLY`).
const ANSWERS: [u32; 2] = [0x3938_3736, 987_654_321];

/// The server's answer.
pub const ANSWER: [u8; 4] = ANSWERS[0].to_le_bytes();

/// Whether a datagram is the server's answer, in either byte order.
#[must_use]
pub fn is_answer(datagram: &[u8]) -> bool {
    let word: Option<[u8; 4]> = datagram.try_into().ok();
    word.is_some_and(|word| {
        ANSWERS.contains(&u32::from_le_bytes(word)) || ANSWERS.contains(&u32::from_be_bytes(word))
    })
}

/// Width of the numbers of the datagrams of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// 32 bit, the default of iperf3.
    Narrow,
    /// 64 bit (`--udp-counters-64bit`).
    Wide,
}

impl Numbers {
    /// Size of the header: seconds, microseconds and the number.
    #[must_use]
    pub const fn header_bytes(self) -> usize {
        match self {
            Numbers::Narrow => 12,
            Numbers::Wide => 16,
        }
    }
    /// Writes the header of the datagram that follows `before` others of its stream, sent at this
    /// time in ns. There is nothing to write it to in a shorter datagram.
    pub fn write(self, before: u64, sent_ns: u64, datagram: &mut [u8]) {
        let Some(header) = datagram.get_mut(..self.header_bytes()) else { return };
        let (seconds, micros) = (sent_ns / 1_000_000_000, sent_ns / 1_000 % 1_000_000);
        header[..4].copy_from_slice(&(seconds as u32).to_be_bytes());
        header[4..8].copy_from_slice(&(micros as u32).to_be_bytes());
        let number = before.saturating_add(1);
        match self {
            Numbers::Narrow => header[8..].copy_from_slice(&(number as u32).to_be_bytes()),
            Numbers::Wide => header[8..].copy_from_slice(&number.to_be_bytes()),
        }
    }
    /// How many datagrams of its stream were sent before this one; `None` if it is none.
    #[must_use]
    pub fn before(self, datagram: &[u8]) -> Option<u64> {
        let number = datagram.get(8..self.header_bytes())?;
        number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)).checked_sub(1)
    }
}

/// When a datagram was sent, in us on the sender's clock; `None` if it has no header.
#[must_use]
pub fn sent_us(datagram: &[u8]) -> Option<u64> {
    let word = |at| Some(u64::from(u32::from_be_bytes(datagram.get(at..at + 4)?.try_into().ok()?)));
    Some(word(0)? * 1_000_000 + word(4)?)
}

/// Jitter of arrivals (RFC 3550, section 6.4.1), as iperf3 reports it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Jitter {
    /// Arrival less departure of the datagram before, with unknown offset, in us.
    transit_us: Option<f64>,
    jitter_us: f64,
}

impl Jitter {
    /// Adds a datagram.
    pub fn add(&mut self, sent_us: u64, arrived_us: u64) {
        let transit = arrived_us as f64 - sent_us as f64;
        if let Some(before) = self.transit_us.replace(transit) {
            self.jitter_us += ((transit - before).abs() - self.jitter_us) / 16.0;
        }
    }
    /// The jitter so far, in s.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.jitter_us / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_the_bytes_of_iperf3() {
        let mut bytes = [0xee; 17];
        Numbers::Wide.write(6, 5_000_001_999, &mut bytes);
        assert_eq!(bytes, [0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0xee]);
        let wide = |datagram: &[u8]| Numbers::Wide.before(datagram);
        assert_eq!((wide(&bytes), wide(&bytes[..15]), wide(&[0; 16])), (Some(6), None, None));
        assert_eq!(wide(&[0xff; 20]), Some(u64::MAX - 1));
        assert_eq!((sent_us(&bytes), sent_us(&bytes[..7])), (Some(5_000_001), None));
        let mut short = [0xee; 13];
        Numbers::Narrow.write(6, 5_000_001_999, &mut short);
        assert_eq!(short, [0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 7, 0xee]);
        assert_eq!((Numbers::Narrow.before(&short), Numbers::Narrow.before(&short[..11])), (Some(6), None));
        Numbers::Narrow.write(7, 1, &mut short[..11]);
        assert_eq!(Numbers::Narrow.before(&short), Some(6));
        assert!(is_answer(&ANSWER) && is_answer(b"9876") && is_answer(&987_654_321_u32.to_le_bytes()));
        assert!(!is_answer(&OPENING[..3]) && !is_answer(b"98765") && !is_answer(&[0; 4]));
    }

    #[test]
    fn jitter_follows_differences_of_transit() {
        let mut jitter = Jitter::default();
        for (sent, arrived) in [(1_000_000, 50), (1_000_020, 70), (1_000_040, 250)] {
            jitter.add(sent, arrived);
        }
        // Two intervals: 0 us, and 160 us more than the one before.
        assert!((jitter.seconds() - 10e-6).abs() < 1e-12, "{jitter:?}");
    }
}
