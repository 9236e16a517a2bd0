//! Finds out what a web server offers.
use super::multiplexed::ALPN;
use super::stream::LimitedStream;
use super::{Endpoints, Origin, Upload};
use crate::Connector;
use crate::tls::{Tls, cause};
use fathom_client::TestError;
use fathom_probe::protocol::get_request;
use fathom_probe::{ResponseError, Responses};
use fathom_protocol::network_quality::{self, Announced};
use rustls::StreamOwned;
use std::io::{Read, Write};
use url::Url;

/// Most redirects that are followed. Browsers follow 20; more than 5 are a loop in practice.
const REDIRECTS: usize = 5;
/// Longest response to a request that identifies a speed test.
const ANSWER_LIMIT_BYTES: u64 = 64 * 1024;
/// Smallest file that loads a line: 8 Mbit, so that at 100 Mbit/s a request takes longer than its
/// round trip.
const MIN_FILE_BYTES: u64 = 1_000_000;
/// Size of a download from Cloudflare's speed test. Its own client requests up to 250 MB.
const CLOUDFLARE_DOWN_BYTES: u64 = 50_000_000;
/// Size of an upload to it. Requests above 100 MB are refused (status 413).
const CLOUDFLARE_UP_BYTES: u64 = 50_000_000;
/// LibreSpeed's client requests 100 chunks of 1 MiB, and uploads 20 MiB.
const LIBRESPEED_DOWN: &str = "garbage.php?ckSize=100";
const LIBRESPEED_UP_BYTES: u64 = 20 << 20;
/// The draft does not limit uploads.
const NQ_UP_BYTES: u64 = 1_000_000_000;

/// A response to a GET request.
struct Answer {
    /// Where redirects led.
    url: Url,
    origin: Origin,
    /// The first bytes of the body.
    body: Vec<u8>,
    /// Size of the body, if it is known.
    total_bytes: Option<u64>,
    /// Where the server offers HTTP/3.
    http3_port: Option<u16>,
}

/// Why there is no response.
enum Problem {
    /// The server does not have the resource.
    Status(ResponseError),
    /// Nothing can be had from this server.
    Fatal(TestError),
}

impl From<TestError> for Problem {
    fn from(error: TestError) -> Self {
        Problem::Fatal(error)
    }
}

/// The server at `url` and what it offers: a file, if the URL has the path of one, otherwise a
/// speed test.
pub(crate) fn find(url: &Url, connector: &Connector<'_>) -> Result<(Origin, Endpoints), TestError> {
    let detector = Detector(connector);
    if url.path().ends_with('/') && url.query().is_none() {
        detector.speed_test(url)
    } else {
        detector.file(url)
    }
}

/// The body of a small document.
pub(crate) fn fetch(url: &Url, connector: &Connector<'_>) -> Result<Vec<u8>, TestError> {
    match Detector(connector).get(url, Some(ANSWER_LIMIT_BYTES)) {
        Ok(answer) => Ok(answer.body),
        Err(Problem::Fatal(error)) => Err(error),
        Err(Problem::Status(error)) => {
            Err(TestError::Server { server: url.to_string(), problem: error.to_string() })
        }
    }
}

/// TLS with which `origin` speaks HTTP/2; `None` if it does not.
pub(crate) fn http2(origin: &Origin, connector: &Connector<'_>) -> Result<Option<Tls>, TestError> {
    let Some(tls) = origin.tls.as_ref().map(|tls| tls.with_protocol(ALPN)) else { return Ok(None) };
    let socket = connector.limits.connect(origin.address, |_| Ok(()))?;
    let stream = LimitedStream::new(socket, origin.address, &connector.limits);
    let fail = |problem| TestError::Server { server: origin.host.clone(), problem };
    let mut stream = StreamOwned::new(tls.start().map_err(fail)?, stream);
    // A server may also refuse a handshake without a protocol that it knows.
    let is_complete = stream.conn.complete_io(&mut stream.sock).is_ok();
    Ok((is_complete && stream.conn.alpn_protocol() == Some(ALPN)).then_some(tls))
}

/// Port at which `origin` offers HTTP/3 in its response for `path`.
pub(crate) fn http3_port(origin: &Origin, path: &str, connector: &Connector<'_>) -> Option<u16> {
    origin.tls.as_ref()?;
    let url = Url::parse(&format!("https://{}{path}", origin.host)).ok()?;
    let answer = Detector(connector).get_once(&url, origin.clone(), Some(ANSWER_LIMIT_BYTES));
    answer.ok()?.http3_port
}

struct Detector<'a>(&'a Connector<'a>);

impl Detector<'_> {
    fn file(&self, url: &Url) -> Result<(Origin, Endpoints), TestError> {
        let fail = |problem: String| TestError::Server { server: url.to_string(), problem };
        let answer = match self.get(url, None) {
            Ok(answer) => answer,
            Err(Problem::Fatal(error)) => return Err(error),
            Err(Problem::Status(error)) => return Err(fail(error.to_string())),
        };
        if let Ok(announced) = network_quality::parse(&answer.body) {
            return self.announced(&answer, announced);
        }
        if let Some(size) = answer.total_bytes.filter(|size| *size < MIN_FILE_BYTES) {
            return Err(fail(format!("the file has {size} bytes (at least {MIN_FILE_BYTES})")));
        }
        let download = path_of(&answer.url);
        Ok((
            answer.origin,
            Endpoints { protocol: "HTTP", download, upload: None, small: None, is_responsiveness: false },
        ))
    }
    fn speed_test(&self, url: &Url) -> Result<(Origin, Endpoints), TestError> {
        let detectors = [Self::network_quality, Self::cloudflare, Self::librespeed];
        let mut tried = Vec::new();
        for find in detectors {
            if let Some(found) = find(self, url, &mut tried)? {
                return Ok(found);
            }
        }
        let problem = format!("no speed test ({}; or give a large file)", tried.join(", "));
        Err(TestError::Server { server: url.to_string(), problem })
    }
    fn network_quality(
        &self,
        url: &Url,
        tried: &mut Vec<String>,
    ) -> Result<Option<(Origin, Endpoints)>, TestError> {
        let Some(answer) = self.try_get(url, "/.well-known/nq", tried)? else { return Ok(None) };
        let announced = match network_quality::parse(&answer.body) {
            Ok(announced) => announced,
            Err(reason) => {
                tried.push(format!("/.well-known/nq: {reason}"));
                return Ok(None);
            }
        };
        self.announced(&answer, announced).map(Some)
    }
    /// What a networkQuality server announces in `answer`.
    fn announced(&self, answer: &Answer, announced: Announced) -> Result<(Origin, Endpoints), TestError> {
        let fail = |problem: String| TestError::Server { server: answer.url.to_string(), problem };
        let Announced { small, large, upload, endpoint } = announced;
        let parse =
            |text: &str| answer.url.join(text).map_err(|e| fail(format!("invalid URL \"{text}\": {e}")));
        let large = parse(&large)?;
        let origin = Origin::of(&large, endpoint.as_deref(), self.0)?;
        // The draft requires one host for all of them.
        let path =
            |text: &str| Ok(Some(parse(text)?).filter(|at| at.host() == large.host()).map(|at| path_of(&at)));
        let endpoints = Endpoints {
            protocol: "networkQuality",
            download: path_of(&large),
            upload: path(&upload)?.map(|path| Upload { path, body_bytes: NQ_UP_BYTES }),
            small: path(&small)?,
            is_responsiveness: true,
        };
        Ok((origin, endpoints))
    }
    fn cloudflare(
        &self,
        url: &Url,
        tried: &mut Vec<String>,
    ) -> Result<Option<(Origin, Endpoints)>, TestError> {
        let Some(answer) = self.try_get(url, "/__down?bytes=100", tried)? else { return Ok(None) };
        if answer.body.len() != 100 {
            tried.push(format!("/__down: {} bytes instead of 100", answer.body.len()));
            return Ok(None);
        }
        let endpoints = Endpoints {
            protocol: "Cloudflare",
            download: format!("/__down?bytes={CLOUDFLARE_DOWN_BYTES}"),
            upload: Some(Upload { path: "/__up".to_owned(), body_bytes: CLOUDFLARE_UP_BYTES }),
            small: Some("/__down?bytes=0".to_owned()),
            is_responsiveness: false,
        };
        Ok(Some((answer.origin, endpoints)))
    }
    fn librespeed(
        &self,
        url: &Url,
        tried: &mut Vec<String>,
    ) -> Result<Option<(Origin, Endpoints)>, TestError> {
        for folder in ["backend/", ""] {
            let empty = format!("{folder}empty.php");
            let Some(answer) = self.try_get(url, &empty, tried)? else { continue };
            if !answer.body.is_empty() {
                tried.push(format!("{empty}: {} bytes instead of none", answer.body.len()));
                continue;
            }
            let small = path_of(&answer.url);
            let endpoints = Endpoints {
                protocol: "LibreSpeed",
                download: small.replace("empty.php", LIBRESPEED_DOWN),
                upload: Some(Upload { path: small.clone(), body_bytes: LIBRESPEED_UP_BYTES }),
                small: Some(small),
                is_responsiveness: false,
            };
            return Ok(Some((answer.origin, endpoints)));
        }
        Ok(None)
    }
    /// The response to a request below `base`; `None` if the server has no such resource.
    fn try_get(&self, base: &Url, path: &str, tried: &mut Vec<String>) -> Result<Option<Answer>, TestError> {
        let Ok(url) = base.join(path) else { return Ok(None) };
        match self.get(&url, Some(ANSWER_LIMIT_BYTES)) {
            Ok(answer) => Ok(Some(answer)),
            Err(Problem::Fatal(error)) => Err(error),
            Err(Problem::Status(error)) => {
                tried.push(format!("{path}: {error}"));
                Ok(None)
            }
        }
    }
    /// Requests `url` and follows redirects. Without a limit, receives only the start of the body.
    fn get(&self, url: &Url, limit_bytes: Option<u64>) -> Result<Answer, Problem> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let origin = Origin::of(&url, None, self.0)?;
            match self.get_once(&url, origin, limit_bytes) {
                Err(Problem::Status(ResponseError::Status {
                    status: 301 | 302 | 303 | 307 | 308,
                    location: Some(to),
                    ..
                })) => {
                    let next = url.join(&to).ok().filter(|next| matches!(next.scheme(), "http" | "https"));
                    url = next
                        .ok_or_else(|| fatal(&url, format!("redirects to \"{to}\" (expected a web page)")))?;
                }
                other => return other,
            }
        }
        Err(fatal(&url, format!("more than {REDIRECTS} redirects")))
    }
    fn get_once(&self, url: &Url, origin: Origin, limit_bytes: Option<u64>) -> Result<Answer, Problem> {
        let socket = self.0.limits.connect(origin.address, |_| Ok(()))?;
        let stream = LimitedStream::new(socket, origin.address, &self.0.limits);
        let mut stream: Box<dyn ReadWrite + '_> = match &origin.tls {
            None => Box::new(stream),
            Some(tls) => {
                let connection = tls.start().map_err(|problem| fatal(url, problem))?;
                Box::new(StreamOwned::new(connection, stream))
            }
        };
        stream.write_all(&get_request(&origin.host, &path_of(url))).map_err(|e| fatal(url, cause(&e)))?;
        let received = receive(&mut stream, limit_bytes).map_err(|problem| match problem {
            Ended::Connection(reason) => fatal(url, reason),
            // Also what is not HTTP: another service on the port.
            Ended::Response(error @ ResponseError::Http(_)) => fatal(url, error.to_string()),
            Ended::Response(error) => Problem::Status(error),
        });
        let Received { body, total_bytes, http3_port } = received?;
        Ok(Answer { url: url.clone(), origin, body, total_bytes, http3_port })
    }
}

/// A response, or the start of one.
#[derive(Debug)]
struct Received {
    body: Vec<u8>,
    total_bytes: Option<u64>,
    http3_port: Option<u16>,
}

/// Why no response was received.
#[derive(Debug)]
enum Ended {
    Connection(String),
    Response(ResponseError),
}

/// Receives the body of a response, and its size if that is known. Without a limit, of a large body
/// only the start.
fn receive(stream: &mut dyn Read, limit_bytes: Option<u64>) -> Result<Received, Ended> {
    let mut responses = Responses::new(limit_bytes.unwrap_or(u64::MAX));
    let (mut body, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
    loop {
        let length = match stream.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => 0,
            Err(error) => return Err(Ended::Connection(cause(&error))),
        };
        if length == 0 && responses.ends_with_connection() {
            let total_bytes = Some(body.len() as u64);
            return Ok(Received { body, total_bytes, http3_port: responses.http3_port() });
        }
        if length == 0 {
            return Err(Ended::Connection("closed the connection".to_owned()));
        }
        let progress = responses.push(&buffer[..length], &mut |part| body.extend_from_slice(part));
        let is_complete = progress.map_err(Ended::Response)?.complete > 0;
        let size = is_complete.then_some(body.len() as u64);
        let left = responses.expected_bytes();
        let known = size.or((left > 0).then(|| left.saturating_add(body.len() as u64)));
        // A smaller body is read whole: it may be a configuration, and arrive in parts.
        let is_start = known.unwrap_or(body.len() as u64) >= MIN_FILE_BYTES;
        if is_complete || (limit_bytes.is_none() && is_start) {
            return Ok(Received { body, total_bytes: known, http3_port: responses.http3_port() });
        }
    }
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

fn fatal(url: &Url, problem: String) -> Problem {
    Problem::Fatal(TestError::Server { server: url.to_string(), problem })
}

/// Path and query.
pub(crate) fn path_of(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// Returns one part per call.
    struct Parts(Vec<Vec<u8>>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let part = if self.0.is_empty() { Vec::new() } else { self.0.remove(0) };
            buffer[..part.len()].copy_from_slice(&part);
            Ok(part.len())
        }
    }

    #[test]
    fn a_small_body_is_read_whole_and_of_a_large_one_the_start() {
        let parts = |texts: &[&str]| Parts(texts.iter().map(|text| text.as_bytes().to_vec()).collect());
        let head = |length: u64| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        let body = |received: Received| (String::from_utf8(received.body).unwrap(), received.total_bytes);
        let small = receive(&mut parts(&[&head(4), "ab", "cd"]), None).unwrap();
        assert_eq!(body(small), ("abcd".to_owned(), Some(4)));
        let large = receive(&mut parts(&[&head(8_000_000_000), "ab", "cd"]), None).unwrap();
        assert_eq!(body(large), (String::new(), Some(8_000_000_000)));
        let broken = receive(&mut parts(&[&head(4), "ab"]), None);
        assert!(matches!(broken, Err(Ended::Connection(reason)) if reason == "closed the connection"));
    }
}
