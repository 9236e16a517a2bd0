//! Sizes of full packets on Ethernet, and what TCP carries of them.
use crate::Bytes;

/// Frame of a full packet as the kernel counts it: 1500 bytes of IP and 14 of Ethernet's header, without preamble and
/// check sequence.
pub const ETHERNET_FULL_FRAME: Bytes = Bytes(1514);
/// Full packet on Ethernet, from the IP header on.
pub const FULL_IP_PACKET: Bytes = Bytes(1500);
/// TCP payload of a full IPv4 packet: 1500 bytes less 20 of IP and 32 of TCP with timestamps.
pub const FULL_TCP_PAYLOAD: Bytes = Bytes(1448);

/// Bytes from the IP header on for each byte of TCP payload, in full packets.
pub const IP_PER_PAYLOAD: f64 = FULL_IP_PACKET.get() as f64 / FULL_TCP_PAYLOAD.get() as f64;
/// Bytes of Ethernet frames for each byte of TCP payload, in full packets.
pub const ETHERNET_PER_PAYLOAD: f64 = ETHERNET_FULL_FRAME.get() as f64 / FULL_TCP_PAYLOAD.get() as f64;
