//! An HTTP server on loopback that answers as a test demands, and short tests against it.
use fathom_client::{FlowLoad, PhasePlan, TestConfig, TestError, run_test_with};
use fathom_peers::{Trust, connect};
use fathom_run::{Fact, PhaseKind, Run};
use fathom_units::{Direction, Duration};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Answers a request with this first line, and ends the connection if it returns false. The body of
/// the request was read.
pub(crate) type Handler = dyn Fn(&str, &mut dyn Write) -> io::Result<bool> + Send + Sync;

/// A running server. It ends with the test process.
pub(crate) struct StandIn {
    pub(crate) port: u16,
    /// Its certificate.
    pub(crate) trust: Trust,
    /// Bytes of the bodies of requests.
    pub(crate) received: Arc<AtomicU64>,
}

impl StandIn {
    pub(crate) fn start(
        handler: impl Fn(&str, &mut dyn Write) -> io::Result<bool> + Send + Sync + 'static,
    ) -> Self {
        Self::listen(None, Trust::These(Vec::new()), Arc::new(handler))
    }
    /// A server with TLS for `localhost`.
    pub(crate) fn start_tls(
        handler: impl Fn(&str, &mut dyn Write) -> io::Result<bool> + Send + Sync + 'static,
    ) -> Self {
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate: CertificateDer<'static> = signed.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(signed.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.into())
            .unwrap();
        Self::listen(Some(Arc::new(config)), Trust::These(vec![certificate]), Arc::new(handler))
    }
    fn listen(tls: Option<Arc<ServerConfig>>, trust: Trust, handler: Arc<Handler>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(AtomicU64::new(0));
        let counter = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tls, handler, counter) = (tls.clone(), handler.clone(), counter.clone());
                // The client ends connections whenever a phase ends.
                std::thread::spawn(move || drop(serve(stream, tls, &*handler, &counter)));
            }
        });
        StandIn { port, trust, received }
    }
    /// The URL of a path on this server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
    /// A short test of a URL, which trusts this server.
    pub(crate) fn test(&self, url: &str) -> Result<Run, TestError> {
        test(url, &self.trust)
    }
    /// The error of a test of a path that gives no result.
    pub(crate) fn error(&self, path: &str) -> String {
        self.test(&self.url(path)).map(|run| run.title).unwrap_err().to_string()
    }
}

/// A short test of a URL.
pub(crate) fn test(url: &str, trust: &Trust) -> Result<Run, TestError> {
    test_with(url, trust, None)
}

/// A short test of a URL, with a load at a chosen rate.
pub(crate) fn test_with(url: &str, trust: &Trust, load_rate: Option<FlowLoad>) -> Result<Run, TestError> {
    test_patiently(url, trust, load_rate, Duration::from_secs(2))
}

/// Likewise with this patience with a server that is silent.
pub(crate) fn test_patiently(
    url: &str,
    trust: &Trust,
    load_rate: Option<FlowLoad>,
    patience: Duration,
) -> Result<Run, TestError> {
    use PhaseKind::{Both, Down, Drain, Idle, Up};
    let short = |kind| PhasePlan { kind, min: Duration::from_millis(500), max: Duration::from_millis(500) };
    let config = TestConfig {
        phases: [Idle, Down, Up, Both, Drain].map(short).to_vec(),
        flows: 2,
        load_rate,
        sample_every: Duration::from_millis(20),
        patience,
        ..TestConfig::new(url)
    };
    let stop = AtomicBool::new(false);
    let peer = connect(&config, trust, &stop)?;
    run_test_with(&config, peer, &stop, &mut |_| ())
}

fn serve(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    handler: &Handler,
    received: &AtomicU64,
) -> io::Result<()> {
    match tls {
        None => answer(stream.try_clone()?, stream, handler, received),
        Some(config) => {
            let connection = ServerConnection::new(config).map_err(io::Error::other)?;
            let shared = Shared(Arc::new(std::sync::Mutex::new(StreamOwned::new(connection, stream))));
            answer(shared.clone(), shared, handler, received)
        }
    }
}

/// Both halves of an encrypted stream, used in turn.
#[derive(Clone)]
struct Shared(Arc<std::sync::Mutex<StreamOwned<ServerConnection, TcpStream>>>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap().read(buffer)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}

/// Counts what is written.
struct Counter<'a>(&'a AtomicU64);

impl Write for Counter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn answer(
    input: impl Read,
    mut output: impl Write,
    handler: &Handler,
    received: &AtomicU64,
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 18, input);
    loop {
        let (mut first, mut body_bytes, mut line) = (String::new(), 0, String::new());
        input.read_line(&mut first)?;
        if first.is_empty() {
            return Ok(());
        }
        while line != "\r\n" {
            line.clear();
            input.read_line(&mut line)?;
            if let Some(length) = line.strip_prefix("Content-Length: ") {
                body_bytes = length.trim().parse().map_err(io::Error::other)?;
            }
        }
        io::copy(&mut (&mut input).take(body_bytes), &mut Counter(received))?;
        if !handler(first.trim_end().trim_end_matches(" HTTP/1.1"), &mut output)? {
            return Ok(());
        }
        output.flush()?;
    }
}

/// A response with a text.
pub(crate) fn reply(out: &mut dyn Write, status: &str, fields: &str, body: &str) -> io::Result<bool> {
    write!(out, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{fields}\r\n{body}", body.len())?;
    Ok(true)
}

/// The head of a response, and this many bytes.
pub(crate) fn send(out: &mut dyn Write, head: &str, bytes: usize) -> io::Result<bool> {
    write!(out, "HTTP/1.1 200 OK\r\n{head}\r\n")?;
    let block = vec![7; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(block.len());
        out.write_all(&block[..part])?;
        left -= part;
    }
    Ok(true)
}

/// Cloudflare's URLs.
pub(crate) fn cloudflare(line: &str, out: &mut dyn Write) -> io::Result<bool> {
    match line.split_once("bytes=") {
        Some((_, bytes)) => send(out, &format!("Content-Length: {bytes}\r\n"), bytes.parse().unwrap()),
        None if line == "POST /__up" => reply(out, "200 OK", "", "OK"),
        None => reply(out, "404 Not Found", "", "nothing"),
    }
}

/// Answers the first `count` requests with `true`.
pub(crate) fn first(count: usize) -> impl Fn() -> bool + Send + Sync {
    let seen = std::sync::atomic::AtomicUsize::new(0);
    move || seen.fetch_add(1, Ordering::Relaxed) < count
}

/// Rates over loopback; far below them, something waits for a timeout.
const SLOW_BITS_PER_SECOND: f64 = 50e6;

/// The protocol that the record names.
pub(crate) fn protocol(run: &Run) -> &str {
    &run.facts[&Fact::Protocol]
}

/// Checks the load of each phase and its rate.
pub(crate) fn check_load(run: &Run) {
    assert_eq!(run.partial, None, "{:?}", run.notes);
    for phase in run.phases.iter().filter(|phase| phase.kind.is_loaded()) {
        let load = phase.load.as_ref().unwrap();
        let delivered = [load.delivered_down_bytes, load.delivered_up_bytes].map(|bytes| bytes as f64);
        for (direction, bytes) in
            Direction::BOTH.into_iter().map(|d| (d, delivered[usize::from(d == Direction::Up)]))
        {
            let expected = phase.kind.loads().contains(&direction);
            let rate = bytes * 8.0 / phase.seconds();
            assert_eq!(
                rate > SLOW_BITS_PER_SECOND,
                expected,
                "{direction:?} in {:?}: {rate} bit/s",
                phase.kind
            );
        }
    }
}

/// Kinds of the phases, in order.
pub(crate) fn kinds(run: &Run) -> Vec<PhaseKind> {
    run.phases.iter().map(|phase| phase.kind).collect()
}
