//! The subset of HTTP/1.1 (RFC 9112) that probes and load need: headers of GET requests and of
//! responses, with pipelining.
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

/// Name of this program in requests.
pub const AGENT: &str = concat!("fathom/", env!("CARGO_PKG_VERSION"));

/// Maximum size of a request header in bytes, including its empty line.
pub const HTTP_HEAD_LIMIT_BYTES: usize = 4096;

/// Maximum size of a response header in bytes, including its empty line: security policies and
/// cookies of public servers take some kilobytes.
pub const RESPONSE_HEAD_LIMIT_BYTES: usize = 32 * 1024;

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
pub struct HttpResponse<'a> {
    /// Status code, such as `200`.
    pub status: u16,
    /// Where the body that follows ends.
    pub body: HttpBody,
    /// The server accepts no further request on this connection.
    pub close: bool,
    /// `Location`: where the client finds the resource.
    pub location: Option<&'a str>,
    /// `Retry-After`: when the client may ask again, in seconds or as a date.
    pub retry_after: Option<&'a str>,
    /// UDP port of the same host at which the server offers HTTP/3 (`Alt-Svc`; RFC 7838, RFC 9114).
    pub http3_port: Option<u16>,
}

/// End of the body of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpBody {
    /// It has this size.
    Bytes(u64),
    /// It is sent in chunks, which give their sizes.
    Chunked,
    /// It ends with the connection.
    UntilClose,
}

/// Why bytes are not a valid header. The connection cannot be resynchronized and must be closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpError {
    /// The header is longer than its limit in bytes.
    TooLong(usize),
    /// The method is not GET.
    Method,
    /// The version is neither 1.0 nor 1.1.
    Version,
    /// A request has a body.
    Body,
    /// The header is malformed.
    Malformed,
}

impl HttpError {
    /// Status code of the response to such a request.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            HttpError::TooLong(_) => 431,
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
            HttpError::TooLong(limit) => write!(f, "the HTTP header is longer than {limit} bytes"),
            HttpError::Method => write!(f, "unsupported HTTP method (expected GET)"),
            HttpError::Version => write!(f, "unsupported HTTP version (expected 1.0 or 1.1)"),
            HttpError::Body => write!(f, "unexpected HTTP body"),
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
    let Some((head, length)) = whole_head(bytes, HTTP_HEAD_LIMIT_BYTES)? else { return Ok(None) };
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
/// If it is malformed or too long.
pub fn parse_response(bytes: &[u8]) -> Result<Option<(HttpResponse<'_>, usize)>, HttpError> {
    let Some((head, length)) = whole_head(bytes, RESPONSE_HEAD_LIMIT_BYTES)? else { return Ok(None) };
    let (line, fields) = head.split_once('\n').unwrap_or((head, ""));
    let mut words = line.trim_end_matches('\r').splitn(3, ' ');
    let (Some(version), Some(status)) = (words.next(), words.next()) else {
        return Err(HttpError::Malformed);
    };
    let is_status = status.len() == 3 && status.bytes().all(|b| b.is_ascii_digit());
    let status = status.parse().ok().filter(|_| is_status).ok_or(HttpError::Malformed)?;
    let Fields { content_length, chunked, close, location, retry_after, http3_port } =
        Fields::parse(fields, version)?;
    // RFC 9112 section 6.3.
    let body = match content_length {
        _ if matches!(status, 100..=199 | 204 | 304) => HttpBody::Bytes(0),
        _ if chunked => HttpBody::Chunked,
        Some(size) => HttpBody::Bytes(size),
        None => HttpBody::UntilClose,
    };
    Ok(Some((HttpResponse { status, body, close, location, retry_after, http3_port }, length)))
}

/// Text of the header without its empty line, and the size including it.
fn whole_head(bytes: &[u8], limit: usize) -> Result<Option<(&str, usize)>, HttpError> {
    let window = &bytes[..bytes.len().min(limit)];
    let Some((text, length)) = split_head(window) else {
        return if bytes.len() >= limit { Err(HttpError::TooLong(limit)) } else { Ok(None) };
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

struct Fields<'a> {
    content_length: Option<u64>,
    chunked: bool,
    close: bool,
    location: Option<&'a str>,
    retry_after: Option<&'a str>,
    http3_port: Option<u16>,
}

impl<'a> Fields<'a> {
    fn parse(text: &'a str, version: &str) -> Result<Self, HttpError> {
        let close = match version {
            "HTTP/1.1" => false,
            "HTTP/1.0" => true,
            _ => return Err(HttpError::Version),
        };
        let mut fields = Fields {
            content_length: None,
            chunked: false,
            close,
            location: None,
            retry_after: None,
            http3_port: None,
        };
        text.lines().try_for_each(|line| fields.take(line))?;
        Ok(fields)
    }
    fn take(&mut self, line: &'a str) -> Result<(), HttpError> {
        let (name, value) = line.split_once(':').ok_or(HttpError::Malformed)?;
        let (is, value) = (|other: &str| name.eq_ignore_ascii_case(other), value.trim());
        if is("content-length") {
            let digits = value.bytes().all(|b| b.is_ascii_digit());
            let length = value.parse().ok().filter(|_| digits).ok_or(HttpError::Malformed)?;
            if self.content_length.replace(length).is_some_and(|earlier| earlier != length) {
                return Err(HttpError::Malformed);
            }
        } else if is("transfer-encoding") {
            self.chunked = true;
        } else if is("connection") {
            let mut options = value.split(',').map(str::trim);
            self.close |= options.any(|o| o.eq_ignore_ascii_case("close"));
        } else if is("location") {
            self.location = Some(value);
        } else if is("retry-after") {
            self.retry_after = Some(value);
        } else if is("alt-svc") {
            self.http3_port = self.http3_port.or_else(|| value.split(',').find_map(http3_port));
        }
        Ok(())
    }
}

/// The port of an alternative such as `h3=":443"; ma=86400`, if it is HTTP/3 on the same host.
fn http3_port(alternative: &str) -> Option<u16> {
    let port = alternative.trim().strip_prefix("h3=\":")?.split('"').next()?.parse().ok();
    port.filter(|port| *port > 0)
}

/// A probe request to `fathom serve`. `host` is the server name that the user gave.
#[must_use]
pub fn probe_request(host: &str) -> Vec<u8> {
    format!("GET {PROBE_PATH} HTTP/1.1\r\nHost: {}\r\n\r\n", graphic(host)).into_bytes()
}

/// A GET request for `path` to any server. Some public servers refuse requests without an agent.
#[must_use]
pub fn get_request(host: &str, path: &str) -> Vec<u8> {
    let (host, path) = (graphic(host), graphic(path));
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {AGENT}\r\n\r\n").into_bytes()
}

/// A HEAD request for `path`.
#[must_use]
pub fn head_request(host: &str, path: &str) -> Vec<u8> {
    let get = get_request(host, path);
    [b"HEAD", get.strip_prefix(b"GET").unwrap_or(&get)].concat()
}

/// The header of a POST request with a body of this size to any server.
#[must_use]
pub fn post_request(host: &str, path: &str, body_bytes: u64) -> Vec<u8> {
    let (host, path) = (graphic(host), graphic(path));
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {AGENT}\r\n\
         Content-Type: application/octet-stream\r\nContent-Length: {body_bytes}\r\n\r\n"
    )
    .into_bytes()
}

/// Text without line breaks and blanks, which could otherwise split a request.
fn graphic(text: &str) -> String {
    text.chars().filter(char::is_ascii_graphic).collect()
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
