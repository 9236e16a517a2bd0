//! Control connections.
use crate::client::{Control, PATIENCE, exchange, serve};
use fathom_probe::protocol::{ClientMessage, ErrorCode, ServerMessage};
use fathom_server::Refusal;
use std::io::Write;

fn error(message: Option<ServerMessage>) -> ErrorCode {
    match message {
        Some(ServerMessage::Error { code, message }) => {
            assert!(!message.is_empty());
            code
        }
        other => panic!("{other:?} instead of an error"),
    }
}

#[test]
fn hello_contains_address_and_limits_over_both_families() {
    let server = serve(|_| ());
    for ip in ["127.0.0.1", "::1"] {
        let control = Control::open(server.at(ip));
        let ServerMessage::Hello { address, version, congestion_controls, limits, .. } = &control.hello
        else {
            panic!("{:?}", control.hello)
        };
        assert_eq!(address.to_string(), ip);
        assert!(!version.is_empty() && !congestion_controls.is_empty());
        assert_eq!((limits.seconds, limits.flows), (600, 64));
    }
}

#[test]
fn the_token_opens_and_nothing_else_does() {
    let server = serve(|c| c.token = Some("s3cret".into()));
    for line in ["FATHOM/1 CONTROL\n", "FATHOM/1 CONTROL s3cre\n", "FATHOM/1 CONTROL s3cret2\n"] {
        assert_eq!(error(Control::try_open(server.v4(), line).err()), ErrorCode::Token, "{line}");
    }
    assert!(Control::try_open(server.v4(), "FATHOM/1 CONTROL s3cret\n").is_ok());
    assert_eq!(server.refused(Refusal::Token), 3);
    // A server without a token accepts any.
    assert!(Control::try_open(serve(|_| ()).v4(), "FATHOM/1 CONTROL anything\n").is_ok());
}

#[test]
fn an_unknown_version_and_malformed_lines_get_a_reason() {
    let server = serve(|_| ());
    for (line, code) in [
        ("FATHOM/2 CONTROL\n", ErrorCode::Version),
        ("FATHOM/1 CONTRL\n", ErrorCode::Malformed),
        ("FATHOM/1 CONTROL a b\n", ErrorCode::Malformed),
        ("FATHOM/1 FLOW 12 1 up -\n", ErrorCode::Malformed),
    ] {
        assert_eq!(error(Control::try_open(server.v4(), line).err()), code, "{line}");
    }
    for (line, code) in [
        ("{\"fly\":{}}\n", ErrorCode::Malformed),
        ("hello\n", ErrorCode::Malformed),
        ("{\"report_every\":{\"ms\":49}}\n", ErrorCode::Malformed),
        ("{\"report_every\":{\"ms\":10001}}\n", ErrorCode::Malformed),
    ] {
        let mut control = Control::open(server.v4());
        control.stream.write_all(line.as_bytes()).unwrap();
        assert_eq!(error(control.next()), code, "{line}");
        assert_eq!(control.next(), None, "closed after an error");
    }
    let mut control = Control::open(server.v4());
    control.stream.write_all(&vec![b'x'; 70_000]).unwrap();
    assert_eq!(error(control.next()), ErrorCode::Malformed, "a line beyond 64 KiB");
}

#[test]
fn fields_of_a_later_version_are_ignored_and_lines_may_come_in_parts() {
    let server = serve(|_| ());
    let mut control = Control::open(server.v4());
    for part in ["{\"report_every\":{\"ms\":50,\"colour\":", "\"red\"}}\n{\"by", "e\":{}}\n"] {
        control.stream.write_all(part.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(matches!(control.next(), Some(ServerMessage::Bye { .. })));
}

#[test]
fn messages_may_come_with_the_first_line() {
    let server = serve(|_| ());
    let said = exchange(server.v4(), b"FATHOM/1 CONTROL\n{\"bye\":{}}\n");
    let said = String::from_utf8(said).unwrap();
    let lines: Vec<_> = said.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("hello") && lines[1].contains("bye"), "{said}");
}

#[test]
fn sessions_beyond_the_limit_are_refused_until_one_ends() {
    let server = serve(|c| c.max_sessions = 2);
    let (first, _second) = (Control::open(server.v4()), Control::open(server.at("::1")));
    assert_ne!(first.session, _second.session);
    let refused = Control::try_open(server.v4(), "FATHOM/1 CONTROL\n").err();
    assert_eq!(error(refused), ErrorCode::Full);
    drop(first);
    server.until("the first session ends with its connection", |s| s.open_sessions == 1);
    Control::open(server.v4());
    assert_eq!(server.stats().sessions, 3);
}

#[test]
fn sessions_that_come_and_go_leave_nothing_behind() {
    let server = serve(|_| ());
    for _ in 0..100 {
        let control = Control::open(server.v4());
        let _ = control.flow(1, "down -");
    }
    server.until("everything is given back", |s| s.open_sessions == 0 && s.open_connections == 0);
    assert_eq!(server.stats().sessions, 100);
}

#[test]
fn stopping_ends_sessions_and_frees_the_port() {
    let server = fathom_server::Server::start(fathom_server::Config {
        listen: vec!["127.0.0.1".parse().unwrap()],
        port: fathom_test_support::unused_port(),
        ..Default::default()
    })
    .unwrap();
    let address = (std::net::Ipv4Addr::LOCALHOST, server.local_port()).into();
    let mut control = Control::open(address);
    let (mut flow, _) = control.flow(1, "down -");
    control.say(&ClientMessage::ReportEvery { ms: 50 });
    let start = std::time::Instant::now();
    server.stop();
    assert!(start.elapsed() < PATIENCE);
    assert_eq!(control.last(), None);
    crate::client::read_to_close(&mut flow);
    let again = std::net::UdpSocket::bind(address).unwrap();
    drop(again);
    assert!(std::net::TcpStream::connect(address).is_err());
}
