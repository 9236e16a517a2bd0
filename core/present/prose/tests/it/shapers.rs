//! Findings about shapers: each check, passed and failed, and each conflict.
use fathom_run::{
    Certainty, Conclusion, ConflictCause, Criterion, Finding, PhaseKind, ShaperBypass, ShaperCheck,
    ShaperConflict,
};
use fathom_shape::fix::{Event, MeasuredOverhead, OverheadSource, Purpose};
use fathom_shape::knee::{Found, Trial};
use fathom_units::{Direction, Duration, Rate};

const UNSHAPED: ShaperBypass = ShaperBypass::Unshaped {
    direction: Direction::Down,
    interface_bytes: 51_000_000,
    shaped_bytes: 12_000_000,
};
const UNCLASSIFIED: ShaperBypass = ShaperBypass::Unclassified { unclassified_packets: 17 };

fn check(phase: PhaseKind, passed: bool, criterion: Criterion) -> Finding {
    let check = ShaperCheck { phase, passed, criterion };
    let direction = check.direction();
    Finding::new(Conclusion::ShaperCheck(check), direction, Certainty::Certain)
}

fn conflict(cause: ConflictCause) -> Finding {
    let conflict = ShaperConflict { interface: "eth0".into(), cause };
    Finding::new(Conclusion::ShaperConflict(conflict), None, Certainty::Likely)
}

fn bypass(shaped_ratio: Option<f64>, bypasses: &[ShaperBypass]) -> Criterion {
    Criterion::Bypass { shaped_ratio, min_ratio: 0.95, bypasses: bypasses.to_vec() }
}

pub(crate) fn shapers() -> Vec<Finding> {
    let latency = |increase_p50_s| Criterion::Latency { increase_p50_s, limit_s: 0.0074 };
    let bottleneck = |throughput_ratio, held_packets| Criterion::Bottleneck {
        direction: Direction::Down,
        throughput_ratio,
        min_ratio: 0.5,
        max_ratio: 1.03,
        held_packets,
    };
    let goodput = Criterion::Goodput {
        before_bits_per_second: 9.4e6,
        after_bits_per_second: 9.1e6,
        required_ratio: 0.75,
    };
    let (network, profile) = ("/etc/systemd/network/10.network", "/etc/NetworkManager/home.nmconnection");
    vec![
        check(PhaseKind::Up, true, latency(Some(0.0038))),
        check(PhaseKind::Both, false, latency(None)),
        check(PhaseKind::Up, true, goodput),
        check(PhaseKind::Both, true, bottleneck(0.98, 412)),
        check(PhaseKind::Down, false, bottleneck(0.31, 0)),
        check(PhaseKind::Up, true, bypass(None, &[])),
        check(PhaseKind::Down, false, bypass(Some(0.235), &[UNSHAPED])),
        check(PhaseKind::Down, false, bypass(None, &[UNCLASSIFIED])),
        check(PhaseKind::Both, false, Criterion::Processor { busy_ratio: 0.97, max_ratio: 0.9 }),
        conflict(ConflictCause::NoDefaultRoute { default_routes: vec!["wan".into(), "ppp0".into()] }),
        conflict(ConflictCause::Offload { connection_count: 2 }),
        conflict(ConflictCause::HardwareOffload),
        conflict(ConflictCause::NetworkManager { file: profile.into() }),
        conflict(ConflictCause::Networkd { file: network.into() }),
        conflict(ConflictCause::SqmScripts),
        conflict(ConflictCause::Bypass { bypass: UNSHAPED }),
        conflict(ConflictCause::Bypass { bypass: UNCLASSIFIED }),
        conflict(ConflictCause::NoTraffic),
    ]
}

fn mbit(n: u64) -> Rate {
    Rate::from_bits_per_second(n * 1_000_000)
}

/// Steps of a fix.
pub(crate) fn steps() -> Vec<Event> {
    let direction = Direction::Up;
    let trial = |rate, delay_ms, is_demanded| Trial {
        offered: mbit(rate),
        delivered: mbit(9),
        delay: Duration::from_millis(delay_ms),
        is_delayed: delay_ms > 7,
        is_marginal: false,
        is_demanded,
    };
    let ended = |one| Event::TrialEnded { direction, trial: one };
    let overhead = |source| Event::Overhead(Some(MeasuredOverhead { bytes: 40, source }));
    vec![
        Event::Measuring(Purpose::Baseline),
        Event::Measuring(Purpose::Overhead),
        overhead(OverheadSource::PacketSizes),
        overhead(OverheadSource::LinkType),
        Event::Overhead(None),
        Event::SearchStarted { direction, reused_trials: 0 },
        Event::SearchStarted { direction, reused_trials: 3 },
        ended(trial(9, 3, true)),
        ended(trial(11, 81, true)),
        ended(trial(12, 2, false)),
        Event::KneeFound { direction, knee: Found { rate: mbit(9), above: None, is_varying: false } },
        Event::KneeFound {
            direction,
            knee: Found { rate: mbit(9), above: Some(mbit(10)), is_varying: true },
        },
        Event::Measuring(Purpose::Verification),
        Event::AttemptRolledBack,
    ]
}
