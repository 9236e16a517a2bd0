//! As much of HTTP/1.1 (RFC 9112) as probes need: heads of GET requests and of their answers, pipelined.
//!
//! By hand: `httparse` wants room for all fields of a head before it reads it, 1,365 of them for the bytes that are allowed here, and
//! has other errors for what the server answers with a status of its own.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The path of a probe.
pub const PROBE_PATH: &str = "/probe";

/// Longest head of a request or an answer in bytes, its empty line included.
pub const HTTP_HEAD_LIMIT_BYTES: usize = 4096;

/// A request without a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpRequest<'a> {
    /// As sent, beginning with `/`.
    pub path: &'a str,
    /// The client wants no further request on this connection.
    pub close: bool,
}

/// An answer's head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpResponse {
    /// `200` and so on.
    pub status: u16,
    /// Bytes of the body that follows.
    pub body_bytes: usize,
    /// The server takes no further request on this connection.
    pub close: bool,
}

/// Why bytes are not a head. The connection has lost its sense; close it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpError {
    /// The head is longer than [`HTTP_HEAD_LIMIT_BYTES`].
    TooLong,
    /// The method is not GET.
    Method,
    /// The version is neither 1.0 nor 1.1.
    Version,
    /// A request has a body, or an answer has one of unknown length.
    Body,
    /// Not a head.
    Malformed,
}

impl HttpError {
    /// The status that answers a request of this kind.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            HttpError::TooLong => 431,
            HttpError::Method => 405,
            HttpError::Version => 505,
            HttpError::Body => 413,
            HttpError::Malformed => 400,
        }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpError::TooLong => write!(f, "HTTP head longer than {HTTP_HEAD_LIMIT_BYTES} bytes"),
            HttpError::Method => write!(f, "HTTP method is not GET"),
            HttpError::Version => write!(f, "HTTP version is neither 1.0 nor 1.1"),
            HttpError::Body => write!(f, "HTTP body that is not expected, or of unknown length"),
            HttpError::Malformed => write!(f, "not an HTTP head"),
        }
    }
}
impl core::error::Error for HttpError {}

/// The request at the start of `bytes` and the length of its head; `None` until the head is whole.
///
/// # Errors
/// If it is not a request that the server answers with 200 or 404.
pub fn parse_request(bytes: &[u8]) -> Result<Option<(HttpRequest<'_>, usize)>, HttpError> {
    let Some((head, length)) = whole_head(bytes)? else { return Ok(None) };
    let (line, fields) = head.split_once('\n').unwrap_or((head, ""));
    let mut words = line.trim_end_matches('\r').split(' ');
    let (Some(method), Some(path), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(HttpError::Malformed);
    };
    if method != "GET" {
        return Err(HttpError::Method);
    }
    if !path.starts_with('/') {
        return Err(HttpError::Malformed);
    }
    let fields = Fields::parse(fields, version)?;
    if fields.chunked || fields.content_length.unwrap_or(0) > 0 {
        return Err(HttpError::Body);
    }
    Ok(Some((HttpRequest { path, close: fields.close }, length)))
}

/// The answer at the start of `bytes` and the length of its head; `None` until the head is whole.
///
/// # Errors
/// If it is no answer, or one whose body has no given length.
pub fn parse_response(bytes: &[u8]) -> Result<Option<(HttpResponse, usize)>, HttpError> {
    let Some((head, length)) = whole_head(bytes)? else { return Ok(None) };
    let (line, fields) = head.split_once('\n').unwrap_or((head, ""));
    let mut words = line.trim_end_matches('\r').splitn(3, ' ');
    let (Some(version), Some(status)) = (words.next(), words.next()) else {
        return Err(HttpError::Malformed);
    };
    let is_status = status.len() == 3 && status.bytes().all(|b| b.is_ascii_digit());
    let status = status.parse().ok().filter(|_| is_status).ok_or(HttpError::Malformed)?;
    let fields = Fields::parse(fields, version)?;
    let body_bytes = fields.content_length.filter(|_| !fields.chunked).ok_or(HttpError::Body)?;
    Ok(Some((HttpResponse { status, body_bytes, close: fields.close }, length)))
}

/// The text of the head before its empty line, and the length with it.
fn whole_head(bytes: &[u8]) -> Result<Option<(&str, usize)>, HttpError> {
    let window = &bytes[..bytes.len().min(HTTP_HEAD_LIMIT_BYTES)];
    let Some((text, length)) = split_head(window) else {
        return if bytes.len() >= HTTP_HEAD_LIMIT_BYTES { Err(HttpError::TooLong) } else { Ok(None) };
    };
    let head = core::str::from_utf8(text).map_err(|_| HttpError::Malformed)?;
    Ok(Some((head, length)))
}

/// RFC 9112 section 2.2: a line may end in a bare `\n`.
fn split_head(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at);
    ends.into_iter().find_map(|at| match bytes[at + 1..] {
        [b'\n', ..] => Some((&bytes[..at], at + 2)),
        [b'\r', b'\n', ..] => Some((&bytes[..at], at + 3)),
        _ => None,
    })
}

/// The header fields that matter.
struct Fields {
    content_length: Option<usize>,
    chunked: bool,
    close: bool,
}

impl Fields {
    fn parse(text: &str, version: &str) -> Result<Fields, HttpError> {
        let close = match version {
            "HTTP/1.1" => false,
            "HTTP/1.0" => true,
            _ => return Err(HttpError::Version),
        };
        let mut fields = Fields { content_length: None, chunked: false, close };
        text.lines().try_for_each(|line| fields.take(line))?;
        Ok(fields)
    }
    fn take(&mut self, line: &str) -> Result<(), HttpError> {
        let (name, value) = line.split_once(':').ok_or(HttpError::Malformed)?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let digits = value.bytes().all(|b| b.is_ascii_digit());
            let length = value.parse().ok().filter(|_| digits).ok_or(HttpError::Malformed)?;
            if self.content_length.replace(length).is_some_and(|earlier| earlier != length) {
                return Err(HttpError::Malformed);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.chunked = true;
        } else if name.eq_ignore_ascii_case("connection") {
            let mut options = value.split(',').map(str::trim);
            self.close |= options.any(|o| o.eq_ignore_ascii_case("close"));
        }
        Ok(())
    }
}

/// The bytes of a probe's request. `host` is what the user gave for the server.
#[must_use]
pub fn probe_request(host: &str) -> Vec<u8> {
    // A host that could break out of its line would make two requests of one.
    let host: String = host.chars().filter(char::is_ascii_graphic).collect();
    format!("GET {PROBE_PATH} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
}

/// The bytes of an answer.
#[must_use]
pub fn http_response(status: u16, content_type: &str, body: &[u8]) -> Vec<u8> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        505 => "HTTP Version Not Supported",
        _ => "",
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}
