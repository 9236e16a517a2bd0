//! `golden/audit/*.txt`: every finding of the hosts in `testdata/audit`, with milliseconds
//! calculated by hand. No test rewrites these files.
use crate::fixture::{HOSTS, audited};
use fathom_audit::{AuditedQueue, Severity};
use fathom_run::Remedy;

fn table(name: &str) -> String {
    let path = format!("{}/../../../golden/audit/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn severity(queue: &AuditedQueue) -> &'static str {
    match queue.severity {
        Severity::Bad => "bad",
        Severity::Dark => "dark",
        Severity::Unknown => "unknown",
        Severity::None => "quiet",
    }
}

fn millis(queue: &AuditedQueue) -> String {
    let worst = queue.point.worst.as_ref().map(|worst| worst.delay_s);
    worst.or(queue.point.timer_s).map_or("-".into(), |delay_s| format!("{:.3}", delay_s * 1e3))
}

/// Evaluates a calculation from left to right: `1000 * 1514 * 8 / 1000000`.
fn value(calculation: &str) -> f64 {
    let words: Vec<&str> = calculation.split_whitespace().collect();
    let number = |word: &str| word.parse::<f64>().unwrap_or_else(|_| panic!("{word} in {calculation}"));
    words[1..].chunks(2).fold(number(words[0]), |total, pair| match pair {
        ["*", factor] => total * number(factor),
        ["/", divisor] => total / number(divisor),
        _ => panic!("{pair:?} in {calculation}"),
    })
}

/// A row of the result: severity, number, interface, milliseconds.
fn row(queue: &AuditedQueue) -> Vec<String> {
    let interface = queue.point.interface.clone().unwrap_or("host".into());
    vec![severity(queue).into(), queue.point.queue.kind().number().to_string(), interface, millis(queue)]
}

fn rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter(|line| line.contains('|') && !line.starts_with('#'));
    rows.map(|line| line.split('|').map(str::trim).collect()).collect()
}

#[test]
fn queue_points_equal_the_calculation_by_hand() {
    for (name, rates) in HOSTS {
        let text = table(name);
        let own = |row: &Vec<&str>| row[..4].iter().map(|cell| (*cell).to_owned()).collect();
        let want: Vec<Vec<String>> = rows(&text).iter().map(own).collect();
        let got: Vec<Vec<String>> = audited(name, rates).queues.iter().map(row).collect();
        let shown: Vec<String> = got.iter().map(|row| row.join(" | ")).collect();
        assert!(got == want, "{name} came out as\n{}", shown.join("\n"));
    }
}

#[test]
fn calculations_in_the_table_are_correct() {
    let mut worked = 0;
    for (name, _) in HOSTS {
        for row in rows(&table(name)).iter().filter(|row| row[3] != "-") {
            let (want, got) = (row[3].parse::<f64>().expect("milliseconds"), value(row[4]) * 1e3);
            assert!((got - want).abs() <= 0.0006, "{name}: {} = {got} ms, next to it {want}", row[4]);
            worked += 1;
        }
    }
    assert!(worked > 35, "{worked}");
}

/// Ordered by severity, then by the ratio of arrival to departure rate.
#[test]
fn ranked_by_ratio_of_arrival() {
    for (name, rates) in HOSTS {
        let key = |queue: &AuditedQueue| (queue.severity, queue.point.arrival_ratio.unwrap_or(0.0));
        let keys: Vec<(Severity, f64)> = audited(name, rates).queues.iter().map(key).collect();
        assert!(keys.is_sorted_by(|a, b| a.0 > b.0 || (a.0 == b.0 && a.1 >= b.1)), "{name}: {keys:?}");
    }
}

#[test]
fn each_command_has_an_undo() {
    let remedies = HOSTS.iter().flat_map(|(name, rates)| audited(name, rates).queues);
    for remedy in remedies.flat_map(|queue| queue.remedies) {
        let is_undone = !matches!(&remedy, Remedy::Run { undo, .. } if undo.is_empty());
        assert!(is_undone, "{remedy:?}");
    }
}
