//! Tests against services that are not a server, or a bad one. Each must fail with a message, in
//! bounded time.
use crate::support::{UNPRIVILEGED, application, phase, quick, run, series};
use fathom_client::{Family, FlowLoad, ProbeKind, TestConfig, TestError};
use fathom_probe::protocol::http_response;
use fathom_run::{Interruption, Metric, Note, PhaseEnd, PhaseKind, Run};
use fathom_units::{Duration, Ecn, Rate};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

const HELLO: &str = r#"{"hello":{"session":"000102030405060708090a0b0c0d0e0f","address":"127.0.0.1","version":"9","congestion_controls":["cubic"],"limits":{"seconds":600,"bytes":1000000000,"flows":64}}}"#;

/// A server that handles each connection with `answer`; its threads end with their connections.
fn fake(answer: fn(&str, TcpStream)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut line = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                drop(reader.read_line(&mut line));
                answer(line.trim_end(), stream);
            });
        }
    });
    port
}

fn wait_for_end(mut stream: &TcpStream) {
    let mut sink = [0; 65_536];
    while stream.read(&mut sink).is_ok_and(|n| n > 0) {}
}

/// Opens a session and then stays silent.
fn greet(mut stream: TcpStream) {
    say_hello(&mut stream);
    wait_for_end(&stream);
}
fn say_hello(stream: &mut TcpStream) {
    drop(stream.write_all(format!("{HELLO}\n").as_bytes()));
}

/// Receives the load of a flow.
fn take_load(mut stream: TcpStream) {
    drop(stream.write_all(b"OK cubic\n"));
    wait_for_end(&stream);
}

/// Answers HTTP probes until the connection ends.
fn answer_http(mut stream: &TcpStream) {
    let mut buffer = [0; 4096];
    drop(stream.write_all(&http_response(200, "text/plain", b"x")));
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        let requests = buffer[..length].windows(4).filter(|w| w == b"\r\n\r\n").count();
        for _ in 0..requests {
            drop(stream.write_all(&http_response(200, "text/plain", b"x")));
        }
    }
}

fn config(port: u16) -> TestConfig {
    TestConfig {
        phases: vec![phase(PhaseKind::Idle, 300, 300), phase(PhaseKind::Up, 8_000, 8_000)],
        probes: UNPRIVILEGED.to_vec(),
        patience: Duration::from_secs(1),
        ..quick(port)
    }
}

/// The result must be available within `seconds`.
fn within(seconds: u64, config: &TestConfig) -> Result<Run, TestError> {
    let start = Instant::now();
    let result = run(config);
    assert!(
        start.elapsed().as_secs() < seconds,
        "took {:?}: {:?}",
        start.elapsed(),
        result.map(|r| r.partial)
    );
    result
}

#[test]
fn nobody_listens() {
    let port = fathom_test_support::unused_port();
    let error = within(5, &config(port)).unwrap_err();
    assert!(matches!(error, TestError::Refused(address) if address.port() == port), "{error:?}");
}

#[test]
fn a_name_that_does_not_exist() {
    let config = TestConfig { server: "no-such-host.invalid".into(), ..config(1) };
    let error = run(&config).unwrap_err();
    assert!(
        matches!(&error, TestError::Resolve { server, .. } if server == "no-such-host.invalid"),
        "{error:?}"
    );
}

#[test]
fn a_family_that_the_server_lacks() {
    let config = TestConfig { family: Some(Family::V6), ..config(1) };
    let error = run(&config).unwrap_err();
    assert!(matches!(error, TestError::Resolve { .. }), "{error:?}");
}

#[test]
fn nonsense_settings_are_named() {
    let base = config(1);
    for (bad, word) in [
        (TestConfig { flows: 129, ..base.clone() }, "flows"),
        (TestConfig { phases: vec![], ..base.clone() }, "phases"),
        (TestConfig { probes: vec![], ..base.clone() }, "probe"),
        (TestConfig { sample_every: Duration::ZERO, ..base.clone() }, "interval"),
        (TestConfig { phases: vec![phase(PhaseKind::Idle, 2, 1)], ..base.clone() }, "exceeds"),
        (
            TestConfig { token: Some("two words".into()), server: "127.0.0.1:1".into(), ..base.clone() },
            "token",
        ),
    ] {
        let error = run(&bad).unwrap_err();
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
}

#[test]
fn it_accepts_and_sends_nothing() {
    let port = fake(|_, stream| wait_for_end(&stream));
    let error = within(5, &config(port)).unwrap_err();
    assert!(
        matches!(error, TestError::Timeout { waited, .. } if waited == Duration::from_secs(1)),
        "{error:?}"
    );
}

#[test]
fn it_is_another_service() {
    for answer in [
        (|_: &str, mut s: TcpStream| drop(s.write_all(b"SSH-2.0-OpenSSH_9.9\r\n"))) as fn(&str, TcpStream),
        |_, mut s| drop(s.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
        |_, mut s| drop(s.write_all(&[b'x'; 100_000])),
        |_, _| (),
        |_, mut s| drop(s.write_all(b"\x1b[2J\x1b]0;owned\x07\n")),
    ] {
        let error = within(5, &config(fake(answer))).unwrap_err();
        assert!(matches!(error, TestError::NotFathom(..)), "{error:?}");
        assert!(!error.to_string().contains('\x1b'), "escape codes of a stranger reach the terminal");
    }
}

#[test]
fn it_closes_after_the_greeting() {
    let port = fake(|line, mut s| {
        if line.starts_with("FATHOM/1 CONTROL") {
            say_hello(&mut s);
        }
    });
    // Its kernel may still accept a connection, and a handshake is a result; only UDP certainly
    // fails.
    let config = TestConfig { probes: vec![ProbeKind::Udp], ..config(port) };
    let error = within(20, &config).unwrap_err();
    assert!(matches!(error, TestError::Lost(..)), "{error:?}");
}

#[test]
fn it_greets_and_then_stalls() {
    let port = fake(|line, mut s| {
        if line.starts_with("FATHOM/1 CONTROL") {
            say_hello(&mut s);
        }
        wait_for_end(&s);
    });
    // Its kernel still accepts connections, so handshakes are measured.
    let run = within(20, &config(port)).unwrap();
    let reason = run.partial.clone().unwrap();
    let expected = matches!(reason, Interruption::NoFlowLeft { .. } | Interruption::NoReports { .. });
    assert!(expected, "{reason:?}");
    let connects = series(&run, Metric::TcpConnect);
    assert!(connects.values.len() > connects.censored.len() + 10);
}

#[test]
fn it_answers_probes_and_refuses_flows() {
    let port = fake(|line, mut s| match line.split(' ').nth(1) {
        Some("CONTROL") => greet(s),
        Some("FLOW") => drop(s.write_all(b"ERR limit no flows today\n")),
        _ => answer_http(&s),
    });
    let run = within(20, &config(port)).unwrap();
    let reason = run.partial.clone().unwrap();
    assert!(
        matches!(&reason, Interruption::NoFlowLeft { message, .. } if message.contains("no flows today")),
        "{reason:?}"
    );
    assert!(!series(&run, Metric::HttpKept).values.is_empty());
    let udp = series(&run, Metric::UdpRtt);
    assert_eq!(udp.censored.len(), udp.values.len(), "nothing answers UDP there");
    assert!(
        run.notes.iter().any(|n| matches!(n, Note::ProbesUnanswered { metric: Metric::UdpRtt, .. })),
        "{:?}",
        run.notes
    );
}

#[test]
fn it_takes_the_load_and_never_reports() {
    let port = fake(|line, s| match line.split(' ').nth(1) {
        Some("CONTROL") => greet(s),
        Some("FLOW") => take_load(s),
        _ => answer_http(&s),
    });
    let run = within(20, &config(port)).unwrap();
    let reason = run.partial.clone().unwrap();
    assert!(matches!(reason, Interruption::NoReports { .. }), "{reason:?}");
    assert_eq!(run.phases.last().unwrap().end, PhaseEnd::Aborted);
}

#[test]
fn it_reports_nonsense() {
    let port = fake(|line, mut s| match line.split(' ').nth(1) {
        Some("CONTROL") => {
            say_hello(&mut s);
            let flow = r#"{"number":1,"bytes":18446744073709551615,"rtt_us":4294967295,"cwnd_bytes":18446744073709551615,"retransmits":4294967295}"#;
            for at in [u64::MAX, 0, 5, 5, u64::MAX] {
                drop(s.write_all(
                    format!("{{\"report\":{{\"at_ns\":{at},\"flows\":[{flow},{flow}]}}}}\n").as_bytes(),
                ));
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
            drop(s.write_all(b"{\"report\":3}\n"));
            wait_for_end(&s);
        }
        Some("FLOW") => take_load(s),
        _ => answer_http(&s),
    });
    let run = within(20, &config(port)).unwrap();
    // The claimed bytes may reach the limit before the invalid line arrives.
    let by_line = run.partial.as_ref().is_some_and(|r| matches!(r, Interruption::SessionEnded { message, .. } if message.contains("invalid control message")));
    let by_limit = run.phases.iter().any(|p| p.end == PhaseEnd::ByteLimit);
    assert!(by_line || by_limit, "{:?} {:?}", run.partial, run.phases);
    assert!(run.series.iter().all(|s| s.values.iter().all(|v| v.is_finite()) && s.at_ns.is_sorted()));
}

#[test]
fn its_kept_connection_breaks_and_is_opened_again() {
    let port = fake(|line, mut s| match line.split(' ').nth(1) {
        Some("CONTROL") => greet(s),
        // One response per connection.
        _ => drop(s.write_all(&http_response(200, "text/plain", b"x"))),
    });
    let config = TestConfig { phases: vec![phase(PhaseKind::Idle, 2_500, 2_500)], ..config(port) };
    let run = within(20, &config).unwrap();
    let kept = series(&run, Metric::HttpKept);
    assert!(kept.values.len() - kept.censored.len() >= 2, "{kept:?}");
    assert!(run.notes.iter().any(|n| matches!(n, Note::PersistentConnectionBroke { .. })), "{:?}", run.notes);
    assert!(series(&run, Metric::HttpForeign).values.len() > 20);
}

#[test]
fn an_older_server_is_told_apart_before_the_test() {
    let port = fake(|_, stream| greet(stream));
    for load in [FlowLoad::Paced, FlowLoad::Datagrams] {
        let load_rate = Some(load(Rate::from_bits_per_second(1_000_000)));
        let error = run(&TestConfig { load_rate, ..quick(port) }).unwrap_err();
        let TestError::Server { server, problem } = &error else { panic!("{error:?}") };
        assert_eq!(*server, format!("127.0.0.1:{port}"));
        assert_eq!(problem, "it carries no such load");
    }
    let plain = quick(port);
    for config in
        [plain.clone().with_applications(application("call")), plain.loaded_by(application("web").remove(0))]
    {
        let error = run(&config).unwrap_err();
        let TestError::Server { problem, .. } = &error else { panic!("{error:?}") };
        assert!(problem.contains("applications"), "{problem}");
    }
    let error = run(&TestConfig { ecn: Some(Ecn::Ect0), ..quick(port) }).unwrap_err();
    assert!(matches!(error, TestError::Server { .. }) && error.to_string().contains("ECN"), "{error}");
    let unmarked = run(&quick(port).rrul(Duration::from_secs(1))).unwrap_err();
    assert!(
        matches!(unmarked, TestError::Server { .. }) && unmarked.to_string().contains("classes"),
        "{unmarked}"
    );
}
