//! Speed tests of other programs in a real headless Chromium, over an emulated line whose rates and
//! queues are known. Fails if Chromium or the packages of ui/ are missing.
use crate::program::{alone, fathom, scratch};
use std::ops::RangeInclusive;

/// 20 and 5 Mbit/s, 20 ms, and buffers of 100 and 400 ms.
const LINE: &str = r#"
name = "browser"
about = "A slow cable line with a long queue in each direction."
source = "This test."
[[hop]]
name = "modem"
up = { rate = "5mbit", delay = "10ms", queue = "fifo limit 250kb" }
down = { rate = "20mbit", delay = "10ms", queue = "fifo limit 250kb" }
"#;

/// Runs a speed test against `fathom serve --with web`, and checks its result. The lower limit of
/// latency is half of a full buffer, which the load does not fill all the time.
fn check(client: &str, scheme: &str, up_s: RangeInclusive<f64>) {
    let _alone = alone();
    let line = scratch().join("browser.toml");
    std::fs::write(&line, LINE).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/check/speedtests.mjs");
    let near = format!("node {script} {client} {scheme}://$FATHOM_SERVER:8080");
    let far = format!("{} serve --port 0 --with web --web-port 8080 >&2", env!("CARGO_BIN_EXE_fathom"));
    let mut lab = fathom(&["lab", "-q", "--line", line.to_str().unwrap(), "--far", &far]);
    let output = lab.args(["--", "sh", "-c", &near]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found = out.lines().find_map(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    let result = found.unwrap_or_else(|| panic!("no result of {client} (try ui/verify): {out}\n{err}"));
    for (name, expected) in [
        ("download", 14e6..=20.1e6),
        ("upload", 3.5e6..=5.1e6),
        ("idle", 0.020..=0.060),
        ("down", 0.020..=0.300),
        ("up", up_s),
    ] {
        let value = result[name].as_f64().unwrap_or(f64::NAN);
        assert!(expected.contains(&value), "{name} of {client}: {value}, not {expected:?}; {result}");
    }
}

/// By HTTP/2: a request for latency shares the connection of the upload, whose data wait in the
/// browser too.
#[test]
fn cloudflares_client_measures_the_line_with_tls() {
    check("cloudflare-short", "https", 0.2..=2.0);
}

#[test]
fn ndt7s_client_measures_the_line() {
    check("ndt7", "http", 0.2..=0.6);
}
