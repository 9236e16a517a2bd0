//! Packet sizes in the buffer and on the line.
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Rate};

/// Payload of an ATM cell, and the cell itself, in bytes. Source: ITU-T I.361.
const ATM_PAYLOAD: u64 = 48;
const ATM_CELL: u64 = 53;

/// Bits per byte times nanoseconds per second: converts bytes at a rate in bit/s to nanoseconds.
const BIT_NANOS: u128 = 8_000_000_000;

/// Size of a packet in the buffer and on the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// Size in the buffer as the kernel counts it: with Ethernet header, without checksum.
    pub packet: Bytes,
    /// Overhead of the line per packet.
    pub overhead: Bytes,
    /// The line uses ATM: 48 bytes of payload per cell of 53 bytes, with padding in the last cell.
    pub atm: bool,
}

impl Default for Framing {
    /// A full-size Ethernet packet as the kernel counts it, 1514 bytes, without overhead.
    fn default() -> Self {
        Framing { packet: ETHERNET_FULL_FRAME, overhead: Bytes(0), atm: false }
    }
}

impl Framing {
    /// Size of one packet on the line.
    pub fn on_line(self) -> Bytes {
        let bytes = self.packet.0.saturating_add(self.overhead.0);
        if self.atm { Bytes(bytes.div_ceil(ATM_PAYLOAD).saturating_mul(ATM_CELL)) } else { Bytes(bytes) }
    }
    /// Time to send a buffer of `bytes`, to the nearest nanosecond. `None` above 584 years.
    pub(crate) fn delay(self, bytes: Bytes, rate: Rate) -> Option<Duration> {
        let above = product([bytes.0, self.on_line().0])?.checked_mul(BIT_NANOS)?;
        nearest(above, product([self.packet.0, rate.as_bits_per_second()])?).map(Duration::from_nanos)
    }
    /// Size of a buffer that a link sends in `delay`, to the nearest byte.
    pub(crate) fn buffer(self, delay: Duration, rate: Rate) -> Option<Bytes> {
        let above = product([delay.as_nanos(), rate.as_bits_per_second()])?;
        // Multiplying by the packet size last avoids an overflow.
        let line = nearest_wide(above, BIT_NANOS)?;
        nearest(line.checked_mul(u128::from(self.packet.0))?, u128::from(self.on_line().0)).map(Bytes)
    }
    /// Rate at which a link sends `bytes` of buffer in `delay`, to the nearest bit/s.
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
