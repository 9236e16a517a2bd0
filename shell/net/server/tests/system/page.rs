//! The page of browsers: its files, its tests by WebSocket, and requests that mean no good.
use crate::client::{PATIENCE, SILENCE, TestServer, exchange, serve_page};
use fathom_browser::{Echo, PROBE_BYTES};
use fathom_server::Refusal;
use fathom_units::Bytes;
use serde_json::Value;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};
use tungstenite::Message;

fn request(address: SocketAddr, head: &str, body: &[u8]) -> String {
    let length = body.len();
    let head =
        format!("{head} HTTP/1.1\r\nHost: h.test:1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    String::from_utf8_lossy(&exchange(address, &[head.as_bytes(), body].concat())).into_owned()
}

fn get(address: SocketAddr, path: &str) -> String {
    request(address, &format!("GET {path}"), b"")
}

fn body(response: &str) -> &str {
    response.split_once("\r\n\r\n").expect("a response").1
}

fn status(response: &str) -> &str {
    response.get(9..12).unwrap_or(response)
}

/// A test without an offer of a data channel.
fn begin(server: &TestServer) -> String {
    let response = request(server.v4(), "POST /page/test?bytes=5000000", b"");
    assert_eq!(status(&response), "200", "{response}");
    body(&response).trim().to_owned()
}

#[test]
fn the_page_comes_from_this_server_alone() {
    let server = serve_page(|_| ());
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/page/speed.js", "text/javascript"),
        ("/page/load.js", "text/javascript"),
        ("/page/probe.js", "text/javascript"),
        ("/page/speed.css", "text/css"),
        ("/page/icon.svg", "image/svg+xml"),
    ] {
        let response = get(server.v4(), path);
        assert_eq!(status(&response), "200", "{path}");
        assert!(response.contains(&format!("content-type: {kind}\r\n")), "{path}: {response}");
        assert!(
            response.contains("content-security-policy: default-src 'none'; script-src 'self';"),
            "{path}"
        );
        assert!(response.contains("cross-origin-opener-policy: same-origin"), "{path}");
        assert!(!response.contains("access-control-allow-origin"), "{path}");
        let text = body(&response);
        let addresses: Vec<&str> =
            text.split("http").skip(1).filter(|rest| rest.starts_with("://")).collect();
        assert!(addresses.is_empty() || path.ends_with(".svg"), "{path} names {addresses:?}");
        assert!(
            !text.contains(" style=") && !text.contains("<style") && !text.contains(" onclick="),
            "{path}"
        );
    }
    let packed = exchange(
        server.v4(),
        b"GET /page/speed.js HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip, br\r\nConnection: close\r\n\r\n",
    );
    assert!(String::from_utf8_lossy(&packed).contains("content-encoding: gzip"));
    assert!(packed.len() < 30_000, "{}", packed.len());
}

#[test]
fn a_server_with_a_token_has_no_page() {
    let server = serve_page(|config| config.token = Some("secret".into()));
    let page = get(server.v4(), "/");
    assert!(page.contains("a test server") && !page.contains("script"), "{page}");
    let test = request(server.v4(), "POST /page/test", b"");
    assert!(!test.starts_with("HTTP/1.1 200"), "{test}");
}

fn await_result(server: &TestServer, id: &str) {
    let path = format!("/page/result/{id}");
    server.until("the result", |_| status(&get(server.v4(), &path)) == "200");
}

/// Answers probes for a while, then leaves.
fn probe_by_websocket(server: &TestServer, id: &str, time: Duration) -> u32 {
    let stream = TcpStream::connect(server.v4()).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    let url = format!("ws://{}/page/socket/{id}", server.v4());
    let (mut socket, _) = tungstenite::client(url, stream).expect("a WebSocket");
    let (start, mut received) = (Instant::now(), 0);
    while start.elapsed() < time {
        let Ok(Message::Binary(probe)) = socket.read() else { panic!("no probe") };
        assert_eq!(probe.len(), PROBE_BYTES);
        received += 1;
        let us = start.elapsed().as_micros() as u64;
        let echo = Echo {
            sequence: u32::from_be_bytes(probe[4..8].try_into().expect("four bytes")),
            received,
            received_us: us,
            sent_us: us + 5,
            down_bytes: 0,
            counted_us: us,
            late_us: 10,
            is_hidden: false,
        };
        socket.send(Message::binary(echo.encode().to_vec())).expect("the server reads");
        // What is no answer is ignored.
        socket.send(Message::binary(vec![1; 48])).expect("the server reads");
        socket.send(Message::text("x")).expect("the server reads");
    }
    received
}

#[test]
fn a_page_that_leaves_gets_a_result_of_what_was_measured() {
    let server = serve_page(|_| ());
    let id = begin(&server);
    let path = format!("/page/result/{id}");
    assert_eq!(status(&get(server.v4(), &path)), "202", "it has not started");
    assert_eq!(status(&get(server.v4(), &format!("/page/load/{id}"))), "409", "no phase has load");
    let received = probe_by_websocket(&server, &id, Duration::from_millis(1_200));
    assert!((10..30).contains(&received), "{received}");
    await_result(&server, &id);
    let response = get(server.v4(), &path);
    let run: Value = serde_json::from_str(body(&response)).expect("JSON");
    let probes = run["series"].as_array().expect("series").iter();
    let probes = probes.filter(|series| series["metric"] == "http_kept_s").map(|s| s["values"].as_array());
    let counts: Vec<Option<usize>> = probes.map(|values| values.map(Vec::len)).collect();
    assert!(counts.len() == 1 && counts[0] >= Some(10), "{counts:?}");
    assert_eq!(run["partial"]["kind"], "stopped");
    assert_eq!(run["facts"]["protocol"], "WebSocket");
    assert_eq!(run["phases"][0]["end"], "aborted");
    // A second connection for the same test gets nothing.
    let stream = TcpStream::connect(server.v4()).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    let url = format!("ws://{}/page/socket/{id}", server.v4());
    let (mut socket, _) = tungstenite::client(url, stream).expect("a WebSocket");
    assert!(matches!(socket.read(), Ok(Message::Binary(last)) if last[1] == 6), "the last message");
}

#[test]
fn a_result_is_shown_to_others_only_if_its_user_agrees() {
    let server = serve_page(|_| ());
    let id = begin(&server);
    probe_by_websocket(&server, &id, Duration::from_millis(100));
    let listed = || body(&get(server.v4(), "/page/devices")).to_owned();
    await_result(&server, &id);
    let none: Value = serde_json::from_str(&listed()).expect("JSON");
    assert_eq!((&none["keeps"], &none["devices"]), (&false.into(), &Value::Array(Vec::new())));
    let name = "<img src=x onerror=alert(1)>\"\u{7}\u{202e}";
    let response = request(server.v4(), &format!("POST /page/publish/{id}"), name.as_bytes());
    assert_eq!(status(&response), "200");
    let devices: Value = serde_json::from_str(&listed()).expect("JSON");
    let shown = devices["devices"][0]["name"].as_str().expect("a name");
    assert!(shown.starts_with("<img src=x") && !shown.contains('\u{7}') && !shown.contains('\u{202e}'));
    let report = get(server.v4(), &format!("/result/{id}"));
    assert!(report.contains("script-src 'sha256-") && report.contains("text/html"), "{report}");
    let image = format!("\"og:image\" content=\"http://h.test:1/result/{id}.png\"");
    assert!(report.contains(&image), "{report}");
    for ending in [".json", ".png"] {
        assert_eq!(status(&get(server.v4(), &format!("/result/{id}{ending}"))), "200", "{ending}");
    }
}

#[test]
fn senseless_requests_are_refused_and_counted() {
    let server = serve_page(|_| ());
    let id = begin(&server);
    let other = "0123456789abcdef0123456789abcdef";
    for path in [
        format!("/page/result/{other}"),
        "/page/result/".into(),
        format!("/page/result/{id}x"),
        format!("/page/load/{other}"),
        format!("/result/{other}"),
        format!("/result/{id}.jso"),
        "/page/other".into(),
        "/../etc/passwd".into(),
    ] {
        assert_eq!(status(&get(server.v4(), &path)), "404", "{path}");
    }
    for (head, data, expected) in [
        ("POST /page/test", &b"no offer"[..], "400"),
        ("POST /page/test", &[0xff; 100], "400"),
        ("POST /page/test?bytes=x", b"", "404"),
        ("POST /page/test?bytes=1", b"", "404"),
        ("POST /page/publish/0", b"", "404"),
        ("DELETE /page/test", b"", "404"),
    ] {
        let response = request(server.v4(), head, data);
        // A method of which the first line is no request of a page has no answer.
        assert!(status(&response) == expected || response.is_empty(), "{head}: {response}");
    }
    let large = request(server.v4(), "POST /page/test", &vec![b'a'; 20_000]);
    assert!(large.contains("20000 bytes (at most 16384)"), "{large}");
    let long = request(server.v4(), &format!("POST /page/publish/{id}"), &vec![b'a'; 1_000]);
    assert_eq!(status(&long), "404", "a name that is too long");
    assert!(server.refused(Refusal::Http) > 10);
}

/// A sender that does not know the password of a test gets no answer.
#[test]
fn datagrams_of_strangers_are_not_answered() {
    let server = serve_page(|_| ());
    let _id = begin(&server);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.connect(server.v4()).expect("an address");
    socket.set_read_timeout(Some(SILENCE)).expect("a time limit");
    // A binding request of STUN (RFC 8489) with a username, and a ClientHello of DTLS.
    let stun = b"\0\x01\0\x0c\x21\x12\xa4\x42abcdefghijkl\0\x06\0\x08user:nam";
    let dtls = [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0];
    for datagram in [&stun[..], &dtls, &[0; 1_400], &[63; 20], &[20]] {
        for _ in 0..100 {
            socket.send(datagram).expect("loopback takes it");
        }
    }
    assert!(socket.recv(&mut [0; 2_000]).is_err(), "an answer to a stranger");
    // The server goes on.
    assert_eq!(status(&get(server.v4(), "/")), "200");
}

/// A page may use less than the server allows, and not more.
#[test]
fn a_test_holds_the_session_of_its_client() {
    let server = serve_page(|config| {
        config.max_sessions = 4;
        config.max_bytes = Bytes(2_000_000);
    });
    let id = begin(&server);
    assert_eq!(server.stats().open_sessions, 1);
    probe_by_websocket(&server, &id, Duration::from_millis(100));
    // It ends a few seconds after the test.
    server.until("the session ends", |stats| stats.open_sessions == 0);
}
