//! No bytes make a view panic. The fuzz target `packet` runs this too.
use fathom_wire::icmp::time_exceeded;
use fathom_wire::{IpPacket, MAX_HEADER_BYTES, Rewrite, SuperPacket, TcpSegment, VnetHeader, flow_of};

/// Calls everything available for bytes that `new_checked` accepts.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(ip) = IpPacket::new_checked(bytes) else { return };
    let _ =
        (flow_of(&ip, bytes).hash(1), ip.ecn(), ip.transport(), time_exceeded([1, 2, 3, 4].into(), bytes));
    if let Some(Ok(segment)) = ip.transport().map(|(_, at)| TcpSegment::new_checked(&bytes[at..])) {
        // At least one byte each.
        assert!(segment.options().count() <= 40);
    }
    for gso_type in [VnetHeader::GSO_NONE, VnetHeader::GSO_TCPV4, VnetHeader::GSO_TCPV6, 0x83] {
        let vnet = VnetHeader { gso_type, gso_size: 100, ..VnetHeader::default() };
        if let Ok(packet) = SuperPacket::new_checked(vnet, bytes) {
            let mut header = [0; MAX_HEADER_BYTES];
            let all = 0..packet.segments();
            let run = packet.rewrite(bytes, all, Rewrite { ce: true, dscp: Some(9), hops: 3 }, &mut header);
            assert_eq!(run.payload.end, ip.total_len());
        }
    }
}
