//! Simulated months with known ground truth, and months of plain noise.
use fathom_diagnose::{CHANCE, Months, PastLoad, PastSeries, Zone, diagnose_months};
use fathom_run::{Certainty, Conclusion, DayGroup, Finding, FindingKind, LinkUse, RecurringHours};
use fathom_units::{Direction, Duration, Rng, WallTime};
use fathom_watch_samples::{Chunk, Code, Column, Columns, Outcome, Stored};

/// 2026-01-05T00:00:00Z, a Monday.
const START_S: u64 = 1_767_571_200;
const DAY_S: u64 = 86_400;
const STEP_S: u64 = 20;

/// Delay of a line at a local time in seconds, or lost.
type Truth<'t> = &'t dyn Fn(u64, &mut Rng) -> Option<f64>;

fn wall(s: u64) -> WallTime {
    WallTime(s * 1_000_000_000)
}

/// Columns of a given width with the results of `code`.
fn columns(days: u64, width_s: u64, step_s: u64, mut code: impl FnMut(u64) -> Code) -> Vec<Column> {
    let end_s = START_S + days * DAY_S;
    let count = (days * DAY_S / width_s) as usize;
    let mut all = Columns::new(wall(START_S), wall(end_s), count, width_s * 1_000);
    let samples =
        (START_S..end_s).step_by(step_s as usize).map(|s| Stored { at_ms: s * 1_000, code: code(s) });
    let chunk = Chunk { samples: samples.collect(), marks: Vec::new() };
    all.add_chunk(&chunk, &(0..u64::MAX));
    all.finish()
}

fn series(days: u64, seed: u64, truth: Truth) -> PastSeries {
    let code = |rng: &mut Rng, s: u64| {
        let outcome = truth(s, rng).map_or(Outcome::Lost, |v| Outcome::Answered(Duration::from_secs_f64(v)));
        Code::of(outcome)
    };
    let make = |width_s| {
        let mut rng = Rng::new(seed);
        columns(days, width_s, STEP_S, |s| code(&mut rng, s))
    };
    PastSeries {
        series: 7,
        target: "home".into(),
        probe: "icmp".into(),
        hours: make(3_600),
        slots: make(600),
    }
}

fn load(days: u64, direction: Direction, rate: &dyn Fn(u64) -> f64) -> PastLoad {
    PastLoad { direction, slots: columns(days, 600, 60, |s| Code::level(rate(s))) }
}

fn found(days: u64, seed: u64, truth: Truth) -> Vec<Finding> {
    let series = Vec::from([series(days, seed, truth)]);
    diagnose_months(&Months { series, zone: Zone::fixed(0), ..Months::default() })
}

/// 15 ms with an exponential tail; one probe in 500 is lost.
fn quiet(rng: &mut Rng) -> Option<f64> {
    (!rng.chance(0.002)).then(|| 0.015 + rng.exponential(1_000) as f64 * 1e-6)
}

const fn hour(s: u64) -> u64 {
    s / 3_600 % 24
}

/// 0 for Monday.
const fn weekday(s: u64) -> u64 {
    (s - START_S) / DAY_S % 7
}

fn one(findings: &[Finding]) -> &Finding {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    &findings[0]
}

/// The hours of a finding, if it has any.
fn hours_of(finding: &Finding) -> Option<&RecurringHours> {
    match &finding.conclusion {
        Conclusion::RecurringDelay(delay) => Some(&delay.hours),
        Conclusion::RecurringLoss(loss) => Some(&loss.hours),
        _ => None,
    }
}

/// A finding in one line: what, when, and how much to one digit.
fn short(finding: &Finding) -> String {
    let when = hours_of(finding).map(|h| format!("{:?} {} to {}", h.days, h.from_hour, h.to_hour));
    let when = when.unwrap_or_default();
    match &finding.conclusion {
        Conclusion::RecurringDelay(delay) => format!("delay {} {:.2}", when, delay.excess_s),
        Conclusion::RecurringLoss(loss) => format!("loss {} {:.2}", when, loss.loss_ratio),
        Conclusion::BaseChange(change) => {
            let start_day = START_S / DAY_S;
            format!("base {} {:.3} {}", change.since_day - start_day, change.change_s, change.path_changed)
        }
        Conclusion::OwnLoad(load) => {
            format!("own {:?} {:.1} {:.0}", finding.direction, load.delay_s, load.slow_per_day)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn simulated_patterns_are_found() {
    let evening =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if (19..23).contains(&hour(s)) { 0.08 } else { 0.0 });
    let working = |s: u64, rng: &mut Rng| {
        let slow = (8..17).contains(&hour(s)) && weekday(s) < 5;
        quiet(rng).map(|v| v + if slow { 0.03 } else { 0.0 })
    };
    let mondays = |s: u64, rng: &mut Rng| {
        let lossy = hour(s) == 9 && weekday(s) == 0 && rng.chance(0.05);
        quiet(rng).filter(|_| !lossy)
    };
    let longer =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if s >= START_S + 31 * DAY_S { 0.012 } else { 0.0 });
    let shorter =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if s < START_S + 40 * DAY_S { 0.009 } else { 0.0 });
    // On two evenings in three, not on all.
    let often = |s: u64, rng: &mut Rng| {
        let slow = (20..22).contains(&hour(s)) && !((s - START_S) / DAY_S).is_multiple_of(3);
        quiet(rng).map(|v| v + if slow { 0.05 } else { 0.0 })
    };
    let table: [(&str, u64, Truth, &str); 6] = [
        ("evening", 30, &evening, "delay All 19 to 23 0.08"),
        ("working days", 60, &working, "delay Working 8 to 17 0.03"),
        ("mondays", 84, &mondays, "loss Weekday(0) 9 to 10 0.0"),
        ("longer", 62, &longer, "base 31 0.012 false"),
        ("shorter", 80, &shorter, "base 40 -0.009 false"),
        ("often", 40, &often, "delay All 20 to 22 0.05"),
    ];
    for (name, days, truth, wanted) in table {
        for seed in 0..4 {
            let findings = found(days, seed, truth);
            assert!(short(one(&findings)).starts_with(wanted), "{name}, seed {seed}: {findings:#?}");
            let finding = &findings[0];
            let spans = &finding.spans;
            assert!(!spans.is_empty() && spans.iter().all(|s| s.start_ns < s.end_ns), "{findings:#?}");
        }
    }
}

/// The same line with the same seeds with too few days; and effects too small to matter.
#[test]
fn insufficient_data_gives_no_finding() {
    let evening =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if (19..23).contains(&hour(s)) { 0.08 } else { 0.0 });
    let small =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if (19..23).contains(&hour(s)) { 0.002 } else { 0.0 });
    let small_change =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if s >= START_S + 31 * DAY_S { 0.0005 } else { 0.0 });
    let one_bad_day =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if (s - START_S) / DAY_S == 20 { 0.2 } else { 0.0 });
    let one_outage =
        |s: u64, rng: &mut Rng| quiet(rng).filter(|_| !(20 * DAY_S..21 * DAY_S).contains(&(s - START_S)));
    let table: [(&str, u64, Truth); 5] = [
        ("nine days", 9, &evening),
        ("too small", 60, &small),
        ("too small a change", 60, &small_change),
        ("one bad day", 60, &one_bad_day),
        ("one outage", 60, &one_outage),
    ];
    for (name, days, truth) in table {
        for seed in 0..3 {
            let findings = found(days, seed, truth);
            assert!(findings.is_empty(), "{name}, seed {seed}: {findings:#?}");
        }
    }
}

fn own_link(finding: &Finding) -> Option<LinkUse> {
    match &finding.conclusion {
        Conclusion::RecurringDelay(delay) => Some(delay.own_link),
        _ => None,
    }
}

/// The household's own traffic, and a queue on the provider's side while it is idle.
#[test]
fn own_queues_are_distinguished_from_the_providers() {
    let uploads = |s: u64| s % 6_000 < 1_200;
    let rate = |s: u64| if uploads(s) { 19e6 } else { 2e5 };
    let bloated = |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if uploads(s) { 1.1 } else { 0.0 });
    let findings = |truth: Truth, up: &dyn Fn(u64) -> f64| {
        diagnose_months(&Months {
            series: Vec::from([series(20, 1, truth)]),
            load: Vec::from([load(20, Direction::Up, up), load(20, Direction::Down, &|_| 1e5)]),
            zone: Zone::fixed(0),
            ..Months::default()
        })
    };
    let own = findings(&bloated, &rate);
    assert_eq!(short(one(&own)), "own Some(Up) 1.1 14", "{own:#?}");
    assert_eq!((own[0].kind(), own[0].certainty), (FindingKind::OwnLoad, Certainty::Certain));
    // A full link without a queue.
    assert!(findings(&|_, rng| quiet(rng), &rate).is_empty());
    let evening =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if (19..23).contains(&hour(s)) { 0.08 } else { 0.0 });
    let provider = findings(&evening, &rate);
    assert_eq!(own_link(one(&provider)), Some(LinkUse::Idle), "{provider:#?}");
    assert_eq!(provider[0].certainty, Certainty::Certain);
    let busy = |s: u64| if (19..23).contains(&hour(s)) { 18e6 } else { 1e5 };
    let both = findings(&evening, &busy);
    assert!(both.iter().any(|f| own_link(f) == Some(LinkUse::Busy)), "{both:#?}");
    assert!(both.iter().all(|f| own_link(f) != Some(LinkUse::Idle)), "{both:#?}");
}

/// In local time: 20 h stays 20 h when daylight saving time starts, although the UTC hour changes.
#[test]
fn hours_are_in_local_time() {
    // 2026-03-29T01:00Z, the start of Central European Summer Time.
    let summer_s = 1_774_746_000;
    let local = |s: u64| if s < summer_s { s + 3_600 } else { s + 7_200 };
    let truth = |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if hour(local(s)) == 20 { 0.05 } else { 0.0 });
    let past = || Vec::from([series(120, 5, &truth)]);
    let zone = Zone(Vec::from([(WallTime(0), 3_600), (wall(summer_s), 7_200)]));
    let findings = diagnose_months(&Months { series: past(), zone, ..Months::default() });
    let is_it = |f: &Finding| {
        hours_of(f).is_some_and(|h| (h.days, h.from_hour, h.to_hour) == (DayGroup::All, 20, 21))
    };
    assert!(is_it(one(&findings)), "{findings:#?}");
    let in_utc = diagnose_months(&Months { series: past(), zone: Zone::fixed(0), ..Months::default() });
    assert!(!in_utc.iter().any(is_it), "{in_utc:#?}");
}

#[test]
fn a_path_change_is_reported() {
    let longer =
        |s: u64, rng: &mut Rng| quiet(rng).map(|v| v + if s >= START_S + 31 * DAY_S { 0.012 } else { 0.0 });
    let of = |at_s: u64| {
        diagnose_months(&Months {
            series: Vec::from([series(62, 1, &longer)]),
            path_changes: Vec::from([(7, wall(at_s))]),
            zone: Zone::fixed(0),
            ..Months::default()
        })
    };
    let (near, far) = (of(START_S + 31 * DAY_S + 50), of(START_S + 20 * DAY_S));
    assert_eq!((short(one(&near)), near[0].certainty), ("base 31 0.012 true".into(), Certainty::Certain));
    assert_eq!((short(one(&far)), far[0].certainty), ("base 31 0.012 false".into(), Certainty::Likely));
}

/// Plain noise of several shapes: at most one history in a thousand may have a finding of each
/// kind. With 4 kinds and 200 histories at most 0.8 are expected; more than 5 have a probability
/// below 0.001.
#[test]
fn nothing_is_found_in_noise() {
    let mut seeds = Vec::new();
    for seed in 0..200 {
        let mut shape = Rng::new(seed);
        let (mean_us, lost) = (100 + shape.below(30_000), shape.next_f64() * 0.03);
        // Hours that are slow for no reason: one in ten or none; they last for some hours.
        let slow = if shape.chance(0.5) { 0.1 } else { 0.0 };
        let noise = |s: u64, rng: &mut Rng| {
            let spell = Rng::new(seed ^ (s / 10_800)).chance(slow);
            let delay = 0.01 + rng.exponential(mean_us) as f64 * 1e-6 + if spell { 0.06 } else { 0.0 };
            (!rng.chance(lost)).then_some(delay)
        };
        let spells = |s: u64| if Rng::new(seed ^ 77 ^ (s / 1_800)).chance(0.1) { 9e7 } else { 1e6 };
        let mut past = series(28, seed, &noise);
        past.slots.truncate(10 * 144);
        let findings = diagnose_months(&Months {
            series: Vec::from([past]),
            load: Vec::from([load(10, Direction::Up, &spells)]),
            zone: Zone::fixed(0),
            ..Months::default()
        });
        if !findings.is_empty() {
            seeds.push((seed, findings));
        }
    }
    assert!(CHANCE <= 1e-3 && seeds.len() <= 5, "{} of 200: {seeds:#?}", seeds.len());
}
