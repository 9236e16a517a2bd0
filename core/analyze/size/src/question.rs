//! What is given.
use crate::{Framing, SizeError};
use fathom_units::{Bytes, Duration, Rate};

/// A buffer as its owner counts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// In bytes, as bfifo does and most switches.
    Bytes(Bytes),
    /// In packets, as pfifo does and most rings; what it holds depends on their size.
    Packets(u64),
}

impl Buffer {
    pub(crate) fn bytes(self, framing: Framing) -> Option<Bytes> {
        match self {
            Buffer::Bytes(bytes) => Some(bytes),
            Buffer::Packets(packets) => packets.checked_mul(framing.packet.0).map(Bytes),
        }
    }
    const fn is_zero(self) -> bool {
        matches!(self, Buffer::Bytes(Bytes(0)) | Buffer::Packets(0))
    }
}

/// Quantities of a queue, as many as are known. Two of buffer, rate and delay are needed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Question {
    /// The buffer.
    pub buffer: Option<Buffer>,
    /// The rate of the link behind it.
    pub rate: Option<Rate>,
    /// The delay of the full buffer; with flows, the round trip of their path.
    pub delay: Option<Duration>,
    /// TCP flows that share the link and do not move in step.
    pub flows: Option<u64>,
    /// What arrives beyond the rate, as a share of it; may be above 1.
    pub overload: Option<f64>,
    /// What arrives, as a rate.
    pub arriving: Option<Rate>,
    /// Time in which the buffer fills.
    pub fill: Option<Duration>,
    /// Sizes of packets.
    pub framing: Framing,
}

/// IP's largest packet with the header of Ethernet, in bytes.
const LARGEST_PACKET: u64 = 65_549;

impl Question {
    /// Refuses what has no answer, whatever else is given.
    pub(crate) fn check(&self) -> Result<(), SizeError> {
        let zeros = [
            ("buffer", self.buffer.is_some_and(Buffer::is_zero)),
            ("rate", self.rate == Some(Rate::from_bits_per_second(0))),
            ("delay", self.delay == Some(Duration::ZERO)),
            ("number of flows", self.flows == Some(0)),
            ("overload", self.overload.is_some_and(|share| share <= 0.0)),
            ("time to fill", self.fill == Some(Duration::ZERO)),
            ("packet", self.framing.packet == Bytes(0)),
        ];
        if let Some((what, _)) = zeros.iter().find(|(_, is_zero)| *is_zero) {
            return Err(SizeError::Zero(what));
        }
        let largest = self.framing.packet.max(self.framing.overhead);
        if largest.0 > LARGEST_PACKET { Err(SizeError::Packet(largest)) } else { Ok(()) }
    }
    /// The buffer in bytes.
    pub(crate) fn bytes(&self) -> Result<Option<Bytes>, SizeError> {
        let too_large = SizeError::Range("the buffer", "16 EiB");
        self.buffer.map(|buffer| buffer.bytes(self.framing).ok_or(too_large)).transpose()
    }
}
