//! How a line counts packets.

/// Overhead of a packet on the link.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Framing {
    /// Bytes around the IP packet; `None` counts sizes as the interface sees them.
    pub overhead: Option<u16>,
    /// Minimum packet size in bytes.
    pub mpu: u16,
    /// ATM cells: 48 bytes of payload travel in 53 (ADSL).
    pub atm: bool,
}
