//! A complete fix, from the first measurement to the rollback.
use crate::modem::{Modem, TRUE_RATES, mbit};
use fathom_diagnose::diagnose;
use fathom_fix::FixError;
use fathom_run::{PhaseKind, Run};
use fathom_shape::fix::Outcome;
use fathom_shaper::{Restored, ShaperKind, Undone};

/// Increase of the median latency under load, in ms.
fn increase_ms(run: &Run, kind: PhaseKind) -> f64 {
    let diagnosis = diagnose(run);
    let phase = diagnosis.phases.iter().find(|phase| phase.kind == kind).unwrap();
    phase.increase_p50_s.unwrap().value * 1e3
}

#[test]
fn a_bloated_modem_is_measured_searched_shaped_and_verified() {
    let modem = Modem::new("whole");
    let before = modem.shown();
    // The search of the other direction, and of the overhead, uses the same code.
    let mut config = modem.config(ShaperKind::FlowHash);
    (config.rates.down, config.framing.overhead) = (Some(mbit(38)), Some(38));
    let (fixed, events) = modem.fix(&config);
    let fixed = fixed.unwrap_or_else(|e| panic!("{e}\n{events:#?}"));
    assert_eq!(fixed.outcome, Outcome::Verified, "{events:#?}");
    let share = fixed.report.knees.up.unwrap().rate.as_bits_per_second() as f64 / TRUE_RATES.up;
    // The required 3 %. A trial above the rate that a noisy machine did not fill would give more.
    assert!((0.97..1.005).contains(&share), "{share} of the true rate\n{events:#?}");
    let search = fixed.report.search_time.up;
    assert!(search.as_secs_f64() < 60.0 && fixed.report.knees.down.is_none(), "{search}");
    let after = fixed.after.as_ref().unwrap();
    for (kind, bound_ms) in [(PhaseKind::Up, 8.0), (PhaseKind::Down, 8.0), (PhaseKind::Both, 14.0)] {
        assert!(increase_ms(after, kind) < bound_ms, "{kind:?}: {} ms", increase_ms(after, kind));
    }
    assert!(
        increase_ms(&fixed.before, PhaseKind::Up) > 100.0
            && increase_ms(&fixed.before, PhaseKind::Down) > 60.0
    );
    assert!(modem.shown().contains("ifb-line0"), "{}", modem.shown());
    // An interface that is already shaped is refused, before anything is measured.
    let (again, none) = modem.fix(&config);
    assert!(matches!(again, Err(FixError::Apply(_))) && none.is_empty(), "{again:?} {none:?}");
    assert_eq!(modem.undo(), Undone::Back(Restored::Same));
    assert_eq!(modem.shown(), before);
}

/// What the simulator cannot test: segments of two sizes, sent by the kernel.
#[test]
fn a_dry_run_measures_the_overhead_of_packets_and_changes_nothing() {
    let modem = Modem::new("overhead");
    let before = modem.shown();
    let mut config = modem.config(ShaperKind::FlowHash);
    (config.rates, config.dry_run) = (TRUE_RATES.map(|rate| Some(mbit((rate / 1e6) as u64))), true);
    let (fixed, events) = modem.fix(&config);
    let fixed = fixed.unwrap_or_else(|e| panic!("{e}\n{events:#?}"));
    let overhead = fixed.framing.overhead.unwrap();
    assert!((37..=45).contains(&overhead), "{overhead} bytes; the line has 38, and 3 are added");
    assert_eq!((fixed.outcome, modem.shown()), (Outcome::Planned, before));
}

#[test]
fn an_interface_that_is_not_there_is_named_before_anything_is_measured() {
    let modem = Modem::new("nowhere");
    let mut config = modem.config(ShaperKind::FlowHash);
    config.place.device = "line7".to_owned();
    let (result, events) = modem.fix(&config);
    let Err(FixError::Apply(error)) = result else { panic!("{result:?}") };
    assert!(error.doing.contains("line7") && events.is_empty(), "{error} {events:?}");
}
