//! A whole fix, from the first measurement on.
use crate::modem::{Modem, TRUE_RATES, mbit};
use fathom_diagnose::diagnose;
use fathom_fix::{FixError, Outcome};
use fathom_run::{PhaseKind, Run};
use fathom_shaper::{Restored, Rung, Undone};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Median delay over idle under a load, ms.
fn rise_ms(run: &Run, kind: PhaseKind) -> f64 {
    let diagnosis = diagnose(run);
    let phase = diagnosis.phases.iter().find(|phase| phase.kind == kind).unwrap();
    phase.increase_p50_s.unwrap().value * 1e3
}

fn never(_: &str) -> bool {
    false
}

#[test]
fn a_bloated_modem_is_measured_searched_shaped_and_proven() {
    let modem = Modem::new("whole");
    let before = modem.shown();
    let (fixed, told) = modem.fix(&modem.config(Rung::FlowHash), never);
    let fixed = fixed.unwrap_or_else(|e| panic!("{e}\n{:#?}", told.words));
    assert_eq!(fixed.outcome, Outcome::Proven, "{:#?}", told.words);
    let overhead = fixed.framing.overhead.unwrap();
    assert!((37..=45).contains(&overhead), "{overhead} bytes; the line has 38, and 3 are added");
    for (way, name) in ["up", "down"].into_iter().enumerate() {
        let knee = fixed.knees[way].unwrap().rate.as_bits_per_second() as f64;
        let share = knee / TRUE_RATES[way];
        // The 3 %; a trial above the rate that a noisy machine did not fill would be more.
        assert!((0.97..1.005).contains(&share), "{name}: {share} of the true rate\n{:#?}", told.words);
        assert!(fixed.search[way].as_secs_f64() < 60.0, "{name}: {}", fixed.search[way]);
    }
    let after = fixed.after.as_ref().unwrap();
    for (kind, bound_ms) in [(PhaseKind::Up, 8.0), (PhaseKind::Down, 8.0), (PhaseKind::Both, 14.0)] {
        assert!(rise_ms(after, kind) < bound_ms, "{kind:?}: {} ms", rise_ms(after, kind));
    }
    assert!(rise_ms(&fixed.before, PhaseKind::Up) > 100.0 && rise_ms(&fixed.before, PhaseKind::Down) > 60.0);
    assert!(modem.shown().contains("ifb-line0"), "{}", modem.shown());
    // What is shaped already is not shaped again, and that is said before anything is measured.
    let (again, heard) = modem.fix(&modem.config(Rung::FlowHash), never);
    let words = again.unwrap_err().to_string();
    assert!(words.contains("it is shaped already") && heard.words.is_empty(), "{words} {:?}", heard.words);
    assert_eq!(modem.undo(), Undone::Back(Restored::Same));
    assert_eq!(modem.shown(), before);
}

#[test]
fn a_line_without_a_queue_is_left_alone() {
    let modem = Modem::with("fine", "fifo limit 10000b");
    let before = modem.shown();
    let (fixed, told) = modem.fix(&modem.config(Rung::FlowHash), never);
    // Ten kilobytes are 8 ms at 10 Mbit/s: what two packets and a shaper take.
    assert_eq!(fixed.unwrap().outcome, Outcome::NotNeeded, "{:#?}", told.words);
    assert_eq!(modem.shown(), before);
}

#[test]
fn an_interface_that_is_not_there_is_named_before_anything_is_measured() {
    let modem = Modem::new("nowhere");
    let mut config = modem.config(Rung::FlowHash);
    config.place.device = "line7".to_owned();
    let (result, told) = modem.fix(&config, never);
    let words = result.unwrap_err().to_string();
    assert!(words.contains("line7") && words.contains("line0"), "{words}");
    assert!(told.words.is_empty(), "{:?}", told.words);
}

#[test]
fn rates_above_the_true_ones_are_refused_as_not_proven() {
    let modem = Modem::new("above");
    let before = modem.shown();
    let mut config = modem.config(Rung::Tbf);
    config.rates = [Some(mbit(12)), Some(mbit(50))];
    let (fixed, told) = modem.fix(&config, never);
    let fixed = fixed.unwrap();
    assert_eq!(fixed.outcome, Outcome::NotProven, "{:#?}", told.words);
    let proof = fixed.proof.unwrap();
    let failed: Vec<_> = proof.failures().map(|check| check.what.as_str()).collect();
    assert!(failed.contains(&"up: delay under load, above idle"), "{failed:?}");
    assert!(failed.contains(&"down: delay under load, above idle"), "{failed:?}");
    assert_eq!(modem.shown(), before);
    assert!(modem.place().read().unwrap().is_none());
}

#[test]
fn what_goes_by_the_shaper_is_found_named_and_refused() {
    let modem = Modem::new("by");
    // Somebody's filter takes all that arrives before ours is asked.
    modem.tc("qdisc add dev line0 clsact");
    modem.tc("filter add dev line0 ingress prio 5 u32 match u32 0 0 flowid 1:1");
    let before = modem.shown();
    let mut config = modem.config(Rung::FlowHash);
    config.rates = [None, Some(mbit(37))];
    config.directions = [false, true];
    let (fixed, told) = modem.fix(&config, never);
    let fixed = fixed.unwrap_or_else(|e| panic!("{e}\n{:#?}", told.words));
    assert_eq!(fixed.outcome, Outcome::NotProven, "{:#?}", told.words);
    let proof = fixed.proof.unwrap();
    let named = proof.failures().find(|check| check.what == "down: all packets go through the shaper");
    let seen = &named.unwrap_or_else(|| panic!("{:#?}", proof.checks)).seen;
    assert!(seen.contains("arrived by line0, but") && seen.contains("the rest goes by it"), "{seen}");
    assert_eq!(modem.shown(), before);
}

#[test]
fn a_dry_run_ends_with_the_plan_and_its_trials_are_not_made_again() {
    let modem = Modem::new("dry");
    let before = modem.shown();
    let mut config = modem.config(Rung::FlowHash);
    config.directions = [true, false];
    config.dry_run = true;
    let (planned, told) = modem.fix(&config, never);
    let planned = planned.unwrap_or_else(|e| panic!("{e}\n{:#?}", told.words));
    assert_eq!(planned.outcome, Outcome::Planned, "{:#?}", told.words);
    let plan = planned.plan.unwrap();
    let (shaped, knee) = (plan.up.as_ref().unwrap().shaper.rate, planned.knees[0].unwrap().rate);
    assert!(shaped < knee && plan.down.is_none(), "{shaped} of {knee}");
    assert_eq!(modem.shown(), before);
    assert!(modem.place().read().unwrap().is_none());
    config.dry_run = false;
    let (fixed, heard) = modem.fix(&config, never);
    let fixed = fixed.unwrap_or_else(|e| panic!("{e}\n{:#?}", heard.words));
    let taken_over = format!("Search(Up, {})", planned.trials[0].len());
    assert!(heard.words.contains(&taken_over), "{taken_over}: {:#?}", heard.words);
    assert_eq!((fixed.outcome, fixed.knees[0]), (Outcome::Proven, planned.knees[0]), "{:#?}", heard.words);
    assert_eq!(modem.undo(), Undone::Back(Restored::Same));
}

#[test]
fn a_search_that_was_stopped_leaves_nothing_and_goes_on_where_it_was() {
    let modem = Modem::new("stopped");
    let before = modem.shown();
    let mut config = modem.config(Rung::Tbf);
    config.directions = [true, false];
    // In the middle of the second trial, which is none then.
    let begun = AtomicUsize::new(0);
    let in_second = |word: &str| word.starts_with("Trying") && begun.fetch_add(1, Ordering::Relaxed) == 1;
    let (result, until) = modem.fix(&config, in_second);
    assert!(matches!(result, Err(FixError::Stopped)), "{:#?}", until.words);
    assert_eq!(modem.shown(), before);
    let (fixed, told) = modem.fix(&config, never);
    assert!(told.words.contains(&"Search(Up, 1)".to_owned()), "{:#?}", told.words);
    let fixed = fixed.unwrap();
    assert_eq!(fixed.outcome, Outcome::Proven, "{:#?}", told.words);
    assert!(rise_ms(fixed.after.as_ref().unwrap(), PhaseKind::Up) <= 23.0);
    assert_eq!(modem.undo(), Undone::Back(Restored::Same));
}
