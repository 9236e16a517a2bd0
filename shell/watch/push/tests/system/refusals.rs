//! Receivers that refuse, hang, ask for retries, or support another version.
use crate::past::{Past, plan, push, until};
use crate::simulated::{Request, answer, receiver};
use fathom_watch_plan::parse;

const WRITTEN: &str = "X-Prometheus-Remote-Write-Samples-Written: 1\r\n";

/// Twelve minutes, from the start: three stretches of at most 30 points.
fn past() -> Past {
    let mut past = Past::new(13);
    past.begin_at("far", past.until);
    past.goes_on(12);
    past
}

#[test]
fn refused_points_are_reported_once_skipped_and_counted() {
    let past = past();
    let long = format!("out of order sample\nmore\n{}", "x".repeat(1 << 20));
    let refuse = answer("400 Bad Request", WRITTEN, &long);
    let (url, requests) = receiver(vec![refuse.clone(), refuse, answer("204 No Content", WRITTEN, "")]);
    let pusher = push(&plan(&format!("kind = 'remote_write'\n{url}")), &past.dir);
    let note = pusher.wait_for_note("rejected");
    assert!(note.contains("points, which are skipped: HTTP 400: out of order sample"), "{note}");
    assert!(!note.contains('\n') && note.len() < 500, "{} bytes", note.len());
    let again = pusher.wait_for_note("accepts points again");
    assert!(again.contains("were rejected and will not be sent again"), "{again}");
    until("the end", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    let request = requests.recv().unwrap();
    assert_eq!(
        request.headers["content-type"],
        "application/x-protobuf;proto=io.prometheus.write.v2.Request"
    );
    assert_eq!(request.headers["x-prometheus-remote-write-version"], "2.0.0");
    assert_eq!(request.headers["content-encoding"], "snappy");
    assert!(request.headers["user-agent"].starts_with("fathom/"));
    pusher.stop();
}

#[test]
fn a_receiver_without_2_0_is_sent_1_0_without_loss() {
    for first in [
        answer("415 Unsupported Media Type", "", "unknown content"),
        answer("400 Bad Request", "", "proto: bad"),
        answer("200 OK", "", ""),
    ] {
        let past = past();
        let (url, requests) = receiver(vec![first, answer("204 No Content", "", "")]);
        let pusher = push(&plan(&format!("kind = 'remote_write'\n{url}")), &past.dir);
        pusher.wait_for_note("does not support remote-write 2.0");
        until("the end", || (past.sent_ms("far") == past.last_ms()).then_some(()));
        pusher.stop();
        let all: Vec<Request> = requests.try_iter().collect();
        let versions: Vec<&str> =
            all.iter().map(|r| r.headers["x-prometheus-remote-write-version"].as_str()).collect();
        assert_eq!(
            versions,
            ["2.0.0", "0.1.0", "0.1.0", "0.1.0"],
            "three stretches, the first of them twice"
        );
        assert_eq!(all[1].headers["content-type"], "application/x-protobuf");
        let plain = snap::raw::Decoder::new().decompress_vec(&all[1].body).unwrap();
        assert!(plain.windows(18).any(|bytes| bytes == b"fathom_rtt_seconds"));
    }
}

#[test]
fn a_request_is_resent_after_retry_after() {
    let past = past();
    let busy = answer("429 Too Many Requests", "Retry-After: 0\r\n", "slow down");
    let broken = answer("503 Service Unavailable", "Retry-After: 0\r\n", "");
    let (url, requests) = receiver(vec![busy, broken, answer("204 No Content", "", "")]);
    let pusher = push(&plan(&format!("kind = 'remote_write'\nversion = '1.0'\n{url}")), &past.dir);
    let note = pusher.wait_for_note("is not accepting data");
    assert!(note.contains("HTTP 429: slow down") && note.contains("the history keeps"), "{note}");
    pusher.wait_for_note("is reachable again");
    until("the end", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    pusher.stop();
    let bodies: Vec<Vec<u8>> = requests.try_iter().map(|request| request.body).collect();
    assert_eq!(bodies.len(), 5);
    assert!(bodies[0] == bodies[1] && bodies[1] == bodies[2] && bodies[2] != bodies[3]);
}

#[test]
fn a_receiver_that_hangs_does_not_delay_a_stop() {
    let past = past();
    let (url, requests) = receiver(vec![String::new()]);
    let pusher = push(&plan(&format!("kind = 'otlp'\n{url}")), &past.dir);
    let request = requests.recv().unwrap();
    assert_eq!(request.headers["content-encoding"], "gzip");
    let began = std::time::Instant::now();
    pusher.stop();
    assert!(began.elapsed().as_secs() < 20, "the request may take thirty");
    assert!(past.sent_ms("far") < past.last_ms(), "what was not taken is not said to be");
}

#[test]
fn points_rejected_by_an_otlp_receiver_are_reported() {
    let past = past();
    // ExportMetricsServiceResponse { partial_success { rejected_data_points: 12, error_message:
    // "too old" } }
    let some = answer("200 OK", "", "\n\u{b}\u{8}\u{c}\u{12}\u{7}too old");
    let (url, requests) = receiver(vec![some, answer("200 OK", "", "")]);
    let pusher =
        push(&plan(&format!("kind = 'otlp'\n{url}headers = {{ X-Scope-OrgID = 'me' }}\n")), &past.dir);
    let note = pusher.wait_for_note("rejected");
    assert!(note.contains("rejected 12 points, which are skipped: too old"), "{note}");
    until("the end", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    assert_eq!(requests.recv().unwrap().headers["x-scope-orgid"], "me");
    pusher.stop();
}

#[test]
fn a_token_is_read_each_time() {
    let past = past();
    let file = past.dir.join("token");
    std::fs::write(&file, "one\n").unwrap();
    let no = answer("401 Unauthorized", "Retry-After: 0\r\n", "expired");
    let busy = answer("503 Service Unavailable", "Retry-After: 1\r\n", "");
    let (url, requests) = receiver(vec![busy, no, answer("204 No Content", "", "")]);
    let text = format!("kind = 'remote_write'\nversion = '1.0'\ntoken_file = '{}'\n{url}", file.display());
    let pusher = push(&plan(&text), &past.dir);
    assert_eq!(requests.recv().unwrap().headers["authorization"], "Bearer one");
    std::fs::write(&file, "two").unwrap();
    assert_eq!(requests.recv().unwrap().headers["authorization"], "Bearer two");
    pusher.wait_for_note("HTTP 401: expired");
    until("the end", || (past.sent_ms("far") == past.last_ms()).then_some(()));
    pusher.stop();
}

#[test]
fn a_full_disk_does_not_stop_sending() {
    let past = past();
    // A directory in place of the new file fails like a full disk, even for root.
    std::fs::create_dir(past.dir.join("push-far.json.gz.new")).unwrap();
    let (url, requests) = receiver(vec![answer("204 No Content", "", "")]);
    let pusher = push(&plan(&format!("kind = 'remote_write'\nversion = '1.0'\n{url}")), &past.dir);
    let note = pusher.wait_for_note("cannot write the cursor");
    assert!(note.contains("push-far.json.gz") && note.contains("Sending continues"), "{note}");
    for _ in 0..3 {
        requests.recv().unwrap();
    }
    std::fs::remove_dir(past.dir.join("push-far.json.gz.new")).unwrap();
    pusher.stop();
}

#[test]
fn unusable_files_are_reported_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, " \n").unwrap();
    let target = "[[target]]\nname = 'a'\nhost = '192.0.2.1'\n[[push]]\nkind = 'otlp'\nurl = 'https://a/'\n";
    let empty = empty.to_str().unwrap();
    let cases = [
        ("token_file = '/nowhere/token'", "push a: token_file: cannot read /nowhere/token: No such file"),
        (&format!("token_file = '{empty}'"), "contains no token (expected one word of visible ASCII)"),
        ("ca_file = '/nowhere/ca.pem'", "push a: ca_file: cannot read /nowhere/ca.pem: No such file"),
        (&format!("ca_file = '{empty}'"), "contains no certificate in PEM format"),
    ];
    for (key, words) in cases {
        let plan = parse(&format!("{target}{key}\n"), "test").unwrap();
        let error = fathom_watch_push::Destination::of(&plan.pushes[0]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
