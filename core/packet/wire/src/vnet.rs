//! The header before each packet of a TUN interface with offloads. Source: virtio 1.2 section 5.1.6; linux/virtio_net.h.
//! Its integers are in the order of the machine, as TUN writes them.

/// What the kernel left to do, or may leave to do, for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct VnetHeader {
    /// `NEEDS_CSUM` (1): the checksum at `csum_start + csum_offset` holds the pseudo-header's sum only.
    pub flags: u8,
    /// 0: one packet; 1: TCP over IPv4, 4: TCP over IPv6, to be cut; 0x80 is added if the first segment has CWR.
    pub gso_type: u8,
    /// Bytes of all headers.
    pub hdr_len: u16,
    /// Payload bytes of each segment but the last.
    pub gso_size: u16,
    /// Where the checksummed part begins.
    pub csum_start: u16,
    /// Where in that part the checksum is.
    pub csum_offset: u16,
}

impl VnetHeader {
    /// Bytes of the header.
    pub const BYTES: usize = 10;
    /// Flag: the checksum is to be completed.
    pub const NEEDS_CSUM: u8 = 1;
    /// One packet.
    pub const GSO_NONE: u8 = 0;
    /// TCP over IPv4.
    pub const GSO_TCPV4: u8 = 1;
    /// TCP over IPv6.
    pub const GSO_TCPV6: u8 = 4;
    /// Added to the type if CWR is set.
    pub const GSO_ECN: u8 = 0x80;

    /// The header at the start of `bytes`.
    #[must_use]
    pub fn decode(bytes: [u8; Self::BYTES]) -> Self {
        let u16_of = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let (flags, gso_type, hdr_len, gso_size) = (bytes[0], bytes[1], u16_of(2), u16_of(4));
        VnetHeader { flags, gso_type, hdr_len, gso_size, csum_start: u16_of(6), csum_offset: u16_of(8) }
    }
    /// Its bytes.
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
