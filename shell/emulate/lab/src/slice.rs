//! A packet on the line: a segment of a buffer shared by all its segments.
use crate::pure_ack::pure_ack;
use fathom_qdisc::{Ecn, End, Packet, PureAck};
use fathom_units::Bytes;
use fathom_wire::{
    IpPacket, MAX_HEADER_BYTES, Rewrite, Run, SuperPacket, VnetHeader, WireError, address_hash, flow_of,
};
use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::ops::Range;
use std::rc::Rc;

/// Largest read from TUN: the offload header and an IP packet of at most 64 KiB.
pub(crate) const BLOCK_BYTES: usize = VnetHeader::BYTES + 65_536;

/// Packets up to this size are copied out of their read block: otherwise a queue full of ACKs would
/// hold a thousand times its size.
const COPY_UP_TO_BYTES: usize = 16_384;

/// Unused blocks.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pool(Rc<RefCell<Vec<Vec<u8>>>>);

impl Pool {
    /// A block of [`BLOCK_BYTES`].
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.borrow_mut().pop().unwrap_or_else(|| vec![0; BLOCK_BYTES])
    }
}

/// A packet as read from TUN, possibly a super-packet.
#[derive(Debug)]
pub(crate) struct Buffer {
    block: Vec<u8>,
    /// Range of the IP packet in the block.
    packet: Range<usize>,
    layout: SuperPacket,
    /// Unsalted hash of the flow.
    flow: u64,
    /// Unsalted hashes of source and destination.
    hosts: [u64; 2],
    ecn: u8,
    dscp: u8,
    hop_limit: u8,
    /// Number of its first frame in the capture of the sending end; 0 if it is not there.
    frame: Cell<u64>,
    pool: Pool,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.block.len() == BLOCK_BYTES {
            self.pool.0.borrow_mut().push(std::mem::take(&mut self.block));
        }
    }
}

impl Buffer {
    /// Takes the packet in the first `length` bytes of `block`. If the block is kept, `block` is
    /// replaced.
    pub(crate) fn read(block: &mut Vec<u8>, length: usize, pool: &Pool) -> Result<Rc<Self>, WireError> {
        let Some((head, packet)) = block[..length].split_first_chunk() else {
            return Err(WireError::Truncated { what: "TUN", needed: VnetHeader::BYTES, got: length });
        };
        let vnet = VnetHeader::decode(*head);
        if packet.len() <= COPY_UP_TO_BYTES {
            return Self::new(vnet, packet.to_vec(), 0..packet.len(), pool);
        }
        let taken = std::mem::replace(block, pool.take());
        Self::new(vnet, taken, VnetHeader::BYTES..length, pool)
    }
    /// A packet created by the line itself.
    pub(crate) fn of_packet(packet: Vec<u8>, pool: &Pool) -> Result<Rc<Self>, WireError> {
        let all = 0..packet.len();
        Self::new(VnetHeader::default(), packet, all, pool)
    }

    fn new(
        vnet: VnetHeader,
        block: Vec<u8>,
        packet: Range<usize>,
        pool: &Pool,
    ) -> Result<Rc<Self>, WireError> {
        let bytes = &block[packet.clone()];
        let layout = SuperPacket::new_checked(vnet, bytes)?;
        let ip = IpPacket::new_checked(bytes)?;
        let (flow, ecn, hop_limit) = (flow_of(&ip, bytes).hash(0), ip.ecn(), ip.hop_limit());
        let hosts = [ip.source(), ip.destination()].map(|address| address_hash(address, 0));
        let dscp = ip.dscp();
        let (frame, pool) = (Cell::new(0), pool.clone());
        Ok(Rc::new(Buffer { block, packet, layout, flow, hosts, ecn, dscp, hop_limit, frame, pool }))
    }

    /// The IP packet.
    pub(crate) fn packet(&self) -> &[u8] {
        &self.block[self.packet.clone()]
    }
    /// Number of packets on the wire.
    pub(crate) fn segments(&self) -> usize {
        self.layout.segments()
    }
    /// Number of its first frame in the capture of the sending end.
    pub(crate) fn frame(&self) -> Option<u64> {
        Some(self.frame.get()).filter(|frame| *frame > 0)
    }
    pub(crate) fn set_frame(&self, first: Option<u64>) {
        self.frame.set(first.unwrap_or(0));
    }
    /// The destination address.
    pub(crate) fn destination(&self) -> Option<IpAddr> {
        IpPacket::new_checked(self.packet()).ok().map(|ip| ip.destination())
    }
    /// See [`SuperPacket::rewrite`].
    pub(crate) fn rewrite(
        &self,
        segments: Range<usize>,
        change: Rewrite,
        header: &mut [u8; MAX_HEADER_BYTES],
    ) -> Run {
        self.layout.rewrite(self.packet(), segments, change, header)
    }
}

/// One packet as on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    buffer: Rc<Buffer>,
    segment: u32,
    len: u32,
    change: Rewrite,
}

impl Slice {
    /// All segments of `buffer`.
    pub(crate) fn all(buffer: &Rc<Buffer>) -> impl Iterator<Item = Slice> + '_ {
        (0..buffer.layout.segments()).map(|segment| Slice {
            buffer: Rc::clone(buffer),
            segment: segment as u32,
            len: buffer.layout.segment_len(segment) as u32,
            change: Rewrite::default(),
        })
    }
    pub(crate) fn buffer(&self) -> &Rc<Buffer> {
        &self.buffer
    }
    pub(crate) fn segment(&self) -> usize {
        self.segment as usize
    }
    pub(crate) fn change(&self) -> Rewrite {
        self.change
    }
    pub(crate) fn flow(&self) -> u64 {
        self.buffer.flow
    }
    /// Decrements the hop limit; false if the packet must not be forwarded.
    pub(crate) fn pass_router(&mut self) -> bool {
        let passes = self.buffer.hop_limit.saturating_sub(self.change.hops) > 1;
        self.change.hops += u8::from(passes);
        passes
    }
    /// The complete packet, as a router quotes it.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut header = [0; MAX_HEADER_BYTES];
        let segment = self.segment();
        let run = self.buffer.rewrite(segment..segment + 1, self.change, &mut header);
        [&header[..run.header_len], &self.buffer.packet()[run.payload]].concat()
    }
}

impl Packet for Slice {
    fn len(&self) -> Bytes {
        Bytes(u64::from(self.len))
    }
    fn ecn(&self) -> Ecn {
        if self.change.ce { Ecn::Ce } else { Ecn::of_class(self.buffer.ecn) }
    }
    fn set_ce(&mut self) {
        self.change.ce = true;
    }
    fn flow_hash(&self, salt: u64) -> u64 {
        salted(self.buffer.flow, salt)
    }
    fn host_hash(&self, end: End, salt: u64) -> u64 {
        salted(self.buffer.hosts[end as usize], salt)
    }
    fn dscp(&self) -> u8 {
        self.change.dscp.unwrap_or(self.buffer.dscp)
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.change.dscp = Some(dscp);
    }
    fn pure_ack(&self) -> Option<PureAck> {
        let is_one = self.buffer.layout.segments() == 1;
        is_one.then(|| pure_ack(self.buffer.packet(), self.buffer.flow)).flatten()
    }
}

/// The input hash is already well mixed; multiplying by an odd number keeps different values
/// distinct.
const fn salted(hash: u64, salt: u64) -> u64 {
    (hash ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_wire::CE;
    use fathom_wire::Ipv4Packet;

    /// UDP from 10.0.0.`source` port `port` to 10.0.1.1, DSCP 46, ECT(0), four bytes.
    fn slice(source: u8, port: u8) -> Slice {
        let mut bytes =
            vec![0x45, 46 << 2 | 2, 0, 32, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 0, 1, 1];
        bytes.extend([0, port, 0, 53, 0, 12, 0, 0, 1, 2, 3, 4]);
        let checksum = fathom_wire::checksum::of(&bytes[..20]);
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        let buffer = Buffer::of_packet(bytes, &Pool::default()).unwrap();
        Slice::all(&buffer).next().unwrap()
    }

    #[test]
    fn a_dscp_that_a_queue_sets_is_written_with_its_checksum() {
        let mut slice = slice(1, 1);
        assert_eq!((slice.dscp(), slice.ecn()), (46, Ecn::Ect0));
        slice.set_dscp(8);
        slice.set_ce();
        let bytes = slice.to_bytes();
        let written = Ipv4Packet::new_checked(&bytes[..]).unwrap();
        assert_eq!((slice.dscp(), written.dscp(), written.ecn()), (8, 8, CE));
        assert!(written.checksum_is_right());
    }

    #[test]
    fn a_host_is_its_address_whatever_the_flow() {
        let hash = |slice: &Slice, end| slice.host_hash(end, 7);
        let (a, other_port, other_host) = (slice(1, 1), slice(1, 2), slice(2, 1));
        assert_eq!(hash(&a, End::Source), hash(&other_port, End::Source));
        assert_ne!(hash(&a, End::Source), hash(&other_host, End::Source));
        assert_eq!(hash(&a, End::Destination), hash(&other_host, End::Destination));
        assert_ne!(a.flow_hash(7), other_port.flow_hash(7));
    }
}
