//! What is shown for two runs, as files that a person can read. `UPDATE_GOLDEN=1` rewrites them.
use crate::line::{BLOATED, Line, MANAGED};
use crate::samples::runs;
use crate::upload::upload;
use fathom_diagnose::diagnose;
use fathom_prose::{actions, reasons};
use fathom_report::{Detail, Origin, Style, compare, csv, flent, html, summary, svg};
use fathom_run::{
    DelayPercentiles, Fact, Metric, Observation, PhaseEnd, PhaseKind, Run, Series, SeriesKey, Value,
};
use fathom_units::{Direction, Time};
use std::path::PathBuf;

pub(crate) const UNICODE: Style = Style { color: false, unicode: true, detail: Detail::Normal };
const VERBOSE: Style = Style { detail: Detail::Verbose, ..UNICODE };
pub(crate) const ASCII: Style = Style { color: false, unicode: false, detail: Detail::Normal };

#[track_caller]
pub(crate) fn golden(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../golden/report").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, got).expect("golden/report can be written");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == want, "{name} differs; UPDATE_GOLDEN=1 rewrites it. Now it is:\n{got}");
}

/// Rows of a terminal without the name of the saved file and the prompt.
const ROWS: usize = 22;

/// Each run as a screen of 80 columns: it fits with the name of the saved file and the prompt.
#[test]
fn screens() {
    let origin = Origin { command: Some("fathom test far"), file: Some("result.json.gz") };
    let shown = |run: &Run, columns, style| summary(run, &diagnose(run), origin, columns, style);
    let (mut wide, mut narrow) = (String::new(), String::new());
    for (name, mut run) in runs() {
        run.command = "test".into();
        let screen = shown(&run, 80, UNICODE);
        assert_fits(&screen, 80);
        assert!(screen.lines().count() <= ROWS, "{name}:\n{screen}");
        wide += &format!("## {name}\n{screen}\n");
        let small = shown(&run, 40, ASCII);
        assert!(small.is_ascii(), "{small}");
        assert_fits(&small, 40);
        narrow += &format!("## {name}\n{small}\n");
        let quiet = shown(&run, 80, Style { detail: Detail::Quiet, ..UNICODE });
        assert!(quiet.lines().count() <= 3 && screen.starts_with(&quiet), "{quiet}");
    }
    golden("screens.txt", &wide);
    golden("screens-narrow.txt", &narrow);
}

/// Both directions are bloated, latency is still growing, and the names are as long as real ones.
#[test]
fn the_longest_common_screen() {
    let command = "fathom test speedtest.provider.example.net";
    let file = "fathom-test-2026-11-24T152328Z.json.gz";
    let origin = Origin { command: Some(command), file: Some(file) };
    const DEEP: Line = Line { full_down_s: 0.9, ..BLOATED };
    let lossy = Line { loss_ratio: 0.02, cpu_busy_ratio: 0.97, ..DEEP };
    for (line, end) in [
        (DEEP, PhaseEnd::Settled),
        (Line { fill_rate: 0.08, ..DEEP }, PhaseEnd::TimeLimit),
        (Line { fill_rate: 0.08, one_way: false, ..DEEP }, PhaseEnd::ByteLimit),
        (lossy, PhaseEnd::Settled),
    ] {
        let mut run = line.run();
        run.command = "test".into();
        run.phases.iter_mut().for_each(|phase| phase.end = end);
        let diagnosis = diagnose(&run);
        let screen = summary(&run, &diagnosis, origin, 80, UNICODE);
        assert_fits(&screen, 80);
        assert!(screen.lines().count() <= ROWS, "{screen}");
        let words: Vec<&str> = screen.split_whitespace().filter(|word| *word != "\\").collect();
        let words = words.join(" ");
        assert!(words.contains("Lag when busy +") && words.contains("RPM"), "{screen}");
        assert!(words.contains(&format!("1. {}", reasons(&run, &diagnosis)[0].text)), "{screen}");
        for action in actions(&run, &diagnosis, origin) {
            let run_it = action.command.unwrap_or_default();
            assert!(words.contains(&action.text) && words.contains(&run_it), "{run_it}:\n{screen}");
        }
    }
}

#[track_caller]
pub(crate) fn assert_fits(screen: &str, columns: usize) {
    for line in screen.lines() {
        assert!(line.chars().count() <= columns, "{columns} columns: {line}");
    }
}

#[test]
fn details() {
    for (name, run) in [("bloated", BLOATED.run()), ("capture", captured())] {
        let text = summary(&run, &diagnose(&run), Origin::default(), 100, VERBOSE);
        golden(&format!("verbose-{name}.txt"), &text);
        let ascii = Style { unicode: false, ..VERBOSE };
        assert!(summary(&run, &diagnose(&run), Origin::default(), 100, ascii).is_ascii());
    }
}

/// A host with a name that is written from right to left, and one with a decimal comma in it.
#[test]
fn names_do_not_reorder_the_screen() {
    let mut capture = upload();
    capture.queues[0].to = "\u{5de}\u{5d7}\u{5e9}\u{5d1}".into();
    let run = Run { capture: Some(Box::new(capture)), ..captured() };
    let diagnosis = diagnose(&run);
    let screen = summary(&run, &diagnosis, Origin::default(), 80, UNICODE);
    let isolated = "\u{2068}\u{5de}\u{5d7}\u{5e9}\u{5d1}\u{2069}";
    assert!(screen.contains(isolated), "{screen}");
    assert_eq!(screen.matches('\u{5de}').count(), screen.matches(isolated).count(), "each of them");
    assert!(html(&[(&run, &diagnosis)]).contains(isolated));
    assert!(summary(&run, &diagnosis, Origin::default(), 80, ASCII).contains("????"));
}

/// Text and page have the classes of RRUL, and what arrived with which ECN codepoint.
#[test]
fn classes_and_codepoints_are_shown() {
    let mut run = BLOATED.run();
    let both = run.phase(PhaseKind::Both).expect("a phase").clone();
    let mut push = |key: SeriesKey, value: f64| {
        let mut series = Series::new(key);
        series.push(Observation {
            at: Time::from_nanos(both.start_ns.midpoint(both.end_ns)),
            value: Value::Observed(value),
        });
        run.series.push(series);
    };
    let of = |scope: &str| Some(scope.to_owned());
    let goodput = SeriesKey::directed(Metric::Goodput, Direction::Up);
    push(SeriesKey { flow: Some(1), scope: of("EF"), ..goodput }, 2.34e6);
    push(SeriesKey { scope: of("ce"), ..SeriesKey::directed(Metric::EcnProbes, Direction::Up) }, 27.0);
    run.facts.insert(Fact::Ecn, "ect0".into());
    let diagnosis = diagnose(&run);
    let page = html(&[(&run, &diagnosis)]);
    assert!(
        page.contains("<h2>Classes</h2>") && page.contains("<td>EF</td><td>-</td><td>2.34</td>"),
        "{page}"
    );
    let ecn = "ECN, sent as ect0, arrived: probes up 27 ce";
    assert!(page.contains(ecn), "{page}");
    let text = summary(&run, &diagnosis, Origin::default(), 100, VERBOSE);
    assert!(text.contains(ecn), "{text}");
}

/// Latency as a sawtooth, and the goodput.
fn captured() -> Run {
    let at = |i: u64| Time::from_nanos(i * 100_000_000);
    let series = |key, value: fn(u64) -> f64| {
        let mut series = Series::new(key);
        (0..1_200).for_each(|i| series.push(Observation { at: at(i), value: Value::Observed(value(i)) }));
        series
    };
    let rtt = series(SeriesKey::of(Metric::QueueDelay), |i| 0.7 + 0.3 * (i % 113) as f64 / 113.0);
    let goodput = series(SeriesKey::directed(Metric::Goodput, Direction::Up), |_| 9.5e6);
    let capture = Some(Box::new(upload()));
    Run { title: "snd.pcap".into(), capture, phases: Vec::new(), series: vec![rtt, goodput], ..MANAGED.run() }
}

/// The same with two flows over time.
fn captured_flows() -> Run {
    let mut run = captured();
    for (flow, scale) in [(2, 1.0), (1, 0.5)] {
        for (metric, value) in [(Metric::PassiveRtt, 0.8), (Metric::Outstanding, 1e6), (Metric::Goodput, 9e6)]
        {
            let mut series = Series::new(SeriesKey { flow: Some(flow), ..SeriesKey::of(metric) });
            for i in 0..100 {
                let at = Time::from_nanos(i * 1_000_000_000);
                series.push(Observation { at, value: Value::Observed(value * scale) });
            }
            run.series.push(series);
        }
    }
    run
}

#[test]
fn a_capture_shows_its_flows_over_time_by_their_numbers() {
    let run = captured_flows();
    let diagnosis = diagnose(&run);
    let picture = svg(&[(&run, &diagnosis)]);
    for chart in ["Delay of the queue, ms", "Round trips, ms", "Outstanding data, kB", "Goodput, Mbit/s"] {
        assert_eq!(picture.matches(&format!(">{chart}<")).count(), 1, "{chart}");
    }
    assert_eq!(picture.matches("flow 2").count(), 3, "one in each legend");
    let page = html(&[(&run, &diagnosis)]);
    assert!(page.contains("10.7.0.1:40000 →\u{a0}10.7.0.2:5201") && page.contains("<h2>The capture</h2>"));
    assert!(!page.contains("lateness of the probe timer") && !page.contains("Grade:"), "it is no test");
    let text = summary(&run, &diagnosis, Origin::default(), 100, VERBOSE);
    assert!(text.contains("goodput, Mbit/s: flow 2 (a), flow 1 (b)"), "{text}");
    // A test's own flows are not in these charts.
    assert_eq!(svg(&[(&BLOATED.run(), &diagnose(&BLOATED.run()))]).matches("flow ").count(), 0);
}

#[test]
fn captures_are_compared_by_their_longest_queue_and_their_largest_flow() {
    let (before, mut after) = (captured_flows(), captured_flows());
    if let Some(queue) = after.capture.as_mut().and_then(|capture| capture.queues.first_mut()) {
        let DelayPercentiles { p5_s, median_s, p90_s, p95_s, max_s } = queue.delay;
        queue.delay = DelayPercentiles {
            p5_s: p5_s / 20.0,
            median_s: median_s / 20.0,
            p90_s: p90_s / 20.0,
            p95_s: p95_s / 20.0,
            max_s: max_s / 20.0,
        };
        queue.lost_packets = 0;
    }
    let (a, b) = (diagnose(&before), diagnose(&after));
    golden("compare-captures.txt", &compare(&[("before", &before, &a), ("after", &after, &b)], 80, UNICODE));
}

#[test]
fn comparison() {
    let (before, after) = (BLOATED.run(), MANAGED.run());
    let (a, b) = (diagnose(&before), diagnose(&after));
    let named = [("before", &before, &a), ("after", &after, &b)];
    golden("compare.txt", &compare(&named, 80, UNICODE));
    golden("compare-verbose.txt", &compare(&named, 80, VERBOSE));
}

#[test]
fn colors_change_only_colors() {
    let run = BLOATED.run();
    let diagnosis = diagnose(&run);
    let colored = summary(&run, &diagnosis, Origin::default(), 80, Style { color: true, ..UNICODE });
    let mut plain = String::new();
    let mut parts = colored.split("\x1b[");
    plain += parts.next().unwrap();
    parts.for_each(|p| plain += p.split_once('m').unwrap().1);
    let trimmed: Vec<&str> = plain.lines().map(str::trim_end).collect();
    assert_eq!(trimmed.join("\n") + "\n", summary(&run, &diagnosis, Origin::default(), 80, UNICODE));
}

#[test]
fn csv_has_one_row_for_each_observation() {
    let run = BLOATED.run();
    let text = csv(&run);
    let observations: usize = run.series.iter().map(|s| s.values.len()).sum();
    assert_eq!(text.lines().count(), observations + 1);
    let fields: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(fields.len(), text.lines().next().unwrap().split(',').count());
    assert!(text.lines().all(|l| l.split(',').count() == fields.len()));
    let probe = text.lines().find(|l| l.starts_with("udp_rtt_s,")).unwrap();
    assert!(probe.starts_with("udp_rtt_s,,,,idle,0.000000000,0.051") && probe.ends_with(",s,0"), "{probe}");
}

#[test]
fn flent_knows_the_series() {
    let json: serde_json::Value = serde_json::from_str(&flent(&BLOATED.run())).unwrap();
    assert_eq!((&json["version"], &json["metadata"]["NAME"]), (&4.into(), &"rrul_be".into()));
    let length = json["x_values"].as_array().unwrap().len();
    assert_eq!(length, 195, "39 s at 0.2 s");
    for series in ["TCP upload BE4", "TCP download sum", "TCP totals", "Ping (ms) UDP BE1", "Ping (ms) avg"] {
        assert_eq!(json["results"][series].as_array().unwrap().len(), length, "{series}");
        assert!(!json["raw_values"][series].as_array().unwrap().is_empty(), "{series}");
    }
    // At 1 s nothing was loaded, at 10 s only the download.
    let upload = &json["results"]["TCP upload sum"];
    assert!(upload[5].is_null() && upload[50] == 0.0, "{} {}", upload[5], upload[50]);
}

/// Set `FATHOM_REPORT_DIR` to look at the page and the pictures.
#[test]
fn pages_are_self_contained() {
    let (before, after) = (BLOATED.run(), MANAGED.run());
    let (a, b) = (diagnose(&before), diagnose(&after));
    let pages = [
        ("single.html", html(&[(&before, &a)])),
        ("managed.html", html(&[(&after, &b)])),
        ("compare.html", html(&[(&before, &a), (&after, &b)])),
        ("picture.svg", svg(&[(&before, &a)])),
    ];
    for (name, text) in &pages {
        for outside in ["http://", "https://", "src=", "@import", "url(", "href"] {
            let found = text.replace("http://www.w3.org/2000/svg", "").contains(outside);
            assert!(!found, "{name} has {outside}");
        }
        let limit = if *name == "compare.html" { 700_000 } else { 350_000 };
        assert!(text.len() < limit, "{name} has {} bytes", text.len());
        if let Some(dir) = std::env::var_os("FATHOM_REPORT_DIR") {
            std::fs::write(PathBuf::from(&dir).join(name), text).unwrap();
            std::fs::write(PathBuf::from(&dir).join("before.flent"), flent(&before)).unwrap();
            std::fs::write(PathBuf::from(&dir).join("before.json"), serde_json::to_string(&before).unwrap())
                .unwrap();
        }
    }
}

#[test]
fn the_truth_of_the_lab_is_drawn() {
    let mut run: Run = BLOATED.run();
    let mut sojourn = run.series.iter().find(|s| s.key.metric == Metric::OneWayDelay).unwrap().clone();
    sojourn.key.metric = Metric::Sojourn;
    run.series.push(sojourn);
    assert!(html(&[(&run, &diagnose(&run))]).contains("true queue up"));
}
