//! TCP, UDP and ICMP. Source: RFC 9293 section 3.1, RFC 768, RFC 792, RFC 4443.
use super::layer::{Depth, Layer};
use super::tunnel;
use crate::NotIp;
use crate::{IcmpHeader, Packet, Stamps, TcpHeader, Transport, UdpHeader};
use fathom_wire::{TcpOption, TcpOptions, protocol};

/// Up to the window; checksum, urgent pointer and options may be truncated.
const TCP_LEAST: usize = 16;
const TCP_HEADER: u32 = 20;
const UDP_HEADER: u32 = 8;

/// Sets the transport of `packet`; returns the inner packet if it is a tunnel.
pub(super) fn fill<'a>(
    mut packet: Packet<'a>,
    number: u8,
    body: Layer<'a>,
    depth: Depth,
) -> Result<Packet<'a>, NotIp> {
    if let Some(inner) = tunnel::inner(number, body, depth) {
        return Ok(inner);
    }
    let read = match number {
        protocol::TCP => tcp(body),
        protocol::UDP => udp(body),
        protocol::ICMP => icmp(body, false),
        protocol::ICMPV6 => icmp(body, true),
        _ => None,
    };
    packet.transport = read.unwrap_or(Transport::Other { protocol: number });
    Ok(packet)
}

fn tcp(body: Layer<'_>) -> Option<Transport<'_>> {
    let head = body.stored.first_chunk::<TCP_LEAST>()?;
    let header = u32::from(head[12] >> 4) * 4;
    if header < TCP_HEADER || header > body.sent {
        return None;
    }
    let stored = body.stored;
    let after = stored.get(TCP_HEADER as usize..).unwrap_or_default();
    let (options, payload) = after.split_at_checked((header - TCP_HEADER) as usize).unwrap_or((after, &[]));
    Some(Transport::Tcp(TcpHeader {
        source_port: u16::from_be_bytes([head[0], head[1]]),
        destination_port: u16::from_be_bytes([head[2], head[3]]),
        sequence: u32::from_be_bytes([head[4], head[5], head[6], head[7]]),
        acknowledgement: u32::from_be_bytes([head[8], head[9], head[10], head[11]]),
        flags: u16::from(head[12] & 1) << 8 | u16::from(head[13]),
        window: u16::from_be_bytes([head[14], head[15]]),
        payload_bytes: body.sent - header,
        stamps: stamps(options),
        options,
        payload,
    }))
}

/// Nearly all systems send timestamps first, after two padding bytes (RFC 7323 appendix A).
fn stamps(options: &[u8]) -> Option<Stamps> {
    if let Some([1, 1, 8, 10, v0, v1, v2, v3, e0, e1, e2, e3]) = options.first_chunk::<12>() {
        return Some(Stamps {
            value: u32::from_be_bytes([*v0, *v1, *v2, *v3]),
            echo: u32::from_be_bytes([*e0, *e1, *e2, *e3]),
        });
    }
    if options.is_empty() { None } else { stamps_anywhere(options) }
}

fn stamps_anywhere(options: &[u8]) -> Option<Stamps> {
    TcpOptions::new(options).find_map(|option| match option {
        TcpOption::Timestamps { value, echo } => Some(Stamps { value, echo }),
        _ => None,
    })
}

fn udp(body: Layer<'_>) -> Option<Transport<'_>> {
    let head = body.stored.first_chunk::<{ UDP_HEADER as usize }>()?;
    // First fragments and super-packets may have a length that differs from IP's: use the smaller.
    let sent = match u32::from(u16::from_be_bytes([head[4], head[5]])) {
        length if length >= UDP_HEADER && length <= body.sent => length,
        _ => body.sent,
    };
    let rest = body.body(UDP_HEADER, sent);
    Some(Transport::Udp(UdpHeader {
        source_port: u16::from_be_bytes([head[0], head[1]]),
        destination_port: u16::from_be_bytes([head[2], head[3]]),
        payload_bytes: rest.sent,
        payload: rest.stored,
    }))
}

fn icmp(body: Layer<'_>, is_v6: bool) -> Option<Transport<'_>> {
    let (head, payload) = body.stored.split_first_chunk::<8>()?;
    let rest = [head[4], head[5], head[6], head[7]];
    Some(Transport::Icmp(IcmpHeader { is_v6, kind: head[0], code: head[1], rest, payload }))
}
