//! `fathom buffer` over queues of the real kernel in this test's own namespaces.
use crate::program::{Serve, alone, fathom, run, scratch};
use fathom_test_support::{NamespaceRow, in_new_namespace};
use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

/// A row of this host, a router with these queues, and a server.
fn path(queues: &[&str]) -> (NamespaceRow, Serve) {
    let row = NamespaceRow::new(3);
    queues.iter().for_each(|queue| row.sh(1, &format!("tc {queue}")));
    row.enter(2);
    let server = Serve::start(&["--listen", "10.8.1.2"]);
    row.enter(0);
    (row, server)
}

fn near(found: &Json, truth: f64, tolerance: f64) {
    let value = found.as_f64().unwrap();
    assert!((value / truth - 1.0).abs() <= tolerance, "{value} instead of {truth}");
}

/// A buffer of bytes behind a token bucket, and one of packets: rate, size, kind and bucket, in a
/// file that `fathom report` reads.
#[test]
fn both_buffers_are_measured() {
    let _alone = alone();
    in_new_namespace(|| {
        let (_row, server) = path(&[
            "qdisc add dev right root tbf rate 5mbit burst 6kb limit 100000",
            "qdisc add dev left root handle 1: htb default 1",
            "class add dev left parent 1: classid 1:1 htb rate 20mbit burst 1600 cburst 1600",
            "qdisc add dev left parent 1:1 pfifo limit 200",
        ]);
        let file = scratch().join("buffer.json");
        let file = file.to_str().unwrap();
        let ran = run(&["buffer", &format!("10.8.1.2:{}", server.port), "-v", "-o", file]);
        assert_eq!(ran.code, Some(1), "{}", ran.describe());
        assert!(ran.out.starts_with("BAD   The upload buffer is too large: "), "{}", ran.describe());
        assert!(!ran.err.contains("partial"), "{}", ran.describe());
        let result = run(&["report", file, "--json"]).document();
        let finding = |direction: &str| {
            let all = result["findings"].as_array().unwrap();
            let found = all.iter().find(|f| f["direction"] == direction && f["kind"] == "measured_buffer");
            found.unwrap_or_else(|| panic!("{direction}: {}", ran.describe()))["parameters"].clone()
        };
        let (up, down) = (finding("up"), finding("down"));
        near(&up["rate_bits_per_second"]["value"], 5e6, 0.02);
        near(&down["rate_bits_per_second"]["value"], 20e6, 0.02);
        near(&up["bytes"]["value"], 100_000.0, 0.05);
        near(&up["bucket_bytes"], 6_144.0, 0.25);
        near(&down["packets"]["value"], 200.0, 0.05);
        assert_eq!((&up["limit"], &down["limit"]), (&Json::from("bytes"), &Json::from("packets")));
        assert_eq!((&up["rule"], &down["rule"]), (&Json::from("tail_drop"), &Json::from("tail_drop")));
        assert_eq!([&up["is_per_flow"], &down["is_lower_bound"]], [false, false]);
    });
}

/// A server that is gone midway ends the measurement; what was found remains.
#[test]
fn the_buffers_found_before_the_server_is_gone_are_kept() {
    let _alone = alone();
    in_new_namespace(|| {
        let queue = "root tbf rate 5mbit burst 3200 limit 100000";
        let (_row, mut server) = path(
            &["right", "left"]
                .map(|side| format!("qdisc add dev {side} {queue}"))
                .each_ref()
                .map(String::as_str),
        );
        let target = format!("10.8.1.2:{}", server.port);
        let mut command = fathom(&["buffer", &target, "--json", "-v"]);
        let mut measuring = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut progress = BufReader::new(measuring.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("down") {
            line.clear();
            assert!(progress.read_line(&mut line).unwrap() > 0, "no burst of the download");
        }
        server.kill();
        let (mut rest, mut out) = (String::new(), String::new());
        progress.read_to_string(&mut rest).unwrap();
        measuring.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(measuring.wait().unwrap().code(), Some(3), "{rest}");
        assert!(rest.contains("partial result: "), "{rest}");
        let result: Json = serde_json::from_str(&out).unwrap();
        assert!(result["partial"].is_object() || result["partial"].is_string(), "{}", result["partial"]);
        let found = &result["findings"][0];
        assert_eq!((&found["kind"], &found["direction"]), (&"measured_buffer".into(), &"up".into()));
    });
}
