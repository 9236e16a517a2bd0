//! Histories of made-up lines with a known truth, and archives of them.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod damage;
mod lines;

use fathom_fleet_files::{Answers, Archive, OwnHistory};
use fathom_fleet_query::{Source, Span, answer};
use fathom_fleet_view::{Fleet, Selector};
use fathom_units::WallTime;
use lines::{DAY_NS, Line, START, archive, lines};

fn days(from: u64, to: u64) -> Span {
    Span { from: WallTime(START.0 + from * DAY_NS), to: WallTime(START.0 + to * DAY_NS) }
}

fn close(a: Option<f64>, b: f64) -> bool {
    // The history keeps values to half the width of a bucket, 1.1 %.
    a.is_some_and(|a| (a - b).abs() <= 0.011 * b)
}

/// The lower of the two middle values, by sorting.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

fn check(fleet: &Fleet, all: &[Line], (from, to): (u64, u64)) {
    for line in all {
        let site = fleet.site(&line.name).unwrap();
        let tests: Vec<_> = line.tests.iter().filter(|test| (from..to).contains(&test.day)).collect();
        let of = |value: fn(&lines::Test) -> f64| median(tests.iter().map(|test| value(test)).collect());
        assert!(close(site.lines.up.lag_s, of(|test| test.lag_up_s)), "{}: {site:?}", line.name);
        assert!(close(site.lines.up.rate_bits_per_second, of(|test| test.rate_up)), "{}", line.name);
        assert!(close(site.lines.up.buffer_bytes, of(|test| test.buffer_up)), "{}", line.name);
        assert!(close(site.idle_s, of(|test| test.idle_s)), "{}", line.name);
        assert_eq!(site.tests, tests.len() as u64, "{}", line.name);
        assert_eq!(site.labels.get("provider"), Some(&line.provider));
    }
}

#[test]
fn an_archive_and_a_history_answer_alike_and_rightly() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(7, 6);
    archive(folder.path(), &all);
    let source = Answers(Archive::open(&folder.path().join("archive")).unwrap());
    for (from, to) in [(0, 3), (1, 2)] {
        let fleet = source.fleet(&Selector::all(), days(from, to)).unwrap();
        assert_eq!(fleet.sites().count(), all.len());
        check(&fleet, &all, (from, to));
    }
    for line in &all {
        let labels = [("provider".to_owned(), line.provider.clone())].into();
        let own = Answers(OwnHistory::new(&line.store(folder.path()), line.name.clone(), labels));
        check(&own.fleet(&Selector::all(), days(0, 3)).unwrap(), std::slice::from_ref(line), (0, 3));
        let tests =
            [own.tests(&line.name, days(0, 3)).unwrap(), source.tests(&line.name, days(0, 3)).unwrap()];
        assert_eq!(tests[0], tests[1], "{}", line.name);
    }
    assert_eq!(source.0.damaged(), Vec::<String>::new());
    // Nothing was tested before.
    let before = Span { from: WallTime(START.0 - DAY_NS), to: START };
    assert_eq!(source.fleet(&Selector::all(), before).unwrap(), Fleet::default());
    let other = Selector::all().with("provider", &all[0].provider);
    let expected = all.iter().filter(|line| line.provider == all[0].provider).count();
    assert_eq!(source.fleet(&other, days(0, 3)).unwrap().sites().count(), expected);
}

#[test]
fn trends_are_those_of_the_days() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(11, 4);
    archive(folder.path(), &all);
    let source = Answers(Archive::open(&folder.path().join("archive")).unwrap());
    let found = answer::trends(&source, &Selector::all(), days(0, 3), Some("provider")).unwrap();
    let [whole] = found.all.as_slice() else { panic!("{found:?}") };
    assert_eq!(whole.points.len(), 3);
    for (day, point) in (0..).zip(&whole.points) {
        let lag = |line: &Line| {
            let tests = line.tests.iter().filter(|test| test.day == day);
            median(tests.map(|test| test.lag_up_s).collect())
        };
        assert!(close(Some(point.lag_p50_s), median(all.iter().map(lag).collect())), "day {day}: {point:?}");
        assert_eq!((point.sites, point.at_s as u64), (4, START.0 / 1_000_000_000 + (day + 1) * 86_400));
    }
    let (label, by) = found.by.unwrap();
    assert_eq!((label.as_str(), by.iter().map(|trend| trend.points[0].sites).sum::<u64>()), ("provider", 4));
}

#[test]
fn lines_of_a_provider_slow_down_together() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(13, 8);
    archive(folder.path(), &all);
    let source = Answers(Archive::open(&folder.path().join("archive")).unwrap());
    let found = answer::slow_together(&source, &Selector::all(), days(2, 3)).unwrap();
    assert_eq!((found.slow(), found.known), (4, 8));
    let [one] = found.times.as_slice() else { panic!("{found:?}") };
    let busy = lines::BUSY_PROVIDER;
    assert_eq!((one.shared.kind.as_str(), one.shared.value.as_str()), ("provider", busy));
    let members: Vec<&str> =
        all.iter().filter(|line| line.provider == busy).map(|line| line.name.as_str()).collect();
    assert_eq!((one.sites.iter().map(String::as_str).collect::<Vec<_>>(), one.unaffected), (members, 0));
    let after = answer::slow_together(&source, &Selector::all(), days(3, 4)).unwrap();
    assert_eq!((after.slow(), after.known), (0, 0), "nothing was probed then, only on the day before");
    // From 20:00 to 22:00, of the windows that end then.
    let hour = |at_s: f64| (at_s as u64 % 86_400) as f64 / 3_600.0;
    assert!((19.9..20.5).contains(&hour(one.span_s.0)) && (21.5..22.3).contains(&hour(one.span_s.1)));
}

#[test]
fn results_are_listed_by_their_site_and_day() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(17, 1);
    archive(folder.path(), &all);
    let top = folder.path().join("archive");
    for (date, name) in [("2026-01-05", "a.json.gz"), ("2026-01-06", "b.json"), ("2026-01-06", "c.csv")] {
        let day = top.join(format!("runs/site={}/date={date}", lines::encoded(&all[0].name)));
        std::fs::create_dir_all(&day).unwrap();
        std::fs::write(day.join(name), b"{}").unwrap();
    }
    let source = Answers(Archive::open(&top).unwrap());
    let names = |span| {
        let files = source.results(&all[0].name, span).unwrap();
        files.into_iter().map(|file| file.name).collect::<Vec<_>>()
    };
    assert_eq!(names(days(0, 3)), ["a.json.gz", "b.json"]);
    assert_eq!(names(days(1, 2)), ["b.json"]);
    assert!(source.results("../..", days(0, 3)).unwrap().is_empty());
    let history = answer::site(&source, &source, &all[0].name, days(0, 3)).unwrap();
    assert!(history.results[0].0 == "a.json.gz" && !history.results[0].1.is_empty(), "why it cannot be read");
    let missing = answer::site(&source, &source, "nobody", days(0, 3)).unwrap_err().to_string();
    assert_eq!(missing, "site nobody: has no test in this period");
    let none = Archive::open(folder.path()).map(drop).unwrap_err().to_string();
    assert!(none.contains("has no folder \"windows\""), "{none}");
}
