//! Responses: one line of text.
use fathom_web::Refusal;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

pub(crate) type Reply = Response<Full<Bytes>>;

/// The response to a refused request.
pub(crate) fn refused(refusal: Refusal) -> Reply {
    let mut reply = text("text/plain; charset=utf-8", refusal.status, refusal.text + "\n");
    let headers = reply.headers_mut();
    if let Some(seconds) = refusal.retry_after_s {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if refusal.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"fathom\""));
    }
    reply
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
