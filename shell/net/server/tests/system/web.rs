//! The web server: with curl, over TLS and HTTP/2, and with clients that mean no good.
use crate::client::{PATIENCE, TestServer, connect, exchange, serve};
use fathom_server::{Config, Refusal, WebConfig};
use fathom_test_support::{in_new_namespace, unused_port};
use fathom_units::{Bytes, Duration};
use serde_json::Value;
use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::Command;

/// A server with a web server at this address.
fn with_web(change: impl FnOnce(&mut Config)) -> (TestServer, SocketAddr) {
    let port = unused_port();
    let server = serve(|config| {
        config.web = Some(WebConfig {
            port: Some(port),
            certificate: None,
            names: vec!["host.test".to_owned()],
            proxies: Vec::new(),
        });
        change(config);
    });
    let address = SocketAddr::new(server.v4().ip(), port);
    (server, address)
}

/// Status, version of HTTP and bytes of the body that curl reports.
fn curl(url: &str, arguments: &[&str]) -> (u16, String, u64) {
    let format = "%{http_code} %{http_version} %{size_download}";
    let fixed = ["-sk", "--max-time", "30", "-o", "/dev/null", "-w", format, url];
    let ran = Command::new("curl").args(fixed).args(arguments).output();
    let output = String::from_utf8(ran.expect("curl is not installed: run ./setup test").stdout).unwrap();
    let fields: Vec<&str> = output.split(' ').collect();
    (fields[0].parse().unwrap(), fields[1].to_owned(), fields[2].parse().unwrap())
}

/// The response to a request in clear text.
fn get(address: SocketAddr, target: &str) -> String {
    let request = format!("GET {target} HTTP/1.1\r\nHost: h.test:1\r\nConnection: close\r\n\r\n");
    String::from_utf8_lossy(&exchange(address, request.as_bytes())).into_owned()
}

/// The address of the client that the server sees, if these headers come from 127.0.0.1.
fn seen(trusted: &[&str], headers: &[&str]) -> String {
    let (_server, address) = with_web(|config| {
        let web = config.web.as_mut().expect("a web server");
        web.proxies = trusted.iter().map(|text| text.parse().unwrap()).collect();
    });
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let of = |target| {
        let request = format!("GET {target} HTTP/1.1\r\nHost: h.test\r\n{headers}Connection: close\r\n\r\n");
        let response = String::from_utf8_lossy(&exchange(address, request.as_bytes())).into_owned();
        serde_json::from_str::<Value>(response.split("\r\n\r\n").nth(1).unwrap()).unwrap()
    };
    let client = of("/backend/getIP.php")["processedString"].as_str().unwrap().to_owned();
    let urls = of("/.well-known/nq")["urls"].clone();
    let url = urls["small_https_download_url"].as_str().unwrap().to_owned();
    format!("{client} {}", url.split(':').next().unwrap())
}

#[test]
fn headers_of_a_trusted_proxy_alone_name_the_client() {
    let forwarded = ["X-Forwarded-For: 203.0.113.9, 198.51.100.7", "X-Forwarded-Proto: https"];
    assert_eq!(seen(&["127.0.0.1"], &forwarded), "198.51.100.7 https");
    assert_eq!(seen(&["127.0.0.1"], &[]), "127.0.0.1 http");
    assert_eq!(seen(&["192.0.2.1"], &forwarded), "127.0.0.1 http", "the connection is of another");
    assert_eq!(seen(&[], &forwarded), "127.0.0.1 http", "no proxy is trusted");
}

#[test]
fn each_speed_test_is_served_by_both_versions_of_http() {
    let (server, address) = with_web(|_| ());
    let file = std::env::temp_dir().join(format!("fathom-upload-{}", std::process::id()));
    std::fs::write(&file, vec![7; 3_000_000]).unwrap();
    let upload = format!("@{}", file.display());
    for (scheme, version, flag) in
        [("https", "2", "--http2"), ("https", "1.1", "--http1.1"), ("http", "1.1", "--http1.1")]
    {
        for (path, bytes) in [
            ("/nq/small", 1),
            ("/__down?bytes=5000000", 5_000_000),
            ("/__down?bytes=0", 0),
            ("/backend/garbage.php?ckSize=3", 3 << 20),
            ("/backend/empty.php", 0),
        ] {
            let got = curl(&format!("{scheme}://{address}{path}"), &[flag]);
            assert_eq!(got, (200, version.to_owned(), bytes), "{scheme} {path}");
        }
        for path in ["/nq/upload", "/__up", "/backend/empty.php"] {
            let got = curl(&format!("{scheme}://{address}{path}"), &[flag, "--data-binary", &upload]);
            assert_eq!(got, (200, version.to_owned(), 0), "{scheme} {path}");
        }
    }
    std::fs::remove_file(&file).unwrap();
    let stats = server.stats();
    // Small transfers are probes, which do not count.
    assert_eq!(stats.up_bytes, 9 * 3_000_000);
    assert_eq!(stats.down_bytes, 3 * (5_000_000 + (3 << 20)));
    assert_eq!((stats.sessions, stats.http_answered), (1, 24), "one session for all: {stats:?}");
}

/// The states of the connections of a port.
fn states(port: u16) -> String {
    let ran = Command::new("ss").args(["-tinH", "sport", "=", &format!(":{port}")]).output();
    String::from_utf8(ran.expect("ss is not installed: run ./setup test").stdout).unwrap()
}

/// A number of each connection of a port with more than one segment of data, as `ss` names it.
fn of_connections(port: u16, name: &str) -> Vec<u64> {
    let text = states(port);
    let connections = text.lines().filter(|line| line.contains("bytes_acked:"));
    let of = |line: &str| {
        let word = line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
        word.map_or(0, |number| number.parse().unwrap())
    };
    connections.map(of).collect()
}

/// Downloads 2 MB over a line of 5 Mbit/s by each protocol, and calls `look` until it ends.
fn over_a_slow_line(mut look: impl FnMut(&str, u16, &mut dyn FnMut() -> bool) + Send) {
    in_new_namespace(|| {
        let line = "ip link set lo mtu 1500 && tc qdisc add dev lo root tbf rate 5mbit burst 4kb limit 100kb";
        assert!(Command::new("sh").args(["-c", line]).status().unwrap().success());
        let (_server, address) = with_web(|_| ());
        for (scheme, version) in
            [("http", "--http1.1"), ("https", "--http1.1"), ("http", "--http2"), ("https", "--http2")]
        {
            let url = format!("{scheme}://{address}/__down?bytes=2000000");
            let fixed = ["-sk", version, "--max-time", "30", "-o", "/dev/null", &url];
            let mut client = Command::new("curl").args(fixed).spawn().expect("curl");
            let name = format!("{scheme} {version}");
            look(&name, address.port(), &mut || client.try_wait().unwrap().is_none());
        }
    });
}

/// On a slow line, a response of another stream would wait behind what the kernel has: a packet.
#[test]
fn the_kernel_has_hardly_anything_left_to_send() {
    over_a_slow_line(|name, port, is_running| {
        let mut seen = Vec::new();
        while is_running() {
            seen.extend(of_connections(port, "notsent"));
        }
        // The first ones may be of a rate that is not known yet.
        let later = &seen[seen.len() / 2..];
        assert!(later.len() > 10 && later.iter().all(|bytes| *bytes <= 3_000), "{name}: {later:?}");
    });
}

/// Acknowledgments fill the uplink of an asymmetric line, so a download must not cause more of them
/// than that of any other server: one for two segments. Each segment is a full one.
#[test]
fn a_download_is_acknowledged_every_second_segment() {
    over_a_slow_line(|name, port, is_running| {
        let (mut received, mut sent, mut bytes) = (0, 0, 0);
        while is_running() {
            let last = |field| of_connections(port, field).into_iter().max().unwrap_or(0);
            received = last("segs_in").max(received);
            sent = last("data_segs_out").max(sent);
            bytes = last("bytes_sent").max(bytes);
        }
        assert!(sent > 500 && bytes > sent * 1_400, "{name}: {sent} segments for {bytes} bytes");
        assert!(received < sent * 2 / 3, "{name}: {received} acknowledgments of {sent} segments");
    });
}

/// Otherwise the packets of a connection follow each other in the queue, and a response waits for
/// the next acknowledgment. `ss` shows the highest rate after a slash if there is one.
#[test]
fn a_download_over_http2_is_paced() {
    over_a_slow_line(|name, port, is_running| {
        let mut seen = Vec::new();
        while is_running() {
            let states = states(port);
            let rates = states.split("pacing_rate ").skip(1);
            seen.extend(rates.map(|text| text.split(' ').next().is_some_and(|rate| rate.contains('/'))));
        }
        let paced = seen[seen.len() / 2..].iter().all(|paced| *paced);
        assert!(seen.len() > 10 && paced == (name == "https --http2"), "{name}: {seen:?}");
    });
}

#[test]
fn the_configuration_names_the_server_as_the_client_does() {
    let (server, address) = with_web(|_| ());
    let response = get(address, "/.well-known/nq");
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-type: application/json"), "{head}");
    assert!(head.contains("access-control-allow-origin: *"), "{head}");
    let document: Value = serde_json::from_str(body).unwrap();
    assert_eq!(document["urls"]["large_download_url"], "http://h.test:1/nq/large");
    let hostile = b"GET /.well-known/nq HTTP/1.1\r\nHost: \"},evil\r\nConnection: close\r\n\r\n";
    let refused = exchange(address, hostile);
    assert!(refused.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&refused));
    assert!(get(address, "/backend/getIP.php").contains("{\"processedString\":\"127.0.0.1\""));
    assert!(get(address, "/etc/passwd").starts_with("HTTP/1.1 404"));
    assert_eq!(server.refused(Refusal::Http), 2);
}

#[test]
fn the_limits_of_sessions_apply() {
    let (server, address) = with_web(|config| {
        config.max_bytes = Bytes(20_000_000);
        config.max_hourly_bytes = Bytes(30_000_000);
    });
    let url = format!("https://{address}/__down?bytes=100000000");
    let (status, _, bytes) = curl(&url, &[]);
    assert!(status == 200 && (19_000_000..25_000_000).contains(&bytes), "{status}, {bytes} bytes");
    server.until("the session ends at its bytes", |stats| stats.open_sessions == 0);
    let (_, _, more) = curl(&url, &[]);
    assert!((8_000_000..15_000_000).contains(&more), "the rest of the hour: {more} bytes");
    server.until("the session ends at the quota", |stats| stats.open_sessions == 0);
    let response = get(address, "/nq/large");
    assert!(response.starts_with("HTTP/1.1 429") && response.contains("retry-after: 60"), "{response}");
    assert!(response.contains("has used its data of this hour"), "{response}");
    // Probes are still answered.
    assert_eq!(curl(&format!("https://{address}/nq/small"), &[]).0, 200);
    assert_eq!([Refusal::Limit, Refusal::Quota].map(|reason| server.refused(reason)), [1, 2]);
}

#[test]
fn a_client_has_a_number_of_transfers() {
    let (server, address) = with_web(|config| config.max_flows = 2);
    let request = b"GET /nq/large HTTP/1.1\r\nHost: h\r\n\r\n";
    let mut flows: Vec<_> = (0..2).map(|_| connect(address)).collect();
    for flow in &mut flows {
        flow.write_all(request).unwrap();
        flow.read_exact(&mut [0; 4096]).unwrap();
    }
    assert!(get(address, "/nq/large").starts_with("HTTP/1.1 429"));
    assert_eq!(server.refused(Refusal::Flows), 1);
    drop(flows);
    server.until("the session rests", |stats| stats.open_sessions == 0);
}

#[test]
fn silent_connections_are_closed() {
    let (server, address) = with_web(|config| config.patience = Duration::from_secs(2));
    for words in [&b""[..], b"\x16\x03\x01\x00\x05", b"GET /nq/sm", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let start = std::time::Instant::now();
        exchange(address, words);
        assert!(start.elapsed() < PATIENCE, "{words:?}: {:?}", start.elapsed());
    }
    server.until("all are closed", |stats| stats.open_connections == 0);
}

#[test]
fn idle_connections_make_room_for_others_of_their_host() {
    let (server, address) = with_web(|config| config.max_connections = 8);
    let request = b"GET /nq/small HTTP/1.1\r\nHost: h\r\n\r\n";
    // A connection over the share is closed.
    let answered = || {
        let mut stream = connect(address);
        stream.write_all(request).ok()?;
        stream.read(&mut [0; 4096]).ok().filter(|length| *length > 0).map(|_| stream)
    };
    let idle: Vec<_> = (0..2).filter_map(|_| answered()).collect();
    assert_eq!(idle.len(), 2);
    // These made requests just now.
    assert!(answered().is_none());
    assert!(server.refused(Refusal::ConnectionShare) > 0);
    let new = RefCell::new(Vec::new());
    server.until("an idle connection makes room", |_| {
        new.borrow_mut().extend(answered());
        !new.borrow().is_empty()
    });
    assert!(server.refused(Refusal::ConnectionReplaced) > 0);
}

/// The request for a WebSocket of ndt7.
fn ndt7(direction: &str, protocol: &str) -> Vec<u8> {
    format!(
        "GET /ndt/v7/{direction} HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: {protocol}\r\n\r\n"
    )
    .into_bytes()
}

#[test]
fn clients_of_ndt7_that_break_its_rules_only_end_their_own_connection() {
    const PROTOCOL: &str = "net.measurementlab.ndt.v7";
    let (server, address) = with_web(|_| ());
    for request in [ndt7("download", "other"), b"GET /ndt/v7/download HTTP/1.1\r\nHost: h\r\n\r\n".to_vec()] {
        let mut stream = connect(address);
        stream.write_all(&request).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 404");
    }
    assert_eq!((server.refused(Refusal::Http), server.stats().sessions), (2, 0));
    // A frame without a mask, and one that claims 2^62 bytes (RFC 6455, sections 5.1 and 5.2).
    let huge = [&[0x82, 0xff][..], &(1_u64 << 62).to_be_bytes(), &[0; 4]].concat();
    for frame in [&[0x82, 0x01, 0x00][..], &huge] {
        let answer = exchange(address, &[&ndt7("upload", PROTOCOL)[..], frame].concat());
        let text = String::from_utf8_lossy(&answer);
        assert!(text.starts_with("HTTP/1.1 101") && text.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{text}");
    }
    // A client that leaves.
    let mut leaving = connect(address);
    leaving.write_all(&ndt7("download", PROTOCOL)).unwrap();
    leaving.read_exact(&mut [0; 100_000]).unwrap();
    drop(leaving);
    server.until("the session rests", |stats| stats.open_sessions == 0 && stats.open_connections == 0);
}
