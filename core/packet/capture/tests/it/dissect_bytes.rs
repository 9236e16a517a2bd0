//! Dissection neither panics nor invents bytes. The fuzz target `dissect` runs this too.
use fathom_capture::{LinkType, Packet, Transport, dissect};
use fathom_wire::TcpOptions;

/// Link types, selected by the first byte.
pub(crate) const LINKS: [LinkType; 17] = [
    LinkType::ETHERNET,
    LinkType::NULL,
    LinkType::LOOP,
    LinkType::PPP,
    LinkType::PPP_HDLC,
    LinkType::PPP_ETHER,
    LinkType::PPP_PPPD,
    LinkType::C_HDLC,
    LinkType::RAW,
    LinkType::RAW_BSD,
    LinkType::IPV4,
    LinkType::IPV6,
    LinkType::LINUX_SLL,
    LinkType::LINUX_SLL2,
    LinkType::IEEE802_11,
    LinkType::RADIOTAP,
    LinkType(147),
];

/// First byte: link type; second and third: bytes sent beyond those stored; the rest: the frame.
pub(crate) fn check(bytes: &[u8]) {
    let [link, more_high, more_low, frame @ ..] = bytes else { return };
    let link = LINKS[usize::from(*link) % LINKS.len()];
    let sent = frame.len() as u32 + u32::from(u16::from_be_bytes([*more_high, *more_low]));
    let read = dissect(link, sent, frame);
    if let Ok(packet) = &read {
        assert_eq!(packet.wire_bytes, sent);
        holds(packet, frame);
    }
    if link == LinkType::ETHERNET && matches!(frame.get(12..14), Some([8, 0] | [0x86, 0xdd])) {
        agrees_with_raw(frame, sent, &read);
    }
    if link == LinkType::RAW {
        assert_eq!(read, dissect(GENERAL, sent, frame));
    }
}

/// Raw IP without a fast path.
const GENERAL: LinkType = LinkType::RAW_BSD;

/// The fast path and the general one agree.
fn agrees_with_raw(frame: &[u8], sent: u32, read: &Result<Packet<'_>, fathom_capture::NotIp>) {
    let expected_version = if frame[12] == 8 { 4 } else { 6 };
    if frame.get(14).is_none_or(|first| first >> 4 != expected_version) {
        return;
    }
    let mut raw = dissect(GENERAL, sent - 14, &frame[14..]);
    if let Ok(packet) = &mut raw {
        packet.wire_bytes += 14;
    }
    // At the maximum of encapsulations a tunnel is one short here.
    if raw.is_ok() == read.is_ok() {
        assert_eq!(&raw, read);
    }
}

fn holds(packet: &Packet<'_>, frame: &[u8]) {
    let is_within = |part: &[u8]| {
        part.is_empty()
            || frame.as_ptr_range().start <= part.as_ptr()
                && part.as_ptr_range().end <= frame.as_ptr_range().end
    };
    assert!(packet.ip_bytes >= 20);
    match &packet.transport {
        Transport::Tcp(tcp) => {
            assert!(is_within(tcp.options) && is_within(tcp.payload));
            assert!(tcp.options.len() <= 40 && tcp.payload.len() <= tcp.payload_bytes as usize);
            assert!(tcp.payload_bytes <= packet.ip_bytes - 40);
            // At least one byte each.
            assert!(TcpOptions::new(tcp.options).count() <= 40);
        }
        Transport::Udp(udp) => {
            assert!(is_within(udp.payload) && udp.payload.len() <= udp.payload_bytes as usize);
            assert!(udp.payload_bytes <= packet.ip_bytes - 28);
        }
        Transport::Icmp(icmp) => assert!(is_within(icmp.payload)),
        Transport::LaterFragment { .. } | Transport::Other { .. } => {}
    }
}
