//! `fathom ping`: exit codes, counts, and text that scripts for ping(8) and fping(8) read.
use crate::program::{Ran, Serve, ended, fathom, run, scratch};
use fathom_test_support::{NamespaceRow, in_new_namespace, unused_port};
use regex::Regex;
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// What scripts read of the output of iputils ping.
const REPLY: &str = r"(?m)^64 bytes from ([0-9a-f.:]+): icmp_seq=(\d+) ttl=(\d+) time=(\d+(?:\.\d+)?) ms$";
const COUNTS: &str = r"(?m)^(\d+) packets transmitted, (\d+) received,(?: \+(\d+) duplicates,)? (\d+(?:\.\d+)?)% packet loss, time (\d+)ms$";
const TIMES: &str = r"(?m)^rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms$";

/// The groups of the only match.
#[track_caller]
fn only(pattern: &str, text: &str) -> Vec<f64> {
    let all: Vec<_> = Regex::new(pattern).unwrap().captures_iter(text).collect();
    let [one] = &all[..] else { panic!("{} matches of {pattern}: {text}", all.len()) };
    one.iter().skip(1).map(|group| group.map_or(0.0, |group| group.as_str().parse().unwrap())).collect()
}

fn ping(args: &[&str]) -> Ran {
    run(&[&["ping", "--color", "never"], args].concat())
}

#[test]
fn the_text_is_that_of_ping() {
    in_new_namespace(|| {
        let reply = Regex::new(REPLY).unwrap();
        for address in ["127.0.0.1", "::1"] {
            let ran = ping(&["-c", "3", "-i", "0.2", address]);
            assert_eq!(ran.code, Some(0), "{}", ran.describe());
            assert!(ran.out.starts_with(&format!("PING {address} ({address}) 56")), "{}", ran.out);
            let replies: Vec<_> = reply.captures_iter(&ran.out).collect();
            let of = |group: usize| replies.iter().map(|one| one[group].to_owned()).collect::<Vec<_>>();
            assert_eq!((of(1), of(2)), (vec![address.to_owned(); 3], ["1", "2", "3"].map(Into::into).into()));
            assert_eq!(of(3), ["64"; 3]);
            let [sent, received, duplicates, loss, time_ms] = only(COUNTS, &ran.out)[..] else { panic!() };
            assert_eq!((sent, received, duplicates, loss), (3.0, 3.0, 0.0, 0.0));
            assert!(time_ms >= 390.0, "two intervals of 0.2 s: {time_ms}");
            let [min, avg, max, _] = only(TIMES, &ran.out)[..] else { panic!() };
            assert!(0.0 < min && min <= avg && avg <= max, "{}", ran.out);
        }
        let quiet = ping(&["-q", "-c", "2", "-i", "10ms", "-4", "localhost"]);
        assert_eq!((quiet.code, quiet.out.lines().count()), (Some(0), 5), "{}", quiet.describe());
        let with_times = ping(&["-D", "-c", "1", "127.0.0.1"]);
        let dated = Regex::new(r"(?m)^\[1\d{9}\.\d{6}\] 64 bytes from 127\.0\.0\.1: icmp_seq=1 ").unwrap();
        assert!(dated.is_match(&with_times.out), "{}", with_times.out);
    });
}

/// Counted by packets, not by time.
#[test]
fn an_interval_of_a_millisecond_sends_each_probe() {
    in_new_namespace(|| {
        let ran = ping(&["-q", "-c", "1000", "-i", "0.001", "127.0.0.1"]);
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        assert_eq!(only(COUNTS, &ran.out)[..4], [1000.0, 1000.0, 0.0, 0.0]);
        let faster = ping(&["-c", "1", "-i", "0.0005", "127.0.0.1"]);
        assert_eq!(faster.code, Some(2), "{}", faster.describe());
        assert!(faster.err.contains("at least 1ms"), "{}", faster.err);
    });
}

#[test]
fn hosts_that_do_not_answer_end_with_1_and_names_without_address_with_2() {
    let row = NamespaceRow::new(3);
    row.sh(1, "ip route add blackhole 192.0.2.1/32; ip route add unreachable 192.0.2.2/32");
    row.sh(0, "ip route add 192.0.2.0/24 via 10.8.0.2");
    for silent in ["192.0.2.1", "192.0.2.2"] {
        let ran = ping(&["-c", "2", "-i", "0.1", "-W", "0.5", silent]);
        assert_eq!(ran.code, Some(1), "{}", ran.describe());
        let counts = ran.out.replace("+2 errors, ", "");
        assert_eq!(only(COUNTS, &counts)[..4], [2.0, 0.0, 0.0, 100.0]);
        assert!(!ran.out.contains("rtt"), "{}", ran.out);
        let refusals = ran.out.lines().filter(|line| line.starts_with("From 10.8.0.2 icmp_seq="));
        let expected = if silent == "192.0.2.1" { 0 } else { 2 };
        assert_eq!(refusals.filter(|line| line.ends_with(" Destination Host Unreachable")).count(), expected);
        assert_eq!(ran.out.contains(", +2 errors, 100% packet loss"), expected == 2, "{}", ran.out);
    }
    let ran = ping(&["-c", "1", "no-such-host.invalid"]);
    assert_eq!((ran.code, &*ran.out), (Some(2), ""));
    assert!(ran.err.contains("no-such-host.invalid"), "{}", ran.err);
    // Without a route, as ping(8).
    let unrouted = ping(&["-c", "2", "-i", "0.1", "-W", "0.2", "203.0.113.1"]);
    assert_eq!(unrouted.code, Some(2), "{}", unrouted.describe());
    assert!(unrouted.err.contains("unreachable"), "{}", unrouted.err);
}

/// Apart from other tests, because a router sends a host few errors at once.
#[test]
fn a_refusal_has_the_text_of_fping() {
    let row = NamespaceRow::new(2);
    row.sh(1, "ip route add unreachable 192.0.2.2/32");
    row.sh(0, "ip route add 192.0.2.0/24 via 10.8.0.2");
    let ran = ping(&["-c", "1", "-W", "0.5", "192.0.2.2", "10.8.0.2"]);
    let refused = "ICMP Host Unreachable from 10.8.0.2 for ICMP Echo sent to 192.0.2.2";
    assert!(ran.err.contains(refused), "{}", ran.describe());
}

#[test]
fn several_hosts_have_the_text_of_fping() {
    let row = NamespaceRow::new(3);
    row.enter(0);
    let ran = ping(&["-c", "3", "-i", "0.1", "-W", "0.5", "10.8.0.2", "10.8.1.2", "10.8.1.9"]);
    assert_eq!(ran.code, Some(1), "{}", ran.describe());
    let reply = Regex::new(r"(?m)^(10\.8\.\d\.2) : \[(\d)\], 64 bytes, [\d.]+ ms \([\d.]+ avg, \d+% loss\)$")
        .unwrap();
    assert_eq!(reply.captures_iter(&ran.out).count(), 6, "{}", ran.out);
    let summary = |host: &str| {
        let pattern = format!(
            r"(?m)^{} +: xmt/rcv/%loss = (\d+)/(\d+)/(\d+)%(?:, min/avg/max = ([\d.]+)/([\d.]+)/([\d.]+))?$",
            host.replace('.', r"\.")
        );
        only(&pattern, &ran.err)
    };
    assert_eq!(summary("10.8.0.2")[..3], [3.0, 3.0, 0.0]);
    assert_eq!(summary("10.8.1.2")[..3], [3.0, 3.0, 0.0]);
    assert_eq!(summary("10.8.1.9"), [3.0, 0.0, 100.0, 0.0, 0.0, 0.0]);
    // One unknown name does not stop the others.
    let partly = ping(&["-c", "1", "10.8.0.2", "no-such-host.invalid"]);
    assert_eq!(partly.code, Some(2), "{}", partly.describe());
    assert!(partly.out.starts_with("10.8.0.2 : [0], 64 bytes, "), "{}", partly.out);
}

#[test]
fn a_hundred_hosts_are_pinged_at_once() {
    in_new_namespace(|| {
        let hosts: Vec<String> = (1..=100).map(|n| format!("127.0.1.{n}")).collect();
        let mut args = vec!["-q", "-c", "20", "-i", "0.05"];
        args.extend(hosts.iter().map(String::as_str));
        let ran = ping(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        assert_eq!(ran.err.matches("xmt/rcv/%loss = 20/20/0%").count(), 100, "{}", ran.err);
    });
}

/// A reflector of STAMP that sends each reply twice (RFC 8762, sections 4.2.1 and 4.3.1).
#[test]
fn duplicates_are_counted() {
    let reflector = UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = format!("stamp://{}", reflector.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut probe = [0; 44];
        while let Ok((44, from)) = reflector.recv_from(&mut probe) {
            let mut reply = probe;
            reply.copy_within(4..12, 16);
            reply.copy_within(0..14, 24);
            (0..2).for_each(|_| drop(reflector.send_to(&reply, from)));
        }
    });
    let ran = ping(&["-c", "5", "-i", "0.1", &target]);
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    let [sent, received, duplicates, loss, _] = only(COUNTS, &ran.out)[..] else { panic!() };
    // The duplicate of the last reply may arrive after the end.
    assert_eq!((sent, received, loss), (5.0, 5.0, 0.0));
    assert!((4.0..=5.0).contains(&duplicates), "{}", ran.out);
    assert_eq!(ran.out.matches(" (DUP!)\n").count() as f64, duplicates, "{}", ran.out);
}

#[test]
fn ctrl_c_prints_the_summary() {
    in_new_namespace(|| {
        let mut child = fathom(&["ping", "-i", "0.1", "127.0.0.1"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while text.lines().count() < 4 {
            assert!(lines.read_line(&mut text).unwrap() > 0, "{text}");
        }
        let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(signalled.success());
        std::io::Read::read_to_string(&mut lines, &mut text).unwrap();
        assert_eq!(ended(child, Duration::from_secs(20)).code, Some(0), "{text}");
        assert_eq!(only(COUNTS, &text)[3], 0.0);
    });
}

/// A name server that answers the first queries only after the last of them, with two in reverse
/// order, and others at once. It ends with its socket.
fn slow_name_server(held: usize) -> (u16, JoinHandle<()>) {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let port = server.local_addr().unwrap().port();
    let serve = move || {
        let mut queries = Vec::new();
        let mut buffer = [0; 512];
        while let Ok((length, from)) = server.recv_from(&mut buffer) {
            buffer[2] |= 0x80;
            queries.push(buffer[..length].to_vec());
            if queries.len() >= held {
                let last = queries.len() - 1;
                queries.swap(last.saturating_sub(1), last);
                for response in queries.drain(..) {
                    server.send_to(&response, from).unwrap();
                }
                if held > 1 {
                    return;
                }
            }
        }
    };
    (port, std::thread::spawn(serve))
}

/// Four falling pings, late and reordered ones among them, are kept and explained.
#[test]
fn falling_pings_are_kept_and_explained() {
    let (port, server) = slow_name_server(4);
    let file = scratch().join("falling.json.gz");
    let target = format!("dns://127.0.0.1:{port}/example.org");
    let ran = ping(&["-c", "4", "-i", "0.3", "-W", "0.8", &target, "-o", file.to_str().unwrap()]);
    server.join().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    assert_eq!(only(COUNTS, &ran.out)[..4], [4.0, 4.0, 0.0, 0.0]);
    let times = Regex::new(r"(?m)seq=(\d) time=([\d.]+) ms(.*)$").unwrap();
    let rows: Vec<_> = times
        .captures_iter(&ran.out)
        .map(|one| (one[1].to_owned(), one[2].parse::<f64>().unwrap(), one[3].to_owned()))
        .collect();
    let order: Vec<&str> = rows.iter().map(|(number, ..)| number.as_str()).collect();
    assert_eq!(order, ["1", "2", "4", "3"]);
    assert_eq!((rows[0].2.as_str(), rows[3].2.as_str()), (" (late)", " (reordered)"), "{}", ran.out);
    assert!(rows[0].1 >= 890.0 && rows[0].1 - rows[1].1 > 250.0, "{}", ran.out);
    assert!(ran.out.contains("\n1 late (after more than 800ms), 1 reordered\n"), "{}", ran.out);
    assert!(ran.out.contains("A queue emptied once: 4 replies arrived together"), "{}", ran.out);
    let document = run(&["report", "--json", file.to_str().unwrap()]).document();
    let kinds: Vec<&str> =
        document["findings"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["queue_emptied"]);
    assert_eq!(document["command"], "ping");
}

/// The server ends each session after a second, and is gone for a while.
#[test]
fn udp_probes_outlive_a_session_and_the_server() {
    let mut server = Serve::start(&["--max-time", "1s"]);
    let url = format!("udp://{}", server.target());
    let ran = ping(&["-c", "35", "-i", "0.1", "-W", "1", &url]);
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    assert_eq!(only(COUNTS, &ran.out)[..4], [35.0, 35.0, 0.0, 0.0]);
    let mut pinging =
        fathom(&["ping", "-i", "0.1", "--json-lines", &url]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(pinging.stdout.take().unwrap()).lines().map(Result::unwrap);
    let is_reply = |line: &String| line.contains("\"event\":\"reply\"");
    let first = lines.find(is_reply);
    server.kill();
    let port = server.port.to_string();
    let _again = Serve::start(&["--port", &port]);
    let later = lines.find(is_reply);
    assert!(first.is_some() && later.is_some());
    pinging.kill().unwrap();
    pinging.wait().unwrap();
}

#[test]
fn servers_answer_by_the_probe_of_the_url() {
    let server = Serve::start(&[]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Answers HEAD requests, whatever they are, on persistent connections.
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 0) {
                if line.ends_with("\r\n\r\n") {
                    assert!(line.starts_with("HEAD /a?b HTTP/1.1\r\n"), "{line}");
                    let response = b"HTTP/1.1 404 Not Found\r\nContent-Length: 99\r\n\r\n";
                    std::io::Write::write_all(&mut &connection, response).unwrap();
                    line.clear();
                }
            }
        }
    });
    let (dns, _server) = slow_name_server(1);
    for (url, one_way) in [
        (format!("udp://{}", server.target()), true),
        (format!("tcp://{}", server.target()), false),
        (format!("http://127.0.0.1:{port}/a?b"), false),
        (format!("dns://127.0.0.1:{dns}"), false),
    ] {
        let ran = ping(&["-c", "3", "-i", "0.1", "-W", "2", &url]);
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        assert_eq!(only(COUNTS, &ran.out)[..4], [3.0, 3.0, 0.0, 0.0], "{url}");
        assert_eq!(ran.out.contains(" up="), one_way, "{}", ran.out);
    }
    let closed = format!("tcp://127.0.0.1:{}", unused_port());
    let ran = ping(&["-c", "2", "-i", "0.1", &closed]);
    assert_eq!(ran.code, Some(1), "{}", ran.describe());
    assert!(ran.err.contains("Connection refused"), "{}", ran.err);
    let unknown = ping(&["-c", "1", "gopher://127.0.0.1"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.describe());
    assert!(unknown.err.contains("unknown protocol \"gopher\" (expected icmp, udp, tcp"), "{}", unknown.err);
}

#[test]
fn json_lines_hold_each_reply_and_the_result() {
    in_new_namespace(|| {
        let ran = ping(&["--json-lines", "-c", "3", "-i", "0.05", "127.0.0.1", "127.0.0.2"]);
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        let lines = ran.events();
        let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
        assert_eq!((events[0], events.len(), events[7]), ("started", 8, "result"), "{events:?}");
        let second = lines.iter().filter(|line| line["target"] == "127.0.0.2");
        let numbers: Vec<u64> = second.map(|line| line["sequence"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [1, 2, 3]);
        let document = &lines[7]["document"];
        let series = document["series"].as_array().unwrap();
        let scopes: Vec<_> =
            series.iter().filter(|s| s["metric"] == "icmp_rtt_s").map(|s| &s["scope"]).collect();
        assert_eq!(scopes, [&serde_json::Value::Null, &"127.0.0.2".into()]);
    });
}

/// Without the right to send ICMP, one error says what to do, and other probes work.
#[test]
fn without_permission_for_icmp_the_error_says_what_to_do() {
    in_new_namespace(|| {
        let server = Serve::start(&[]);
        let program = env!("CARGO_BIN_EXE_fathom");
        let target = format!("tcp://{}", server.target());
        let without = |host: &str| -> Ran {
            let drop = ["--bounding-set=-all", "--inh-caps=-all", "--", program, "ping", "-c", "1", host];
            let own = "echo '1 0' > /proc/sys/net/ipv4/ping_group_range; exec setpriv \"$@\"";
            Command::new("sh").args(["-c", own, "sh"]).args(drop).output().unwrap().into()
        };
        let ran = without("127.0.0.1");
        assert_eq!(ran.code, Some(2), "{}", ran.describe());
        assert!(ran.err.contains("net.ipv4.ping_group_range"), "{}", ran.err);
        assert!(ran.err.contains("fathom ping tcp://"), "{}", ran.err);
        assert_eq!(without(&target).code, Some(0));
    });
}
