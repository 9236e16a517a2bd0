//! ICMP echo requests that expire at a hop of a path.
//!
//! All requests of a path have the same checksum and identifier, so that load-balancing routers
//! keep them on one path (Augustin et al., Avoiding traceroute anomalies with Paris traceroute, IMC
//! 2006).
use crate::IcmpVersion;
use crate::echo::without_ipv4_header;
use fathom_wire::checksum;

/// Size of a request.
pub const HOP_REQUEST_BYTES: usize = 64;
/// Time Exceeded. Source: RFC 792, RFC 4443.
const TIME_EXCEEDED: [u8; 2] = [11, 3];
const REQUEST_TYPE: [u8; 2] = [8, 128];
const REPLY_TYPE: [u8; 2] = [0, 129];

/// Writes the requests of one path and recognizes the replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HopCodec {
    /// ICMP version.
    pub version: IcmpVersion,
    /// Identifier in the header; the kernel replaces it if `kernel_matches`.
    pub identifier: u16,
    /// A number that other programs do not have. Other probes of this program may have it.
    pub token: u64,
    /// Whether the kernel delivers only replies to this socket.
    pub kernel_matches: bool,
}

/// A reply to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HopReply {
    /// Sequence number of the request.
    pub sequence: u16,
    /// Whether it ended the path: the destination or an unreachable network, not a router where the
    /// request expired.
    pub is_end: bool,
}

impl HopCodec {
    /// The request with this sequence number. Its payload contains the complement of the number, so
    /// that the checksum is constant.
    #[must_use]
    pub fn request(&self, sequence: u16) -> [u8; HOP_REQUEST_BYTES] {
        let mut bytes = [0; HOP_REQUEST_BYTES];
        bytes[0] = REQUEST_TYPE[self.version as usize];
        bytes[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        bytes[6..8].copy_from_slice(&sequence.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.token.to_be_bytes());
        bytes[16..18].copy_from_slice(&(!sequence).to_be_bytes());
        // The kernel sets the checksum for ICMPv6 and for unprivileged IPv4 sockets.
        if self.version == IcmpVersion::V4 {
            let sum = checksum::of(&bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }
    /// Whether an ICMP error of this type is about a packet that expired.
    #[must_use]
    pub const fn has_expired(&self, icmp_type: u8) -> bool {
        icmp_type == TIME_EXCEEDED[self.version as usize]
    }
    /// Reads the request that an ICMP error of this type quotes, from its ICMP header on.
    #[must_use]
    pub fn read_error(&self, quoted: &[u8], icmp_type: u8) -> Option<HopReply> {
        let is_end = !self.has_expired(icmp_type);
        self.is_ours(quoted)?.then_some(HopReply { sequence: word(quoted, 6)?, is_end })
    }
    /// Reads the reply of the destination. Accepts the IP header that a raw IPv4 socket delivers.
    #[must_use]
    pub fn read_reply(&self, received: &[u8]) -> Option<HopReply> {
        let icmp = if self.version == IcmpVersion::V4 { without_ipv4_header(received)? } else { received };
        let is_reply = *icmp.first()? == REPLY_TYPE[self.version as usize];
        let is_ours = self.is_ours(icmp)? && icmp.get(8..16)? == self.token.to_be_bytes();
        (is_reply && is_ours).then_some(HopReply { sequence: word(icmp, 6)?, is_end: true })
    }
    /// Whether an echo request or reply has the identifier of this path.
    fn is_ours(&self, icmp: &[u8]) -> Option<bool> {
        Some(self.kernel_matches || word(icmp, 4)? == self.identifier)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODEC: HopCodec = HopCodec {
        version: IcmpVersion::V4,
        identifier: 77,
        token: 0x0123_4567_89ab_cdef,
        kernel_matches: false,
    };

    #[test]
    fn all_requests_of_a_path_have_one_checksum() {
        let sum = |sequence| CODEC.request(sequence)[2..4].to_vec();
        let first = sum(0);
        assert!((0..=u16::MAX).step_by(997).all(|n| sum(n) == first));
        assert_ne!(first, [0, 0]);
    }

    #[test]
    fn errors_and_replies_name_the_request() {
        for (version, exceeded, reply) in [(IcmpVersion::V4, 11, 0), (IcmpVersion::V6, 3, 129)] {
            let codec = HopCodec { version, ..CODEC };
            let mut request = codec.request(513);
            assert_eq!(codec.read_reply(&request), None, "a request is no reply");
            let at_router = HopReply { sequence: 513, is_end: false };
            assert_eq!(codec.read_error(&request[..8], exceeded), Some(at_router));
            let unreachable = HopReply { is_end: true, ..at_router };
            assert_eq!(codec.read_error(&request[..8], 1), Some(unreachable));
            let other = HopCodec { identifier: 78, token: 1, ..codec };
            assert_eq!(other.read_error(&request, exceeded), None, "of another program");
            assert!((0..8).all(|length| codec.read_error(&request[..length], exceeded).is_none()));
            request[0] = reply;
            assert_eq!(codec.read_reply(&request), Some(unreachable));
            assert_eq!(other.read_reply(&request), None);
            let same_program = HopCodec { identifier: 78, ..codec };
            assert_eq!(same_program.read_reply(&request), None, "to another probe with this number");
            assert!((0..16).all(|length| codec.read_reply(&request[..length]).is_none()));
        }
    }
}
