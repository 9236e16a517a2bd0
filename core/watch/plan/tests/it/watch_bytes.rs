//! Properties that hold for any bytes given as a configuration: no panic, and a plan that is
//! accepted can be used.
use fathom_probe::dns;
use fathom_units::{Duration, WallTime};
use fathom_watch_alert::{Kind, Pattern, Semantics, Value, Watcher};
use fathom_watch_plan::{Plan, Target, parse};
use fathom_watch_samples::{Outcome, Sample};

pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text, "f") {
        Ok(plan) => {
            assert!(!plan.targets.is_empty() && plan.packets_per_second() > 0.0);
            for target in &plan.targets {
                assert!(!target.series().is_empty());
                assert!(
                    target.pace.gap * u64::from(target.pace.probes) <= target.pace.interval
                        || target.pace.probes == 1
                );
                let query = dns::query(1, &target.options.query, target.options.query_type);
                assert!(query.len() <= 12 + 255 + 4, "{}", target.options.query);
            }
            judge(&plan);
        }
        Err(error) => assert!(error.line >= 1 && error.line <= text.lines().count() + 1, "{error}"),
    }
    pattern(&text);
}

/// Any accepted rules can be evaluated against samples.
fn judge(plan: &Plan) {
    const NS: u64 = 1_000_000_000;
    let mut watcher = Watcher::new(&plan.alerts);
    let series = plan.targets.iter().take(4).flat_map(Target::series_info).take(8);
    (0..).zip(series).for_each(|(number, info)| watcher.open(number, info));
    for second in 0..400 {
        let at = WallTime((1_700_000_000 + second * 7) * NS);
        let outcome =
            if second % 3 == 0 { Outcome::Lost } else { Outcome::Answered(Duration::from_millis(second)) };
        (0..8).for_each(|number| watcher.sample(number, Sample { at, outcome }));
        watcher.tick(at);
    }
    assert!(watcher.active().iter().all(|(_, names)| !names.is_empty()));
}

/// SmokePing matches nothing that its manual does not; except that it treats rounds before the
/// first one as `U`.
fn pattern(text: &str) {
    let values: Vec<Value> = (0..40).map(|n| Value::Number(f64::from(n * 7 % 11) * 10.0)).collect();
    for kind in [Kind::Loss, Kind::Rtt] {
        let of = |semantics| Pattern::parse(text, kind, semantics).ok().map(|p| p.matches(&values));
        let (documented, smokeping) = (of(Semantics::Documented), of(Semantics::Smokeping));
        assert_eq!(documented.is_some(), smokeping.is_some());
        let looks_before = text.contains('U') || text.contains("==*");
        assert!(looks_before || documented != Some(false) || smokeping != Some(true), "{text}");
    }
}
