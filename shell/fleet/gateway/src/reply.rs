//! Responses: one line of text.
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

pub(crate) type Reply = Response<Full<Bytes>>;

/// Why a request was refused, in one line for people.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
    /// Seconds after which a retry makes sense.
    pub(crate) retry_after_s: Option<u64>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, text: impl Into<String>) -> Refusal {
        Refusal { status, text: text.into(), retry_after_s: None }
    }
    pub(crate) fn bad(text: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, text)
    }
    /// The agent should try again.
    pub(crate) fn later(text: impl Into<String>, after_s: u64) -> Refusal {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Refusal { status, text: text.into(), retry_after_s: Some(after_s) }
    }
    pub(crate) fn reply(self) -> Reply {
        let mut reply = text("text/plain; charset=utf-8", self.status, self.text + "\n");
        let headers = reply.headers_mut();
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"fathom\""));
        }
        reply
    }
}

pub(crate) fn text(kind: &'static str, status: StatusCode, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    reply
}

pub(crate) fn json(body: &serde_json::Value) -> Reply {
    text("application/json", StatusCode::OK, format!("{body}\n"))
}
