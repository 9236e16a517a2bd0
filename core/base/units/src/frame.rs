//! Sizes of full packets on Ethernet, and their TCP payload.
use crate::Bytes;

/// Full Ethernet frame as the kernel counts it: 1500 bytes and a header of 14, without FCS.
pub const ETHERNET_FULL_FRAME: Bytes = Bytes(1514);
/// Full packet on Ethernet, including the IP header.
pub const FULL_IP_PACKET: Bytes = Bytes(1500);
/// TCP payload of a full IPv4 packet: 1500 bytes minus 20 for IP and 32 for TCP with timestamps.
pub const FULL_TCP_PAYLOAD: Bytes = Bytes(1448);

/// IP bytes per byte of TCP payload, in full packets.
pub const IP_PER_PAYLOAD: f64 = FULL_IP_PACKET.get() as f64 / FULL_TCP_PAYLOAD.get() as f64;
/// Ethernet frame bytes per byte of TCP payload, in full packets.
pub const ETHERNET_PER_PAYLOAD: f64 = ETHERNET_FULL_FRAME.get() as f64 / FULL_TCP_PAYLOAD.get() as f64;
