//! Attacks on the page: each leaves `/metrics` and other clients served.
use crate::client::{Answer, get, parse, server, start};
use crate::synthetic::{Made, NOW_S, YEAR_S};
use fathom_units::WallTime;
use fathom_watch_samples::{Column, Stored};
use fathom_watch_web::{Event, Past, Series, serve};
use fathom_web::{Certificate, Server, WebConfig};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// A history that reports its reads; plots of series 0 last until they are stopped.
struct Slow {
    made: Made,
    stop: Arc<AtomicBool>,
    reads: Sender<&'static str>,
}

impl Past for Slow {
    fn series(&mut self) -> Result<Vec<Series>, String> {
        self.made.series()
    }
    fn columns(&mut self, series: u32, span: Range<WallTime>, count: usize) -> Result<Vec<Column>, String> {
        if series > 0 {
            return self.made.columns(series, span, count);
        }
        self.reads.send("begun").unwrap();
        while !self.stop.load(Relaxed) {
            std::thread::yield_now();
        }
        self.reads.send("stopped").unwrap();
        Err("stopped".into())
    }
    fn overview(&mut self, _: &[u32], _: Range<WallTime>, _: usize) -> Result<Vec<Vec<Column>>, String> {
        Ok(Vec::new())
    }
    fn samples(&mut self, series: u32, span: Range<WallTime>) -> Result<Vec<Stored>, String> {
        self.reads.send("samples").unwrap();
        self.made.samples(series, span)
    }
    fn next(&mut self, series: u32, from: WallTime) -> Result<Option<WallTime>, String> {
        self.made.next(series, from)
    }
    fn events(&mut self, span: Range<WallTime>) -> Result<Vec<Event>, String> {
        self.made.events(span)
    }
    fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }
}

fn slow() -> (Server, Receiver<&'static str>) {
    let (reads, seen) = channel();
    let (made, reads) = (Made::new(2), Mutex::new(reads));
    let open = move || {
        let reads = reads.lock().unwrap().clone();
        Ok(Box::new(Slow { made, stop: Arc::default(), reads }) as Box<dyn Past>)
    };
    let config = WebConfig { listen: "127.0.0.1:0".parse().unwrap(), ..WebConfig::default() };
    (serve(&config, Arc::new(made), Box::new(open)).unwrap(), seen)
}

/// Connects from one of the addresses of loopback.
fn connect(server: &Server, from: [u8; 4]) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::from(from), 0)).into()).unwrap();
    socket.connect(&server.address.into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn ask(mut stream: &TcpStream, path: &str) {
    // The server may have closed it.
    let _ = write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

/// The status of the response, or `None` if the server has closed the connection.
fn status(mut stream: &TcpStream) -> Option<u16> {
    let mut head = [0; 12];
    match stream.read_exact(&mut head) {
        Ok(()) => std::str::from_utf8(&head[9..]).unwrap().parse().ok(),
        Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn samples_of_a_wide_range_cost_what_is_stored() {
    let (server, reads) = slow();
    let first_s = NOW_S - YEAR_S;
    let path = format!("/api/v1/samples?series=1&from=1&to={}", first_s + 3_600);
    let samples = get(&server, &path, "").json()["samples"].as_array().unwrap().len();
    assert_eq!(samples, 3_600);
    // Before the first sample, and with it.
    assert_eq!(reads.try_iter().collect::<Vec<_>>(), ["samples", "samples"]);
    let after = format!("/api/v1/samples?series=1&from={}&to=9999999999", NOW_S + 1);
    assert_eq!(get(&server, &after, "").json()["samples"].as_array().unwrap().len(), 0);
    assert_eq!(reads.try_iter().count(), 1);
}

#[test]
fn a_query_ends_when_its_client_disconnects() {
    let (server, reads) = slow();
    let client = connect(&server, [127, 0, 0, 1]);
    ask(&client, "/api/v1/smoke?series=0&from=1&to=2");
    assert_eq!(reads.recv_timeout(PATIENCE), Ok("begun"));
    drop(client);
    assert_eq!(reads.recv_timeout(PATIENCE), Ok("stopped"));
}

#[test]
fn long_queries_do_not_hide_the_metrics() {
    let (server, reads) = slow();
    let clients: Vec<TcpStream> = (0..20).map(|_| connect(&server, [127, 0, 0, 2])).collect();
    clients.iter().for_each(|client| ask(client, "/api/v1/smoke?series=0&from=1&to=2"));
    for _ in 0..3 {
        assert_eq!(reads.recv_timeout(PATIENCE), Ok("begun"));
    }
    for path in ["/metrics", "/api/v1/targets", "/api/v1/live"] {
        for from in [[127, 0, 0, 1], [127, 0, 0, 3]] {
            let other = connect(&server, from);
            ask(&other, path);
            assert_eq!(status(&other), Some(200), "{path}");
        }
    }
    // More queries than one address may have are refused at once, but never the metrics.
    let refused = clients.iter().filter(|client| {
        client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut head = [0; 12];
        (&**client).read_exact(&mut head).is_ok() && &head[9..] == b"429"
    });
    assert_eq!(refused.count(), 4);
    let own = connect(&server, [127, 0, 0, 2]);
    ask(&own, "/metrics");
    assert_eq!(status(&own), Some(200));
}

#[test]
fn streams_do_not_lock_others_out() {
    let server = server(3);
    let streams: Vec<TcpStream> = (0..600)
        .map(|_| {
            let stream = connect(&server, [127, 0, 0, 2]);
            ask(&stream, "/api/v1/live");
            stream
        })
        .collect();
    for from in [[127, 0, 0, 2], [127, 0, 0, 1]] {
        for path in ["/metrics", "/", "/api/v1/targets"] {
            let client = connect(&server, from);
            ask(&client, path);
            assert_eq!(status(&client), Some(200), "{path}");
        }
    }
    let other = connect(&server, [127, 0, 0, 1]);
    ask(&other, "/api/v1/live");
    assert_eq!(status(&other), Some(200));
    let served = streams.iter().filter(|stream| status(stream) == Some(200)).count();
    assert!((1..600).contains(&served), "{served}");
}

#[test]
fn idle_connections_of_many_addresses_do_not_lock_others_out() {
    let server = server(1);
    let idle: Vec<TcpStream> =
        (0..1_000_u32).map(|n| connect(&server, [127, 0, 1, (n % 8) as u8 + 1])).collect();
    for path in ["/metrics", "/"] {
        let client = connect(&server, [127, 0, 0, 1]);
        ask(&client, path);
        assert_eq!(status(&client), Some(200), "{path}");
    }
    drop(idle);
}

#[test]
fn a_page_of_another_site_gets_nothing() {
    let server = server(1);
    let cases = [
        ("/api/v1/targets", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", 403),
        ("/api/v1/targets", "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n", 403),
        ("/metrics", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", 403),
        ("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", 403),
        ("/", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", 200),
        ("/api/v1/targets", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n", 200),
        ("/api/v1/targets", "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n", 200),
    ];
    for (path, headers, expected) in cases {
        assert_eq!(get(&server, path, headers).status, expected, "{path} {headers}");
    }
}

/// A request by TLS that trusts only the certificate in `folder`.
fn get_securely(server: &Server, folder: &std::path::Path, request: &str) -> Answer {
    let mut roots = RootCertStore::empty();
    let own = CertificateDer::from_pem_file(folder.join("page-certificate.pem")).unwrap();
    roots.add(own).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(("127.0.0.1", server.address.port())).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // Not every end is announced.
    let _ = stream.read_to_end(&mut answer);
    parse(&answer)
}

#[test]
fn off_loopback_the_page_is_served_by_tls() {
    let folder = tempfile::tempdir().unwrap();
    let own = Certificate::SelfSigned { folder: folder.path().into(), names: vec!["localhost".into()] };
    let config = WebConfig {
        listen: "0.0.0.0:0".parse().unwrap(),
        secret_file: Some(folder.path().join("password")),
        certificate: Some(own),
        ..WebConfig::default()
    };
    let server = start(&config, 1);
    assert!(server.is_secure && server.fingerprint.is_some());
    let password = server.new_password.clone().unwrap();
    let form = format!("password={password}");
    let log_in = format!(
        "POST /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let cookie = get_securely(&server, folder.path(), &log_in).headers["set-cookie"].clone();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    let session = cookie.split(';').next().unwrap();
    let targets = format!(
        "GET /api/v1/targets HTTP/1.1\r\nHost: localhost\r\nCookie: {session}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(get_securely(&server, folder.path(), &targets).status, 200);

    // Without TLS a browser is led to it, and nothing else is answered.
    let plain = get(&server, "/api/v1/targets", &format!("Cookie: {session}\r\n"));
    assert_eq!(plain.status, 307);
    assert_eq!(plain.headers["location"], format!("https://localhost:{}/", server.address.port()));
    let no_name = crate::client::send(&server, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n");
    assert_eq!(no_name.status, 400);
    // Noise that looks like a handshake ends only its own connection.
    crate::client::raw(&server, b"\x16\x03\x01\x00\x05hello");
    assert_eq!(get_securely(&server, folder.path(), &targets).status, 200);
}
