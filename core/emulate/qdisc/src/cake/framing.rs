//! The bytes that a packet occupies on the link that CAKE shapes for.
use crate::Packet;

/// Payload of an ATM cell, and the cell with its header. Source: ITU-T I.361.
const ATM_PAYLOAD: u64 = 48;
const ATM_CELL: u64 = 53;
/// PTM adds a byte per 64, in `tc-cake(8)` also for a partial block. Source: ITU-T G.992.3 annex N.
const PTM_BLOCK: u64 = 64;

/// How the link divides packets into cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cells {
    /// No cells (`noatm`).
    #[default]
    None,
    /// Cells of 53 bytes with 48 bytes of payload each, the last one padded (`atm`, ADSL).
    Atm,
    /// 65 bytes for 64 (`ptm`, VDSL2).
    Ptm,
}

/// The packet size to which the overhead is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SizeBase {
    /// [`Packet::len`]: the packet with its link-layer overhead (`raw`).
    #[default]
    Wire,
    /// [`Packet::ip_len`]: used if the parameters contain any overhead keyword and no `raw`.
    Ip,
}

/// How many bytes a packet is charged for. The default charges [`Packet::len`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Framing {
    /// The size to which the overhead is added.
    pub base: SizeBase,
    /// Bytes added to each packet; may be negative.
    pub overhead: i64,
    /// Minimum size of a packet with its overhead (`mpu`).
    pub min_packet: u64,
    /// Cell framing, applied last.
    pub cells: Cells,
}

impl Framing {
    /// Bytes that `packet` is charged for.
    pub(super) fn charged(&self, packet: &impl Packet) -> u64 {
        let base = match self.base {
            SizeBase::Wire => packet.len(),
            SizeBase::Ip => packet.ip_len(),
        };
        self.framed(base.get())
    }

    fn framed(&self, base: u64) -> u64 {
        let bytes = base.saturating_add_signed(self.overhead).max(self.min_packet);
        match self.cells {
            Cells::None => bytes,
            Cells::Atm => bytes.div_ceil(ATM_PAYLOAD) * ATM_CELL,
            Cells::Ptm => bytes + bytes.div_ceil(PTM_BLOCK),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_by_hand() {
        let atm = |overhead| Framing { base: SizeBase::Ip, overhead, min_packet: 0, cells: Cells::Atm };
        let docsis = Framing { base: SizeBase::Ip, overhead: 18, min_packet: 64, cells: Cells::None };
        let pppoe_ptm = Framing { base: SizeBase::Ip, overhead: 30, min_packet: 0, cells: Cells::Ptm };
        let table = [
            // pppoe-llcsnap: 40 + 40 bytes are 2 cells; 1500 + 40 bytes are 32.08, so 33.
            (atm(40), 40, 2 * 53),
            (atm(40), 1500, 33 * 53),
            // pppoa-vcmux: 40 + 10 bytes need 2 cells; 38 + 10 would need 1.
            (atm(10), 40, 2 * 53),
            (atm(10), 38, 53),
            // docsis: 40 + 18 = 58 bytes is less than the minimum Ethernet frame.
            (docsis, 40, 64),
            (docsis, 1500, 1518),
            // pppoe-ptm: 1530 bytes are 23.9 blocks of 64, so 24 more; 64 need one, 65 two.
            (pppoe_ptm, 1500, 1554),
            (pppoe_ptm, 34, 65),
            (pppoe_ptm, 35, 67),
            // A negative overhead does not make the size negative.
            (Framing { overhead: -14, ..Framing::default() }, 1514, 1500),
            (Framing { overhead: -64, ..Framing::default() }, 40, 0),
        ];
        for (framing, base, charged) in table {
            assert_eq!(framing.framed(base), charged, "{base} bytes with {framing:?}");
        }
    }
}
