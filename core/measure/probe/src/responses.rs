//! Follows the HTTP/1.1 responses on one connection.
use crate::protocol::{HttpBody, HttpError, HttpResponse, parse_response};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Longest accepted line with the size of a chunk, or line of a trailer. RFC 9112 sets no limit;
/// servers send a few digits.
const LINE_LIMIT_BYTES: usize = 4096;

/// What received bytes completed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Progress {
    /// Bytes of bodies, without the sizes of chunks.
    pub body_bytes: u64,
    /// Complete responses.
    pub complete: usize,
}

/// Why a connection cannot be used any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ResponseError {
    /// The bytes are not HTTP/1.1.
    Http(HttpError),
    /// The server does not send what was requested.
    Status {
        /// The status, other than 200.
        status: u16,
        /// `Location`.
        location: Option<String>,
        /// `Retry-After`.
        retry_after: Option<String>,
    },
    /// A body is longer than the limit in bytes.
    TooLong(u64),
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResponseError::Http(error) => write!(f, "{error}"),
            ResponseError::Status { status, retry_after: Some(when), .. } => {
                write!(f, "HTTP status {status}, retry after {when}")
            }
            ResponseError::Status { status, .. } => write!(f, "HTTP status {status}"),
            ResponseError::TooLong(limit) => write!(f, "the body is longer than {limit} bytes"),
        }
    }
}
impl core::error::Error for ResponseError {}

impl From<HttpError> for ResponseError {
    fn from(error: HttpError) -> Self {
        ResponseError::Http(error)
    }
}

/// Stage of a connection: the kind of the next byte.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Stage {
    #[default]
    Head,
    /// This many bytes of a body, which end it.
    Body(u64),
    /// The size of a chunk.
    Size,
    /// The rest of a chunk.
    Chunk(u64),
    /// The line end after a chunk.
    ChunkEnd,
    /// Lines up to an empty one.
    Trailer,
    /// A body that ends with the connection.
    UntilClose,
}

/// Responses on one connection; interim ones (1xx) are skipped.
#[derive(Clone, Debug)]
pub struct Responses {
    /// They answer HEAD: whatever the status, none has a body (RFC 9110, section 9.3.2). Otherwise
    /// the status is 200.
    to_heads: bool,
    /// An incomplete header or line.
    held: Vec<u8>,
    stage: Stage,
    limit_bytes: u64,
    received_bytes: u64,
    is_last: bool,
    http3_port: Option<u16>,
}

impl Responses {
    /// Follows responses with bodies of at most `limit_bytes` each.
    #[must_use]
    pub const fn new(limit_bytes: u64) -> Self {
        Responses {
            to_heads: false,
            held: Vec::new(),
            stage: Stage::Head,
            limit_bytes,
            received_bytes: 0,
            is_last: false,
            http3_port: None,
        }
    }
    /// Follows the responses to probes, which are small.
    #[must_use]
    pub const fn to_probes() -> Self {
        Responses::new(64 * 1024)
    }
    /// Follows the responses to HEAD requests, of any status.
    #[must_use]
    pub const fn to_heads() -> Self {
        let mut responses = Responses::new(0);
        responses.to_heads = true;
        responses
    }
    /// Takes received bytes, and passes those of bodies to `body`.
    ///
    /// # Errors
    /// If the connection cannot be used any more.
    pub fn push(&mut self, bytes: &[u8], body: &mut impl FnMut(&[u8])) -> Result<Progress, ResponseError> {
        let mut progress = Progress::default();
        let mut held = core::mem::take(&mut self.held);
        let mut rest = bytes;
        if !held.is_empty() {
            held.extend_from_slice(bytes);
            rest = &held;
        }
        while let Some(used) = self.step(rest, &mut progress, body)? {
            rest = &rest[used..];
        }
        self.held = rest.to_vec();
        Ok(progress)
    }
    /// Number of bytes of the body that come next for certain. The caller may discard them and
    /// report it to [`Responses::skip`].
    #[must_use]
    pub const fn expected_bytes(&self) -> u64 {
        match self.stage {
            Stage::Body(left) => left,
            _ => 0,
        }
    }
    /// Counts bytes of the body that were received and discarded, at most those expected.
    pub fn skip(&mut self, bytes: u64) -> Progress {
        let Stage::Body(left) = self.stage else { return Progress::default() };
        let body_bytes = bytes.min(left);
        let complete = self.shorten(left, body_bytes);
        Progress { body_bytes, complete }
    }
    /// Whether the end of the connection completes a response.
    #[must_use]
    pub fn ends_with_connection(&self) -> bool {
        self.stage == Stage::UntilClose
    }
    /// Whether the server accepts no further request on this connection.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.is_last
    }
    /// Where the last response offers HTTP/3; see [`HttpResponse::http3_port`].
    #[must_use]
    pub const fn http3_port(&self) -> Option<u16> {
        self.http3_port
    }

    /// Takes the next part of `bytes` and returns its size; `None` if it is incomplete.
    fn step(
        &mut self,
        bytes: &[u8],
        progress: &mut Progress,
        body: &mut impl FnMut(&[u8]),
    ) -> Result<Option<usize>, ResponseError> {
        let whole = |left: u64| usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        Ok(match self.stage {
            Stage::Head => {
                let Some((head, used)) = parse_response(bytes)? else { return Ok(None) };
                progress.complete += self.begin(&head)?;
                Some(used)
            }
            Stage::Size => {
                let Some((line, used)) = line(bytes)? else { return Ok(None) };
                let size = chunk_size(line)?;
                self.stage = if size == 0 { Stage::Trailer } else { Stage::Chunk(size) };
                Some(used)
            }
            Stage::ChunkEnd => {
                let Some((line, used)) = line(bytes)? else { return Ok(None) };
                if !line.is_empty() {
                    return Err(HttpError::Malformed.into());
                }
                self.stage = Stage::Size;
                Some(used)
            }
            Stage::Trailer => {
                let Some((line, used)) = line(bytes)? else { return Ok(None) };
                if line.is_empty() {
                    self.stage = Stage::Head;
                    progress.complete += 1;
                }
                Some(used)
            }
            Stage::Body(_) | Stage::Chunk(_) | Stage::UntilClose if bytes.is_empty() => None,
            Stage::Body(left) => {
                let used = whole(left);
                body(&bytes[..used]);
                progress.body_bytes += used as u64;
                progress.complete += self.shorten(left, used as u64);
                Some(used)
            }
            Stage::Chunk(left) => {
                let used = whole(left);
                body(&bytes[..used]);
                self.receive(used as u64, progress)?;
                let left = left - used as u64;
                self.stage = if left == 0 { Stage::ChunkEnd } else { Stage::Chunk(left) };
                Some(used)
            }
            Stage::UntilClose => {
                body(bytes);
                self.receive(bytes.len() as u64, progress)?;
                Some(bytes.len())
            }
        })
    }
    /// Starts a response; returns the number of responses that this completes.
    fn begin(&mut self, head: &HttpResponse<'_>) -> Result<usize, ResponseError> {
        if matches!(head.status, 100..=199) {
            return Ok(0);
        }
        if self.to_heads {
            self.is_last |= head.close;
            return Ok(1);
        }
        if head.status != 200 {
            let (location, retry_after) = (head.location.map(Into::into), head.retry_after.map(Into::into));
            return Err(ResponseError::Status { status: head.status, location, retry_after });
        }
        self.received_bytes = 0;
        self.is_last |= head.close;
        self.http3_port = head.http3_port;
        match head.body {
            HttpBody::Bytes(length) if length > self.limit_bytes => {
                return Err(ResponseError::TooLong(self.limit_bytes));
            }
            HttpBody::Bytes(0) => return Ok(1),
            HttpBody::Bytes(length) => self.stage = Stage::Body(length),
            HttpBody::Chunked => self.stage = Stage::Size,
            HttpBody::UntilClose => self.stage = Stage::UntilClose,
        }
        Ok(0)
    }
    fn shorten(&mut self, left: u64, by: u64) -> usize {
        self.stage = if left == by { Stage::Head } else { Stage::Body(left - by) };
        usize::from(left == by)
    }
    /// Counts bytes of a body of unknown size.
    fn receive(&mut self, bytes: u64, progress: &mut Progress) -> Result<(), ResponseError> {
        progress.body_bytes += bytes;
        self.received_bytes = self.received_bytes.saturating_add(bytes);
        let is_short = self.received_bytes <= self.limit_bytes;
        is_short.then_some(()).ok_or(ResponseError::TooLong(self.limit_bytes))
    }
}

/// The line at the start of `bytes` without its end, and its size with it.
fn line(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, HttpError> {
    let window = &bytes[..bytes.len().min(LINE_LIMIT_BYTES)];
    match window.iter().position(|b| *b == b'\n') {
        Some(end) => Ok(Some((window[..end].strip_suffix(b"\r").unwrap_or(&window[..end]), end + 1))),
        None if window.len() == LINE_LIMIT_BYTES => Err(HttpError::Malformed),
        None => Ok(None),
    }
}

/// RFC 9112 section 7.1: hexadecimal digits, then extensions after a semicolon.
fn chunk_size(line: &[u8]) -> Result<u64, HttpError> {
    let digits = line.split(|b| *b == b';').next().unwrap_or(line).trim_ascii();
    let text = core::str::from_utf8(digits).map_err(|_| HttpError::Malformed)?;
    let is_hexadecimal = text.bytes().all(|b| b.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| is_hexadecimal).ok_or(HttpError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http_response;
    use alloc::string::ToString;

    const CHUNKED: &[u8] =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n";

    /// Pushes `stream` in parts of `size` bytes; returns the total progress and the bodies.
    fn follow(stream: &[u8], size: usize) -> Result<(Progress, Vec<u8>), ResponseError> {
        let mut responses = Responses::to_probes();
        let (mut total, mut bodies) = (Progress::default(), Vec::new());
        for part in stream.chunks(size) {
            let progress = responses.push(part, &mut |body| bodies.extend_from_slice(body))?;
            total.body_bytes += progress.body_bytes;
            total.complete += progress.complete;
        }
        Ok((total, bodies))
    }

    #[test]
    fn counts_pipelined_responses_split_anywhere() {
        let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".as_slice();
        let fixed = http_response(200, "text/plain", b"xyz");
        let empty = http_response(200, "text/plain", b"");
        let stream = [interim, &fixed, CHUNKED, &empty, CHUNKED, &fixed].concat();
        for size in [1, 2, 3, 7, 50, 1_000] {
            let (total, bodies) = follow(&stream, size).unwrap();
            assert_eq!(total, Progress { body_bytes: 32, complete: 5 }, "in parts of {size}");
            assert_eq!(bodies, b"xyzabc0123456789abc0123456789xyz");
        }
    }

    #[test]
    fn discarded_bytes_count_like_received_ones() {
        let mut responses = Responses::new(u64::MAX);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nab";
        assert_eq!(responses.push(head, &mut |_| ()).unwrap().body_bytes, 2);
        assert_eq!(responses.expected_bytes(), (1 << 63) - 2);
        assert_eq!(responses.skip(1 << 62), Progress { body_bytes: 1 << 62, complete: 0 });
        assert_eq!(responses.skip(u64::MAX), Progress { body_bytes: (1 << 62) - 2, complete: 1 });
        assert_eq!(responses.skip(1), Progress::default());
    }

    #[test]
    fn a_body_without_a_length_ends_with_the_connection() {
        let mut responses = Responses::to_probes();
        let progress = responses.push(b"HTTP/1.0 200 OK\r\n\r\nabc", &mut |_| ()).unwrap();
        assert_eq!(progress, Progress { body_bytes: 3, complete: 0 });
        assert!(responses.ends_with_connection() && responses.is_last());
        assert_eq!(responses.push(&[0; 70_000], &mut |_| ()), Err(ResponseError::TooLong(65_536)));
    }

    #[test]
    fn a_response_to_head_is_a_header_of_any_status() {
        let mut responses = Responses::to_heads();
        let two =
            b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n";
        assert_eq!(responses.push(two, &mut |_| ()).unwrap(), Progress { body_bytes: 0, complete: 2 });
        assert!(!responses.is_last());
        let last = b"HTTP/1.1 404 No\r\nConnection: close\r\n\r\n";
        assert_eq!(responses.push(last, &mut |_| ()).unwrap().complete, 1);
        assert!(responses.is_last());
    }

    #[test]
    fn other_bytes_end_the_connection() {
        let malformed = ResponseError::Http(HttpError::Malformed);
        let cases = [
            ("hello world\r\n\r\n", malformed.clone()),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", ResponseError::TooLong(65_536)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", malformed.clone()),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", malformed.clone()),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", malformed),
        ];
        for (text, error) in cases {
            assert_eq!(follow(text.as_bytes(), 5), Err(error), "{text}");
        }
        let refused = follow(b"HTTP/1.1 429 Slow\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n", 9);
        assert_eq!(refused.unwrap_err().to_string(), "HTTP status 429, retry after 60");
        let moved = "HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n";
        let Err(ResponseError::Status { location, .. }) = follow(moved.as_bytes(), 99) else {
            panic!("{moved}")
        };
        assert_eq!(location.as_deref(), Some("/b"));
    }
}
