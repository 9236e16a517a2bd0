//! What users waited for, side by side.
use crate::line::MANAGED;
use fathom_diagnose::diagnose;
use fathom_report::{Detail, Origin, Style, compare, html, summary};
use fathom_run::{Metric, Observation, Run, Series, SeriesKey, Value};
use fathom_units::{Direction, Time};

fn with(keys: &[(Metric, Direction, &str, &[f64])]) -> Run {
    let mut run = MANAGED.run();
    for (metric, direction, scope, values) in keys {
        let key = SeriesKey { scope: Some((*scope).into()), ..SeriesKey::directed(*metric, *direction) };
        let mut series = Series::new(key);
        for value in *values {
            series.push(Observation { at: Time::ZERO, value: Value::Observed(*value) });
        }
        run.series.push(series);
    }
    run
}

#[test]
fn applications_have_a_table() {
    let (down, up) = (Direction::Down, Direction::Up);
    let mut run = with(&[
        (Metric::PageLoad, down, "a<b", &[1.25, 0.75]),
        (Metric::VideoRate, down, "tv", &[4e6]),
        (Metric::VideoStall, down, "tv", &[1.5]),
        (Metric::CallMos, up, "call", &[2.5]),
        (Metric::DeadlineMisses, up, "game", &[0.25]),
    ]);
    let open = run.series.iter_mut().find(|series| series.key.metric == Metric::PageLoad).unwrap();
    open.push(Observation { at: Time::ZERO, value: Value::Censored { at_least: 9.0 } });
    let diagnosis = diagnose(&run);
    let style = Style { color: false, unicode: false, detail: Detail::Verbose };
    let text = summary(&run, &diagnosis, Origin::default(), 80, style);
    let table = text.lines().skip_while(|line| !line.starts_with("application"));
    let rows = table.take_while(|line| !line.starts_with("applications:"));
    let rows: Vec<String> = rows.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        rows,
        [
            "application idle down up both",
            "a<b: page, p50, s 1.25 - - -",
            "a<b: page, p95, s >=9.00 - - -",
            "call: MOS 2.5 - - -",
            "game: too late 25 % - - -",
            "tv: bitrate, Mbit/s 4.00 - - -",
            "tv: stalls 1 - - -",
            "tv: stalled, s 1.5 - - -",
        ],
        "{text}"
    );
    let page = html(&[(&run, &diagnosis)]);
    assert!(page.contains("<h2>Applications</h2>") && page.contains("<td>a&lt;b: page, p50, s</td>"));
    assert!(!html(&[(&MANAGED.run(), &diagnose(&MANAGED.run()))]).contains("<h2>Applications</h2>"));
}

#[test]
fn works_are_compared_by_name() {
    let (down, up) = (Direction::Down, Direction::Up);
    let before = with(&[
        (Metric::PageLoad, down, "web", &[4.0, 2.0, 3.0]),
        // Two calls of one workload count together.
        (Metric::CallMos, up, "a<b", &[1.5]),
        (Metric::CallMos, up, "a<b", &[3.5, 2.5]),
    ]);
    let after = with(&[(Metric::PageLoad, down, "web", &[1.0]), (Metric::Request, down, "rpc", &[0.025])]);
    let (a, b) = (diagnose(&before), diagnose(&after));
    let text = compare(
        &[("a", &before, &a), ("b", &after, &b)],
        80,
        Style { color: false, unicode: false, detail: Detail::Normal },
    );
    let rows: Vec<String> = text
        .lines()
        .skip_while(|line| !line.starts_with("workload "))
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        rows,
        [
            "workload a<b",
            "call quality up, median 2.5 -",
            "call quality up, p5 1.5 -",
            "workload rpc",
            "request, median - 25 ms",
            "request, p95 - 25 ms",
            "workload web",
            "page, median 3.0 s 1.0 s /3.0",
            "page, p95 4.0 s 1.0 s /4.0",
        ],
        "{text}"
    );
    let page = html(&[(&before, &a), (&after, &b)]);
    assert!(page.contains("workload a&lt;b") && page.contains("page, median"));
}
