//! Requests and their responses.
use super::caller::Caller;
use super::content::{Content, Load};
use super::{Connection, ndt7, page};
use crate::stats::Refusal;
use fathom_os::socket::set_pacing_rate;
use fathom_protocol::network_quality;
use fathom_protocol::speed_test::{Resource, resource};
use fathom_units::{Direction, Rate};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Bodies up to this size are probes rather than load, and need no session.
const PROBE_BYTES: u64 = 1024;
/// When a client that is over a limit may try again, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("60");

/// For pages of other servers, which may test against this one and read precise times.
const HEADERS: [(&str, &str); 5] = [
    ("access-control-allow-origin", "*"),
    ("access-control-allow-headers", "*"),
    ("access-control-expose-headers", "*"),
    ("timing-allow-origin", "*"),
    ("cache-control", "no-store, no-transform"),
];

/// Answers a request.
pub(super) async fn respond(request: Request<Incoming>, connection: Arc<Connection>) -> Response<Content> {
    connection.progress();
    let counters = &connection.common.shared.counters;
    let caller = Caller::of(request.headers(), Arc::clone(&connection));
    let address = caller.address;
    let is_of_page = page::is_of_page(request.uri().path());
    let answered =
        if is_of_page { page::answer(request, caller).await } else { answer(request, caller).await };
    let mut response = match answered {
        Ok(response) => {
            counters.http_answered.fetch_add(1, Relaxed);
            response
        }
        Err((reason, message)) => {
            counters.refuse(reason, Some(address));
            refusal(reason, message)
        }
    };
    for (name, value) in HEADERS.iter().filter(|_| !is_of_page) {
        response.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
    response
}

async fn answer(request: Request<Incoming>, caller: Caller) -> Result<Response<Content>, (Refusal, String)> {
    if let Some(direction) = ndt7::direction(request.uri().path()) {
        return ndt7::accept(request, caller, direction);
    }
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or(""));
    let found = resource(path, query).ok_or_else(|| refused(Refusal::Http));
    match (found?, request.method()) {
        (_, &Method::OPTIONS) => Ok(text("text/plain", String::new())),
        (Resource::Configuration, &Method::GET) => {
            Ok(text("application/json", network_quality::configuration(&base(&request, &caller)?)))
        }
        (Resource::Download(bytes), &Method::GET) => download(bytes, request.version(), &caller),
        (Resource::Upload, &Method::GET) => Ok(text("text/plain", String::new())),
        (Resource::Upload, &Method::POST | &Method::PUT) => upload(request, &caller).await,
        (Resource::Address, &Method::GET) => {
            let address = caller.address;
            Ok(text("application/json", format!("{{\"processedString\":\"{address}\",\"rawIspInfo\":\"\"}}")))
        }
        _ => Err(refused(Refusal::Http)),
    }
}

fn download(bytes: u64, version: Version, caller: &Caller) -> Result<Response<Content>, (Refusal, String)> {
    let transfer = (bytes > PROBE_BYTES).then(|| caller.transfer(Direction::Down)).transpose()?;
    if transfer.is_some() && version == Version::HTTP_2 {
        pace(caller);
    }
    let _running = caller.activity.run();
    let load = Load {
        connection: Arc::clone(caller),
        version,
        transfer,
        flow: None,
        _running,
        left_bytes: bytes,
        offset: 0,
    };
    Ok(with_type("application/octet-stream", Content::Load(load)))
}

/// Spreads the packets of a connection over its round trip. Otherwise they follow each other in the
/// line's queue, so do their acknowledgments, and a response waits until the next ones come.
fn pace(connection: &Connection) {
    if let Some(socket) = &connection.socket {
        // Without it, responses only arrive later.
        let _ = set_pacing_rate(socket, Rate::from_bits_per_second(u64::MAX));
    }
}

async fn upload(request: Request<Incoming>, caller: &Caller) -> Result<Response<Content>, (Refusal, String)> {
    let mut body = request.into_body();
    let is_probe = body.size_hint().exact().is_some_and(|bytes| bytes <= PROBE_BYTES);
    let _running = caller.activity.run();
    let transfer = (!is_probe).then(|| caller.transfer(Direction::Up)).transpose()?;
    // An error is the end of the connection.
    while let Some(Ok(frame)) = body.frame().await {
        caller.progress();
        let length = frame.data_ref().map_or(0, Bytes::len);
        if transfer.as_ref().is_some_and(|transfer| !transfer.count(length)) {
            return Err(refused(Refusal::Limit));
        }
    }
    Ok(text("text/plain", String::new()))
}

/// What the URLs of this server start with, as the client calls it.
pub(super) fn base(request: &Request<Incoming>, caller: &Caller) -> Result<String, (Refusal, String)> {
    let of_header = || request.headers().get(header::HOST)?.to_str().ok();
    let host = request.uri().authority().map(hyper::http::uri::Authority::as_str).or_else(of_header);
    // Only a name and a port: the text becomes part of a URL.
    let is_name = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.:[]_".contains(&b));
    let host = host.filter(|name| !name.is_empty()).filter(is_name);
    let host = host.ok_or_else(|| refused(Refusal::Http))?;
    Ok(format!("{}://{host}", if caller.is_secure { "https" } else { "http" }))
}

/// A refusal in the words of the counters.
pub(super) fn refused(reason: Refusal) -> (Refusal, String) {
    (reason, reason.to_string())
}

fn refusal(reason: Refusal, message: String) -> Response<Content> {
    let mut response = text("text/plain; charset=utf-8", message + "\n");
    *response.status_mut() = match reason {
        Refusal::Http => StatusCode::NOT_FOUND,
        _ => StatusCode::TOO_MANY_REQUESTS,
    };
    if reason != Refusal::Http {
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    response
}

pub(super) fn text(kind: &'static str, text: String) -> Response<Content> {
    with_type(kind, Content::Text((!text.is_empty()).then(|| text.into())))
}

pub(super) fn with_type(kind: &'static str, content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
