//! Tests with the real irtt client, and with datagrams that mean no good.
use crate::client::{PATIENCE, SILENCE, TestServer, serve};
use fathom_protocol::irtt::{Asked, IrttError, Layout, Params, Session};
use fathom_server::{Config, Refusal, SessionEnd};
use fathom_test_support::unused_port;
use fathom_units::Duration;
use serde_json::Value;
use std::net::UdpSocket;
use std::process::{Command, Output};

/// A server that serves irtt on this port.
fn with_irtt(change: impl FnOnce(&mut Config)) -> (TestServer, u16) {
    let port = unused_port();
    let server = serve(|config| {
        config.irtt_port = Some(port);
        change(config);
    });
    (server, port)
}

fn client(port: u16, arguments: &[&str]) -> Output {
    let ran = Command::new("irtt").arg("client").args(arguments).arg(format!("127.0.0.1:{port}")).output();
    ran.expect("irtt is not installed: run ./setup test")
}

/// Results of the real client.
fn results(port: u16, arguments: &[&str]) -> Value {
    let output = client(port, &[&["-Q", "-o", "-"], arguments].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// A socket on which a client asks for a session.
fn socket(ip: &str, port: u16) -> UdpSocket {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.connect(("127.0.0.1", port)).unwrap();
    socket
}

fn ask(socket: &UdpSocket, request: &[u8], wait: std::time::Duration) -> Option<Vec<u8>> {
    let mut buffer = [0; 2048];
    socket.set_read_timeout(Some(wait)).unwrap();
    socket.send(request).unwrap();
    let length = socket.recv(&mut buffer).ok()?;
    Some(buffer[..length].to_vec())
}

fn asked() -> Asked {
    let seconds = Duration::from_secs;
    let params = Params {
        duration: seconds(60),
        interval: seconds(1),
        length_bytes: 64,
        layout: Layout::FATHOM,
        ..Params::default()
    };
    Asked::new(params, None)
}

fn open(socket: &UdpSocket) -> Session {
    asked().opened(&ask(socket, &asked().request(), PATIENCE).unwrap()).unwrap()
}

#[test]
fn the_real_client_gets_every_field_that_it_asks_for() {
    let (server, port) = with_irtt(|_| ());
    let quick = ["-d", "500ms", "-i", "10ms"];
    for more in [
        &["-l", "172"][..],
        &["--tstamp=midpoint", "--clock=wall", "--stats=none"],
        &["--tstamp=receive", "--stats=count"],
        &["--tstamp=none"],
    ] {
        let measured = results(port, &[&quick, more].concat());
        let stats = &measured["stats"];
        let sent = stats["packets_sent"].as_u64().unwrap();
        assert!(sent >= 30 && stats["packets_received"] == sent, "{more:?}: {stats}");
        assert!(stats["duplicates"] == 0 && stats["late_packets"] == 0, "{more:?}: {stats}");
        if more[0] == "-l" {
            assert_eq!(stats["server_packets_received"], sent, "{stats}");
            assert_eq!(stats["bytes_received"], sent * 172, "{stats}");
            // Each way takes part of the round trip.
            let mean = |name: &str| stats[name]["mean"].as_f64().unwrap();
            let sum = mean("send_delay") + mean("receive_delay");
            assert!((sum / mean("rtt") - 1.0).abs() < 0.5, "{stats}");
            assert!(measured["round_trips"].as_array().unwrap().iter().all(|one| one["lost"] == "false"));
        }
        server.until("the client has closed the session", |now| now.open_sessions == 0);
    }
    assert_eq!(server.stats().sessions, 4);
    let ends = server.events();
    assert_eq!(format!("{ends:?}").matches(&format!("{:?}", SessionEnd::Complete)).count(), 4, "{ends:?}");
}

#[test]
fn the_real_client_learns_what_is_restricted() {
    let (server, port) = with_irtt(|config| config.max_time = Duration::from_millis(700));
    let refused = client(port, &["-d", "1m", "-i", "10ms"]);
    let text =
        String::from_utf8_lossy(&refused.stderr).into_owned() + &String::from_utf8_lossy(&refused.stdout);
    assert!(text.contains("reduced duration from 1m0s to 700ms"), "{text}");
    // With --loose, it goes on; the server ends the session.
    let measured = results(port, &["-d", "1m", "-i", "10ms", "-l", "64", "--loose"]);
    let sent = measured["stats"]["packets_sent"].as_u64().unwrap();
    assert!((40..=120).contains(&sent), "{sent}");
    server.until("it is over", |stats| stats.open_sessions == 0);
    // With an HMAC, the server does not answer at all.
    let keyed = client(port, &["-d", "1s", "--hmac=secret", "--timeouts=200ms"]);
    assert!(!keyed.status.success(), "{keyed:?}");
    assert_eq!(server.refused(Refusal::DatagramForm), 1);
}

#[test]
fn a_token_is_of_the_socket_that_asked_for_it() {
    let (server, port) = with_irtt(|_| ());
    let here = socket("127.0.0.1", port);
    let session = open(&here);
    assert_eq!(server.stats().open_sessions, 0, "a request takes no place");
    let reply = session.reply(&ask(&here, &session.probe(0), PATIENCE).unwrap()).unwrap();
    assert_eq!((reply.sequence, reply.received, reply.received_ns <= reply.sent_ns), (0, Some(1), true));
    assert_eq!(server.stats().open_sessions, 1);
    // The same token from another port, and from another address.
    for ip in ["127.0.0.1", "127.0.0.2"] {
        let elsewhere = socket(ip, port);
        assert_eq!(ask(&elsewhere, &session.probe(1), SILENCE), None);
        elsewhere.send(&session.close()).unwrap();
    }
    let mut wrong = session.probe(1);
    wrong[5] ^= 1;
    let keyed = Asked::new(Params::default(), Some(b"key")).request();
    for bad in [&wrong[..], &wrong[..11], b"", &[0x14; 1_400], &keyed, &session.probe(1)[..30]] {
        assert_eq!(ask(&here, bad, SILENCE / 4), None, "{} bytes", bad.len());
    }
    server.until("all is counted", |_| server.refused(Refusal::DatagramAddress) == 4);
    assert_eq!((server.refused(Refusal::DatagramSession), server.refused(Refusal::DatagramForm)), (1, 5));
    // The late probe is counted, but has no reply that is longer than itself.
    let later = session.reply(&ask(&here, &session.probe(2), PATIENCE).unwrap()).unwrap();
    assert_eq!(later.received, Some(3));
    here.send(&session.close()).unwrap();
    server.until("it is closed", |stats| stats.open_sessions == 0);
    let after = ask(&here, &session.probe(3), PATIENCE).unwrap();
    assert_eq!((session.reply(&after), after.len()), (Err(IrttError::Closed), 64));
    assert_eq!(server.stats().sessions, 1, "a token opens one session");
}

#[test]
fn a_flood_of_requests_takes_no_place_and_is_hardly_answered() {
    let (server, port) = with_irtt(|_| ());
    let flood = socket("127.0.0.3", port);
    flood.set_read_timeout(Some(SILENCE)).unwrap();
    for _ in 0..200 {
        flood.send(&asked().request()).unwrap();
    }
    server.until("most are refused", |_| server.refused(Refusal::DatagramRate) >= 170);
    let mut buffer = [0; 2048];
    let mut answered = 0;
    while let Ok(length) = flood.recv(&mut buffer) {
        assert!(length <= asked().request().len() + 8, "{length} bytes");
        answered += 1;
    }
    // 10 in each second in which the flood arrived.
    assert!((10..=30).contains(&answered), "{answered}");
    assert_eq!(server.stats().sessions, 0);
    let other = socket("127.0.0.1", port);
    let session = open(&other);
    assert!(session.reply(&ask(&other, &session.probe(0), PATIENCE).unwrap()).is_ok());
}

#[test]
fn sessions_have_places_and_end_when_they_are_idle() {
    let (server, port) = with_irtt(|config| {
        (config.max_sessions, config.max_idle) = (4, Duration::from_millis(400));
    });
    let (first, second) = (socket("127.0.0.1", port), socket("127.0.0.1", port));
    let (held, more) = (open(&first), open(&second));
    assert!(held.reply(&ask(&first, &held.probe(0), PATIENCE).unwrap()).is_ok());
    // One address has a quarter of the places.
    let refused = ask(&second, &more.probe(0), PATIENCE).unwrap();
    assert_eq!(more.reply(&refused), Err(IrttError::Closed));
    assert_eq!(server.refused(Refusal::SessionShare), 1);
    server.until("the first is idle for too long", |stats| stats.open_sessions == 0);
    assert_eq!(server.refused(Refusal::Idle), 1);
}
