//! The header before each packet of a TUN device with offloads, in native byte order. Source:
//! virtio 1.2 section 5.1.6; linux/virtio_net.h.

/// Offload work that the kernel left to do, or may be left with, for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct VnetHeader {
    /// `NEEDS_CSUM` (1): the checksum at `csum_start + csum_offset` is only the pseudo-header sum.
    pub flags: u8,
    /// 0: one packet; 1: TCP over IPv4, 4: over IPv6, to be split; plus 0x80 if the first has CWR.
    pub gso_type: u8,
    /// Length of all headers.
    pub hdr_len: u16,
    /// Payload of each segment except the last.
    pub gso_size: u16,
    /// Start of the checksummed part.
    pub csum_start: u16,
    /// Offset of the checksum in that part.
    pub csum_offset: u16,
}

impl VnetHeader {
    /// Length of this header.
    pub const BYTES: usize = 10;
    /// Flag: the checksum must be completed.
    pub const NEEDS_CSUM: u8 = 1;
    /// One packet.
    pub const GSO_NONE: u8 = 0;
    /// TCP over IPv4.
    pub const GSO_TCPV4: u8 = 1;
    /// TCP over IPv6.
    pub const GSO_TCPV6: u8 = 4;
    /// Added to the type if CWR is set.
    pub const GSO_ECN: u8 = 0x80;

    /// Parses the header.
    #[must_use]
    pub fn decode(bytes: [u8; Self::BYTES]) -> Self {
        let u16_of = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let (flags, gso_type, hdr_len, gso_size) = (bytes[0], bytes[1], u16_of(2), u16_of(4));
        VnetHeader { flags, gso_type, hdr_len, gso_size, csum_start: u16_of(6), csum_offset: u16_of(8) }
    }
    /// Encodes the header.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        (bytes[0], bytes[1]) = (self.flags, self.gso_type);
        let fields = [self.hdr_len, self.gso_size, self.csum_start, self.csum_offset];
        for (to, field) in bytes[2..].chunks_exact_mut(2).zip(fields) {
            to.copy_from_slice(&field.to_ne_bytes());
        }
        bytes
    }
}
