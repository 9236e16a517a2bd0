//! Requests that no browser sends: each gets a clear response, and the server keeps running.
use crate::client::{get, parse, raw, send, server, start};
use fathom_watch_web::serve;
use fathom_web::{WebConfig, WebError};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn invalid_requests_get_one_line_with_the_error() {
    let server = server(3);
    let long = format!("/api/v1/smoke?series={}", "9".repeat(3_000));
    let cases = [
        ("/api/v1/smoke", 400, "parameter series is missing: /api/v1/series lists them"),
        ("/api/v1/smoke?series=1", 400, "parameter from is missing"),
        ("/api/v1/smoke?series=1&from=5&to=5", 400, "from is not before to"),
        (
            "/api/v1/smoke?series=1&from=5&to=1e9",
            400,
            "to: invalid time \"1e9\" (expected seconds since 1970-01-01 UTC, for example 1795183808.5)",
        ),
        (
            "/api/v1/smoke?series=1&from=5&to=99999999999999999999",
            400,
            "to: invalid time \"99999999999999999999\"",
        ),
        (
            "/api/v1/smoke?series=-1&from=5&to=6",
            400,
            "series: invalid value \"-1\" (expected a whole number from 0 to 4294967295)",
        ),
        ("/api/v1/smoke?series=7&from=5&to=6", 404, "no series 7: /api/v1/series lists them"),
        (
            "/api/v1/smoke?series=1&from=5&to=6&cols=100000000",
            400,
            "cols: invalid value \"100000000\" (expected a whole number from 1 to 8192)",
        ),
        ("/api/v1/smoke?series=1&from=5&to=6&cols=0", 400, "cols: invalid value \"0\""),
        (
            "/api/v1/smoke?series=1&from=5&to=6&format=xml",
            400,
            "unknown format \"xml\": try json or csv or binary",
        ),
        ("/api/v1/smoke?series=1&from=5&to=6&clos=5", 400, "unknown parameter \"clos\""),
        ("/api/v1/smoke?series=1&series=2", 400, "duplicate parameter \"series\""),
        ("/api/v1/smoke?series=%zz", 400, "invalid percent encoding in \"%zz\""),
        ("/api/v1/events?from=%ff&to=2", 400, "invalid percent encoding in \"%ff\""),
        (
            "/api/v1/heatmap?series=1&from=1&to=999999999",
            400,
            "the range has 277778 hours, more than the limit of 26352",
        ),
        (
            "/api/v1/heatmap?series=1&from=1&to=9&utc_offset_s=7",
            400,
            "utc_offset_s: invalid offset \"7\" (expected multiples of 900",
        ),
        ("/api/v1/targets?x=%1b[31m", 400, "unknown parameter \"x\""),
        ("/api/v1/nothing", 404, "/api/v1/nothing does not exist: see /api/v1/openapi.json"),
        ("/../../etc/passwd", 404, "\"/../../etc/passwd\" does not exist"),
        ("/%2e%2e/%2e%2e/etc/passwd", 404, "\"/%2e%2e/%2e%2e/etc/passwd\" does not exist"),
        ("/watch.js/../../secret", 404, "\"/watch.js/../../secret\" does not exist"),
        ("//etc/passwd", 404, "\"//etc/passwd\" does not exist"),
        (long.as_str(), 414, "the URI has 3021 bytes, more than the limit of 2048"),
    ];
    for (path, status, words) in cases {
        let answer = get(&server, path, "");
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(answer.status, status, "{path}: {error}");
        assert!(error.starts_with(words), "{path}: {error}");
        assert!(!error.contains('\n') && !error.contains('\u{1b}'), "{path}: {error:?}");
        assert_eq!(answer.headers["cache-control"], "no-store", "{path}");
    }
    assert_eq!(get(&server, "/api/v1/targets", "").status, 200);
}

#[test]
fn invalid_http_closes_only_its_own_connection() {
    let server = server(1);
    let many: String = (0..100).map(|n| format!("X-{n}: 1\r\n")).collect();
    let large = format!("X: {}\r\n", "a".repeat(40_000));
    let cases: [(&str, Vec<u8>, &[&str]); 11] = [
        ("nothing", Vec::new(), &[]),
        ("noise", (0..=255).collect(), &["400"]),
        ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), &["400"]),
        ("HTTP/0.9", b"GET /\r\n\r\n".to_vec(), &["400"]),
        ("HTTP/2's preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), &["", "400", "505"]),
        ("many headers", format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").into(), &["431"]),
        ("large headers", format!("GET / HTTP/1.1\r\nHost: localhost\r\n{large}\r\n").into(), &["431"]),
        ("a line end in a header", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n".to_vec(), &["400"]),
        ("two lengths", b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".to_vec(), &["400"]),
        ("a wrong length", b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n".to_vec(), &["400"]),
        ("a huge form", b"POST /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\npassword=aaaa".to_vec(), &["413"]),
    ];
    for (name, request, expected) in cases {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = stream.write_all(&request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let response = String::from_utf8_lossy(&bytes).into_owned();
        let status = response.split(' ').nth(1).unwrap_or_default();
        assert!(expected.is_empty() || expected.contains(&status), "{name}: {response:?}");
    }
    assert_eq!(get(&server, "/", "").status, 200);
}

#[test]
fn other_methods_and_other_names_are_refused() {
    let server = server(1);
    let cases = [
        ("PUT / HTTP/1.1\r\nHost: localhost\r\n", 405),
        ("DELETE /api/v1/targets HTTP/1.1\r\nHost: localhost\r\n", 405),
        ("POST /api/v1/targets HTTP/1.1\r\nHost: localhost\r\n", 405),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example:80\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n", 400),
        ("GET / HTTP/1.1\r\n", 400),
        ("POST /logout HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n", 403),
        ("POST /logout HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n", 403),
        ("GET / HTTP/1.1\r\nHost: [::1]:99\r\n", 200),
        ("HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\n", 200),
    ];
    for (request, status) in cases {
        let answer = send(&server, &format!("{request}Connection: close\r\n\r\n"));
        assert_eq!(answer.status, status, "{request:?}: {answer:?}");
    }
    let named = WebConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        hosts: vec!["Watch.Home".into()],
        ..WebConfig::default()
    };
    let named = start(&named, 1);
    assert_eq!(
        send(&named, "GET / HTTP/1.1\r\nHost: watch.home:80\r\nConnection: close\r\n\r\n").status,
        200
    );
}

#[test]
fn a_slow_client_delays_no_other_and_is_disconnected() {
    let server = server(1);
    let mut slow: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap());
    assert_eq!(get(&server, "/api/v1/targets", "").status, 200);
    // Slow bytes do not extend the timeout: the head must be complete within 15 s.
    let mut one = slow.remove(0);
    one.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut response = Vec::new();
    let _ = one.read_to_end(&mut response);
    assert!(
        response.is_empty() || response.starts_with(b"HTTP/1.1 408"),
        "{}",
        String::from_utf8_lossy(&response)
    );
}

#[test]
fn beyond_loopback_a_password_is_required_and_guessing_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let bare = WebConfig { listen: everywhere, ..WebConfig::default() };
    let made = crate::synthetic::Made::new(2);
    let refused = serve(&bare, Arc::new(made), Box::new(move || Ok(Box::new(made))));
    assert!(matches!(refused, Err(WebError::NoSecret { .. })));

    let config = WebConfig { secret_file: Some(folder.path().join("password")), ..bare };
    let server = start(&config, 2);
    let password = server.new_password.clone().unwrap();
    assert!(server.asks_password && password.len() == 32);
    for path in ["/api/v1/targets", "/metrics", "/api/v1/live", "/nothing"] {
        assert_eq!(get(&server, path, "").status, 401, "{path}");
    }
    assert_eq!(get(&server, "/", "").headers["location"], "/login");
    assert_eq!(get(&server, "/login", "").status, 200);
    let bearer = format!("Authorization: Bearer {password}\r\n");
    assert_eq!(get(&server, "/api/v1/targets", &bearer).status, 200);
    assert_eq!(get(&server, "/metrics", &bearer).status, 200);

    let log_in = |word: &str| {
        let body = format!("password={word}");
        let head = format!(
            "POST /login HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        send(&server, &format!("{head}{body}"))
    };
    let cookie = log_in(&password).headers["set-cookie"].clone();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let session = format!("Cookie: x=1; {}\r\n", cookie.split(';').next().unwrap());
    assert_eq!(get(&server, "/api/v1/targets", &session).status, 200);
    let way_out = "id=\"logout\" hidden";
    assert!(!get(&server, "/", &session).text().contains(way_out), "who logged in can log out");

    let statuses: Vec<u16> = (0..7).map(|n| log_in(&format!("wrong{n}")).status).collect();
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429, 429]);
    let right = log_in(&password);
    assert_eq!(
        right.status, 429,
        "no password of this address is looked at any more, not even the right one"
    );
    assert!(right.headers["retry-after"].parse::<u64>().unwrap() <= 61);
    assert_eq!(get(&server, "/api/v1/targets", &session).status, 200, "who is in stays in");
    let out =
        send(&server, &format!("POST /logout HTTP/1.1\r\nHost: a\r\n{session}Connection: close\r\n\r\n"));
    assert_eq!(out.status, 303);
    assert_eq!(get(&server, "/api/v1/targets", &session).status, 401);
    drop(server);

    // On loopback, for example behind a proxy, a password is required if a file is configured.
    let behind = WebConfig { secret_file: Some(folder.path().join("password")), ..WebConfig::default() };
    let proxied = start(&WebConfig { listen: "127.0.0.1:0".parse().unwrap(), ..behind }, 2);
    assert!(proxied.asks_password && proxied.new_password.is_none());
    assert_eq!(get(&proxied, "/api/v1/targets", "").status, 401);
    let other_name =
        format!("GET /api/v1/targets HTTP/1.1\r\nHost: evil.example\r\n{bearer}Connection: close\r\n\r\n");
    assert_eq!(send(&proxied, &other_name).status, 421);
    assert_eq!(get(&proxied, "/api/v1/targets", &bearer).status, 200);
    drop(proxied);
}

#[test]
fn every_answer_forbids_scripts_from_elsewhere() {
    let server = server(1);
    for path in ["/", "/login", "/watch.js", "/api/v1/targets", "/metrics", "/nothing"] {
        let answer = get(&server, path, "");
        assert!(answer.headers["content-security-policy"].starts_with("default-src 'self'; "), "{path}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
    }
    for path in ["/", "/login"] {
        let page = get(&server, path, "");
        for inline in ["<script>", " style=", " onclick=", "<style", "http://", "https://"] {
            assert!(!page.text().contains(inline), "{path} has {inline}");
        }
    }
}

#[test]
fn a_second_server_on_the_same_port_is_an_error() {
    let first = server(1);
    let made = crate::synthetic::Made::new(1);
    let config = WebConfig { listen: first.address, ..WebConfig::default() };
    let error = serve(&config, Arc::new(made), Box::new(move || Ok(Box::new(made)))).err().unwrap();
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("cannot serve the page on {}: Address already in use", first.address)),
        "{text}"
    );
    assert!(
        parse(&raw(&first, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).status == 200
    );
}
