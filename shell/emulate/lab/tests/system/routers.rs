//! Routers of the line, as seen by traceroute; and the congestion control of connections through
//! them.
use crate::ends::connect;
use crate::{options, start};
use fathom_lab::{Lab, LabError, LabOptions};
use fathom_os::socket::congestion_control;
use fathom_units::Direction;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

const THREE_HOPS: &str = "[[hop]]\nname = \"a\"\nup = { rate = \"100mbit\", delay = \"0ms\", queue = \"fifo limit 1000p\" }\ndown = { rate = \"100mbit\", delay = \"0ms\", queue = \"fifo limit 1000p\" }\n\
    [[hop]]\nname = \"b\"\nup = { rate = \"10gbit\", delay = \"2ms\", queue = \"fifo limit 1000p\" }\ndown = { rate = \"10gbit\", delay = \"2ms\", queue = \"fifo limit 1000p\" }\n\
    [[hop]]\nname = \"c\"\nup = { rate = \"10gbit\", delay = \"2ms\", queue = \"fifo limit 1000p\" }\ndown = { rate = \"10gbit\", delay = \"2ms\", queue = \"fifo limit 1000p\" }\n";

/// The address and ICMP type of the reply to a UDP datagram with hop limit `hops`.
fn probe(lab: &Lab, v6: bool, hops: u32) -> (IpAddr, u8) {
    let (near, far) = (lab.client_address(), lab.server_address());
    let (own, target): (IpAddr, IpAddr) = match (near.v6, far.v6) {
        (Some(own), Some(target)) if v6 => (own.into(), target.into()),
        _ => (near.v4.into(), far.v4.into()),
    };
    let (domain, protocol) =
        if v6 { (Domain::IPV6, Protocol::ICMPV6) } else { (Domain::IPV4, Protocol::ICMPV4) };
    let open =
        || (Socket::new(domain, Type::RAW, Some(protocol)).unwrap(), UdpSocket::bind((own, 0)).unwrap());
    let (icmp, udp) = lab.in_client(open).unwrap();
    let limit = SockRef::from(&udp);
    if v6 { limit.set_unicast_hops_v6(hops) } else { limit.set_ttl_v4(hops) }.unwrap();
    icmp.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    udp.send_to(b"probe", SocketAddr::new(target, 33_434)).unwrap();
    // std cannot create raw sockets, but it can receive from one like from a UDP socket.
    let icmp = UdpSocket::from(OwnedFd::from(icmp));
    let mut answer = [0; 2048];
    loop {
        let (_, from) = icmp.recv_from(&mut answer).expect("somebody answers within a second");
        // A raw IPv4 socket also returns the IP header, here without options.
        let kind = answer[if v6 { 0 } else { 20 }];
        // Neighbor discovery of this host also arrives here.
        if from.ip() != own {
            return (from.ip(), kind);
        }
    }
}

#[test]
fn a_probe_is_answered_by_each_router_in_turn_and_then_by_the_far_side() {
    let lab = start(THREE_HOPS, &options());
    for hop in 1..=3_u8 {
        assert_eq!(probe(&lab, false, hop.into()), ([198, 18, hop, 1].into(), 11));
        let v6 = [0xfd61, 0x7468, 0x6f6d, hop.into(), 0, 0, 0, 1];
        assert_eq!(probe(&lab, true, hop.into()), (v6.into(), 3));
    }
    // Port unreachable.
    assert_eq!(probe(&lab, false, 4), (lab.server_address().v4.into(), 3));
    assert_eq!(probe(&lab, true, 4), (lab.server_address().v6.unwrap().into(), 1));
}

#[test]
fn a_flood_of_expired_packets_is_answered_at_a_limited_rate() {
    let lab = start(THREE_HOPS, &options());
    let target = SocketAddr::new(lab.server_address().v4.into(), 33_434);
    let udp = lab.in_client(|| UdpSocket::bind((lab.client_address().v4, 0)).unwrap()).unwrap();
    udp.set_ttl(1).unwrap();
    let begin = std::time::Instant::now();
    (0..3000).for_each(|_| drop(udp.send_to(b"probe", target)));
    let allowed = 50 + begin.elapsed().as_millis() as u64 + 100;
    let report = lab.lab.finish().unwrap();
    let answers = report.queues.iter().find(|q| q.direction == Direction::Down).unwrap();
    assert!((50..allowed).contains(&answers.arrived_packets), "{answers:?}, allowed {allowed}");
}

#[test]
fn tcp_uses_the_congestion_control_that_was_asked_for() {
    for name in ["cubic", "reno", "bbr"] {
        let lab = start(THREE_HOPS, &LabOptions { congestion_control: name.to_owned(), ..options() });
        for v6 in [false, true] {
            let (client, server) = connect(&lab, v6);
            for end in [client, server] {
                assert_eq!(congestion_control(&Socket::from(end)).unwrap(), name, "IPv6: {v6}");
            }
        }
    }
}

#[test]
fn an_unknown_congestion_control_is_named_with_those_that_exist() {
    let plan = fathom_scenario::builtin_plan("dsl").unwrap().unwrap();
    let wanted = LabOptions { congestion_control: "nonesuch".to_owned(), ..options() };
    let error = Lab::start(&plan.line, &wanted).unwrap_err();
    let LabError::CongestionControl { name, available } = &error else { panic!("{error}") };
    assert!(name == "nonesuch" && available.split(' ').any(|one| one == "reno"), "{error}");
}

#[test]
fn ipv6_can_be_left_out() {
    let lab = start(THREE_HOPS, &LabOptions { ipv6: false, ..options() });
    assert_eq!((lab.client_address().v6, lab.server_address().v6), (None, None));
}
