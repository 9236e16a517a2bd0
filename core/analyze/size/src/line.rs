//! What a packet is on the line.
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Rate};

/// Payload of an ATM cell, and the cell itself, in bytes. Source: ITU-T I.361.
const ATM_PAYLOAD: u64 = 48;
const ATM_CELL: u64 = 53;

/// Bits of a byte times nanoseconds of a second: bytes at a rate in bit/s to nanoseconds.
const BIT_NANOS: u128 = 8_000_000_000;

/// Size of a packet in the buffer and on the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// A packet in the buffer, as the kernel counts it: with its Ethernet header, without preamble and checksum.
    pub packet: Bytes,
    /// What the line adds to each packet.
    pub overhead: Bytes,
    /// The line sends packets in cells of ATM: 48 bytes in each 53, the last one padded.
    pub atm: bool,
}

impl Default for Framing {
    /// A full Ethernet packet as the kernel counts it, 1514 bytes, and nothing added.
    fn default() -> Self {
        Framing { packet: ETHERNET_FULL_FRAME, overhead: Bytes(0), atm: false }
    }
}

impl Framing {
    /// Bytes that one packet takes on the line.
    pub fn on_line(self) -> Bytes {
        let bytes = self.packet.0.saturating_add(self.overhead.0);
        if self.atm { Bytes(bytes.div_ceil(ATM_PAYLOAD).saturating_mul(ATM_CELL)) } else { Bytes(bytes) }
    }
    /// Time in which a link of `rate` sends a buffer of `bytes`, to the nearest nanosecond. `None` beyond 584 years.
    pub(crate) fn delay(self, bytes: Bytes, rate: Rate) -> Option<Duration> {
        let above = product([bytes.0, self.on_line().0])?.checked_mul(BIT_NANOS)?;
        nearest(above, product([self.packet.0, rate.as_bits_per_second()])?).map(Duration::from_nanos)
    }
    /// Bytes of buffer that a link of `rate` sends in `delay`, to the nearest byte.
    pub(crate) fn buffer(self, delay: Duration, rate: Rate) -> Option<Bytes> {
        let above = product([delay.as_nanos(), rate.as_bits_per_second()])?;
        // The packet's own factor comes last: its product with the two others may not fit.
        let line = nearest_wide(above, BIT_NANOS)?;
        nearest(line.checked_mul(u128::from(self.packet.0))?, u128::from(self.on_line().0)).map(Bytes)
    }
    /// Rate at which `bytes` of buffer take `delay`, to the nearest bit/s.
    pub(crate) fn rate(self, bytes: Bytes, delay: Duration) -> Option<Rate> {
        let above = product([bytes.0, self.on_line().0])?.checked_mul(BIT_NANOS)?;
        nearest(above, product([self.packet.0, delay.as_nanos()])?).map(Rate::from_bits_per_second)
    }
}

fn product([a, b]: [u64; 2]) -> Option<u128> {
    u128::from(a).checked_mul(u128::from(b))
}

fn nearest_wide(above: u128, below: u128) -> Option<u128> {
    above.checked_add(below / 2)?.checked_div(below)
}

fn nearest(above: u128, below: u128) -> Option<u64> {
    u64::try_from(nearest_wide(above, below)?).ok()
}
