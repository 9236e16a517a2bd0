//! Findings on paths whose truth is known.
use crate::net::{Mangler, Net, Placed};
use fathom_ecn::{Fate, Finding, Handshake, Place, Probe, Report, Summary, judge};
use fathom_units::{Direction, Duration, Ecn, Rng};

/// Every router answers: finding by finding, one mangler at each hop.
#[test]
fn one_mangler_is_found_at_each_hop() {
    for at in 1..=4 {
        for what in Mangler::ALL {
            let mut net = Net::new(4, 1);
            net.manglers = vec![Placed { what, at, direction: Direction::Up }];
            let (evidence, took) = net.run();
            let report = judge(&evidence);
            assert_eq!(report.host_hop, Some(5));
            let place = Some(Place { after: at - 1, before: at });
            let expected = expected(what);
            let problems: Vec<&Finding> = report.problems().collect();
            for (probe, fate) in &expected {
                let found = problems.iter().find(|finding| finding.probe == *probe);
                let found = found.unwrap_or_else(|| panic!("{what:?} at {at}: {probe:?} in {report:#?}"));
                assert_eq!((found.fate, found.place), (*fate, place), "{what:?} at {at}: {found:?}");
            }
            let unexpected = problems.iter().find(|f| !expected.iter().any(|(probe, _)| f.probe == *probe));
            assert!(unexpected.is_none(), "{what:?} at {at}: {unexpected:?}");
            assert!(took < Duration::from_secs(45), "{what:?}: {took:?}");
        }
    }
}

/// The fates of the probes that a mangler concerns.
fn expected(what: Mangler) -> Vec<(Probe, Fate)> {
    let each = |codepoints: &[Ecn], fate: Fate| {
        let of = |ecn: &Ecn| [Probe::MarkedSyn(*ecn), Probe::Udp(*ecn), Probe::Data(*ecn)];
        codepoints.iter().flat_map(of).map(|probe| (probe, fate)).collect::<Vec<_>>()
    };
    let ect = [Ecn::Ect0, Ecn::Ect1];
    let changed = |ecn| Fate::Changed(Some(ecn));
    let syn = |handshake, fate| vec![(Probe::Syn(handshake), fate)];
    match what {
        Mangler::Bleach => each(&[Ecn::Ect0, Ecn::Ect1, Ecn::Ce], changed(Ecn::NotEct)),
        Mangler::Mark => each(&ect, changed(Ecn::Ce)),
        Mangler::Ect1ToEct0 => each(&[Ecn::Ect1], changed(Ecn::Ect0)),
        Mangler::DropEct => each(&[Ecn::Ect0, Ecn::Ect1, Ecn::Ce], Fate::Dropped),
        Mangler::DropEce => {
            [syn(Handshake::Classic, Fate::Dropped), syn(Handshake::Accurate, Fate::Dropped)].concat()
        }
        Mangler::DropAe => syn(Handshake::Accurate, Fate::Dropped),
        Mangler::RefuseAe => syn(Handshake::Accurate, Fate::Refused),
        Mangler::ClearAe => syn(Handshake::Accurate, Fate::FlagsChanged(Handshake::Classic.flags())),
        Mangler::ClearFlags => {
            let cleared = Fate::FlagsChanged(Handshake::Plain.flags());
            [syn(Handshake::Classic, cleared), syn(Handshake::Accurate, cleared)].concat()
        }
    }
}

#[test]
fn bleaching_on_the_way_back_is_found_at_each_hop() {
    for at in 1..=4 {
        let mut net = Net::new(4, 1);
        net.manglers = vec![Placed { what: Mangler::Bleach, at, direction: Direction::Down }];
        let report = judge(&net.run().0);
        let problems: Vec<&Finding> = report.problems().collect();
        let place = Some(Place { after: at - 1, before: at });
        let cleared = Fate::Changed(Some(Ecn::NotEct));
        for probe in [Probe::Echo(Ecn::Ect0), Probe::Data(Ecn::Ect0)] {
            let found = problems.iter().find(|f| f.probe == probe && f.direction == Direction::Down);
            assert_eq!(found.map(|f| (f.fate, f.place)), Some((cleared, place)), "{at}: {report:#?}");
        }
        assert!(problems.iter().all(|finding| finding.direction == Direction::Down), "{problems:?}");
    }
}

#[test]
fn a_clean_path_has_no_problem() {
    let (evidence, took) = Net::new(4, 1).run();
    let report = judge(&evidence);
    assert_eq!(report.problems().next(), None);
    assert_eq!(report.summary(), Summary::Survives);
    assert_eq!((report.has_classic(), report.accurate_codepoint()), (Some(true), None));
    assert!(report.findings.iter().all(|f| f.fate == Fate::Kept), "{report:#?}");
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_silent_host_still_shows_the_hops() {
    let mut net = Net::new(3, 1);
    net.host.is_silent = true;
    net.manglers = vec![Placed { what: Mangler::Bleach, at: 2, direction: Direction::Up }];
    let report = judge(&net.run().0);
    assert_eq!((report.host_hop, report.summary()), (None, Summary::Altered));
    assert!(report.problems().all(|f| f.place == Some(Place { after: 1, before: 2 })), "{report:#?}");
    let mut clean = Net::new(3, 1);
    clean.host.is_silent = true;
    assert_eq!(judge(&clean.run().0).summary(), Summary::NoAnswer);
}

/// Whether a mangler changes what happens to a probe in a direction, by itself.
fn concerns(what: Mangler, finding: &Finding) -> bool {
    let ecn = finding.probe.codepoint();
    let flags = finding.probe.syn_flags().map_or(0, |flags| flags.0);
    match what {
        Mangler::Bleach | Mangler::DropEct => ecn != Ecn::NotEct,
        // CE that was ECT before.
        Mangler::Mark => matches!(ecn, Ecn::Ect0 | Ecn::Ect1),
        Mangler::Ect1ToEct0 => ecn == Ecn::Ect1,
        Mangler::DropEce | Mangler::ClearFlags => flags & 1 != 0,
        Mangler::DropAe | Mangler::ClearAe | Mangler::RefuseAe => flags & 4 != 0,
    }
}

fn random_net(rng: &mut Rng, seed: u64) -> Net {
    let mut net = Net::new(1 + rng.below(6) as usize, seed);
    net.loss = if rng.chance(0.5) { 0.0 } else { 0.2 * rng.next_f64() };
    for _ in 0..rng.below(3) {
        let what = Mangler::ALL[rng.below(9) as usize];
        let at = 1 + rng.below(net.routers.len() as u64 + 1) as u8;
        let direction = if rng.chance(0.7) { Direction::Up } else { Direction::Down };
        net.manglers.push(Placed { what, at, direction });
    }
    for router in &mut net.routers {
        router.no_errors = rng.chance(0.2);
        router.no_echo = rng.chance(0.2);
        router.quotes_little = rng.chance(0.3);
    }
    if rng.chance(0.2) {
        let liar = rng.below(net.routers.len() as u64) as usize;
        net.routers[liar].lies = true;
    }
    net.host.ecn = rng.chance(0.8);
    net.host.returns_codepoint = rng.chance(0.7);
    net.host.refuses_datagrams = rng.chance(0.7);
    net.host.is_silent = rng.chance(0.05);
    net
}

/// Every certain problem has a mangler that explains it, in its direction and between its hops.
fn check(report: &Report, net: &Net, seed: u64) -> usize {
    for finding in report.problems() {
        let explains = |placed: &&Placed| {
            // A router that quotes falsely right before the change is what the replies show.
            let lies = |hop: u8| net.routers.get(usize::from(hop) - 1).is_some_and(|r| r.lies || r.no_errors);
            let between = finding.place.is_none_or(|p| {
                p.after < placed.at && (placed.at <= p.before || (p.before..placed.at).all(lies))
            });
            placed.direction == finding.direction && between && concerns(placed.what, finding)
        };
        let is_explained = net.manglers.iter().any(|placed| explains(&placed));
        assert!(is_explained, "seed {seed}: {finding:?} with {net:#?}\n{report:#?}");
    }
    report.problems().count()
}

#[test]
fn no_certain_finding_is_wrong_on_random_paths() {
    let mut problems = 0;
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let mut net = random_net(&mut rng, seed);
        let report = judge(&net.run().0);
        problems += check(&report, &net, seed);
    }
    // Otherwise nothing was checked.
    assert!(problems > 3_000, "{problems}");
}
