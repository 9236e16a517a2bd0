//! Speed tests of other programs in a real headless Chromium, over an emulated line whose rates and
//! queues are known. Fails if Chromium or the packages of ui/ are missing.
use crate::program::{alone, fathom, run, scratch};
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

/// Tests the line with the page of `fathom serve`, after `before` has run on the side of the
/// browser.
fn with_page(before: &str, scheme: &str, flags: &str) -> serde_json::Value {
    let _alone = alone();
    let results = scratch().join("page-results");
    let line = scratch().join("page.toml");
    std::fs::write(&line, LINE).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/check/speed.mjs");
    let near = format!("{before} node {script} {scheme}://$FATHOM_SERVER:8081 {flags}");
    let serve = concat!(env!("CARGO_BIN_EXE_fathom"), " serve --port 8081 --results");
    let far = format!("{serve} {} >&2", results.display());
    let mut lab = fathom(&["lab", "-q", "--line", line.to_str().unwrap(), "--far", &far]);
    let output = lab.args(["--", "sh", "-c", &near]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found = out.lines().find_map(|text| serde_json::from_str::<serde_json::Value>(text).ok());
    found.unwrap_or_else(|| panic!("no result of the page (try ui/verify): {out}\n{err}"))
}

/// The line above: 400 ms of queue up and 100 ms down, and at most two packets.
fn check_page(result: &serde_json::Value, transport: &str) {
    assert_eq!(result["state"], "result", "{result}");
    assert_eq!(result["errors"].as_array().map(Vec::len), Some(0), "{result}");
    assert_eq!(result["asked"].as_array().map(Vec::len), Some(1), "only this server: {result}");
    assert!(result["quality"].as_str().unwrap().contains(transport), "{result}");
    let brief = &result["brief"];
    assert_eq!((&brief["verdict"]["level"], &brief["verdict"]["phase"]), (&"bad".into(), &"up".into()));
    for (name, expected) in [
        ("lag_up_s", 0.36..=0.43),
        ("lag_down_s", 0.085..=0.11),
        ("idle_p50_s", 0.020..=0.026),
        ("goodput_up_bits_per_second", 4.5e6..=4.9e6),
        ("goodput_down_bits_per_second", 18.4e6..=19.4e6),
    ] {
        let value = brief["summary"][name].as_f64().unwrap_or(f64::NAN);
        assert!(expected.contains(&value), "{name}: {value}, not {expected:?}; {brief}");
    }
}

#[test]
fn the_page_measures_the_line() {
    let result = with_page("", "http", "--consent kitchen");
    check_page(&result, "WebRTC");
    assert!(result["consent"].as_str().unwrap().starts_with("Keep my result on this server"), "{result}");
    assert!(result["devices"].as_str().unwrap().contains("kitchen"), "{result}");
    let files = std::fs::read_dir(scratch().join("page-results")).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let shown = run(&["report", file.to_str().unwrap()]);
    let headline = result["brief"]["verdict"]["headline"].as_str().unwrap();
    assert!(shown.out.starts_with("BAD") && shown.out.contains(headline), "{}", shown.describe());
}

#[test]
fn the_page_measures_by_websocket_where_udp_is_blocked() {
    let block = "nft add table inet block && nft 'add chain inet block out { type filter hook output priority 0; }' \
                 && nft add rule inet block out meta l4proto udp drop &&";
    // With HTTP/2, one connection would carry all load, and fill the buffer less.
    check_page(&with_page(block, "https", ""), "WebSocket");
}

#[test]
fn the_page_pauses_while_another_tab_is_in_front() {
    let result = with_page("", "http", "--hide");
    check_page(&result, "WebRTC");
    assert_eq!(result["paused"], "Fathom: Paused while this page is in the background", "{result}");
    let quality = result["quality"].as_str().unwrap();
    assert!(quality.contains("paused for 5.") || quality.contains("paused for 6."), "{quality}");
    let phases = result["brief"]["summary"]["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 5, "each phase once: {phases:?}");
}

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
