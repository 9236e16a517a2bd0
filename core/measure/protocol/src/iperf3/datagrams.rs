//! Streams of UDP: their start, and the header of their datagrams (`iperf_udp.c`).

/// Header of a datagram in bytes, with a number of 64 bit.
pub const HEADER_BYTES: usize = 16;

/// First datagram of a stream, from the client (`UDP_CONNECT_MSG`). iperf3 writes it in the byte
/// order of its host, which is nearly always this one, and ignores what it says.
pub const OPENING: [u8; 4] = 0x3637_3839_u32.to_le_bytes();

/// The server's answers to it, of this and of older versions (`UDP_CONNECT_REPLY`).
const ANSWERS: [u32; 2] = [0x3938_3736, 987_654_321];

/// Whether a datagram is the server's answer, in either byte order.
#[must_use]
pub fn is_answer(datagram: &[u8]) -> bool {
    let word: Option<[u8; 4]> = datagram.try_into().ok();
    word.is_some_and(|word| {
        ANSWERS.contains(&u32::from_le_bytes(word)) || ANSWERS.contains(&u32::from_be_bytes(word))
    })
}

/// The header of the datagram that follows `before` others of its stream, sent at this time in ns.
#[must_use]
pub fn header(before: u64, sent_ns: u64) -> [u8; HEADER_BYTES] {
    let (seconds, micros) = (sent_ns / 1_000_000_000, sent_ns / 1_000 % 1_000_000);
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&(seconds as u32).to_be_bytes());
    bytes[4..8].copy_from_slice(&(micros as u32).to_be_bytes());
    bytes[8..].copy_from_slice(&before.saturating_add(1).to_be_bytes());
    bytes
}

/// How many datagrams of its stream were sent before this one; `None` if it is none.
#[must_use]
pub fn before(datagram: &[u8]) -> Option<u64> {
    let number = datagram.get(8..HEADER_BYTES)?.try_into().ok()?;
    u64::from_be_bytes(number).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_the_bytes_of_iperf3() {
        let bytes = header(6, 5_000_001_999);
        assert_eq!(bytes, [0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!((before(&bytes), before(&bytes[..15]), before(&[0; 16])), (Some(6), None, None));
        assert_eq!(before(&[0xff; 20]), Some(u64::MAX - 1));
        assert!(is_answer(b"6789") && is_answer(b"9876") && is_answer(&987_654_321_u32.to_le_bytes()));
        assert!(!is_answer(&OPENING[..3]) && !is_answer(b"98765") && !is_answer(&[0; 4]));
    }
}
