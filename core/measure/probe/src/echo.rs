//! ICMP echo messages (RFC 792, RFC 4443). The payload contains everything needed to match a reply.
use crate::Probe;
use fathom_units::{Time, WallTime};
use fathom_wire::checksum;

/// Size of the header: type, code, checksum, identifier, sequence number.
pub const ECHO_HEADER_BYTES: usize = 8;
/// Minimum payload size in bytes: token, target and sequence number, and two times.
pub const ECHO_MIN_PAYLOAD_BYTES: usize = 4 * 8;
/// Payload size of test probes: that of ping(8), and of the definition of `IcmpRtt`.
const TEST_PAYLOAD_BYTES: usize = 56;
/// Size of the ICMP message that a test sends.
pub const ECHO_BYTES: usize = ECHO_HEADER_BYTES + TEST_PAYLOAD_BYTES;

const REQUEST_TYPE: [u8; 2] = [8, 128];
const REPLY_TYPE: [u8; 2] = [0, 129];

/// ICMP version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpVersion {
    /// RFC 792.
    V4,
    /// RFC 4443.
    V6,
}

/// Contents of an echo message, so that a late reply can be matched without stored state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EchoPayload {
    /// Number of the target.
    pub target: u32,
    /// The probe.
    pub probe: Probe<WallTime>,
}

/// Writes the echo requests of one run of the program and recognizes the replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EchoCodec {
    /// ICMP version.
    pub version: IcmpVersion,
    /// A number unique to this run, which distinguishes its replies from those to other programs.
    pub token: u64,
    /// Identifier in the header. Ignored on sockets for which the kernel sets the identifier.
    pub identifier: u16,
    /// Whether to compute the checksum. For ICMPv6, which covers addresses, the kernel does it.
    pub has_checksum: bool,
}

impl EchoCodec {
    /// Creates a codec. The low bits of `token` become the identifier.
    pub const fn new(version: IcmpVersion, token: u64) -> Self {
        EchoCodec {
            version,
            token,
            identifier: token as u16,
            has_checksum: matches!(version, IcmpVersion::V4),
        }
    }
    /// Writes a request that fills `bytes`, which must have room for [`ECHO_HEADER_BYTES`] and
    /// [`ECHO_MIN_PAYLOAD_BYTES`].
    ///
    /// Replies are matched by the 64 bits in the payload, never by the 16 bits in the header: those
    /// wrap within seconds, and routers rewrite them.
    pub fn write(&self, bytes: &mut [u8], payload: &EchoPayload) {
        let EchoPayload { target, probe } = payload;
        let fields: [(usize, u64); 4] = [
            (ECHO_HEADER_BYTES, self.token),
            (16, u64::from(*target) << 32 | u64::from(probe.sequence)),
            (24, probe.at.0),
            (32, probe.sent.as_nanos()),
        ];
        put(bytes, 0, &[REQUEST_TYPE[self.version as usize], 0, 0, 0]);
        put(bytes, 4, &self.identifier.to_be_bytes());
        put(bytes, 6, &(probe.sequence as u16).to_be_bytes());
        for (at, value) in fields {
            put(bytes, at, &value.to_be_bytes());
        }
        if self.has_checksum {
            put(bytes, 2, &checksum::of(bytes).to_be_bytes());
        }
    }
    /// The request that a test sends.
    pub fn request(&self, payload: &EchoPayload) -> [u8; ECHO_BYTES] {
        let mut bytes = [0; ECHO_BYTES];
        self.write(&mut bytes, payload);
        bytes
    }
    /// Payload of a reply to a request of this run; `None` for anything else. Accepts the IP header
    /// that a raw IPv4 socket delivers.
    pub fn read_reply(&self, received: &[u8]) -> Option<EchoPayload> {
        let icmp = if self.version == IcmpVersion::V4 { without_ipv4_header(received)? } else { received };
        let is_reply = *icmp.first()? == REPLY_TYPE[self.version as usize];
        let is_ours = is_reply && word(icmp, ECHO_HEADER_BYTES)? == self.token;
        is_ours.then(|| payload(icmp, ECHO_HEADER_BYTES)).flatten()
    }
    /// Payload of a request of this run, after any headers.
    pub fn read_request(&self, packet: &[u8]) -> Option<EchoPayload> {
        // After IPv4 with and without Ethernet header, and after IPv6; otherwise search the packet.
        const USUAL: [usize; 4] = [42, 28, 62, 48];
        let is_here = |at: &usize| word(packet, *at) == Some(self.token);
        let found = USUAL.into_iter().find(is_here).or_else(|| (0..packet.len()).find(is_here));
        payload(packet, found?)
    }
}

/// Skips a raw socket's IPv4 header, which starts with 0x4; ICMP types are below 0x40 or over 0x7f.
pub(crate) fn without_ipv4_header(received: &[u8]) -> Option<&[u8]> {
    let first = *received.first()?;
    let header_bytes = if first >> 4 == 4 { usize::from(first & 0xf) * 4 } else { 0 };
    received.get(header_bytes..)
}

/// Parses the fields after the token at `at`.
fn payload(bytes: &[u8], at: usize) -> Option<EchoPayload> {
    let name = word(bytes, at + 8)?;
    let (wall, sent) = (WallTime(word(bytes, at + 16)?), Time::from_nanos(word(bytes, at + 24)?));
    Some(EchoPayload { target: (name >> 32) as u32, probe: Probe { sequence: name as u32, at: wall, sent } })
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_be_bytes(eight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const CODEC: EchoCodec = EchoCodec::new(IcmpVersion::V4, 0x0102_0304_0506_0708);

    fn message(target: u32, sequence: u32) -> EchoPayload {
        EchoPayload {
            target,
            probe: Probe { sequence, at: WallTime(u64::MAX - 1), sent: Time::from_nanos(5) },
        }
    }

    #[test]
    fn a_reply_carries_target_probe_and_times() {
        for (version, reply_type) in [(IcmpVersion::V4, 0), (IcmpVersion::V6, 129)] {
            let codec = EchoCodec { version, ..CODEC };
            for sequence in [0, 65_536, u32::MAX] {
                let message = message(0xfedc_ba98, sequence);
                let mut reply = [0; 40];
                codec.write(&mut reply, &message);
                assert_eq!(codec.read_reply(&reply), None, "a request is no reply");
                for before in [0, 20, 34, 37, 40, 54] {
                    let packet = [vec![1; before], reply.to_vec()].concat();
                    assert_eq!(codec.read_request(&packet), Some(message), "{before} bytes before it");
                    assert_eq!(codec.read_request(&packet[..before + 39]), None);
                }
                reply[0] = reply_type;
                assert_eq!(codec.read_reply(&reply), Some(message));
                assert_eq!(EchoCodec { token: 1, ..codec }.read_reply(&reply), None, "another program's");
                for length in 0..40 {
                    assert_eq!(codec.read_reply(&reply[..length]), None, "{length} bytes");
                }
                let mut raw = [0_u8; 60];
                raw[0] = 0x45;
                raw[20..].copy_from_slice(&reply);
                let has_header = version == IcmpVersion::V4;
                assert_eq!(codec.read_reply(&raw).is_some(), has_header, "with the header of IPv4");
            }
        }
    }

    #[test]
    fn the_checksum_makes_the_sum_zero() {
        let bytes = CODEC.request(&message(3, 77));
        assert_eq!(checksum::of(&bytes), 0);
        let kernel_fills_it_in = EchoCodec::new(IcmpVersion::V6, 1).request(&message(3, 77));
        assert_eq!(kernel_fills_it_in[2..4], [0, 0]);
    }
}
