//! Files that the tools wrote, in `testdata/import`.
use fathom_import::{CRUSADER_HEADER_BYTES, CRUSADER_MAGIC, Format, detect, import};
use fathom_run::{Metric, Note, Phase, PhaseKind, Run, Series, SeriesKey, Unrecorded};
use fathom_units::Direction;
use std::io::Read;
use std::path::PathBuf;

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/import")
}

/// The content of a sample, unpacked.
pub(crate) fn content(name: &str) -> Vec<u8> {
    let bytes = std::fs::read(folder().join(name)).expect("the sample exists");
    if bytes.starts_with(&CRUSADER_MAGIC) {
        let (header, frames) = bytes.split_at(CRUSADER_HEADER_BYTES);
        let mut unpacked = header.to_vec();
        snap::read::FrameDecoder::new(frames).read_to_end(&mut unpacked).expect("the sample is Snappy");
        return unpacked;
    }
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked).expect("the sample is gzip");
    unpacked
}

pub(crate) fn run_of(bytes: &[u8]) -> Run {
    import(detect(bytes).expect("the format is known"), bytes).expect("the file is valid")
}

pub(crate) fn run(name: &str) -> Run {
    run_of(&content(name))
}

pub(crate) fn series(run: &Run, metric: Metric) -> &Series {
    run.series(&SeriesKey::of(metric)).expect("the metric is in the run")
}

pub(crate) fn directed(run: &Run, metric: Metric, direction: Direction) -> &Series {
    run.series(&SeriesKey::directed(metric, direction)).expect("the metric is in the run")
}

pub(crate) fn median(series: &Series) -> f64 {
    let mut values: Vec<f64> = series.iter().filter_map(|o| o.value.observed()).collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) }
}

pub(crate) fn lacks(run: &Run) -> &[Unrecorded] {
    let what = run.notes.iter().find_map(|note| match note {
        Note::NotRecorded { what, .. } => Some(what.as_slice()),
        _ => None,
    });
    what.unwrap_or_default()
}

pub(crate) fn kinds(run: &Run) -> Vec<PhaseKind> {
    run.phases.iter().map(|phase| phase.kind).collect()
}

/// Start and end of a phase in seconds.
pub(crate) fn span(phase: &Phase) -> [f64; 2] {
    [phase.start_ns as f64 / 1e9, phase.end_ns as f64 / 1e9]
}

#[track_caller]
pub(crate) fn assert_near(got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance, "{got}, expected {want}");
}

#[test]
fn each_sample_is_recognized_by_its_content() {
    let samples = [
        ("cloudflare-raw.json.gz", Format::Cloudflare),
        ("cloudflare-summary.json", Format::CloudflareSummary),
        ("crusader.crr", Format::Crusader),
        ("fping-C-summary.txt", Format::Fping),
        ("fping-D.txt", Format::Fping),
        ("fping-c.txt", Format::Fping),
        ("goresponsiveness.csv.gz", Format::Goresponsiveness),
        ("iperf3-bidir.json", Format::Iperf3),
        ("iperf3-error.json", Format::Iperf3),
        ("iperf3-stream.json", Format::Iperf3Stream),
        ("irtt-load.json.gz", Format::Irtt),
        ("mtr-raw.txt", Format::Mtr),
        ("mtr-report.json", Format::MtrReport),
        ("ping-busybox.txt", Format::Ping),
        ("ping-linux-d.txt", Format::Ping),
        ("ping-unreachable.txt", Format::Ping),
        ("rrul_be.flent.gz", Format::Flent),
    ];
    for (name, format) in samples {
        assert_eq!(detect(&content(name)), Some(format), "{name}");
    }
}

#[test]
fn other_files_are_not_recognized() {
    let others: [&[u8]; 8] = [
        b"",
        b"{}",
        b"[1, 2]",
        b"<!DOCTYPE html><html><body>PING</body></html>",
        b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00",
        b"time : value",
        br#"{"schema_version": 2, "command": "test"}"#,
        br#"{"results": [], "start": 1}"#,
    ];
    for other in others {
        assert_eq!(detect(other), None, "{}", String::from_utf8_lossy(other));
    }
}
