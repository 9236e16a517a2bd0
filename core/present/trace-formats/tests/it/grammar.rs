//! What the readers of these formats accept.
use crate::flows;
use fathom_trace_formats::{Tstat, tcptrace_csv};

const COLOURS: [&str; 9] = ["white", "green", "red", "blue", "yellow", "purple", "orange", "magenta", "pink"];
const MARKS: [&str; 15] = [
    "dot", "diamond", "plus", "box", "x", "utick", "dtick", "ltick", "rtick", "htick", "vtick", "uarrow",
    "darrow", "larrow", "rarrow",
];
const TEXTS: [&str; 5] = ["atext", "btext", "ctext", "ltext", "rtext"];

fn is_time(word: &str) -> bool {
    word.split_once('.').is_some_and(|(seconds, micros)| {
        seconds.parse::<i64>().is_ok() && micros.len() == 6 && micros.parse::<u32>().is_ok()
    })
}

fn is_point(words: &[&str]) -> bool {
    matches!(words, [at, y] if is_time(at) && y.parse::<f64>().is_ok())
}

/// Holds a file against xplot's grammar.
pub(crate) fn xplot(name: &str, graph: &str) {
    let mut lines = graph.lines();
    let types = lines.next().unwrap_or_default();
    assert!(["timeval double", "timeval signed"].contains(&types), "{name}: {types}");
    for field in ["title", "xlabel", "ylabel"] {
        assert_eq!(lines.next(), Some(field), "{name}");
        assert!(lines.next().is_some_and(|shown| !shown.is_empty()), "{name}");
    }
    let mut ended = false;
    while let Some(line) = lines.next() {
        assert!(!ended, "{name}: {line} after the end");
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["go"] => ended = true,
            [colour] => assert!(COLOURS.contains(colour), "{name}: {line}"),
            ["line", from @ .., _, _] if from.len() == 2 => {
                assert!(is_point(from) && is_point(&words[3..]), "{name}: {line}");
            }
            [text, point @ ..] if TEXTS.contains(text) => {
                assert!(
                    is_point(point) && lines.next().is_some_and(|shown| !shown.is_empty()),
                    "{name}: {line}"
                );
            }
            [mark, point @ ..] => assert!(MARKS.contains(mark) && is_point(point), "{name}: {line}"),
            [] => panic!("{name}: an empty line"),
        }
    }
    assert!(ended, "{name} does not end");
}

/// Holds a log against RFC 7464 and what qvis asks for.
pub(crate) fn qlog(name: &str, text: &str) {
    let mut records = text.split('\u{1e}');
    assert_eq!(records.next(), Some(""), "{name}");
    let json = |record: &str| {
        assert!(record.ends_with('\n'), "{name}: {record}");
        serde_json::from_str::<serde_json::Value>(record)
            .unwrap_or_else(|error| panic!("{name}: {error}: {record}"))
    };
    let header = json(records.next().unwrap_or_default());
    assert_eq!(
        (&header["qlog_version"], &header["qlog_format"]),
        (&"0.3".into(), &"JSON-SEQ".into()),
        "{name}"
    );
    assert!(header["trace"]["vantage_point"].is_object(), "{name}");
    let mut sent = 0;
    for event in records.map(json) {
        let (data, kind) = (&event["data"], event["name"].as_str().unwrap_or_default());
        assert!(event["time"].is_number(), "{name}: {event}");
        let number = || data["header"]["packet_number"].as_u64().unwrap_or_else(|| panic!("{name}: {event}"));
        match kind {
            "transport:packet_sent" => {
                assert_eq!(number(), sent, "{name}");
                sent += 1;
            }
            "transport:packet_received" => {
                // The schema has no frame without ranges, and no empty ranges.
                let ranges = |frame: &serde_json::Value| frame["acked_ranges"].as_array().map(Vec::len);
                let frames = data["frames"].as_array().unwrap_or_else(|| panic!("{name}: {event}"));
                assert!(frames.iter().all(|frame| ranges(frame) > Some(0)), "{name}: {event}");
            }
            "recovery:packet_lost" => assert!(number() < sent, "{name}: {event}"),
            "recovery:metrics_updated" => assert!(data["smoothed_rtt"].is_number(), "{name}: {event}"),
            other => panic!("{name}: {other}"),
        }
    }
}

/// The header of tcptrace 6.6.7, as it writes it with `-n -l -r -W --csv`.
const TCPTRACE: &str = include_str!("tcptrace-header.txt");

#[test]
fn the_columns_are_those_of_tcptrace() {
    let mut csv = String::new();
    tcptrace_csv(&flows::two(), &mut csv).unwrap();
    let cells = |line: &str| line.split(',').count();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some(TCPTRACE.trim_end()));
    assert_eq!(lines.next(), Some(""));
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len(), 2);
    rows.iter().for_each(|row| assert_eq!(cells(row), cells(TCPTRACE.trim_end()), "{row}"));
}

#[test]
fn each_line_of_tstat_has_all_columns() {
    let mut log = String::new();
    Tstat::new().write(&flows::two(), &mut log).unwrap();
    let widths: Vec<usize> = log.lines().map(|line| line.split(' ').count()).collect();
    assert_eq!(widths, [104; 3]);
    let header = log.lines().next().unwrap_or_default();
    for (column, number) in header.split(' ').zip(1..) {
        assert!(column.ends_with(&format!(":{number}")), "{column}");
    }
}
