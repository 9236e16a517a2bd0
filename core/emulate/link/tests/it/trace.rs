//! The text formats of traces: what is accepted, and which line is rejected.
use crate::rate_trace_bytes;
use fathom_link::{RateTrace, Trace};
use fathom_units::{Duration, Rate};
use std::path::Path;

#[test]
fn both_forms_are_read() {
    let trace: Trace = "# a train\n\n0s 20mbit # well\n12.5s\t0bit\n 30s  loop \n".parse().unwrap();
    let steps = [(Duration::ZERO, 20_000_000), (Duration::from_millis(12_500), 0)];
    let steps = steps.map(|(time, rate)| (time, Rate::from_bits_per_second(rate)));
    let same = RateTrace::new(&steps, Some(Duration::from_secs(30))).unwrap();
    assert_eq!(trace, Trace::Rates(same.into()));
    // 20 Mbit/s for 12.5 of 30 s.
    assert_eq!(trace.nominal_rate().as_bits_per_second(), 8_333_333);
    let nominal = |text: &str| text.parse::<Trace>().unwrap().nominal_rate().as_bits_per_second();
    assert_eq!([nominal("1\n"), nominal("0s 1mbit\n1s 3mbit")], [12_032_000, 3_000_000]);
}

#[test]
fn refusals_give_the_line() {
    let long = format!("0s 1mbit\n{}", "#".repeat(17 << 20));
    let table = [
        ("", "line 1: the trace is empty"),
        ("# only\n\n# words\n", "line 1: the trace is empty"),
        ("1\n2\nx\n", "line 3: invalid time \"x\" (expected whole milliseconds"),
        ("1\n\n# a\n0\n", "line 4: times must not decrease"),
        ("0\n0\n", "line 2: the last time is the period and must be above 0"),
        ("1\n999999999\n", "line 2: invalid time \"999999999\""),
        ("+1\n", "line 1: invalid time \"+1\""),
        ("1\n0s 2mbit\n", "line 2: invalid time \"0s 2mbit\""),
        ("0s 20mbit\n# x\n5s\n", "line 3: the rate after the time is missing"),
        ("0s 20\n", "line 1: rate \"20\" has no unit"),
        ("5 20mbit\n", "line 1: duration \"5\" has no unit"),
        ("1s 20mbit\n", "line 1: the first time must be 0s"),
        ("0s 1mbit\n\n2s 2mbit\n2s 3mbit\n", "line 4: times must increase"),
        ("0s 1mbit\n2s 2mbit\n2s loop\n", "line 3: the time of \"loop\" must be after the last rate"),
        ("0s 1mbit\n2s 2mbit\n1s loop\n", "line 3: the time of \"loop\" must be after the last rate"),
        ("0s 1mbit\n2s loop\n3s 1mbit\n", "line 3: \"3s 1mbit\" comes after \"loop\""),
        ("0s 0bit\n2s 0bit\n3s loop\n", "line 3: every rate is 0"),
        ("0s 1mbit\n2s 0bit\n", "line 2: the last rate is 0"),
        ("3s loop\n", "line 1: the trace has no rate"),
        ("0s 2tbit\n", "line 1: invalid rate \"2tbit\""),
        ("0s 1mbit\n49h 1mbit\n", "line 2: "),
        (long.as_str(), "line 1: the trace has 17825801 bytes"),
    ];
    for (text, message) in table {
        let error = text.parse::<Trace>().expect_err(message).to_string();
        assert!(error.starts_with(message), "{message}: {error}");
    }
}

#[test]
fn committed_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/rate_trace");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 20, "{}", files.len());
    files.iter().for_each(|path| rate_trace_bytes::check(&std::fs::read(path).unwrap()));
}

/// Changes every byte of valid traces and truncates the text there: accepted or rejected, no panic.
#[test]
fn damaged_traces() {
    for text in ["0s 20mbit\n12.5s 0bit\n30s loop\n", "1\n2\n2\n35\n", "0s 0bit\n716s 8mbit\n"] {
        for at in 0..text.len() {
            rate_trace_bytes::check(&text.as_bytes()[..at]);
            for byte in [b'0', b'9', b' ', b'\n', b'#', b'-', 0xff] {
                let mut damaged = text.as_bytes().to_vec();
                damaged[at] = byte;
                rate_trace_bytes::check(&damaged);
            }
        }
    }
}
