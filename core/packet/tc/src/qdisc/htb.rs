//! The HTB queue discipline; for its classes see [`HtbClass`](crate::HtbClass).
use crate::attribute::{Writer, find, find_u32, u32_at};
use core::fmt;

/// Options of HTB.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Htb {
    /// Minor number of the class for unmatched packets.
    pub default_class: u32,
    /// Divisor of a class's rate for its default quantum; the kernel's default is 10.
    pub rate_to_quantum: Option<u32>,
    /// Limit of packets outside of all classes.
    pub direct_packets_limit: Option<u32>,
    /// Packets sent outside of all classes. Only reported, never requested.
    pub direct_packets: u32,
}

const INIT: u16 = 2;
const DIRECT_LIMIT: u16 = 5;
/// The version in requests; the kernel reports 0x30011.
const VERSION: u32 = 3;
const RATE_TO_QUANTUM: u32 = 10;

impl Htb {
    pub(crate) fn read(options: &[u8]) -> Option<Htb> {
        let init = find(options, INIT)?;
        Some(Htb {
            rate_to_quantum: Some(u32_at(init, 4)?),
            default_class: u32_at(init, 8)?,
            direct_packets: u32_at(init, 16)?,
            direct_packets_limit: find_u32(options, DIRECT_LIMIT),
        })
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        let quantum = self.rate_to_quantum.unwrap_or(RATE_TO_QUANTUM);
        // Then the debug level and the counter.
        let words = [VERSION, quantum, self.default_class, 0, self.direct_packets];
        to.put(INIT, words.map(u32::to_ne_bytes).as_flattened()).u32(DIRECT_LIMIT, self.direct_packets_limit);
    }
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " default {:#x}", self.default_class)?;
        if let Some(quantum) = self.rate_to_quantum {
            write!(f, " r2q {quantum}")?;
        }
        self.direct_packets_limit.map_or(Ok(()), |limit| write!(f, " direct_qlen {limit}"))
    }
}
