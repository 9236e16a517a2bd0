//! A straightforward implementation: builds packets byte by byte, and splits by copying.
use fathom_units::Rng;

/// A TCP packet as its fields.
#[derive(Clone, Debug)]
pub(crate) struct Tcp {
    pub(crate) source: Vec<u8>,
    pub(crate) destination: Vec<u8>,
    /// DSCP and ECN.
    pub(crate) class: u8,
    pub(crate) identification: u16,
    pub(crate) ttl: u8,
    /// IPv6 extension headers in binary form, and the type of the first one.
    pub(crate) extensions: (u8, Vec<u8>),
    pub(crate) sequence: u32,
    pub(crate) flags: u8,
    pub(crate) options: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

impl Tcp {
    pub(crate) fn random(rng: &mut Rng, v6: bool, payload: usize) -> Tcp {
        let mut bytes = |n: u64| -> Vec<u8> { (0..n).map(|_| rng.next_u64() as u8).collect() };
        let address_len = if v6 { 16 } else { 4 };
        let (source, destination) = (bytes(address_len), bytes(address_len));
        let payload = bytes(payload as u64);
        // A destination options header of 8 or 16 bytes, filled with padding, then TCP.
        let extensions = match (v6, rng.below(3)) {
            (true, n @ 1..) => {
                let mut header = vec![6, n as u8 - 1, 1, (n * 8 - 4) as u8];
                header.resize(n as usize * 8, 0);
                (60, header)
            }
            _ => (6, Vec::new()),
        };
        Tcp {
            source,
            destination,
            class: rng.next_u64() as u8,
            identification: rng.next_u64() as u16,
            ttl: 2 + rng.below(250) as u8,
            extensions,
            sequence: rng.next_u64() as u32,
            flags: rng.next_u64() as u8,
            options: vec![1; rng.below(11) as usize * 4],
            payload,
        }
    }
    pub(crate) fn is_v6(&self) -> bool {
        self.source.len() == 16
    }
    pub(crate) fn header_len(&self) -> usize {
        let ip = if self.is_v6() { 40 + self.extensions.1.len() } else { 20 };
        ip + 20 + self.options.len()
    }
    /// The complete packet with correct checksums.
    pub(crate) fn build(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let mut packet = if self.is_v6() { self.ipv6(tcp.len()) } else { self.ipv4(tcp.len()) };
        packet.extend_from_slice(&tcp);
        packet
    }
    /// The packets on a wire.
    pub(crate) fn segmented(&self, mss: usize) -> Vec<Tcp> {
        let pieces: Vec<&[u8]> = self.payload.chunks(mss).collect();
        let piece = |(i, bytes): (usize, &&[u8])| {
            let mut one = self.clone();
            one.payload = bytes.to_vec();
            one.identification = self.identification.wrapping_add(i as u16);
            one.sequence = self.sequence.wrapping_add((i * mss) as u32);
            if i > 0 {
                one.flags &= !0x80;
            }
            if i + 1 < pieces.len() {
                one.flags &= !(0x08 | 0x01);
            }
            one
        };
        pieces.iter().enumerate().map(piece).collect()
    }

    fn tcp(&self) -> Vec<u8> {
        let mut bytes = vec![0x12, 0x34, 0x56, 0x78];
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend([
            9,
            8,
            7,
            6,
            ((5 + self.options.len() / 4) << 4) as u8,
            self.flags,
            0x20,
            0,
            0,
            0,
            0,
            0,
        ]);
        bytes.extend(&self.options);
        bytes.extend(&self.payload);
        let mut pseudo = [self.source.clone(), self.destination.clone()].concat();
        pseudo.extend((bytes.len() as u32).to_be_bytes());
        pseudo.extend([0, 0, 0, 6]);
        let sum = !sum(&[pseudo, bytes.clone()].concat());
        bytes[16..18].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
    fn ipv4(&self, tcp: usize) -> Vec<u8> {
        let mut bytes = vec![0x45, self.class];
        bytes.extend((20 + tcp as u16).to_be_bytes());
        bytes.extend(self.identification.to_be_bytes());
        bytes.extend([0x40, 0, self.ttl, 6, 0, 0]);
        bytes.extend(&self.source);
        bytes.extend(&self.destination);
        let sum = !sum(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
    fn ipv6(&self, tcp: usize) -> Vec<u8> {
        let mut bytes = vec![0x60 | self.class >> 4, self.class << 4, 0, 0];
        bytes.extend(((self.extensions.1.len() + tcp) as u16).to_be_bytes());
        bytes.extend([self.extensions.0, self.ttl]);
        bytes.extend(&self.source);
        bytes.extend(&self.destination);
        bytes.extend(&self.extensions.1);
        bytes
    }
}

/// One's complement sum, one word at a time, adding the carry each time.
pub(crate) fn sum(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0, |sum: u16, word| {
        let (added, carry) =
            sum.overflowing_add(u16::from(word[0]) << 8 | word.get(1).map_or(0, |b| u16::from(*b)));
        added + u16::from(carry)
    })
}
