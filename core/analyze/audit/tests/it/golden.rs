//! `golden/audit/*.txt`: every finding of the hosts of `testdata/audit`, its milliseconds worked by hand. No test rewrites them.
use crate::fixture::{HOSTS, places};
use crate::sum::value;
use fathom_audit::{Level, Place};

fn table(name: &str) -> String {
    let path = format!("{}/../../../golden/audit/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn level(place: &Place) -> &'static str {
    match place.level {
        Level::Bad => "bad",
        Level::Dark => "dark",
        Level::Unknown => "unknown",
        Level::Quiet => "quiet",
    }
}

fn millis(place: &Place) -> String {
    let worst = place.worst.as_ref().map(|worst| worst.sum.delay());
    worst.or(place.timer).map_or("-".into(), |delay| format!("{:.3}", delay.as_millis_f64()))
}

/// A row as it came out: level, place, object, milliseconds.
fn came_out(place: &Place) -> Vec<String> {
    let object = place.object.clone().unwrap_or("host".into());
    vec![level(place).into(), place.spot.number().to_string(), object, millis(place)]
}

fn rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter(|line| line.contains('|') && !line.starts_with('#'));
    rows.map(|line| line.split('|').map(str::trim).collect()).collect()
}

#[test]
fn each_finding_is_the_one_worked_by_hand() {
    for (name, rates) in HOSTS {
        let text = table(name);
        let own = |row: &Vec<&str>| row[..4].iter().map(|cell| (*cell).to_owned()).collect();
        let want: Vec<Vec<String>> = rows(&text).iter().map(own).collect();
        let got: Vec<Vec<String>> = places(name, rates).iter().map(came_out).collect();
        let shown: Vec<String> = got.iter().map(|row| row.join(" | ")).collect();
        assert!(got == want, "{name} came out as\n{}", shown.join("\n"));
    }
}

/// The sum of the table, from its own numbers, is the result beside it.
#[test]
fn each_sum_is_what_stands_beside_it() {
    let mut worked = 0;
    for (name, _) in HOSTS {
        for row in rows(&table(name)).iter().filter(|row| row[3] != "-") {
            let (want, got) = (row[3].parse::<f64>().expect("milliseconds"), value(row[4]) * 1e3);
            assert!((got - want).abs() <= 0.0006, "{name}: {} = {got} ms, beside it {want}", row[4]);
            worked += 1;
        }
    }
    assert!(worked > 35, "{worked}");
}

/// The sum that is shown to the user gives the same, too.
#[test]
fn the_sum_that_is_shown_is_the_delay() {
    for (name, rates) in HOSTS {
        for worst in places(name, rates).iter().filter_map(|place| place.worst.as_ref()) {
            for sum in std::iter::once(&worst.sum).chain(&worst.super_packets) {
                let (shown, delay) = (value(&sum.text()), sum.delay().as_secs_f64());
                assert!((shown - delay).abs() <= 2e-9, "{name}: {} = {shown}, not {delay}", sum.text());
            }
        }
    }
}

/// Worst level first, and within it the faster packets can come than they go.
#[test]
fn ranked_by_mismatch() {
    for (name, rates) in HOSTS {
        let key = |place: &Place| (place.level, place.mismatch.unwrap_or(0.0));
        let keys: Vec<(Level, f64)> = places(name, rates).iter().map(key).collect();
        assert!(keys.is_sorted_by(|a, b| a.0 > b.0 || (a.0 == b.0 && a.1 >= b.1)), "{name}: {keys:?}");
    }
}

#[test]
fn what_a_command_changes_has_an_undo() {
    let starts = ["tc ", "sysctl ", "ethtool ", "ip ", "uci ", "echo ", "fathom fix "];
    for (name, rates) in HOSTS {
        for place in places(name, rates) {
            let commands =
                place.fix.iter().filter(|fix| starts.iter().any(|start| fix.starts_with(start))).count();
            assert!(commands <= place.undo.len(), "{name}: {place:?}");
        }
    }
}
