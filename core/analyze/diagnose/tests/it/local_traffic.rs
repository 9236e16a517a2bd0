//! What programs of this computer have of the line.
use crate::line::{BLOATED, MANAGED};
use fathom_diagnose::diagnose;
use fathom_run::{
    Conclusion, Fact, HostTraffic, LocalTraffic, Metric, PhaseKind, Process, ProgramTraffic, Reason, Remedy,
    Run, SeriesKey, Span, TrafficSource,
};
use fathom_units::{Direction, PerDirection};

/// The line of 3 Mbit/s up and 20 Mbit/s down, with 0.5 s in the uplink's queue before the load.
fn loaded_before() -> Run {
    let mut run = MANAGED.run();
    let idle = Span::of(run.phase(PhaseKind::Idle).expect("the run has it"));
    for series in &mut run.series {
        let is_delayed =
            [SeriesKey::of(Metric::UdpRtt), SeriesKey::directed(Metric::OneWayDelay, Direction::Up)]
                .contains(&series.key);
        for (at_ns, value) in series.at_ns.iter().zip(&mut series.values) {
            *value += if is_delayed && *at_ns < idle.end_ns { 0.5 } else { 0.0 };
        }
    }
    run
}

fn program(name: &str, id: u32, up: f64, down: f64) -> ProgramTraffic {
    let process = Some(Process { id, name: name.into() });
    ProgramTraffic { process, remote: "192.0.2.7".into(), bits_per_second: PerDirection { up, down } }
}

fn traffic(phase: PhaseKind, up: f64, down: f64, programs: Vec<ProgramTraffic>) -> HostTraffic {
    HostTraffic { phase, bits_per_second: PerDirection { up, down }, programs }
}

fn source(run: &Run) -> Option<TrafficSource> {
    let d = diagnose(run);
    let Some(Reason::OtherTraffic { source, .. }) = d.reason else { panic!("{:?}", d.reason) };
    let found = d.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::OtherTraffic(traffic) => Some((traffic.source.clone(), finding.direction)),
        _ => None,
    });
    assert_eq!(found, Some((source.clone(), Some(Direction::Up))));
    source
}

fn named(run: &Run) -> Vec<(Direction, LocalTraffic)> {
    let of = |finding: &fathom_run::Finding| match &finding.conclusion {
        Conclusion::LocalTraffic(traffic) => Some((finding.direction?, traffic.clone())),
        _ => None,
    };
    diagnose(run).findings.iter().filter_map(of).collect()
}

#[test]
fn the_source_of_a_queue_before_the_load() {
    let rsync = || TrafficSource::Program { name: "rsync".into() };
    let cases = [
        ("a program with most of the uplink", program("rsync", 7, 2.7e6, 0.0), 2.8e6, 1e5, Some(rsync())),
        ("a program with some of it", program("rsync", 7, 1.2e6, 0.0), 1.3e6, 1e5, None),
        ("a program with all of the other direction", program("curl", 7, 0.0, 18e6), 5e5, 18e6, None),
        ("little of both", program("ssh", 7, 2e4, 2e4), 2.5e5, 2.5e5, Some(TrafficSource::OtherDevices)),
        // Datagrams count in the total, but their programs are unknown.
        ("much of unknown programs", program("ssh", 7, 2e4, 2e4), 2.8e6, 2.5e5, None),
    ];
    for (name, one, up, down, want) in cases {
        let mut run = loaded_before();
        run.host_traffic = vec![traffic(PhaseKind::Idle, up, down, vec![one])];
        assert_eq!(source(&run), want, "{name}");
    }
    assert_eq!(source(&loaded_before()), None, "nothing was observed");
    let mut run = loaded_before();
    run.host_traffic = vec![traffic(PhaseKind::Up, 2e5, 2e5, Vec::new())];
    assert_eq!(source(&run), None, "only another phase was observed");
}

/// What is left of a transfer that ended before the test may be one of this computer.
#[test]
fn a_draining_queue_is_not_blamed_on_other_devices() {
    for (left_s, drains) in [(0.5, false), (10.0, false), (0.5, true), (2.0, true), (10.0, true)] {
        let mut run = MANAGED.run();
        let idle = Span::of(run.phase(PhaseKind::Idle).expect("the run has it"));
        for series in run.series.iter_mut().filter(|series| series.key == SeriesKey::of(Metric::UdpRtt)) {
            for (at_ns, value) in series.at_ns.iter().zip(&mut series.values) {
                let passed_s = if drains { (at_ns - idle.start_ns) as f64 / 1e9 } else { 0.0 };
                *value += if *at_ns < idle.end_ns { f64::max(left_s - passed_s, 0.0) } else { 0.0 };
            }
        }
        run.host_traffic = vec![traffic(PhaseKind::Idle, 1e4, 1e4, Vec::new())];
        let d = diagnose(&run);
        let sources: Vec<_> = d
            .findings
            .iter()
            .filter_map(|finding| match &finding.conclusion {
                Conclusion::OtherTraffic(found) => Some(found.source.clone()),
                _ => None,
            })
            .collect();
        let want = (!drains).then_some(TrafficSource::OtherDevices);
        assert!(sources.iter().all(|source| *source == want), "{left_s} s, {drains}: {sources:?}");
        assert!(drains || !sources.is_empty());
    }
}

#[test]
fn programs_with_a_share_of_the_line_are_named() {
    let mut run = MANAGED.run();
    run.host_traffic = vec![
        traffic(PhaseKind::Idle, 9e5, 1e5, vec![program("rsync", 7, 8e5, 0.0), program("ssh", 8, 1e5, 9e4)]),
        traffic(PhaseKind::Down, 1e6, 2e7, vec![program("rsync", 7, 2e5, 0.0), program("curl", 9, 0.0, 2e6)]),
    ];
    // Relative to 3 Mbit/s up and 20 Mbit/s down. One program has one finding, with its largest
    // share; ssh has 3 %.
    let found: Vec<_> = named(&run)
        .into_iter()
        .map(|(direction, one)| (direction, one.phase, one.process.unwrap().name, one.bits_per_second))
        .collect();
    assert_eq!(
        found,
        [
            (Direction::Up, PhaseKind::Idle, "rsync".into(), 8e5),
            (Direction::Down, PhaseKind::Down, "curl".into(), 2e6),
        ]
    );
}

#[test]
fn many_programs_are_not_all_named() {
    let mut run = MANAGED.run();
    let programs = (1..=6).map(|id| program("p", id, 2e5 + f64::from(id), 0.0)).collect();
    run.host_traffic = vec![traffic(PhaseKind::Idle, 2e6, 0.0, programs)];
    let ids: Vec<_> = named(&run).into_iter().map(|(_, one)| one.process.unwrap().id).collect();
    assert_eq!(ids, [6, 5, 4]);
}

/// The rate of a load that did not have the line alone is not that of the line.
#[test]
fn no_shaper_gets_a_rate_from_a_load_next_to_a_program() {
    let rate = |run: &Run| {
        let d = diagnose(run);
        let remedies = d.findings.into_iter().flat_map(|finding| finding.remedies);
        let mut rates = remedies.filter_map(|remedy| match remedy {
            Remedy::Shape { direction: Some(Direction::Up), max_bits_per_second, .. } => {
                Some(max_bits_per_second)
            }
            _ => None,
        });
        rates.next().expect("a shaper is recommended")
    };
    let mut run = BLOATED.run();
    assert!(rate(&run).is_some());
    for (up, is_alone) in [(1e5, true), (2e5, false)] {
        run.host_traffic = vec![traffic(PhaseKind::Up, 3.1e6, 1e5, vec![program("rsync", 7, up, 0.0)])];
        assert_eq!(rate(&run).is_some(), is_alone, "{up}");
    }
    run.host_traffic = vec![traffic(PhaseKind::Down, 3.1e6, 1e5, vec![program("rsync", 7, 2e5, 0.0)])];
    assert!(rate(&run).is_some(), "the upload was not loaded then");
    run.host_traffic = vec![traffic(PhaseKind::Down, 1e5, 21e6, vec![program("curl", 7, 0.0, 4e6)])];
    assert_eq!(rate(&run), None, "advice for one direction would leave out the other");
}

/// A queue that is full all the time has no short latency for comparison, and a load adds nothing.
#[test]
fn a_line_that_a_program_fills_all_the_time_has_no_verdict() {
    let mut run = MANAGED.run();
    let reason = |of: &Run| diagnose(of).reason;
    for (up, is_most) in [(1.2e6, false), (2e6, true)] {
        run.host_traffic = vec![traffic(PhaseKind::Idle, 3e6, 1e5, vec![program("rsync", 7, up, 0.0)])];
        let want = Reason::LineInUse {
            program: Some("rsync".into()),
            direction: Direction::Up,
            bits_per_second: up,
        };
        assert_eq!(reason(&run), is_most.then_some(want), "{up}");
    }
    // The rate of a paced load is not that of the line.
    run.facts.insert(Fact::Pace, "100kbit".into());
    assert_eq!(named(&run), []);
}
