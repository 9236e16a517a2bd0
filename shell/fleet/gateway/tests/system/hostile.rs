//! Requests that are meant to harm, and what a stolen key can do.
use crate::client::{exchange, parse, request};
use crate::receiver::Simulated;
use crate::setup::{Setup, one};
use fathom_fleet_gateway::Engine;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn headers(bearer: &str) -> [(&str, &str); 3] {
    [("Authorization", bearer), ("Content-Encoding", "snappy"), ("Content-Type", "application/x-protobuf")]
}

#[test]
fn a_stolen_key_reads_nothing() {
    let engine = Simulated::start();
    let setup = Setup::with_engine(&engine.url);
    let key = setup.enroll("berlin");
    let bearer = format!("Bearer {key}");
    assert_eq!(setup.put(&key, "runs/site=berlin/a", b"x").status, 200);
    for method in ["GET", "HEAD", "LIST", "DELETE", "PATCH", "OPTIONS"] {
        for path in [
            "/",
            "/metrics",
            "/api/v1/write",
            "/api/v1/key",
            "/api/v1/enroll",
            "/api/v1/objects/",
            "/api/v1/objects/runs/site=berlin/a",
            "/api/v1/objects/runs/site=berlin/?list-type=2",
            "/api/v1/query?query=up",
            "/api/v1/read",
            "/api/v1/series",
        ] {
            let answer = setup.send((method, path), &[("Authorization", &bearer)], b"");
            assert!(matches!(answer.status, 401 | 404 | 405), "{method} {path}: {answer:?}");
        }
    }
    let read = setup.send(("POST", "/api/v1/read"), &headers(&bearer), &one("berlin").packed);
    assert_eq!(read.status, 404);
    assert_eq!(engine.count(), 0);
    // Headers of an agent do not reach the engine.
    let mut all = headers(&bearer).to_vec();
    all.extend([("X-Scope-OrgID", "other"), ("Cookie", "a=b"), ("X-Forwarded-For", "192.0.2.1")]);
    assert_eq!(setup.send(("POST", "/api/v1/write"), &all, &one("berlin").packed).status, 204);
    let received = engine.received.lock().unwrap();
    let head = received[0].head.to_ascii_lowercase();
    assert!(!head.contains("scope") && !head.contains("cookie") && !head.contains("authorization"), "{head}");
}

#[test]
fn keys_and_counts_are_asked_for() {
    let setup = Setup::new(|config| {
        let path = config.state.with_file_name("password");
        std::fs::write(&path, "a long password\n").unwrap();
        config.metrics_password_file = Some(path);
    });
    for bearer in ["Bearer nothing", "Basic YTpi", "Bearer", ""] {
        let answer = setup.send(("POST", "/api/v1/write"), &headers(bearer), b"");
        assert_eq!((answer.status, answer.header("www-authenticate").is_some()), (401, true), "{bearer}");
    }
    let two = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")];
    assert_eq!(setup.send(("POST", "/api/v1/write"), &two, b"").status, 401);
    let metrics = |given: &[(&str, &str)]| setup.send(("GET", "/metrics"), given, b"").status;
    assert_eq!(metrics(&[]), 200);
    assert_eq!(metrics(&[("X-Forwarded-For", "192.0.2.1")]), 401);
    assert_eq!(metrics(&[("Authorization", "Bearer wrong")]), 401);
    assert_eq!(
        metrics(&[("X-Forwarded-For", "192.0.2.1"), ("Authorization", "Bearer a long password")]),
        200
    );
}

#[test]
fn large_and_packed_bodies_are_refused_before_they_are_read() {
    let engine = Simulated::start();
    let setup = Setup::with_engine(&engine.url);
    let key = setup.enroll("berlin");
    let bearer = format!("Bearer {key}");
    let to = setup.gateway.address();
    for length in ["2097153", "1000000000000", "18446744073709551615"] {
        let mut all = headers(&bearer).to_vec();
        all.push(("Content-Length", length));
        let answer = exchange(to, &request("POST", "/api/v1/write", &all, b"x")).unwrap();
        // hyper refuses the last one as a header that is too large.
        assert!(matches!(answer.status, 413 | 431), "{length}: {answer:?}");
    }
    // Chunks without an end.
    let mut all = headers(&bearer).to_vec();
    all.push(("Transfer-Encoding", "chunked"));
    let mut bytes = request("POST", "/api/v1/write", &all, b"");
    for _ in 0..40 {
        bytes.extend(b"10000\r\n");
        bytes.extend(vec![0; 65_536]);
        bytes.extend(b"\r\n");
    }
    if let Some(answer) = exchange(to, &bytes) {
        assert_eq!(answer.status, 413);
    }
    // A block that claims to have 4 GiB, and one that has 64 MiB of zeros.
    let bomb = snap::raw::Encoder::new().compress_vec(&vec![0; 64 << 20]).unwrap();
    let small = snap::raw::Encoder::new().compress_vec(&vec![0; 6 << 20]).unwrap();
    for packed in [b"\xff\xff\xff\xff\x0f\x00".as_slice(), &small, &bomb, b"", b"not snappy"] {
        let answer = setup.send(("POST", "/api/v1/write"), &headers(&bearer), packed);
        assert!(matches!(answer.status, 400 | 413), "{answer:?}");
    }
    for (content, encoding) in [("text/plain", "snappy"), ("application/x-protobuf", "gzip")] {
        let other =
            [("Authorization", bearer.as_str()), ("Content-Type", content), ("Content-Encoding", encoding)];
        assert_eq!(setup.send(("POST", "/api/v1/write"), &other, &one("berlin").packed).status, 415);
    }
    assert_eq!(engine.count(), 0);
    assert_eq!(setup.write(&key, &one("berlin")).status, 204);
}

#[test]
fn slow_senders_do_not_keep_others_out() {
    let engine = Simulated::start();
    let setup = Setup::new(|config| {
        config.engine = Some(Engine::new(&engine.url));
        config.body_timeout = Duration::from_millis(500);
        config.connections = 16;
    });
    let key = setup.enroll("berlin");
    let bearer = format!("Bearer {key}");
    // Connections that send nothing: the oldest ones make place.
    let idle: Vec<TcpStream> =
        (0..64).map(|_| TcpStream::connect(setup.gateway.address()).unwrap()).collect();
    assert_eq!(setup.write(&key, &one("berlin")).status, 204);
    drop(idle);
    let mut all = headers(&bearer).to_vec();
    all.push(("Content-Length", "1000"));
    let mut stream = TcpStream::connect(setup.gateway.address()).unwrap();
    stream.write_all(&request("POST", "/api/v1/write", &all, b"x")).unwrap();
    let mut answer = Vec::new();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let _ = stream.read_to_end(&mut answer);
    assert_eq!(parse(&answer).unwrap().status, 408);
    // Enrollments too.
    let enrollment = exchange(
        setup.gateway.address(),
        &request("POST", "/api/v1/enroll", &[("Content-Length", "20000")], b"{"),
    );
    assert_eq!(enrollment.unwrap().status, 413);
}

#[test]
fn enrollments_are_strict() {
    let setup = Setup::new(|_| {});
    let long = "x".repeat(65);
    for body in [
        "",
        "[]",
        "{}",
        "{\"token\":1,\"site\":\"a\"}",
        "{\"token\":\"t\",\"site\":\"a/b\"}",
        &format!("{{\"token\":\"t\",\"site\":\"{long}\"}}"),
        "{\"token\":\"t\",\"site\":\"a\",\"labels\":[1]}",
        "{\"token\":\"t\",\"site\":\"a\",\"labels\":{\"a\":1}}",
        "{\"token\":\"t\",\"site\":\"a\",\"labels\":{\"__tenant__\":\"x\"}}",
        "{\"token\":\"t\",\"site\":\"a\",\"labels\":{\"job\":\"x\"}}",
        "{\"token\":\"t\",\"site\":\"a\",\"labels\":{\"plan\":\"x\\ny\"}}",
    ] {
        let answer = setup.send(("POST", "/api/v1/enroll"), &[], body.as_bytes());
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
    }
    let unknown = setup.send(("POST", "/api/v1/enroll"), &[], b"{\"token\":\"t\",\"site\":\"a\"}");
    assert_eq!(unknown.status, 401);
}
