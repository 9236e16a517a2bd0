//! A complete fix, from the first measurement to the undo.
use crate::modem::{Modem, TRUE_RATES};
use fathom_diagnose::diagnose;
use fathom_fix::FixError;
use fathom_run::{PhaseKind, Run};
use fathom_shape::fix::Outcome;
use fathom_shaper::{Restored, ShaperKind, Undone};

/// Increase of the median latency under a load, ms.
fn increase_ms(run: &Run, kind: PhaseKind) -> f64 {
    let diagnosis = diagnose(run);
    let phase = diagnosis.phases.iter().find(|phase| phase.kind == kind).unwrap();
    phase.increase_p50_s.unwrap().value * 1e3
}

#[test]
fn a_bloated_modem_is_measured_searched_shaped_and_verified() {
    let modem = Modem::new("whole");
    let before = modem.shown();
    let (fixed, events) = modem.fix(&modem.config(ShaperKind::FlowHash));
    let fixed = fixed.unwrap_or_else(|e| panic!("{e}\n{events:#?}"));
    assert_eq!(fixed.outcome, Outcome::Verified, "{events:#?}");
    let overhead = fixed.framing.overhead.unwrap();
    assert!((37..=45).contains(&overhead), "{overhead} bytes; the line has 38, and 3 are added");
    for (direction, knee) in fixed.report.knees {
        let share = knee.unwrap().rate.as_bits_per_second() as f64 / TRUE_RATES[direction];
        // The 3 %; a trial above the rate that a noisy machine did not fill would be more.
        assert!((0.97..1.005).contains(&share), "{direction}: {share} of the true rate\n{events:#?}");
        let search = fixed.report.search_time[direction];
        assert!(search.as_secs_f64() < 60.0, "{direction}: {search}");
    }
    let after = fixed.after.as_ref().unwrap();
    for (kind, bound_ms) in [(PhaseKind::Up, 8.0), (PhaseKind::Down, 8.0), (PhaseKind::Both, 14.0)] {
        assert!(increase_ms(after, kind) < bound_ms, "{kind:?}: {} ms", increase_ms(after, kind));
    }
    assert!(
        increase_ms(&fixed.before, PhaseKind::Up) > 100.0
            && increase_ms(&fixed.before, PhaseKind::Down) > 60.0
    );
    assert!(modem.shown().contains("ifb-line0"), "{}", modem.shown());
    // What is shaped already is not shaped again, and that is reported before anything is measured.
    let (again, none) = modem.fix(&modem.config(ShaperKind::FlowHash));
    let words = again.unwrap_err().to_string();
    assert!(words.contains("it is shaped already") && none.is_empty(), "{words} {none:?}");
    assert_eq!(modem.undo(), Undone::Back(Restored::Same));
    assert_eq!(modem.shown(), before);
}

#[test]
fn an_interface_that_is_not_there_is_named_before_anything_is_measured() {
    let modem = Modem::new("nowhere");
    let mut config = modem.config(ShaperKind::FlowHash);
    config.place.device = "line7".to_owned();
    let (result, events) = modem.fix(&config);
    let Err(FixError::Apply(error)) = result else { panic!("{result:?}") };
    let words = error.to_string();
    assert!(words.contains("line7") && words.contains("line0") && events.is_empty(), "{words} {events:?}");
}
