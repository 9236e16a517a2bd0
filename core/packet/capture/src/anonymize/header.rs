//! Writes new headers with the lengths of the original packet.
use super::address::Addresses;
use super::option;
use crate::{IcmpHeader, LinkType, Packet, TcpHeader, Transport, UdpHeader, dissect};
use alloc::vec::Vec;
use fathom_wire::protocol;

const V4_HEADER: u32 = 20;
const V6_HEADER: u32 = 40;
const TCP_HEADER: u32 = 20;
/// Maximum length of TCP options.
const MAX_OPTIONS: u32 = 40;
/// Protocol numbers. Source: IANA protocol numbers.
const AUTHENTICATION: u8 = 51;
const FRAGMENT: u8 = 44;
/// Minimum and maximum length of an authentication header (RFC 4302 section 2.2).
const AUTHENTICATION_BYTES: (u32, u32) = (8, 1028);
/// Identifier, flags and counts of DNS (RFC 1035 section 4.1.1), without names.
const DNS_HEADER: usize = 12;
const DNS_PORT: u16 = 53;

pub(super) fn write(packet: &Packet<'_>, addresses: &mut Addresses, into: &mut Vec<u8>) {
    write_within(packet, addresses, into, false);
}

/// `quoted`: the packet is quoted in an ICMP error, so no further quotes are written.
fn write_within(packet: &Packet<'_>, addresses: &mut Addresses, into: &mut Vec<u8>, quoted: bool) {
    match &packet.transport {
        Transport::Tcp(tcp) => write_tcp(packet, tcp, addresses, into),
        Transport::Udp(udp) => {
            ip(packet, protocol::UDP, addresses, into);
            write_udp(udp, into);
        }
        Transport::Icmp(icmp) => {
            ip(packet, if icmp.is_v6 { protocol::ICMPV6 } else { protocol::ICMP }, addresses, into);
            write_icmp(icmp, addresses, into, quoted);
        }
        Transport::LaterFragment { protocol } if packet.source.is_v4() => {
            let start = into.len();
            ip(packet, *protocol, addresses, into);
            // The original offset is unknown; any nonzero one marks a later fragment.
            if let Some(offset) = into.get_mut(start + 7) {
                *offset = 1;
            }
        }
        Transport::LaterFragment { protocol } => {
            ip(packet, FRAGMENT, addresses, into);
            into.extend_from_slice(&[*protocol, 0, 0, 8, 0, 0, 0, 0]);
        }
        Transport::Other { protocol } => ip(packet, *protocol, addresses, into),
    }
}

/// The fixed header, with a zero checksum.
fn ip(packet: &Packet<'_>, next: u8, addresses: &mut Addresses, into: &mut Vec<u8>) {
    let class = packet.dscp << 2 | packet.ecn;
    let source = addresses.replace(packet.source).bits().to_be_bytes();
    let destination = addresses.replace(packet.destination).bits().to_be_bytes();
    if packet.source.is_v4() {
        // 0 if the length does not fit.
        let total = u16::try_from(packet.ip_bytes).unwrap_or(0).to_be_bytes();
        let [id_high, id_low] = packet.identification.unwrap_or(0).to_be_bytes();
        into.extend_from_slice(&[0x45, class, total[0], total[1], id_high, id_low]);
        into.extend_from_slice(&[0, 0, packet.hop_limit, next, 0, 0]);
        into.extend(source.iter().skip(12).chain(destination.iter().skip(12)));
    } else {
        let after = packet.ip_bytes.saturating_sub(V6_HEADER);
        let length = u16::try_from(after).unwrap_or(0).to_be_bytes();
        into.extend_from_slice(&[0x60 | class >> 4, class << 4, 0, 0, length[0], length[1]]);
        into.extend_from_slice(&[next, packet.hop_limit]);
        into.extend(source.iter().chain(&destination));
    }
}

/// IP options and extensions become room for TCP options, or an empty authentication header.
fn write_tcp(packet: &Packet<'_>, tcp: &TcpHeader<'_>, addresses: &mut Addresses, into: &mut Vec<u8>) {
    let fixed = TCP_HEADER + if packet.source.is_v4() { V4_HEADER } else { V6_HEADER };
    let spare = packet.ip_bytes.saturating_sub(fixed).saturating_sub(tcp.payload_bytes) & !3;
    let mut options = spare.min(MAX_OPTIONS);
    if spare > MAX_OPTIONS && spare - MAX_OPTIONS < AUTHENTICATION_BYTES.0 {
        options = spare - AUTHENTICATION_BYTES.0;
    }
    let extension = (spare - options).min(AUTHENTICATION_BYTES.1);
    if extension > 0 {
        ip(packet, AUTHENTICATION, addresses, into);
        let end = into.len() + extension as usize;
        into.extend_from_slice(&[protocol::TCP, (extension / 4 - 2) as u8]);
        into.resize(end, 0);
    } else {
        ip(packet, protocol::TCP, addresses, into);
    }
    into.extend_from_slice(&tcp.source_port.to_be_bytes());
    into.extend_from_slice(&tcp.destination_port.to_be_bytes());
    into.extend_from_slice(&tcp.sequence.to_be_bytes());
    into.extend_from_slice(&tcp.acknowledgement.to_be_bytes());
    let words = ((TCP_HEADER + options) / 4) as u8;
    into.extend_from_slice(&[words << 4 | (tcp.flags >> 8) as u8 & 1, tcp.flags as u8]);
    into.extend_from_slice(&tcp.window.to_be_bytes());
    into.extend_from_slice(&[0; 4]);
    option::write(tcp.options, options as usize, into);
}

fn write_udp(udp: &UdpHeader<'_>, into: &mut Vec<u8>) {
    into.extend_from_slice(&udp.source_port.to_be_bytes());
    into.extend_from_slice(&udp.destination_port.to_be_bytes());
    // 0 if only IP's length is known (a super-packet).
    let length = u16::try_from(udp.payload_bytes.saturating_add(8)).unwrap_or(0).to_be_bytes();
    into.extend_from_slice(&[length[0], length[1], 0, 0]);
    if udp.source_port == DNS_PORT || udp.destination_port == DNS_PORT {
        into.extend(udp.payload.iter().take(DNS_HEADER));
    } else {
        quic(udp.payload, into);
    }
}

/// The parts of QUIC that the path may see (RFC 8999, RFC 9000 section 17): form, type and version
/// of a long header, or the spin bit of a short one. Of other protocols at most three bits.
fn quic(payload: &[u8], into: &mut Vec<u8>) {
    const FIXED: u8 = 0x40;
    /// The two highest bits: long header, and fixed.
    const LONG: u8 = 0xc0;
    const LONG_AND_TYPE: u8 = 0xf0;
    const SHORT_AND_SPIN: u8 = 0xe0;
    match *payload {
        [first, a, b, c, d, ..] if first >= LONG && is_quic([a, b, c, d]) => {
            into.extend_from_slice(&[first & LONG_AND_TYPE, a, b, c, d]);
        }
        [first, ..] if first & FIXED != 0 => into.push(first & SHORT_AND_SPIN),
        _ => {}
    }
}

/// Versions 1 and 2 (RFC 9369), and drafts.
const fn is_quic(version: [u8; 4]) -> bool {
    matches!(version, [0, 0, 0, 1] | [0x6b, 0x33, 0x43, 0xcf] | [0xff, 0, 0, _])
}

/// Keeps the identifier of an echo, an MTU, and the headers that an error quotes.
fn write_icmp(icmp: &IcmpHeader<'_>, addresses: &mut Addresses, into: &mut Vec<u8>, quoted: bool) {
    const ERRORS_V4: [u8; 5] = [3, 4, 5, 11, 12];
    const REDIRECT: u8 = 5;
    const ERRORS_V6: [u8; 4] = [1, 2, 3, 4];
    const ECHO_V4: [u8; 2] = [0, 8];
    const ECHO_V6: [u8; 2] = [128, 129];
    let (is_error, is_echo) = if icmp.is_v6 {
        (ERRORS_V6.contains(&icmp.kind), ECHO_V6.contains(&icmp.kind))
    } else {
        (ERRORS_V4.contains(&icmp.kind), ECHO_V4.contains(&icmp.kind))
    };
    // A redirect contains a router's address.
    let has_harmless_rest = is_echo || is_error && (icmp.is_v6 || icmp.kind != REDIRECT);
    into.extend_from_slice(&[icmp.kind, icmp.code, 0, 0]);
    into.extend_from_slice(&if has_harmless_rest { icmp.rest } else { [0; 4] });
    if !is_error || quoted {
        return;
    }
    if let Ok(packet) = dissect(LinkType::RAW, icmp.payload.len() as u32, icmp.payload) {
        write_within(&packet, addresses, into, true);
    }
}
