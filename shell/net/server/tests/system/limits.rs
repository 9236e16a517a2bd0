//! Limits of time, bytes and connections.
use crate::client::{Control, PATIENCE, connect, exchange, read_to_close, serve};
use fathom_probe::protocol::{ErrorCode, ServerMessage, probe_request};
use fathom_server::Refusal;
use fathom_units::{Bytes, Duration};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

fn is_limit(message: Option<ServerMessage>) -> bool {
    matches!(message, Some(ServerMessage::Error { code: ErrorCode::Limit, .. }))
}

#[test]
fn a_session_ends_at_its_time_and_its_flows_with_it() {
    let server = serve(|c| c.max_time = Duration::from_millis(300));
    let mut control = Control::open(server.v4());
    let (mut flow, _) = control.flow(1, "down -");
    assert!(is_limit(control.last()));
    assert_eq!(control.next(), None);
    read_to_close(&mut flow);
    assert_eq!(server.refused(Refusal::Limit), 1);
    server.until("the session is gone", |s| s.open_sessions == 0);
}

#[test]
fn a_session_ends_at_its_bytes_in_either_direction() {
    for direction in ["down -", "up -"] {
        let server = serve(|c| c.max_bytes = Bytes(5_000_000));
        let mut control = Control::open(server.v4());
        let (mut flow, _) = control.flow(1, direction);
        if direction.starts_with("up") {
            while flow.write_all(&[0; 65536]).is_ok() {}
        } else {
            read_to_close(&mut flow);
        }
        assert!(is_limit(control.last()), "{direction}");
        let moved = server.stats().up_bytes + server.stats().down_bytes;
        // One call transfers up to 1 MiB.
        assert!(moved <= 5_000_000 + (1 << 20), "{direction}: {moved}");
        assert!(moved > 1_000_000, "{direction}: {moved}");
    }
}

#[test]
fn one_address_may_hold_a_quarter_of_the_connections() {
    let server = serve(|c| c.max_connections = 8);
    let held: Vec<_> = (0..2).map(|_| connect(server.v4())).collect();
    server.until("both are accepted", |s| s.open_connections == 2);
    // The reset may arrive before connect(2) returns.
    let third = TcpStream::connect(server.v4()).and_then(|mut stream| stream.read(&mut [0]));
    assert_eq!(third.map_err(|e| e.kind()), Err(ErrorKind::ConnectionReset));
    assert_eq!(server.refused(Refusal::ConnectionShare), 1);
    assert!(!exchange(server.at("::1"), &probe_request_once()).is_empty(), "others are served");
    drop(held);
    server.until("both are given back", |s| s.open_connections == 0);
    assert!(!exchange(server.v4(), &probe_request_once()).is_empty());
}

fn probe_request_once() -> Vec<u8> {
    b"GET /probe HTTP/1.0\r\n\r\n".to_vec()
}

#[test]
fn silence_and_slow_first_lines_are_closed_after_five_seconds() {
    let server = serve(|_| ());
    let start = Instant::now();
    let (mut silent, mut slow) = (connect(server.v4()), connect(server.v4()));
    slow.set_nonblocking(true).unwrap();
    let closed = loop {
        // One byte every 100 ms: it would eventually be a valid line.
        let _ = slow.write(b"F");
        std::thread::sleep(std::time::Duration::from_millis(100));
        match slow.read(&mut [0]) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            _ => break start.elapsed(),
        }
        assert!(start.elapsed() < 2 * PATIENCE, "still open");
    };
    assert!(closed.as_secs_f64() > 4.0, "closed after {closed:?}");
    assert!(read_to_close(&mut silent).is_empty());
    assert_eq!(server.refused(Refusal::Silent), 2);
    // A kept-alive connection may be silent longer than the timeout of a first line.
    let mut kept = connect(server.v4());
    kept.write_all(&probe_request("h")).unwrap();
    assert!(kept.read(&mut [0; 200]).unwrap() > 0);
}
