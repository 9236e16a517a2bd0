//! The short test of a host, without its routers.
use crate::net::{Mangler, Net, Placed, ROUTE};
use fathom_ecn::{EcnTest, Finding, Report, judge};
use fathom_units::{Direction, Duration};

fn run(net: &mut Net) -> (Report, Duration, usize) {
    let (evidence, took, sent) = net.run_test(EcnTest::of_host(ROUTE));
    (judge(&evidence), took, sent)
}

#[test]
fn a_clean_path_costs_few_packets() {
    let (report, took, sent) = run(&mut Net::new(4, 1));
    assert_eq!(report.problems().next(), None, "{report:#?}");
    assert!(report.host_hop.is_some() && report.has_classic() == Some(true), "{report:#?}");
    assert!((15..=25).contains(&sent) && took < Duration::from_secs(4), "{sent} packets in {took:?}");
}

/// Each of these shows at the host, so that the path is tested next.
#[test]
fn what_the_host_shows_is_a_sign() {
    for what in [
        Mangler::DropEce,
        Mangler::DropAe,
        Mangler::DropEct,
        Mangler::RefuseAe,
        Mangler::Mark,
        Mangler::Bleach,
    ] {
        let mut net = Net::new(4, 1);
        net.manglers = vec![Placed { what, at: 3, direction: Direction::Up }];
        let (report, _, _) = run(&mut net);
        assert!(report.findings.iter().any(Finding::is_problem), "{what:?}: {report:#?}");
    }
    let mut back = Net::new(4, 1);
    back.manglers = vec![Placed { what: Mangler::Bleach, at: 2, direction: Direction::Down }];
    assert!(back.run_test(EcnTest::of_host(ROUTE)).0.from_host.lacks_ect());
    assert!(!Net::new(4, 1).run_test(EcnTest::of_host(ROUTE)).0.from_host.lacks_ect());
}

#[test]
fn a_silent_host_gets_three_packets() {
    let mut net = Net::new(4, 1);
    net.host.is_silent = true;
    let (report, _, sent) = run(&mut net);
    assert_eq!((report.host_hop, sent), (None, 3), "{report:#?}");
}

#[test]
fn findings_survive_json() {
    for what in Mangler::ALL {
        let mut net = Net::new(2, 1);
        net.manglers = vec![Placed { what, at: 1, direction: Direction::Up }];
        for finding in judge(&net.run().0).findings {
            let json = serde_json::to_string(&finding).unwrap();
            assert_eq!(serde_json::from_str::<Finding>(&json).unwrap(), finding, "{json}");
        }
    }
    let wrong = r#"{"packet":"syn","direction":"up","flags":"AE","codepoint":"not-ect","fate":"kept",
        "arrived":null,"flags_arrived":null,"after_hop":1,"before_hop":1,"certain":true}"#;
    assert!(serde_json::from_str::<Finding>(wrong).is_err());
}
