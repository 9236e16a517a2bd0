//! ICMP echo (RFC 792, RFC 4443) with 56 bytes of payload that name the probe.

/// Payload bytes: what ping(8) sends, and what `IcmpRtt` is defined by.
const PAYLOAD_BYTES: usize = 56;
/// Header and payload.
pub const ECHO_BYTES: usize = 8 + PAYLOAD_BYTES;

const MAGIC: [u8; 8] = *b"fathom\0\x01";

/// Which ICMP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpVersion {
    /// RFC 792.
    V4,
    /// RFC 4443.
    V6,
}

/// Names the probes of one run, so that those of another program, or of another run, are not taken for ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EchoSession {
    /// The version.
    pub version: IcmpVersion,
    /// In the payload: any number that other runs will not have.
    pub token: u64,
}

impl EchoSession {
    /// The request with this sequence number. The 16-bit one of the header wraps; the payload holds the whole.
    pub fn request(&self, sequence: u64) -> [u8; ECHO_BYTES] {
        let mut bytes = [0; ECHO_BYTES];
        bytes[0] = match self.version {
            IcmpVersion::V4 => 8,
            IcmpVersion::V6 => 128,
        };
        bytes[4..6].copy_from_slice(&self.token.to_be_bytes()[6..]);
        bytes[6..8].copy_from_slice(&sequence.to_be_bytes()[6..]);
        bytes[8..16].copy_from_slice(&MAGIC);
        bytes[16..24].copy_from_slice(&self.token.to_be_bytes());
        bytes[24..32].copy_from_slice(&sequence.to_be_bytes());
        // The kernel fills in the checksum of ICMPv6, which covers addresses.
        if self.version == IcmpVersion::V4 {
            let sum = checksum(&bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }
    /// The sequence number of a reply to a request of this session; `None` for anything else. A raw IPv4 socket gives the IP
    /// header too.
    pub fn reply(&self, received: &[u8]) -> Option<u64> {
        let reply_type = match self.version {
            IcmpVersion::V4 => 0,
            IcmpVersion::V6 => 129,
        };
        let icmp = if self.version == IcmpVersion::V4 { icmp_of(received)? } else { received };
        let icmp = Some(icmp).filter(|b| b.len() >= 32)?;
        let ours = icmp[0] == reply_type && icmp[8..16] == MAGIC && icmp[16..24] == self.token.to_be_bytes();
        ours.then(|| u64::from_be_bytes(core::array::from_fn(|i| icmp[24 + i])))
    }
}

/// A message of ICMP, without the IPv4 header that a raw socket gives before it. The types that are used here are below 0x40; a header
/// begins with 0x4.
pub(crate) fn icmp_of(received: &[u8]) -> Option<&[u8]> {
    let with_header = received.first()? >> 4 == 4;
    let header_bytes = if with_header { usize::from(received[0] & 0xf) * 4 } else { 0 };
    received.get(header_bytes..)
}

/// RFC 1071.
pub(crate) fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn answer(session: EchoSession, sequence: u64, ip_header: bool) -> Vec<u8> {
        let mut bytes = if ip_header { vec![0x45; 20] } else { vec![] };
        bytes.extend(session.request(sequence));
        let at = if ip_header { 20 } else { 0 };
        bytes[at] = if session.version == IcmpVersion::V4 { 0 } else { 129 };
        bytes
    }

    #[test]
    fn a_reply_names_its_request() {
        for version in [IcmpVersion::V4, IcmpVersion::V6] {
            let session = EchoSession { version, token: 0x1234_5678_9abc_def0 };
            for sequence in [0, 65_536, u64::MAX] {
                assert_eq!(session.reply(&answer(session, sequence, false)), Some(sequence));
            }
            assert_eq!(session.reply(&session.request(1)), None, "a request is no reply");
            let other = EchoSession { token: 7, ..session };
            assert_eq!(session.reply(&answer(other, 1, false)), None, "another run's");
            for length in 0..32 {
                assert_eq!(session.reply(&answer(session, 1, false)[..length]), None, "{length} bytes");
            }
        }
        let v4 = EchoSession { version: IcmpVersion::V4, token: 1 };
        assert_eq!(v4.reply(&answer(v4, 9, true)), Some(9));
    }

    #[test]
    fn the_checksum_makes_the_sum_zero() {
        let bytes = EchoSession { version: IcmpVersion::V4, token: u64::MAX }.request(77);
        assert_eq!(checksum(&bytes), 0);
    }
}
