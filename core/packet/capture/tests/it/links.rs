//! Every link type and tunnel: the inner packet is found, complete or truncated at any byte.
use crate::build::{PORTS, STAMPS, V4, V6, ethernet, join, segment, udp, v4, v6};
use fathom_capture::{Address, LinkType, Packet, Transport, dissect};

/// An encapsulation: name, link type, bytes before the packet (by IP version), bytes after it.
type Wrapping = (&'static str, LinkType, fn(&[u8]) -> Vec<u8>);

fn ethertype(packet: &[u8]) -> u16 {
    if packet[0] >> 4 == 4 { 0x0800 } else { 0x86dd }
}

fn ppp_protocol(packet: &[u8]) -> [u8; 2] {
    if packet[0] >> 4 == 4 { [0, 0x21] } else { [0, 0x57] }
}

fn tagged(kind: u16, fields: &[u8], packet: &[u8]) -> Vec<u8> {
    ethernet(kind, &join(&[fields, &ethertype(packet).to_be_bytes(), packet]))
}

fn snap(packet: &[u8]) -> Vec<u8> {
    join(&[&[0xaa, 0xaa, 3, 0, 0, 0], &ethertype(packet).to_be_bytes(), packet])
}

/// An 802.11 data frame: control, fields up to the sequence control, then `rest`.
fn radio(control: [u8; 2], rest: &[u8], packet: &[u8]) -> Vec<u8> {
    join(&[&control, &[0; 2], &[6; 18], &[0; 2], rest, &snap(packet)])
}

fn vxlan(port: u16, packet: &[u8]) -> Vec<u8> {
    let within = join(&[&[8, 0, 0, 0, 0, 0, 9, 0], &ethernet(ethertype(packet), packet)]);
    ethernet(0x0800, &v4(17, &[], &udp((1, port), &within)))
}

fn geneve(head: [u8; 2], kind: u16, options: &[u8], within: &[u8]) -> Vec<u8> {
    udp((1, 6081), &join(&[&head, &kind.to_be_bytes(), &[0; 4], options, within]))
}

fn gre(flags: [u8; 2], kind: u16, fields: &[u8], within: &[u8]) -> Vec<u8> {
    v4(47, &[], &join(&[&flags, &kind.to_be_bytes(), fields, within]))
}

fn in_ip(packet: &[u8]) -> u8 {
    if packet[0] >> 4 == 4 { 4 } else { 41 }
}

fn sll(packet: &[u8]) -> Vec<u8> {
    join(&[&[0, 4, 0, 1, 0, 6], &[3; 8], &ethertype(packet).to_be_bytes(), packet])
}

fn wrappings() -> Vec<Wrapping> {
    use LinkType as L;
    vec![
        ("ethernet", L::ETHERNET, |p| ethernet(ethertype(p), p)),
        ("padded", L::ETHERNET, |p| join(&[&ethernet(ethertype(p), p), &[0xee; 9]])),
        ("vlan", L::ETHERNET, |p| tagged(0x8100, &[0, 7], p)),
        ("qinq", L::ETHERNET, |p| tagged(0x88a8, &[0, 7, 0x81, 0, 0, 9], p)),
        ("old qinq", L::ETHERNET, |p| tagged(0x9100, &[0, 7, 0x81, 0, 0, 9], p)),
        ("three tags", L::ETHERNET, |p| tagged(0x88a8, &[0, 7, 0x88, 0xa8, 0, 8, 0x81, 0, 0, 9], p)),
        ("snap", L::ETHERNET, |p| ethernet(200, &snap(p))),
        ("pppoe", L::ETHERNET, |p| ethernet(0x8864, &join(&[&[0x11, 0, 0, 5, 0, 200], &ppp_protocol(p), p]))),
        ("pppoe in vlan", L::ETHERNET, |p| {
            let session = join(&[&[0, 7, 0x88, 0x64, 0x11, 0, 0, 5, 0, 200], &ppp_protocol(p), p]);
            ethernet(0x8100, &session)
        }),
        ("mpls", L::ETHERNET, |p| ethernet(0x8847, &join(&[&[0, 1, 0x41, 64], p]))),
        ("two labels", L::ETHERNET, |p| ethernet(0x8848, &join(&[&[0, 1, 0x40, 64, 0, 2, 1, 64], p]))),
        ("pseudowire", L::ETHERNET, |p| {
            ethernet(0x8847, &join(&[&[0, 1, 0x41, 64, 0, 0, 0, 0], &ethernet(ethertype(p), p)]))
        }),
        ("raw", L::RAW, <[u8]>::to_vec),
        ("raw 12", L::RAW_BSD, <[u8]>::to_vec),
        ("raw 14", L::RAW_OPENBSD, <[u8]>::to_vec),
        ("ipv4", L::IPV4, <[u8]>::to_vec),
        ("ipv6", L::IPV6, <[u8]>::to_vec),
        ("null", L::NULL, |p| join(&[&[if p[0] >> 4 == 4 { 2 } else { 30 }, 0, 0, 0], p])),
        ("null, other order", L::NULL, |p| join(&[&[0, 0, 0, if p[0] >> 4 == 4 { 2 } else { 28 }], p])),
        ("loop", L::LOOP, |p| join(&[&[0, 0, 0, if p[0] >> 4 == 4 { 2 } else { 24 }], p])),
        ("sll", L::LINUX_SLL, sll),
        ("sll with vlan", L::LINUX_SLL, |p| {
            join(&[&[0, 4, 0, 1, 0, 6], &[3; 8], &[0x81, 0, 0, 7], &ethertype(p).to_be_bytes(), p])
        }),
        ("sll2", L::LINUX_SLL2, |p| join(&[&ethertype(p).to_be_bytes(), &[0; 18], p])),
        ("ppp", L::PPP, |p| join(&[&ppp_protocol(p), p])),
        ("ppp, short protocol", L::PPP, |p| join(&[&ppp_protocol(p)[1..], p])),
        ("ppp with hdlc", L::PPP_HDLC, |p| join(&[&[0xff, 3], &ppp_protocol(p), p])),
        ("cisco in ppp", L::PPP_HDLC, |p| join(&[&[0x0f, 0], &ethertype(p).to_be_bytes(), p])),
        ("ppp with direction", L::PPP_PPPD, |p| join(&[&[1, 3], &ppp_protocol(p), p])),
        ("ppp_ether", L::PPP_ETHER, |p| join(&[&[0x11, 0, 0, 5, 0, 200], &ppp_protocol(p), p])),
        ("cisco", L::C_HDLC, |p| join(&[&[0x8f, 0], &ethertype(p).to_be_bytes(), p])),
        ("802.11", L::IEEE802_11, |p| radio([0x08, 1], &[], p)),
        ("802.11 qos", L::IEEE802_11, |p| radio([0x88, 2], &[0, 0], p)),
        ("802.11 qos ht", L::IEEE802_11, |p| radio([0x88, 0x82], &[0; 6], p)),
        ("802.11 four addresses", L::IEEE802_11, |p| radio([0x88, 3], &[6, 6, 6, 6, 6, 6, 0, 0], p)),
        ("802.11 aggregate", L::IEEE802_11, |p| {
            radio([0x88, 2], &[0x80, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0, 200], p)
        }),
        ("radiotap", L::RADIOTAP, |p| join(&[&[0, 0, 8, 0, 0, 0, 0, 0], &radio([0x08, 1], &[], p)])),
        ("radiotap, padded", L::RADIOTAP, |p| {
            // Two words of fields, the timer aligned to eight bytes, then the flags.
            let fields = [&[3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0][..], &[9; 8], &[0x20, 0, 0, 0]].concat();
            join(&[&[0, 0, 28, 0], &fields, &radio([0x88, 2], &[0, 0, 0xbb, 0xbb], p)])
        }),
        ("gre", L::ETHERNET, |p| ethernet(0x0800, &gre([0, 0], ethertype(p), &[], p))),
        ("gre with all", L::ETHERNET, |p| ethernet(0x0800, &gre([0xb0, 0], ethertype(p), &[5; 12], p))),
        ("gretap", L::RAW, |p| gre([0x20, 0], 0x6558, &[5; 4], &ethernet(ethertype(p), p))),
        ("gre over ipv6", L::RAW, |p| v6(47, &join(&[&[0, 0], &ethertype(p).to_be_bytes(), p]))),
        ("vxlan", L::ETHERNET, |p| vxlan(4789, p)),
        ("vxlan of linux", L::ETHERNET, |p| vxlan(8472, p)),
        ("geneve", L::RAW, |p| v4(17, &[], &geneve([0, 0], 0x6558, &[], &ethernet(ethertype(p), p)))),
        ("geneve with options", L::RAW, |p| v6(17, &geneve([2, 0], ethertype(p), &[1; 8], p))),
        ("ip in ipv4", L::RAW, |p| v4(in_ip(p), &[], p)),
        ("ip in ipv6", L::RAW, |p| v6(in_ip(p), p)),
        ("vxlan in vlan, vlan within", L::ETHERNET, |p| {
            let within = join(&[&[8, 0, 0, 0, 0, 0, 9, 0], &tagged(0x8100, &[0, 3], p)]);
            let outer = v4(17, &[1; 8], &udp((1, 4789), &within));
            tagged(0x8100, &[0, 7], &outer)
        }),
    ]
}

/// The inner packets: name, bytes, bytes of IP and extension headers.
fn packets() -> Vec<(&'static str, Vec<u8>, u32)> {
    let hop_by_hop = |next: u8, rest: &[u8]| join(&[&[next, 0, 5, 2, 0, 0, 1, 0], rest]);
    let routing = |next: u8, rest: &[u8]| join(&[&[next, 1], &[0; 14], rest]);
    let destination = |next: u8, rest: &[u8]| join(&[&[next, 0, 1, 4, 0, 0, 0, 0], rest]);
    let first_fragment = |next: u8, rest: &[u8]| join(&[&[next, 0, 0, 1, 1, 2, 3, 4], rest]);
    let authentication = |next: u8, rest: &[u8]| join(&[&[next, 4], &[0xdd; 22], rest]);
    vec![
        ("v4", v4(6, &[], &segment()), 20),
        ("v4 with options", v4(6, &[7, 7, 4, 0, 0, 0, 0, 0], &segment()), 28),
        ("v4 with authentication", v4(51, &[], &authentication(6, &segment())), 44),
        ("v6", v6(6, &segment()), 40),
        ("v6 with one extension", v6(0, &hop_by_hop(6, &segment())), 48),
        (
            "v6 with all extensions",
            v6(
                0,
                &hop_by_hop(
                    43,
                    &routing(60, &destination(44, &first_fragment(51, &authentication(6, &segment())))),
                ),
            ),
            40 + 8 + 16 + 8 + 8 + 24,
        ),
    ]
}

/// Checks the innermost packet, of which `cut` bytes at the end are not stored.
fn assert_is_segment(packet: &Packet<'_>, ip: &[u8], stored: usize, headers: u32, name: &str) {
    let (source, destination) = if ip[0] >> 4 == 4 {
        (Address::v4(V4.0), Address::v4(V4.1))
    } else {
        (Address::v6(V6.0), Address::v6(V6.1))
    };
    assert_eq!((packet.source, packet.destination), (source, destination), "{name}");
    assert_eq!((packet.hop_limit, packet.dscp, packet.ecn), (61, 46, 2), "{name}");
    assert_eq!(packet.identification, (ip[0] >> 4 == 4).then_some(0x4242), "{name}");
    assert_eq!(packet.ip_bytes as usize, ip.len(), "{name}");
    let there = stored.saturating_sub(headers as usize);
    match &packet.transport {
        Transport::Tcp(tcp) => {
            assert!(there >= 16, "{name}: {there}");
            assert_eq!(
                (tcp.source_port, tcp.destination_port, tcp.payload_bytes),
                (PORTS.0, PORTS.1, 100),
                "{name}"
            );
            assert_eq!((tcp.flags, tcp.window), (0x18, 0x2000), "{name}");
            assert_eq!(tcp.options.len(), there.saturating_sub(20).min(12), "{name}");
            assert_eq!(tcp.payload.len(), there.saturating_sub(32).min(100), "{name}");
            assert_eq!(tcp.stamps.map(|s| (s.value, s.echo)), (there >= 32).then_some(STAMPS), "{name}");
        }
        Transport::Other { .. } => assert!(there < 16, "{name}: {there}"),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_wrapping_of_every_packet() {
    for (what, ip, headers) in packets() {
        for (wrapping, link, wrap) in wrappings() {
            let name = format!("{what} in {wrapping}");
            let frame = wrap(&ip);
            let sent = frame.len() as u32;
            let packet = dissect(link, sent, &frame).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(packet.wire_bytes, sent, "{name}");
            assert_is_segment(&packet, &ip, ip.len(), headers, &name);
        }
    }
}

/// Truncated anywhere: the inner packet, the outer packet, or an error; never a wrong length.
#[test]
fn every_wrapping_cut_at_every_byte() {
    for (what, ip, headers) in packets() {
        for (wrapping, link, wrap) in wrappings() {
            let frame = wrap(&ip);
            let start = frame.windows(ip.len()).position(|window| window == ip).unwrap();
            let fixed = if ip[0] >> 4 == 4 { 20 } else { 40 };
            for end in 0..frame.len() {
                let name = format!("{what} in {wrapping}, {end} of {}", frame.len());
                let read = dissect(link, frame.len() as u32, &frame[..end]);
                if end >= start + fixed {
                    let packet = read.unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert_is_segment(&packet, &ip, (end - start).min(ip.len()), headers, &name);
                } else if let Ok(packet) = read {
                    // The outer packet of a tunnel, which is longer.
                    assert!(packet.ip_bytes as usize > ip.len(), "{name}");
                    assert!(!matches!(packet.transport, Transport::Tcp(_)), "{name}");
                }
            }
        }
    }
}
