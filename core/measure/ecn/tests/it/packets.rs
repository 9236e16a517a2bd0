//! Packets of a test, and packets of others.
use crate::net::{Net, ROUTE};
use fathom_ecn::{Action, Class, EcnFlags, EcnTest, Handshake, Quote, Received, judge, read};
use fathom_units::{Ecn, Rng, Time};
use fathom_wire::{Ipv4Packet, checksum, icmp};
use std::net::Ipv4Addr;

fn first_probe() -> Vec<u8> {
    match EcnTest::new(ROUTE).poll(Time::default()) {
        Action::Send(packet, to) if to == ROUTE.host => packet,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_probe_has_correct_checksums() {
    let packet = first_probe();
    let ip = Ipv4Packet::new_checked(&packet[..]).unwrap();
    assert!(ip.checksum_is_right() && ip.ttl() == 1 && ip.identification() == 1);
    let pseudo = checksum::pseudo_header(ROUTE.own.into(), ROUTE.host.into(), 6, ip.payload().len() as u32);
    assert_eq!(checksum::fold(checksum::add(pseudo, ip.payload())), 0xffff);
}

#[test]
fn a_quotation_has_flags_only_if_it_is_long_enough() {
    let mut packet = first_probe();
    packet[1] = 0xb9;
    packet[32] |= 1;
    packet[33] |= 0xc0;
    let error = icmp::time_exceeded(Ipv4Addr::new(10, 0, 1, 254).into(), &packet).unwrap();
    let quote = |flags| Quote { id: 1, class: Class::Syn, ecn: Ecn::Ect1, flags, has_expired: true };
    let by = Ipv4Addr::new(10, 0, 1, 254);
    let whole = Some(Received::Error { by, quote: quote(Some(Handshake::Accurate.flags())) });
    assert_eq!(read(&ROUTE, &error), whole);
    assert_eq!(Handshake::Accurate.flags(), EcnFlags(7));
    let mut short = error[..20 + 8 + 28].to_vec();
    short[2..4].copy_from_slice(&56_u16.to_be_bytes());
    assert_eq!(read(&ROUTE, &short), Some(Received::Error { by, quote: quote(None) }));
}

/// Truncated, changed and random packets do not stop the test.
#[test]
fn hostile_packets_are_harmless() {
    let error = icmp::time_exceeded(Ipv4Addr::new(10, 0, 1, 254).into(), &first_probe()).unwrap();
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let mut packet = if rng.chance(0.8) { error.clone() } else { first_probe() };
        for _ in 0..rng.below(6) {
            let at = rng.below(packet.len() as u64) as usize;
            packet[at] = rng.next_u64() as u8;
        }
        packet.truncate(rng.below(packet.len() as u64 + 1) as usize);
        if rng.chance(0.7) && packet.len() >= 20 {
            let total = packet.len() as u16;
            packet[2..4].copy_from_slice(&total.to_be_bytes());
        }
        let mut test = EcnTest::new(ROUTE);
        let _ = test.poll(Time::default());
        test.receive(&packet);
        assert!(test.evidence().points.len() <= 1, "seed {seed}");
        let _ = test.poll(Time::default());
    }
}

#[test]
fn a_host_with_accurate_ecn_reports_the_codepoint_of_the_syn() {
    let mut net = Net::new(2, 1);
    net.host.accurate = true;
    let report = judge(&net.run().0);
    assert_eq!(report.accurate_codepoint(), Some(Ecn::NotEct), "{report:#?}");
    assert_eq!(report.problems().next(), None);
}
