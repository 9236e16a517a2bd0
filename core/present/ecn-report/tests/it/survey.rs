//! A survey of hosts: what is shown and written.
use crate::golden::{ASCII, UNICODE, golden};
use fathom_ecn::{EcnFlags, Fate, Finding, FromHost, Handshake, Place, Probe, Report};
use fathom_ecn_report::{Outcome, Record, Survey, csv, page, pathspider, survey_headline, survey_screen};
use fathom_run::AutonomousSystem;
use fathom_units::{Direction, Ecn};
use std::net::Ipv4Addr;

fn record(number: u8, outcome: Outcome) -> Record {
    let started = "2026-11-24T10:00:00.000Z".to_owned();
    let untested =
        Record::untested(&format!("host{number}.example"), 443, Some(u64::from(number) * 100), started);
    Record {
        address: Some(format!("198.51.100.{number}")),
        own_address: Some("192.0.2.200".into()),
        ended: "2026-11-24T10:00:02.000Z".into(),
        outcome,
        ..untested
    }
}

/// A report about a path of five hops with these findings.
fn report(findings: Vec<Finding>) -> Report {
    Report {
        host_hop: Some(5),
        hops: (1..=5).map(|hop| (hop, Some(Ipv4Addr::new(192, 0, 2, hop)))).collect(),
        findings,
        classic_reply: Some(EcnFlags(EcnFlags::ECE)),
        accurate_reply: Some(EcnFlags(EcnFlags::ECE)),
        is_port_closed: false,
        intercepted_at: None,
    }
}

fn finding(probe: Probe, fate: Fate, after: u8) -> Finding {
    let place = Some(Place { after, before: after + 1 });
    Finding { probe, direction: Direction::Up, fate, place, is_certain: true }
}

fn tested(number: u8, report: &Report) -> Record {
    let from_host = FromHost { data: [1, 0, 2, 0], ..FromHost::default() };
    record(number, Outcome::Unknown).with(report, &from_host)
}

/// Hosts of each outcome.
fn hosts() -> Vec<Record> {
    let kept = finding(Probe::Data(Ecn::Ect0), Fate::Kept, 5);
    let cleared = finding(Probe::Data(Ecn::Ect0), Fate::Changed(Some(Ecn::NotEct)), 2);
    let dropped = finding(Probe::Syn(Handshake::Classic), Fate::Dropped, 4);
    let at_home = finding(Probe::Udp(Ecn::Ect1), Fate::Changed(Some(Ecn::Ect0)), 0);
    let with_reason =
        |number, outcome, reason: &str| Record { reason: Some(reason.into()), ..record(number, outcome) };
    let mut all = vec![
        tested(1, &report(vec![kept])),
        tested(2, &report(vec![cleared])),
        tested(3, &report(vec![cleared, kept])),
        tested(4, &Report { classic_reply: None, ..report(vec![kept, dropped]) }),
        tested(5, &report(vec![at_home])),
        tested(6, &Report { classic_reply: Some(EcnFlags(3)), ..report(vec![kept]) }),
        tested(7, &Report { host_hop: None, classic_reply: None, ..report(Vec::new()) }),
        tested(8, &Report { is_port_closed: true, ..report(Vec::new()) }),
        with_reason(9, Outcome::Duplicate, "host1.example"),
        Record { address: None, ..with_reason(10, Outcome::Unresolved, "no such name, \"host10\"") },
    ];
    let system = |number| Some(AutonomousSystem { number, name: "EXAMPLE Networks".into() });
    for problem in all[1..3].iter_mut().filter_map(|record| record.problem.as_mut()) {
        problem.hops_mut().for_each(|hop| hop.autonomous_system = system(64_496));
    }
    let hops = all[3].problem.as_mut().expect("SYN segments are dropped").hops_mut();
    hops.zip([64_496, 64_497]).for_each(|(hop, number)| hop.autonomous_system = system(number));
    all
}

#[test]
fn what_is_shown() {
    let hosts = hosts();
    let survey = Survey::new(&hosts, 0);
    golden("survey.txt", &survey_screen(&survey, 80, UNICODE));
    let narrow = survey_screen(&survey, 50, ASCII);
    assert!(narrow.is_ascii() && narrow.lines().all(|line| line.len() <= 50), "{narrow}");
    golden("survey-narrow.txt", &narrow);
    golden("survey.csv", &csv(&survey));
    golden("survey.ndjson", &pathspider(&survey));
    let html = page(&survey, "<list>", "0.0.0");
    for text in ["&lt;list&gt;", "AS64496 EXAMPLE Networks", "host4.example", "SYN for ECN is dropped"] {
        assert!(html.contains(text), "{text}: {html}");
    }
    assert!(!html.contains("http") && !html.contains("<list>"), "{html}");
}

#[test]
fn headlines() {
    let hosts = hosts();
    let headline = |records: &[Record]| survey_headline(&Survey::new(records, 0));
    let interrupted = [1, 1_200].map(|remaining| survey_headline(&Survey::new(&hosts[..2], remaining)));
    let shown = [
        headline(&hosts),
        headline(&hosts[..1]),
        headline(&hosts[..2]),
        headline(&hosts[6..8]),
        headline(&[]),
    ];
    golden("survey-headlines.txt", &([&shown[..], &interrupted].concat().join("\n") + "\n"));
}

#[test]
fn most_hosts_come_first() {
    let hosts = hosts();
    let counts: Vec<usize> = Survey::new(&hosts, 0).networks.iter().map(|network| network.hosts).collect();
    assert_eq!(counts, [2, 1, 1]);
}

#[test]
fn records_survive_their_file() {
    for record in hosts() {
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.starts_with("{\"host\":"), "{line}");
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record, "{line}");
    }
}
