//! Probes by HTTP/3: real servers, and ones that do not answer as they should.
use crate::stand_in::{StandIn, cloudflare, send, test, test_patiently};
use fathom_peers::Trust;
use fathom_run::{Metric, Note, PhaseKind, Run, SeriesKey};
use fathom_test_support::unused_port;
use fathom_units::Direction;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event};
use quinn_proto::{ServerConfig, StreamEvent};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::collections::HashMap;
use std::fs::File;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// HEADERS with the status 200, and DATA with one byte.
pub(crate) const OK: &[u8] = &[1, 3, 0, 0, 0xd9, 0, 1, b'x'];
pub(crate) const NOT_FOUND: &[u8] = &[1, 3, 0, 0, 0xdb];

/// A server of QUIC on loopback. It ends with the test process.
pub(crate) struct Quic {
    socket: UdpSocket,
    endpoint: Endpoint,
    connections: HashMap<ConnectionHandle, (SocketAddr, Connection)>,
    /// The response to each request; without one, the connection is closed.
    response: Option<&'static [u8]>,
}

impl Quic {
    /// Starts a server that speaks `protocol`, and returns its port and its certificate.
    pub(crate) fn start(protocol: &str, response: Option<&'static [u8]>) -> (u16, CertificateDer<'static>) {
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate: CertificateDer<'static> = signed.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(signed.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.into())
            .unwrap();
        tls.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()));
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), Some(Arc::new(config)), true, None);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let port = socket.local_addr().unwrap().port();
        let mut server = Quic { socket, endpoint, connections: HashMap::new(), response };
        std::thread::spawn(move || {
            loop {
                server.receive();
                server.advance();
            }
        });
        (port, certificate)
    }
    fn receive(&mut self) {
        let (mut buffer, mut out, now) = ([0; 2048], Vec::new(), Instant::now());
        let Ok((length, from)) = self.socket.recv_from(&mut buffer) else { return };
        match self.endpoint.handle(now, from, None, None, buffer[..length].into(), &mut out) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut out, None) {
                    Ok((handle, connection)) => drop(self.connections.insert(handle, (from, connection))),
                    Err(refused) => {
                        let size = refused.response.map_or(0, |response| response.size);
                        self.socket.send_to(&out[..size], from).unwrap();
                    }
                }
            }
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                self.connections.get_mut(&handle).unwrap().1.handle_event(event);
            }
            // A client that is gone.
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }
    fn advance(&mut self) {
        let now = Instant::now();
        for (handle, (client, connection)) in &mut self.connections {
            if connection.poll_timeout().is_some_and(|due| due <= now) {
                connection.handle_timeout(now);
            }
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(other) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(other);
                }
            }
            while let Some(event) = connection.poll() {
                let Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) = event else { continue };
                let stream = connection.streams().accept(Dir::Bi).unwrap();
                match self.response {
                    Some(response) => {
                        let mut sender = connection.send_stream(stream);
                        assert_eq!(sender.write(response), Ok(response.len()));
                        sender.finish().unwrap();
                    }
                    None => connection.close(now, 0x0102_u32.into(), b"over"[..].into()),
                }
            }
            let mut datagram = Vec::new();
            while connection.poll_transmit(now, 1, &mut datagram).is_some() {
                self.socket.send_to(&datagram, *client).unwrap();
                datagram.clear();
            }
        }
    }
}

/// A web server that offers HTTP/3 at `port`, with this certificate there.
fn offers(port: u16, certificate: Option<CertificateDer<'static>>) -> StandIn {
    let web = StandIn::start_tls(move |line, out| match line.split_once("bytes=") {
        Some((_, bytes)) => {
            let fields = format!("Alt-Svc: h2=\":1\", h3=\":{port}\"; ma=60\r\nContent-Length: {bytes}\r\n");
            send(out, &fields, bytes.parse().unwrap())
        }
        None => cloudflare(line, out),
    });
    let Trust::These(mut trusted) = web.trust else { unreachable!("its own certificate") };
    trusted.extend(certificate);
    StandIn { port: web.port, trust: Trust::These(trusted), received: Arc::default() }
}

/// The result of a test of such a server.
fn run_with(port: u16, certificate: Option<CertificateDer<'static>>) -> Run {
    let server = offers(port, certificate);
    let run = server.test(&format!("https://localhost:{}/", server.port)).unwrap();
    assert_eq!(run.partial, None, "{:?}", run.notes);
    run
}

/// Answered and unanswered probes of a metric.
fn counts(run: &Run, metric: Metric) -> (usize, usize) {
    let series = run.series(&SeriesKey::of(metric));
    series.map_or((0, 0), |s| (s.values.len() - s.censored.len(), s.censored.len()))
}

/// Checks that handshakes are complete or not, that no request is answered, and the only note.
fn check_failure(run: &Run, is_complete: bool, expected: &str) {
    let (answered, unanswered) = counts(run, Metric::QuicHandshake);
    assert!(
        if is_complete { answered >= 3 } else { (answered, unanswered >= 3) == (0, true) },
        "{:?}",
        run.notes
    );
    assert_eq!(counts(run, Metric::Http3Foreign).0, 0);
    let failed =
        |note: &Note| matches!(note, Note::ProbeConnectionFailed { message } if message.contains(expected));
    assert_eq!(run.notes.iter().filter(|note| failed(note)).count(), 1, "{:?}", run.notes);
}

/// Caddy as a networkQuality server. Dropping it ends it.
struct Caddy {
    child: Child,
    port: u16,
    trust: Trust,
    _folder: TempDir,
}

impl Caddy {
    fn start() -> Self {
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (folder, port) = (tempfile::tempdir().unwrap(), unused_port());
        let root = folder.path().display();
        let urls = r#""small_download_url":"/small","large_download_url":"/large","upload_url":"/up""#;
        for (name, content) in [
            ("cert.pem", signed.cert.pem()),
            ("key.pem", signed.signing_key.serialize_pem()),
            ("nq.json", format!(r#"{{"version":1,"urls":{{{urls}}}}}"#)),
            ("small", "x".to_owned()),
            (
                "Caddyfile",
                format!(
                    "{{\n admin off\n auto_https off\n}}\nhttps://localhost:{port} {{\n bind 127.0.0.1\n \
                     tls {root}/cert.pem {root}/key.pem\n root * {root}\n rewrite /.well-known/nq /nq.json\n \
                     file_server\n}}\n"
                ),
            ),
        ] {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        File::create(folder.path().join("large")).unwrap().set_len(8 << 30).unwrap();
        let mut command = Command::new("caddy");
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(folder.path().join("Caddyfile"));
        command.env("XDG_CONFIG_HOME", folder.path()).env("XDG_DATA_HOME", folder.path());
        let mut child =
            command.stderr(Stdio::null()).spawn().expect("caddy is not installed: run ./setup test");
        let trust = Trust::These(vec![signed.cert.der().clone()]);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "caddy ended");
            std::thread::yield_now();
        }
        Caddy { child, port, trust, _folder: folder }
    }
}

impl Drop for Caddy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn caddy_answers_by_each_version_of_http() {
    let caddy = Caddy::start();
    let run = test(&format!("https://localhost:{}/", caddy.port), &caddy.trust).unwrap();
    for metric in [Metric::QuicHandshake, Metric::Http3Foreign, Metric::TlsConnect, Metric::HttpForeign] {
        let (answered, unanswered) = counts(&run, metric);
        // Twice per second, at least while idle and during the download.
        assert!(answered >= 2 && unanswered == 0, "{metric:?}: {answered}, {unanswered}; {:?}", run.notes);
    }
}

/// Bytes per second of the download, and the notes of the run.
fn downloaded(run: &Run) -> f64 {
    let down = run.phases.iter().find(|phase| phase.kind == PhaseKind::Down).expect("a download");
    let series = run.series(&SeriesKey::directed(Metric::Goodput, Direction::Down)).expect("goodput");
    let values: Vec<f64> = series.within(down).filter_map(|o| o.value.observed()).collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64 / 8.0
}

#[test]
fn caddy_sends_load_by_http3_and_answers_on_its_connection() {
    let caddy = Caddy::start();
    let run = test(&format!("h3://localhost:{}/", caddy.port), &caddy.trust).unwrap();
    assert_eq!(run.partial, None, "{:?}", run.notes);
    let kinds: Vec<PhaseKind> = run.phases.iter().map(|phase| phase.kind).collect();
    assert!(kinds.contains(&PhaseKind::Down) && !kinds.contains(&PhaseKind::Up), "{kinds:?}");
    assert!(downloaded(&run) > 1e6, "{}", downloaded(&run));
    let (answered, _) = counts(&run, Metric::Http3Loaded);
    assert!(answered >= 2, "{:?}", run.notes);
    assert!(run.series(&SeriesKey::of(Metric::HttpLoaded)).is_none_or(|series| series.at_ns.is_empty()));
}

/// A firewall drops UDP.
#[test]
fn load_from_a_silent_port_does_not_begin() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let web = offers(silent.local_addr().unwrap().port(), None);
    let url = format!("h3://localhost:{}/", web.port);
    let run = test_patiently(&url, &web.trust, None, fathom_units::Duration::from_millis(200)).unwrap();
    let message = format!("{:?}", run.partial);
    assert!(message.contains("no QUIC within 200ms (check that the firewall allows UDP port "), "{message}");
}

/// Why a download from such a server of QUIC fails.
fn failure(port: u16, certificate: CertificateDer<'static>) -> String {
    let server = offers(port, Some(certificate));
    let run = server.test(&format!("h3://localhost:{}/", server.port)).unwrap();
    format!("{:?} {:?}", run.partial, run.notes)
}

#[test]
fn load_that_does_not_come_is_reported() {
    for (response, expected) in [
        (Some(NOT_FOUND), "the server responds with status 404"),
        (Some(&b"\x00\x01x"[..]), "HTTP/3: malformed HTTP header"),
        (None, "closed by peer: over"),
    ] {
        let (port, certificate) = Quic::start("h3", response);
        let message = failure(port, certificate);
        assert!(message.contains(expected), "{message}");
    }
    let web = StandIn::start_tls(cloudflare);
    let message = web.test(&format!("h3://localhost:{}/", web.port)).map(|run| run.title).unwrap_err();
    assert!(message.to_string().contains("no speed test with HTTP/3"), "{message}");
}

#[test]
fn a_response_is_timed_apart_from_the_handshake() {
    let (port, certificate) = Quic::start("h3", Some(OK));
    let run = run_with(port, Some(certificate));
    for metric in [Metric::QuicHandshake, Metric::Http3Foreign] {
        let (answered, unanswered) = counts(&run, metric);
        // Twice per second.
        assert!(answered >= 3 && unanswered == 0, "{metric:?}: {answered}, {unanswered}; {:?}", run.notes);
        let series = run.series(&SeriesKey::of(metric)).unwrap();
        assert!(series.values.iter().all(|delay| (1e-5..0.5).contains(delay)), "{series:?}");
    }
}

#[test]
fn silence_is_unanswered_probes() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let run = run_with(silent.local_addr().unwrap().port(), None);
    let (answered, unanswered) = counts(&run, Metric::QuicHandshake);
    assert!(answered == 0 && unanswered >= 3, "{answered}, {unanswered}");
    assert!(run.series(&SeriesKey::of(Metric::Http3Foreign)).is_none());
    let noted = |note: &Note| matches!(note, Note::ProbesUnanswered { metric: Metric::QuicHandshake, .. });
    assert!(run.notes.iter().any(noted), "{:?}", run.notes);
}

#[test]
fn a_port_without_a_server_is_named() {
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    check_failure(&run_with(closed, None), false, "Connection refused");
}

#[test]
fn another_status_is_no_answer() {
    let (port, certificate) = Quic::start("h3", Some(NOT_FOUND));
    check_failure(&run_with(port, Some(certificate)), true, "HTTP status 404");
}

#[test]
fn other_bytes_are_no_answer() {
    let (port, certificate) = Quic::start("h3", Some(b"\x00\x01x"));
    check_failure(&run_with(port, Some(certificate)), true, "HTTP/3: malformed HTTP header");
}

#[test]
fn a_connection_that_the_server_closes_is_reported() {
    let (port, certificate) = Quic::start("h3", None);
    check_failure(&run_with(port, Some(certificate)), true, "closed by peer: over");
}

#[test]
fn another_protocol_is_refused() {
    let (port, certificate) = Quic::start("hq-interop", Some(OK));
    check_failure(&run_with(port, Some(certificate)), false, "peer doesn't support any known protocol");
}

#[test]
fn an_unknown_certificate_is_refused() {
    let (port, _) = Quic::start("h3", Some(OK));
    check_failure(&run_with(port, None), false, "certificate");
}
