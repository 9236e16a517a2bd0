//! What is concluded from tests of a switch.
use crate::switch::{HELD, run, switch};
use fathom_diagnose::{Health, diagnose};
use fathom_run::{BufferLimit, Conclusion, FindingKind, ManagementRule, PortTestKind, Reason, Switch};

/// The conclusion of a kind.
fn found(switch: Switch, early_packets: u64, kind: FindingKind) -> Conclusion {
    let mut run = run(early_packets);
    run.switch = Some(Box::new(switch));
    let found = diagnose(&run).findings.into_iter().find(|finding| finding.kind() == kind);
    found.unwrap_or_else(|| panic!("no {kind:?}")).conclusion
}

/// Delay and losses are those of the full buffer, which bursts measure.
#[test]
fn an_overloaded_port() {
    let diagnosis = diagnose(&run(0));
    assert_eq!((diagnosis.health, diagnosis.phases.len()), (Health::Bloated, run(0).phases.len()));
    let Conclusion::MeasuredBuffer(buffer) = &diagnosis.findings[0].conclusion else { panic!("no buffer") };
    assert_eq!((buffer.limit, buffer.rule), (Some(BufferLimit::Packets), Some(ManagementRule::TailDrop)));
    let packets = buffer.packets.unwrap().value;
    assert!((packets / HELD as f64 - 1.0).abs() < 0.01, "{packets}");
    assert_eq!(buffer.delay_s, 0.34);
    let Conclusion::PortOverload(overload) = &diagnosis.findings[1].conclusion else { panic!("no overload") };
    assert_eq!((overload.loss_ratio, overload.ping_loss_ratio), (0.091, 0.42));
}

/// Ports share a buffer if one has less of it while the other is full.
#[test]
fn buffers_and_queues_of_other_ports() {
    let shared = |ratio: f64| {
        let mut switch = switch(0);
        let test = switch.tests.iter_mut().find(|test| test.kind == PortTestKind::SharedBuffer).unwrap();
        test.streams[0].delay_p98_s = Some(0.34 * ratio);
        match found(switch, 0, FindingKind::SharedBuffer) {
            Conclusion::SharedBuffer(shared) => shared.is_shared,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([shared(0.5), shared(0.97)], [true, false]);
    let blocked = |delay_s: f64, lost: u64| {
        let mut switch = switch(0);
        let test = switch.tests.iter_mut().find(|test| test.kind == PortTestKind::HeadOfLine).unwrap();
        (test.streams[1].delay_p50_s, test.streams[1].lost_packets) = (Some(delay_s), lost);
        match found(switch, 0, FindingKind::HeadOfLineBlocking) {
            Conclusion::HeadOfLineBlocking(blocking) => blocking.is_blocked,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        [blocked(0.001, 0), blocked(0.010, 3), blocked(0.2, 0), blocked(0.001, 40)],
        [false, false, true, true]
    );
}

/// Pause frames are those that the switch sent; interfaces that do not count them show nothing.
#[test]
fn pause_frames_that_are_counted() {
    let mut silent = switch(0);
    silent.ports.iter_mut().for_each(|port| port.pause = None);
    for (switch, expected) in [(switch(0), Some(12)), (silent, None)] {
        let Conclusion::PauseFrames(frames) = found(switch, 0, FindingKind::PauseFrames) else { panic!() };
        assert_eq!(frames.sent_packets, expected);
    }
}

/// Without a loss, the load did not exceed the rate of the port: no verdict.
#[test]
fn a_load_that_loses_nothing_has_no_verdict() {
    let mut run = run(0);
    let switch = run.switch.as_mut().unwrap();
    switch.tests[1].streams.iter_mut().for_each(|stream| stream.lost_packets = 0);
    run.bursts.clear();
    let diagnosis = diagnose(&run);
    assert_eq!((diagnosis.health, diagnosis.reason), (Health::Inconclusive, Some(Reason::BelowCapacity)));
}

/// Pings wait for an AQM that a load of UDP overloads, whatever its bursts show.
#[test]
fn pings_that_wait_make_a_port_bloated() {
    let health = |delay_s: f64| {
        let mut run = run(9);
        run.bursts.clear();
        let mut switch = switch(9);
        let test = switch.tests.iter_mut().find(|test| test.kind == PortTestKind::Overload).unwrap();
        test.streams.iter_mut().for_each(|stream| stream.delay_p50_s = Some(delay_s));
        run.switch = Some(Box::new(switch));
        diagnose(&run).health
    };
    assert_eq!([health(0.116), health(0.015)], [Health::Bloated, Health::Healthy]);
}
