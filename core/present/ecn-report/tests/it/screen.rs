//! The screen of one path.
use crate::golden::{ASCII, UNICODE, golden};
use core::net::Ipv4Addr;
use fathom_ecn::{EcnFlags, Fate, Finding, Handshake, Place, Probe, Report};
use fathom_ecn_report::{ecn, ecn_headline};
use fathom_units::{Direction, Ecn};

fn finding(probe: Probe, fate: Fate, (after, before): (u8, u8), is_certain: bool) -> Finding {
    let place = Some(Place { after, before });
    Finding { probe, direction: Direction::Up, fate, place, is_certain }
}

/// Four routers, one of which is silent, and a host.
fn report(findings: Vec<Finding>) -> Report {
    let address = |hop| (hop, Some(Ipv4Addr::new(192, 0, 2, hop)));
    Report {
        host_hop: Some(5),
        hops: [1, 2, 4, 5].map(address).to_vec(),
        findings,
        classic_reply: Some(EcnFlags(EcnFlags::ECE)),
        is_port_closed: false,
        accurate_reply: Some(EcnFlags(0b100)),
        intercepted_at: None,
    }
}

fn bleached() -> Report {
    let cleared = Fate::Changed(Some(Ecn::NotEct));
    let back = |probe, fate, place| Finding {
        direction: Direction::Down,
        place,
        ..finding(probe, fate, (0, 0), true)
    };
    report(vec![
        finding(Probe::Syn(Handshake::Plain), Fate::Kept, (4, 4), true),
        finding(Probe::Syn(Handshake::Classic), Fate::Kept, (4, 4), true),
        finding(Probe::Syn(Handshake::Accurate), Fate::FlagsChanged(EcnFlags(3)), (2, 4), true),
        finding(Probe::MarkedSyn(Ecn::Ect0), cleared, (2, 4), true),
        finding(Probe::Udp(Ecn::Ect1), Fate::Changed(Some(Ecn::Ect0)), (0, 1), false),
        finding(Probe::Udp(Ecn::Ce), Fate::Kept, (5, 5), true),
        finding(Probe::Data(Ecn::Ect0), cleared, (2, 4), true),
        Finding { place: None, ..finding(Probe::Data(Ecn::Ce), Fate::Unknown, (0, 0), false) },
        back(Probe::Echo(Ecn::Ect0), Fate::Kept, Some(Place { after: 5, before: 5 })),
        back(Probe::Data(Ecn::Ect0), Fate::Kept, None),
    ])
}

#[test]
fn a_table_of_probes() {
    golden("path.txt", &ecn("example.org", &bleached(), 80, UNICODE));
    let narrow = ecn("example.org", &bleached(), 50, ASCII);
    assert!(narrow.is_ascii() && narrow.lines().all(|line| line.len() <= 50), "{narrow}");
    golden("path-narrow.txt", &narrow);
}

#[test]
fn the_headline_is_the_worst_finding() {
    let headline = |report: &Report| ecn_headline("example.org", report);
    let kept = finding(Probe::Udp(Ecn::Ect0), Fate::Kept, (5, 5), true);
    let dropped = finding(Probe::Syn(Handshake::Classic), Fate::Dropped, (4, 5), true);
    let uncertain = Finding { is_certain: false, ..dropped };
    let mut all = bleached().findings;
    all.push(dropped);
    let silent = Report { host_hop: None, ..report(vec![kept]) };
    let refuses = Report { classic_reply: Some(EcnFlags(0)), ..report(vec![kept]) };
    let shown: Vec<String> =
        [&report(all), &bleached(), &report(vec![kept, uncertain]), &refuses, &silent, &report(Vec::new())]
            .into_iter()
            .map(headline)
            .collect();
    golden("headlines.txt", &(shown.join("\n") + "\n"));
}
