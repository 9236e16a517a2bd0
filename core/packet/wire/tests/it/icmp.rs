//! Time Exceeded.
use crate::reference::{Tcp, sum};
use fathom_units::Rng;
use fathom_wire::icmp::time_exceeded;
use std::net::IpAddr;

const ROUTER_V4: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 18, 1, 1));
const ROUTER_V6: IpAddr = IpAddr::V6(std::net::Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1));

fn unicast(v6: bool, payload: usize) -> Tcp {
    let mut tcp = Tcp::random(&mut Rng::new(11), v6, payload);
    (tcp.source[0], tcp.destination[0]) = if v6 { (0xfd, 0xfd) } else { (10, 10) };
    tcp.extensions = (6, Vec::new());
    tcp
}

#[test]
fn quotes_the_packet_and_goes_to_its_source() {
    for (payload, total) in [(10, 20 + 8 + 20 + 20 + 10), (4000, 576)] {
        let tcp = Tcp { options: Vec::new(), ..unicast(false, payload) };
        let offending = tcp.build();
        let answer = time_exceeded(ROUTER_V4, &offending).unwrap();
        assert_eq!(answer.len(), total);
        assert_eq!(answer[12..20], [&[198, 18, 1, 1], &tcp.source[..]].concat());
        assert_eq!(answer[20..22], [11, 0]);
        assert_eq!(answer[28..], offending[..total - 28]);
        assert_eq!((sum(&answer[..20]), sum(&answer[20..])), (0xffff, 0xffff));
    }
}

#[test]
fn quotes_up_to_the_minimum_mtu_in_ipv6() {
    let tcp = unicast(true, 4000);
    let offending = tcp.build();
    let answer = time_exceeded(ROUTER_V6, &offending).unwrap();
    assert_eq!(answer.len(), 1280);
    assert_eq!(answer[24..40], tcp.source);
    assert_eq!((answer[6], answer[40], answer[41]), (58, 3, 0));
    assert_eq!(answer[48..], offending[..1280 - 48]);
    let mut pseudo = answer[8..40].to_vec();
    pseudo.extend([0, 0, 0x04, 0xd8, 0, 0, 0, 58]);
    assert_eq!(sum(&[pseudo, answer[40..].to_vec()].concat()), 0xffff);
}

#[test]
fn errors_fragments_and_multicast_get_no_answer() {
    let plain = unicast(false, 10).build();
    let answered = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = plain.clone();
        change(&mut bytes);
        time_exceeded(ROUTER_V4, &bytes).is_some()
    };
    assert!(answered(&|_| ()));
    // An echo request is answered, a Time Exceeded is not.
    assert!(answered(&|b| (b[9], b[20]) = (1, 8)));
    assert!(!answered(&|b| (b[9], b[20]) = (1, 11)));
    assert!(!answered(&|b| b[7] = 1));
    assert!(!answered(&|b| b[16] = 224));
    assert!(!answered(&|b| b[12..16].fill(0)));
    assert!(!answered(&|b| b.truncate(15)));
    assert!(time_exceeded(ROUTER_V6, &plain).is_none());
    let mut v6 = unicast(true, 10).build();
    (v6[6], v6[40]) = (58, 1);
    assert!(time_exceeded(ROUTER_V6, &v6).is_none());
}
