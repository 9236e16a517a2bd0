//! ndt7 and msak servers, as their specifications describe them.
use crate::stand_in::{check_load, kinds, protocol, test};
use fathom_peers::Trust;
use fathom_run::{Interruption, Note, PhaseKind};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::{HeaderValue, StatusCode};
use tungstenite::{Bytes, Message, WebSocket};

/// How a server behaves.
#[derive(Clone, Copy)]
struct Behavior {
    /// The measurement that it sends first.
    measurement: &'static str,
    /// Bytes after which it ends a test.
    limit_bytes: usize,
    /// Whether it says so before it closes the connection.
    is_polite: bool,
}

/// Starts a server; returns its port and the requests that it gets.
fn start(behavior: Behavior) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = seen.clone();
            // The client ends connections whenever a phase ends.
            std::thread::spawn(move || drop(serve(stream, behavior, &seen)));
        }
    });
    (port, requests)
}

#[expect(clippy::result_large_err, reason = "the type of the library's callback")]
fn serve(stream: TcpStream, behavior: Behavior, seen: &Mutex<Vec<String>>) -> tungstenite::Result<()> {
    let mut path = String::new();
    let upgrade = |request: &Request, mut response: Response| {
        path = request.uri().to_string();
        seen.lock().unwrap().push(path.clone());
        let expected = match path.starts_with("/ndt/v7/") {
            true => "net.measurementlab.ndt.v7",
            false => "net.measurementlab.throughput.v1",
        };
        if request.headers().get("sec-websocket-protocol") != Some(&HeaderValue::from_static(expected)) {
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = StatusCode::BAD_REQUEST;
            return Err(refusal);
        }
        response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(expected));
        Ok(response)
    };
    // Connections of probes send nothing.
    let Ok(mut socket) = tungstenite::accept_hdr(stream, upgrade) else { return Ok(()) };
    socket.send(Message::Text(behavior.measurement.into()))?;
    let moved = if path.contains("download") { send } else { receive };
    moved(&mut socket, behavior.limit_bytes)?;
    if behavior.is_polite {
        socket.close(None)?;
        while socket.read().is_ok() {}
    }
    Ok(())
}

fn send(socket: &mut WebSocket<TcpStream>, limit_bytes: usize) -> tungstenite::Result<()> {
    let block = Bytes::from(vec![7; 1 << 16]);
    for _ in 0..limit_bytes / block.len() {
        socket.send(Message::Binary(block.clone()))?;
    }
    Ok(())
}

fn receive(socket: &mut WebSocket<TcpStream>, limit_bytes: usize) -> tungstenite::Result<()> {
    let (mut bytes, mut messages) = (0, 0);
    while bytes < limit_bytes {
        bytes += socket.read()?.len();
        messages += 1;
        // A client that does not read would stop this server.
        if messages % 10 == 0 {
            socket.send(Message::Text("x".repeat(20_000).into()))?;
        }
    }
    Ok(())
}

/// A server of ndt7, which sends with BBR.
const OF_NDT7: Behavior =
    Behavior { measurement: r#"{"BBRInfo":{"BW":1}}"#, limit_bytes: 30 << 20, is_polite: true };

#[test]
fn ndt7_loads_both_directions_and_goes_on_after_its_end() {
    let (port, requests) = start(OF_NDT7);
    let run = test(&format!("ndt7+ws://127.0.0.1:{port}"), &Trust::Host).unwrap();
    assert_eq!((protocol(&run), kinds(&run).len()), ("ndt7", 5));
    check_load(&run);
    let bbr = Note::CongestionControlReplaced { requested: "cubic".into(), used: "bbr".into() };
    assert!(run.notes.contains(&bbr), "{:?}", run.notes);
    let down = run.phases.iter().find(|phase| phase.kind == PhaseKind::Down).unwrap();
    assert_eq!(down.load.as_ref().unwrap().congestion_control, "bbr");
    let seen = requests.lock().unwrap();
    let flows = seen.iter().filter(|path| path.starts_with("/ndt/v7/download?client_name=fathom")).count();
    // Two phases of two flows; a flow that ends early opens another connection.
    assert!(flows > 4, "{seen:?}");
}

#[test]
fn an_msak_server_is_asked_for_the_congestion_control() {
    let (port, requests) = start(Behavior { measurement: r#"{"CC":"cubic"}"#, ..OF_NDT7 });
    let run = test(&format!("msak+ws://127.0.0.1:{port}"), &Trust::Host).unwrap();
    assert_eq!(protocol(&run), "msak");
    check_load(&run);
    let seen = requests.lock().unwrap();
    let asked = |path: &String| path.contains("&streams=1&duration=24000&cc=cubic&client_name=fathom");
    assert!(seen.iter().all(|path| path.starts_with("/throughput/v1/") && asked(path)), "{seen:?}");
}

#[test]
fn a_server_that_breaks_off_ends_the_load_with_its_reason() {
    for (limit_bytes, is_polite, expected) in [
        (1 << 20, false, "WebSocket: Connection reset without closing handshake"),
        (1 << 16, true, "the server ended a connection after 65"),
    ] {
        let (port, _) = start(Behavior { limit_bytes, is_polite, ..OF_NDT7 });
        let run = test(&format!("ndt7+ws://127.0.0.1:{port}"), &Trust::Host).unwrap();
        let Some(Interruption::NoFlowLeft { message, .. }) = &run.partial else {
            panic!("{:?}", run.partial)
        };
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn another_service_is_named() {
    let server = crate::stand_in::StandIn::start(|_, out| {
        crate::stand_in::reply(out, "429 Too Many Requests", "Retry-After: 60\r\n", "")
    });
    let run = server.test(&format!("ndt7+ws://127.0.0.1:{}", server.port)).unwrap();
    let Some(Interruption::NoFlowLeft { message, .. }) = &run.partial else { panic!("{:?}", run.partial) };
    assert_eq!(message, "HTTP status 429, retry after 60");
    let error = server.test("ndt7+ws://127.0.0.1:1").unwrap_err().to_string();
    assert_eq!(error, "ndt7+ws://127.0.0.1:1: 127.0.0.1:1 refused the connection");
}
