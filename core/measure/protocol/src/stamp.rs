//! STAMP, the Simple Two-Way Active Measurement Protocol (RFC 8762) in unauthenticated mode, with
//! the TLVs of RFC 8972: UDP probes with timestamps of the reflector, at both ends.
use alloc::vec::Vec;
use fathom_units::WallTime;

/// Default port of UDP (RFC 8762 section 4.1).
pub const DEFAULT_PORT: u16 = 862;
/// Size of a packet without TLVs, in both directions (RFC 8762 section 4.2.1).
pub const PACKET_BYTES: usize = 44;
/// Seconds from 1900 to 1970 (RFC 868).
const UNIX_EPOCH_S: u64 = 2_208_988_800;
/// About 1 ms, of a clock that is not known to be synchronized: S and Z are 0, 2^-32 s * 2^22
/// (RFC 4656 section 4.1.2).
const ERROR_ESTIMATE: u16 = 22 << 8 | 1;
/// Timestamps have seconds and nanoseconds (RFC 8186); otherwise seconds and their fractions.
const Z: u16 = 0x4000;
const MULTIPLIER: u16 = 0xff;
/// Flags of a TLV (RFC 8972 section 4): not recognized, malformed, and a wrong HMAC.
const TLV_U: u8 = 0x80;
const TLV_M: u8 = 0x40;
const TLV_HEADER_BYTES: usize = 4;
const TYPE_EXTRA_PADDING: u8 = 1;

/// The reflector's report about a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Sequence number of the probe.
    pub sequence: u32,
    /// Sequence number of the reply: that of the probe, or the number of replies before it.
    pub own_sequence: u32,
    /// Arrival of the probe, in ns since 1900 on the reflector's clock.
    pub received_ns: u64,
    /// When the reply was sent, in ns on the same clock.
    pub sent_ns: u64,
}

/// A probe sent at `at`, by the session with this identifier (RFC 8972 section 3).
#[must_use]
pub fn probe(sequence: u32, at: WallTime, session: u16) -> [u8; PACKET_BYTES] {
    let mut packet = [0; PACKET_BYTES];
    put_start(&mut packet, sequence, at, session);
    packet
}

/// Reads a reply to a probe of `session`; `None` if it is none. A reflector that does not know
/// RFC 8972 returns 0 as identifier.
#[must_use]
pub fn reply(packet: &[u8], session: u16) -> Option<Reply> {
    let packet: &[u8; PACKET_BYTES] = packet.get(..PACKET_BYTES)?.try_into().ok()?;
    let estimate = u16_at(packet, 12);
    // A multiplier of 0 is that of a corrupt packet (RFC 4656 section 4.1.2).
    let is_valid = estimate & MULTIPLIER != 0 && [0, session].contains(&u16_at(packet, 14));
    is_valid.then(|| Reply {
        sequence: u32_at(packet, 24),
        own_sequence: u32_at(packet, 0),
        received_ns: nanos(packet, 16, estimate),
        sent_ns: nanos(packet, 4, estimate),
    })
}

/// The reply to a probe with hop limit `ttl`, as long as the probe; `None` if it is none. The
/// reflector is stateless: its sequence number is that of the probe (RFC 8762 section 4.3).
#[must_use]
pub fn reflect(probe: &[u8], ttl: u8, arrival: WallTime, departure: WallTime) -> Option<Vec<u8>> {
    let (sent, tlvs) = probe.split_first_chunk::<PACKET_BYTES>()?;
    let mut packet = Vec::from(probe);
    put_start(&mut packet, u32_at(sent, 0), departure, u16_at(sent, 14));
    packet[16..24].copy_from_slice(&ntp(arrival));
    // Sequence number, timestamp and error estimate of the sender.
    packet[24..38].copy_from_slice(&sent[..14]);
    packet[38..PACKET_BYTES].copy_from_slice(&[0, 0, ttl, 0, 0, 0]);
    mark_tlvs(&mut packet[PACKET_BYTES..PACKET_BYTES + tlvs.len()]);
    Some(packet)
}

/// Sets the flags of TLVs. After a malformed one, none is read (RFC 8972 section 4).
fn mark_tlvs(mut tlvs: &mut [u8]) {
    while let Some((header, rest)) = tlvs.split_first_chunk_mut::<TLV_HEADER_BYTES>() {
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let is_whole = length <= rest.len();
        let is_known = header[1] == TYPE_EXTRA_PADDING;
        header[0] = if is_known { 0 } else { TLV_U } | if is_whole { 0 } else { TLV_M };
        tlvs = rest.get_mut(length..).unwrap_or_default();
    }
}

/// The fields with which packets of both ends start.
fn put_start(packet: &mut [u8], sequence: u32, at: WallTime, session: u16) {
    packet[..4].copy_from_slice(&sequence.to_be_bytes());
    packet[4..12].copy_from_slice(&ntp(at));
    packet[12..14].copy_from_slice(&ERROR_ESTIMATE.to_be_bytes());
    packet[14..16].copy_from_slice(&session.to_be_bytes());
}

/// Seconds since 1900 and their fractions of 2^-32, which wrap in 2036 (RFC 5905 section 6).
fn ntp(at: WallTime) -> [u8; 8] {
    let (seconds, ns) = (at.0 / 1_000_000_000 + UNIX_EPOCH_S, at.0 % 1_000_000_000);
    // Rounded up, so that it is the same nanosecond when it is read.
    (seconds << 32 | (ns << 32).div_ceil(1_000_000_000)).to_be_bytes()
}

fn nanos(packet: &[u8; PACKET_BYTES], at: usize, estimate: u16) -> u64 {
    let (seconds, rest) = (u64::from(u32_at(packet, at)), u64::from(u32_at(packet, at + 4)));
    let ns = if estimate & Z == 0 { (rest * 1_000_000_000) >> 32 } else { rest };
    seconds * 1_000_000_000 + ns
}

fn u16_at(packet: &[u8; PACKET_BYTES], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

fn u32_at(packet: &[u8; PACKET_BYTES], at: usize) -> u32 {
    u32::from_be_bytes(core::array::from_fn(|n| packet[at + n]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// 2026-11-26 00:00:00.5 UTC: 0xeeb1f500 seconds since 1900.
    const AT: WallTime = WallTime(1_795_651_200_500_000_000);
    const STAMP: [u8; 8] = [0xee, 0xb1, 0xf5, 0x00, 0x80, 0, 0, 0];

    #[test]
    fn a_probe_has_the_layout_of_the_rfc() {
        let packet = probe(0x0102_0304, AT, 0xabcd);
        let expected = [&[1, 2, 3, 4][..], &STAMP, &[0x16, 0x01, 0xab, 0xcd], &[0; 28]].concat();
        assert_eq!(packet, *expected);
    }

    #[test]
    fn a_reflector_copies_the_probe_and_adds_its_times() {
        let sent = probe(7, WallTime(1_000_000_000), 0xabcd);
        let later = WallTime(AT.0 + 250_000_000);
        let packet = reflect(&sent, 61, AT, later).unwrap();
        let expected = [
            &[0, 0, 0, 7][..],
            &[0xee, 0xb1, 0xf5, 0x00, 0xc0, 0, 0, 0],
            &[0x16, 0x01, 0xab, 0xcd],
            &STAMP,
            &[0, 0, 0, 7, 0x83, 0xaa, 0x7e, 0x81, 0, 0, 0, 0, 0x16, 0x01, 0, 0],
            &[61, 0, 0, 0],
        ]
        .concat();
        assert_eq!(packet, expected);
        let read = reply(&packet, 0xabcd).unwrap();
        let since_1900 = (1_795_651_200 + UNIX_EPOCH_S) * 1_000_000_000;
        assert_eq!((read.sequence, read.own_sequence), (7, 7));
        assert_eq!([read.received_ns, read.sent_ns].map(|ns| ns - since_1900), [500_000_000, 750_000_000]);
        assert_eq!(reply(&packet, 1), None, "of another session");
        for length in 0..PACKET_BYTES {
            assert_eq!((reply(&packet[..length], 0xabcd), reflect(&sent[..length], 0, AT, AT)), (None, None));
        }
    }

    #[test]
    fn each_nanosecond_survives() {
        for ns in [0, 1, 499_999_999, 999_999_999] {
            let packet = reflect(&probe(0, AT, 0), 0, WallTime(ns), AT).unwrap();
            assert_eq!(reply(&packet, 0).unwrap().received_ns, UNIX_EPOCH_S * 1_000_000_000 + ns);
        }
    }

    #[test]
    fn a_reflector_may_count_itself_and_use_the_other_timestamp_format() {
        let mut packet = reflect(&probe(9, AT, 0), 0, AT, AT).unwrap();
        packet[3] = 4;
        packet[8..12].copy_from_slice(&[0x1d, 0xcd, 0x65, 0x00]);
        packet[12] |= 0x40;
        let read = reply(&packet, 5).unwrap();
        assert_eq!((read.sequence, read.own_sequence, read.sent_ns % 1_000_000_000), (9, 4, 500_000_000));
        packet[13] = 0;
        assert_eq!(reply(&packet, 5), None, "an error estimate with multiplier 0");
    }

    #[test]
    fn tlvs_are_reflected_with_their_flags() {
        let sent = probe(1, AT, 0);
        let padding = [0x80, 1, 0, 2, 9, 9];
        let unknown = [0x80, 77, 0, 1, 5];
        let too_long = [0x80, 1, 0, 9, 9, 9];
        for (tlvs, expected) in [
            (vec![padding.to_vec()], vec![vec![0, 1, 0, 2, 9, 9]]),
            (vec![unknown.to_vec(), padding.to_vec()], vec![unknown.to_vec(), vec![0, 1, 0, 2, 9, 9]]),
            (vec![too_long.to_vec()], vec![vec![0x40, 1, 0, 9, 9, 9]]),
            (vec![vec![0x80, 1, 0]], vec![vec![0x80, 1, 0]]),
        ] {
            let extended = [sent.to_vec(), tlvs.concat()].concat();
            let packet = reflect(&extended, 0, AT, AT).unwrap();
            assert_eq!(packet[PACKET_BYTES..], expected.concat(), "{tlvs:?}");
            assert_eq!(packet.len(), extended.len());
        }
    }
}
