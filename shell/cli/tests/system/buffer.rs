//! `fathom buffer` over queues of the real kernel in this test's own namespaces.
use crate::program::{Serve, fathom, on_slow_line, run, scratch};
use fathom_test_support::{NamespaceRow, in_new_namespace};
use serde_json::Value as Json;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::Stdio;
use std::thread;

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
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let (_row, server) = path(&[
            "qdisc add dev right root tbf rate 5mbit burst 6kb limit 100000",
            "qdisc add dev left root handle 1: htb default 1",
            // The timer of a busy machine is several ms late. A smaller bucket overflows meanwhile.
            "class add dev left parent 1: classid 1:1 htb rate 20mbit burst 16kb cburst 16kb",
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

/// After the phases of a test, bursts check the size of the buffer that it filled.
#[test]
fn bursts_check_the_size_that_a_test_found() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let (_row, server) = path(&["qdisc add dev right root tbf rate 5mbit burst 3200 limit 100000"]);
        let target = format!("10.8.1.2:{}", server.port);
        let args =
            ["test", &target, "--phases", "idle,up,drain,bursts", "--max-phase", "6s", "--no-save", "--json"];
        let ran = run(&args);
        let result = ran.document();
        let all = result["findings"].as_array().unwrap();
        let size =
            all.iter().find(|f| f["kind"] == "buffer_size").unwrap_or_else(|| panic!("{}", ran.describe()));
        let check = &size["parameters"]["check"];
        near(&check["ip_bytes"], 100_000.0, 0.05);
        let delay = &size["parameters"]["delay_s"];
        assert_eq!([&check["agrees"], &check["is_lower_bound"]], [true, false], "{check} of {delay} s");
        assert_eq!(size["parameters"]["limit"], "bytes", "{size}");
        // The download was not loaded, so its buffer was not of interest.
        let bursts = result["bursts"].as_array();
        assert!(bursts.is_none_or(|some| some.iter().all(|burst| burst["direction"] == "up")), "{bursts:?}");
    });
}

/// A router that marks all packets with ECT(0): both ends send some, and see which arrive as CE.
const MARK: &str = "nft add table ip t; \
    nft 'add chain ip t forward { type filter hook forward priority 0; }'; \
    nft add rule ip t forward ip ecn ect0 ip ecn set ce";

#[test]
fn marks_are_seen_in_both_directions() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let queue = |side: &str| format!("qdisc add dev {side} root tbf rate 5mbit burst 3200 limit 60000");
        let (row, server) = path(&[&queue("right"), &queue("left")]);
        row.sh(1, MARK);
        row.enter(0);
        let (document, _) = measure(&[&format!("10.8.1.2:{}", server.port)]);
        let found = document["findings"].as_array().unwrap();
        assert_eq!(found.len(), 2, "{}", document["verdict"]);
        for finding in found {
            let buffer = &finding["parameters"];
            assert!(buffer["marks"].is_object(), "{finding}");
            assert_eq!(buffer["rule"], "tail_drop", "{finding}");
        }
    });
}

/// Long packets are lost in one direction, without an ICMP error.
#[test]
fn a_path_with_a_smaller_mtu_is_measured() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let queue = |side: &str| format!("qdisc add dev {side} root tbf rate 5mbit burst 3200 limit 60000");
        let (row, server) = path(&[&queue("right"), &queue("left")]);
        row.sh(1, "ip link set right mtu 1300; nft add table ip t");
        row.sh(1, "nft 'add chain ip t out { type filter hook output priority 0; }'");
        row.sh(1, "nft add rule ip t out icmp type destination-unreachable drop");
        row.enter(0);
        let (document, _) = measure(&[&format!("10.8.1.2:{}", server.port)]);
        let expected = serde_json::json!({
            "kind": "long_packets_lost", "ip_bytes": 1_428, "passed_ip_bytes": 728,
        });
        assert_eq!(document["notes"], serde_json::json!([expected]));
        let found = document["findings"].as_array().unwrap();
        assert_eq!(found.len(), 2, "{}", document["verdict"]);
        for finding in found {
            near(&finding["parameters"]["bytes"]["value"], 60_000.0, 0.05);
        }
    });
}

/// A server that is gone midway ends the measurement; what was found remains.
#[test]
fn the_buffers_found_before_the_server_is_gone_are_kept() {
    let _slow = on_slow_line();
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
        // The document is longer than a pipe holds.
        let document = measuring.stdout.take().unwrap();
        let document = thread::spawn(|| std::io::read_to_string(document).unwrap());
        let mut rest = String::new();
        progress.read_to_string(&mut rest).unwrap();
        let out = document.join().unwrap();
        assert_eq!(measuring.wait().unwrap().code(), Some(3), "{rest}");
        assert!(rest.contains("partial result: "), "{rest}");
        let result: Json = serde_json::from_str(&out).unwrap();
        assert!(result["partial"].is_object() || result["partial"].is_string(), "{}", result["partial"]);
        let found = &result["findings"][0];
        assert_eq!((&found["kind"], &found["direction"]), (&"measured_buffer".into(), &"up".into()));
    });
}

/// A row of this host, a router with queues for upload and download, and a host without Fathom,
/// where this script runs.
fn echo_path([up, down]: [&str; 2], script: &str) -> NamespaceRow {
    let row = NamespaceRow::new(3);
    for (device, queue) in [("right", up), ("left", down)] {
        row.sh(1, &format!("tc qdisc add dev {device} root {queue}"));
    }
    row.sh(2, script);
    row.enter(0);
    row
}

/// The document of `fathom buffer URL`.
fn measure(arguments: &[&str]) -> (Json, Option<i32>) {
    let ran = run(&[&["buffer", "--json"], arguments].concat());
    (ran.document(), ran.code)
}

fn found(document: &Json) -> &Json {
    let found = document["findings"].as_array().unwrap().first();
    found.unwrap_or_else(|| panic!("no finding: {}", document["verdict"]))
}

/// 256,000 bytes wait for the shaper, and 3,200 of its bucket pass it.
const UP: &str = "tbf rate 5mbit burst 3200 limit 256000";
const DOWN: &str = "tbf rate 20mbit burst 6400 limit 200000";
/// Of nftables: a host that answers 100 echo requests a second.
const LIMITED: &str = "nft add table inet t; \
    nft 'add chain inet t out { type filter hook output priority 0; }'; \
    nft add rule inet t out icmp type echo-reply limit rate over 100/second burst 50 packets drop";

/// The kernel of any host answers ICMP, by a raw socket and by an unprivileged one, and with UDP.
#[test]
fn echo_requests_measure_the_upload() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let row = echo_path([UP, DOWN], "");
        row.enter(2);
        let service = UdpSocket::bind("10.8.1.2:7").unwrap();
        row.enter(0);
        thread::spawn(move || {
            let mut datagram = [0; 2_048];
            while let Ok((length, from)) = service.recv_from(&mut datagram) {
                let _ = service.send_to(&datagram[..length], from);
            }
        });
        for (groups, url) in [
            ("1 0", "icmp://10.8.1.2"),
            ("0 0", "icmp://10.8.1.2"),
            ("0 0", "icmp://[fd08:1::2]"),
            ("0 0", "udp-echo://10.8.1.2"),
        ] {
            row.sh(0, &format!("sysctl -qw net.ipv4.ping_group_range='{groups}'"));
            let (document, code) = measure(&[url]);
            let finding = found(&document);
            let buffer = &finding["parameters"];
            assert_eq!((code, &finding["direction"]), (Some(1), &"up".into()), "{url}: {finding}");
            near(&buffer["rate_bits_per_second"]["value"], 5e6, 0.02);
            near(&buffer["bytes"]["value"], 258_000.0, 0.05);
            assert_eq!((&buffer["limit"], &buffer["rule"]), (&"bytes".into(), &"tail_drop".into()), "{url}");
            assert_eq!(buffer["is_lower_bound"], false, "{url}");
        }
    });
}

/// Replies wait where the download is slower: no buffer is that of the upload.
#[test]
fn a_slower_download_is_no_upload() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let _row = echo_path([DOWN, UP], "");
        let (document, code) = measure(&["icmp://10.8.1.2"]);
        let finding = found(&document);
        assert_eq!((code, &finding["direction"]), (Some(5), &Json::Null), "{finding}");
        assert_eq!(finding["certainty"], "possible", "{finding}");
        assert_eq!(document["verdict"]["reason"]["kind"], "unknown_direction", "{}", document["verdict"]);
    });
}

/// A host that limits its replies is no policer and no AQM, and the buffer is no smaller.
#[test]
fn a_host_that_limits_its_replies_is_recognized() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let row = echo_path([UP, DOWN], LIMITED);
        let (limited, _) = measure(&["icmp://10.8.1.2"]);
        let buffer = &found(&limited)["parameters"];
        assert_eq!((&buffer["rule"], &buffer["drops_early"]), (&Json::Null, &false.into()), "{buffer}");
        near(&buffer["bytes"]["value"], 258_000.0, 0.05);
        // One a second, and six at once: the limit of Linux for ICMP errors.
        row.sh(2, "nft flush ruleset; sysctl -qw net.ipv4.icmp_ratemask=6169");
        row.enter(0);
        let (document, code) = measure(&["icmp://10.8.1.2"]);
        assert_eq!(code, Some(5), "{}", document["findings"]);
        assert_eq!(document["verdict"]["reason"]["kind"], "replies_limited", "{}", document["verdict"]);
        assert!(document["findings"].as_array().unwrap().is_empty(), "{}", document["findings"]);
    });
}

/// A buffer larger than the budget gives a bound, and no more is sent.
#[test]
fn the_budget_of_echo_requests_is_enforced() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let row = echo_path(["tbf rate 5mbit burst 3200 limit 3000000", DOWN], "");
        let (document, _) = measure(&["icmp://10.8.1.2", "--max-bytes", "600kb"]);
        let buffer = &found(&document)["parameters"];
        assert_eq!(buffer["is_lower_bound"], true, "{buffer}");
        row.sh(
            0,
            "test $(ip -j -s link show right | sed -E 's/.*\"tx\":.\"bytes\":([0-9]+).*/\\1/') -le 660000",
        );
    });
}

/// A host that is gone midway is no AQM: what was found before remains.
#[test]
fn a_host_that_no_longer_answers_ends_the_measurement() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let row = echo_path([UP, DOWN], "");
        let mut command = fathom(&["buffer", "icmp://10.8.1.2", "--json", "-v"]);
        let mut measuring = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut progress = BufReader::new(measuring.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("up      128") {
            line.clear();
            assert!(progress.read_line(&mut line).unwrap() > 0, "no burst of 128 datagrams");
        }
        row.sh(2, "sysctl -qw net.ipv4.icmp_echo_ignore_all=1");
        let (mut rest, mut out) = (String::new(), String::new());
        progress.read_to_string(&mut rest).unwrap();
        measuring.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(measuring.wait().unwrap().code(), Some(3), "{rest}");
        let result: Json = serde_json::from_str(&out).unwrap();
        assert_eq!(result["partial"]["kind"], "server_silent", "{}", result["partial"]);
        let buffer = &found(&result)["parameters"];
        assert_eq!((&buffer["rule"], &buffer["is_lower_bound"]), (&Json::Null, &true.into()), "{buffer}");
    });
}

/// Each refusal names the host and what to try.
#[test]
fn hosts_without_echo_are_named() {
    let _slow = on_slow_line();
    in_new_namespace(|| {
        let row = echo_path([UP, DOWN], "sysctl -qw net.ipv4.icmp_echo_ignore_all=1");
        for (arguments, code, words) in [
            (&["10.8.1.2"][..], 3, "try: fathom buffer icmp://10.8.1.2"),
            (&["icmp://10.8.1.2"], 3, "no reply to 10 echo requests"),
            (&["udp-echo://10.8.1.2"], 3, "no echo service on UDP port 7 (refused)"),
            (&["icmp://10.8.1.2", "--only", "down"], 2, "the download needs `fathom serve`"),
            (&["http://10.8.1.2"], 2, "expected icmp://HOST"),
        ] {
            let ran = run(&[&["buffer"], arguments].concat());
            assert_eq!(ran.code, Some(code), "{}", ran.describe());
            assert!(ran.err.contains(words), "{}", ran.describe());
        }
        row.sh(0, "sysctl -qw net.ipv4.ping_group_range='1 0'");
        let program = fathom(&["buffer", "icmp://10.8.1.2"]);
        let mut without = std::process::Command::new("setpriv");
        without.args(["--bounding-set", "-net_raw"]).arg(program.get_program()).args(program.get_args());
        let ran: crate::program::Ran = without.output().unwrap().into();
        assert_eq!(ran.code, Some(3), "{}", ran.describe());
        assert!(ran.err.contains("sysctl -w net.ipv4.ping_group_range"), "{}", ran.describe());
    });
}
