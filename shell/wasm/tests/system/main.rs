//! The module as its host uses it, in parts of any size, and with bad input.
use fathom_wasm::{Output, Trace, sim};
use std::io::Read as _;

/// A capture of the repository, unpacked.
fn capture() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trace/lab/up-sender.pcap.gz");
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).expect("a capture of the repository");
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).expect("gzip");
    bytes
}

/// Analyzes `bytes` in parts of `part` bytes; `unread` is why the host cannot read on.
fn analyzed(bytes: &[u8], part: usize, unread: Option<&str>) -> Result<Output, String> {
    let mut trace = Trace::new("up.pcap", 1);
    bytes.chunks(part).try_for_each(|part| trace.push(part))?;
    let mut trace = trace.rewind(unread.map(str::to_owned))?;
    bytes.chunks(part).try_for_each(|part| trace.push(part))?;
    Ok(trace.finish())
}

fn member<'a>(document: &'a serde_json::Value, path: &str) -> &'a str {
    document.pointer(path).and_then(serde_json::Value::as_str).unwrap_or_else(|| panic!("no {path}"))
}

#[test]
fn the_size_of_the_parts_does_not_matter() {
    let bytes = capture();
    let whole = analyzed(&bytes, bytes.len(), None).unwrap();
    let document: serde_json::Value = serde_json::from_str(&whole.document).unwrap();
    assert_eq!(member(&document, "/verdict/level"), "bad");
    assert_eq!(member(&document, "/findings/0/kind"), "queue_delay");
    assert!(whole.page.starts_with("<!doctype html>"));
    for part in [1, 7, 1_000, 65_537] {
        assert_eq!(analyzed(&bytes, part, None).unwrap(), whole, "parts of {part} bytes");
    }
}

#[test]
fn what_was_read_before_an_error_is_kept() {
    let bytes = capture();
    let cut = &bytes[..bytes.len() / 2 + 1];
    for (unread, expected) in [(None, "is truncated"), (Some("read error: gone"), "read error: gone")] {
        let output = analyzed(cut, 4_096, unread).unwrap();
        let document: serde_json::Value = serde_json::from_str(&output.document).unwrap();
        let why = document["partial"].to_string();
        assert!(why.contains(expected), "{why}");
        assert!(document["capture"]["sources"][0]["frames"].as_u64() > Some(1_000), "{why}");
    }
    // A record of an impossible length.
    let mut damaged = bytes.clone();
    damaged.truncate(200_000);
    damaged.extend([0xff; 64]);
    let output = analyzed(&damaged, 4_096, None).unwrap();
    assert!(output.document.contains("damaged at byte"));
}

#[test]
fn bad_input_is_one_clear_error() {
    let error = |bytes: &[u8]| analyzed(bytes, 10, None).unwrap_err();
    assert_eq!(error(b""), "it is empty");
    assert_eq!(error(&capture()[..20]), "has 20 bytes, less than the header of a capture (24)");
    assert!(error(b"# Fathom\n\nsome text").starts_with("not a capture file: it starts with 23 20 46 61"));
}

/// A line of 1 Mbit/s with half a second of buffer, and one upload.
fn scenario(rate: &str, duration: &str) -> String {
    format!(
        "name = \"page\"\nabout = \"A line.\"\nsource = \"This test.\"\n[[hop]]\nname = \"line\"\n\
         up = {{ rate = \"{rate}\", delay = \"10ms\", queue = \"fifo limit 500ms\" }}\n\
         down = {{ rate = \"16mbit\", delay = \"10ms\", queue = \"fifo limit 500ms\" }}\n\
         [load]\nup_flows = 1\nduration = \"{duration}\"\n"
    )
}

#[test]
fn a_simulation_is_diagnosed() {
    let output = sim(&scenario("1mbit", "20s"), 1).unwrap();
    let document: serde_json::Value = serde_json::from_str(&output.document).unwrap();
    let lag_s = document["summary"]["lag_up_s"].as_f64().unwrap();
    assert!((0.4..0.55).contains(&lag_s), "{lag_s}");
    assert!(output.page.starts_with("<!doctype html>"));
    assert_eq!(sim(&scenario("1mbit", "20s"), 1).unwrap(), output, "the same seed");
}

#[test]
fn a_simulation_that_cannot_be_is_refused() {
    let error = sim("rate = 1", 1).unwrap_err();
    assert!(error.contains("scenario"), "{error}");
    let too_long = sim(&scenario("500gbit", "60min"), 1).unwrap_err();
    assert!(too_long.contains("packets exceed the limit of 20000000"), "{too_long}");
}
