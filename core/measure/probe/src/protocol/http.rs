//! The subset of HTTP/1.1 (RFC 9112) that probes need: headers of GET requests and responses, with
//! pipelining.
//!
//! `httparse` is not used because it requires space for all header fields in advance, up to 1,365
//! within the size allowed here, and its errors do not match the statuses with which the server
//! responds.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Path of a probe request.
pub const PROBE_PATH: &str = "/probe";

/// Maximum size of a request or response header in bytes, including its empty line.
pub const HTTP_HEAD_LIMIT_BYTES: usize = 4096;

/// A request without a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpRequest<'a> {
    /// Path as sent, starting with `/`.
    pub path: &'a str,
    /// The client sends no further request on this connection.
    pub close: bool,
}

/// Header of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HttpResponse {
    /// Status code, such as `200`.
    pub status: u16,
    /// Size of the body that follows.
    pub body_bytes: usize,
    /// The server accepts no further request on this connection.
    pub close: bool,
}

/// Why bytes are not a valid header. The connection cannot be resynchronized and must be closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpError {
    /// The header is longer than [`HTTP_HEAD_LIMIT_BYTES`].
    TooLong,
    /// The method is not GET.
    Method,
    /// The version is neither 1.0 nor 1.1.
    Version,
    /// A request has a body, or a response has a body of unknown length.
    Body,
    /// The header is malformed.
    Malformed,
}

impl HttpError {
    /// Status code of the response to such a request.
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
            HttpError::TooLong => write!(f, "the HTTP header is longer than {HTTP_HEAD_LIMIT_BYTES} bytes"),
            HttpError::Method => write!(f, "unsupported HTTP method (expected GET)"),
            HttpError::Version => write!(f, "unsupported HTTP version (expected 1.0 or 1.1)"),
            HttpError::Body => write!(f, "unexpected HTTP body, or body of unknown length"),
            HttpError::Malformed => write!(f, "malformed HTTP header"),
        }
    }
}
impl core::error::Error for HttpError {}

/// Parses the request at the start of `bytes` and returns it with the size of its header; `None`
/// until the header is complete.
///
/// # Errors
/// If the server cannot answer the request with 200 or 404.
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

/// Parses the response header at the start of `bytes` and returns it with its size; `None` until
/// the header is complete.
///
/// # Errors
/// If it is malformed or the length of its body is not given.
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

/// Text of the header without its empty line, and the size including it.
fn whole_head(bytes: &[u8]) -> Result<Option<(&str, usize)>, HttpError> {
    let window = &bytes[..bytes.len().min(HTTP_HEAD_LIMIT_BYTES)];
    let Some((text, length)) = split_head(window) else {
        return if bytes.len() >= HTTP_HEAD_LIMIT_BYTES { Err(HttpError::TooLong) } else { Ok(None) };
    };
    let head = core::str::from_utf8(text).map_err(|_| HttpError::Malformed)?;
    Ok(Some((head, length)))
}

/// RFC 9112 section 2.2: a line may end with a bare `\n`.
fn split_head(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let ends = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at);
    ends.into_iter().find_map(|at| match bytes[at + 1..] {
        [b'\n', ..] => Some((&bytes[..at], at + 2)),
        [b'\r', b'\n', ..] => Some((&bytes[..at], at + 3)),
        _ => None,
    })
}

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

/// A probe request. `host` is the server name that the user gave.
#[must_use]
pub fn probe_request(host: &str) -> Vec<u8> {
    // A host with a line break could otherwise split the request.
    let host: String = host.chars().filter(char::is_ascii_graphic).collect();
    format!("GET {PROBE_PATH} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
}

/// A complete response.
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
