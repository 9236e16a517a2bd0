//! Responses: bodies, errors, conditional and compressed responses.
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Frame};
use hyper::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::json;
use std::convert::Infallible;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// A body in memory or streamed.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;
/// An HTTP response.
pub type Reply = Response<Body>;

/// A streamed body. The sender blocks while the channel is full.
struct Pieces(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A streamed response.
pub fn pieces(content_type: &'static str, source: mpsc::Receiver<Bytes>) -> Reply {
    headed(content_type, Pieces(source).boxed_unsync())
}

/// A complete document with its own styles and scripts. It is shown in a sandbox with an opaque
/// origin, so that nothing in it can access this server.
pub fn document(text: String) -> Reply {
    const POLICY: &str = "sandbox allow-scripts allow-downloads; default-src 'none'; style-src 'unsafe-inline'; \
                          script-src 'unsafe-inline'; img-src data: blob:";
    let mut reply = no_store(with_type("text/html; charset=utf-8", text));
    reply.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    reply
}

/// Smaller bodies fit into one packet anyway, so compression is not worth it.
const MIN_PACKED_BYTES: usize = 1_200;

/// Why a request was refused, in one line for people.
#[derive(Debug)]
pub struct Refusal {
    /// Status of the response.
    pub status: StatusCode,
    /// The reason, one line.
    pub text: String,
    /// Seconds after which a retry makes sense.
    pub retry_after_s: Option<u64>,
}

impl Refusal {
    /// A refusal with this status.
    pub fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Refusal { status, text: text.into(), retry_after_s: None }
    }
    /// A refusal of a request that is wrong.
    pub fn bad(text: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, text)
    }

    /// A refusal for now: the client should try again.
    pub fn later(text: impl Into<String>, after_s: u64) -> Self {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Refusal { status, text: text.into(), retry_after_s: Some(after_s) }
    }

    /// The response: JSON with the reason.
    pub(crate) fn reply(&self) -> Reply {
        let mut reply = with_type("application/json", format!("{}\n", json!({ "error": self.text })));
        *reply.status_mut() = self.status;
        if let Some(seconds) = self.retry_after_s {
            reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        no_store(reply)
    }
}

/// A complete body, with its cache lifetime.
pub struct Whole {
    /// Its `Content-Type`. Images are not compressed.
    pub content_type: &'static str,
    /// The body.
    pub bytes: Vec<u8>,
    /// How long the client may keep it.
    pub age: Age,
}

/// Cache lifetime of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Age {
    /// Revalidate each time; the tag saves the body.
    Changing,
    /// About the past. Cached for a day, not forever: an import or a retention may still change it.
    Closed,
}

impl Whole {
    /// The response to a request with these headers: 304 if the client has it, compressed if the
    /// client accepts that.
    pub fn reply(self, request: &HeaderMap) -> Reply {
        let tag = format!("\"{:016x}\"", fnv1a(&self.bytes));
        let known = request.get(header::IF_NONE_MATCH).is_some_and(|given| names(given, &tag));
        let packs = self.bytes.len() >= MIN_PACKED_BYTES
            && takes_gzip(request)
            && !self.content_type.starts_with("image/");
        let packed = if packs && !known { gzip(&self.bytes) } else { None };
        let (gzipped, body) = match (known, packed) {
            (true, _) => (false, Vec::new()),
            (false, Some(packed)) => (true, packed),
            (false, None) => (false, self.bytes),
        };
        let mut reply = with_type(self.content_type, body);
        let headers = reply.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static(match self.age {
                Age::Changing => "private, no-cache",
                Age::Closed => "private, max-age=86400, immutable",
            }),
        );
        if let Ok(value) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, value);
        }
        if gzipped {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if known {
            *reply.status_mut() = StatusCode::NOT_MODIFIED;
        }
        reply
    }
}

fn with_type(content_type: &'static str, body: impl Into<Bytes>) -> Reply {
    headed(content_type, Full::new(body.into()).boxed_unsync())
}

fn headed(content_type: &'static str, body: Body) -> Reply {
    let mut reply = Response::new(body);
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply
}

/// The response, which the client must not keep.
pub fn no_store(mut reply: Reply) -> Reply {
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// A redirect within this server.
pub(crate) fn see_other(place: &'static str) -> Reply {
    let mut reply = no_store(Response::new(Full::default().boxed_unsync()));
    *reply.status_mut() = StatusCode::SEE_OTHER;
    reply.headers_mut().insert(header::LOCATION, HeaderValue::from_static(place));
    reply
}

/// A redirect to another scheme. It may change with the configuration, so it is not permanent.
pub(crate) fn moved(place: &str) -> Reply {
    let mut reply = no_store(Response::new(Full::default().boxed_unsync()));
    *reply.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    if let Ok(value) = HeaderValue::from_str(place) {
        reply.headers_mut().insert(header::LOCATION, value);
    }
    reply
}

/// The weak comparison of RFC 9110 section 13.1.2.
fn names(given: &HeaderValue, tag: &str) -> bool {
    let Ok(text) = given.to_str() else { return false };
    text.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

/// Whether `Accept-Encoding` lists gzip and does not refuse it.
fn takes_gzip(request: &HeaderMap) -> bool {
    let texts = request.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        gzip && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
    packer.write_all(bytes).ok()?;
    packer.finish().ok()
}

/// 64-bit FNV-1a: distinguishes responses; it is not for security.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_if_accepted() {
        let cases = [
            (None, false),
            (Some("gzip"), true),
            (Some("br, GZIP;q=0.8"), true),
            (Some("gzip;q=0"), false),
            (Some("gzip; q=0.0, br"), false),
            (Some("gzipped"), false),
            (Some("identity"), false),
        ];
        for (accepted, expected) in cases {
            let mut headers = HeaderMap::new();
            if let Some(text) = accepted {
                headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(text));
            }
            assert_eq!(takes_gzip(&headers), expected, "{accepted:?}");
        }
    }

    #[test]
    fn an_entity_tag_matches_alone_in_a_list_and_weak() {
        for (given, expected) in [
            ("\"a\"", true),
            ("\"b\", \"a\"", true),
            ("W/\"a\"", true),
            ("*", true),
            ("\"ab\"", false),
            ("a", false),
        ] {
            assert_eq!(names(&HeaderValue::from_static(given), "\"a\""), expected, "{given}");
        }
    }
}
