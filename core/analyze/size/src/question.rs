//! The given quantities.
use crate::{Framing, SizeError};
use fathom_units::{Bytes, Duration, Rate};

/// Size of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// In bytes, as in bfifo and most switches.
    Bytes(Bytes),
    /// In packets, as in pfifo and most transmit rings; the size in bytes depends on the packets.
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

/// The known quantities of a queue. Two of buffer, rate and delay are required.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Question {
    /// Size of the buffer.
    pub buffer: Option<Buffer>,
    /// Rate of the link that drains the buffer.
    pub rate: Option<Rate>,
    /// Delay of the full buffer; if `flows` is given, the round-trip time of the path.
    pub delay: Option<Duration>,
    /// Number of unsynchronized TCP flows that share the link.
    pub flows: Option<u64>,
    /// Excess of the arrival rate over the link rate, relative to the link rate; may exceed 1.
    pub overload: Option<f64>,
    /// Arrival rate.
    pub arriving: Option<Rate>,
    /// Time in which the buffer fills.
    pub fill: Option<Duration>,
    /// Packet sizes.
    pub framing: Framing,
}

/// Largest IP packet plus Ethernet header, in bytes.
const LARGEST_PACKET: u64 = 65_549;

impl Question {
    /// Rejects values that never have an answer.
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
    pub(crate) fn bytes(&self) -> Result<Option<Bytes>, SizeError> {
        let too_large = SizeError::Range("the buffer", "above 16 EiB");
        self.buffer.map(|buffer| buffer.bytes(self.framing).ok_or(too_large)).transpose()
    }
}
