//! The page that tests in a browser: its files, its tests, and their results.
use super::caller::Caller;
use super::content::{Content, Load};
use super::respond::{base, refused, text, with_type};
use super::socket;
use crate::stats::Refusal;
use fathom_pages::{Begin, File, Flow, Outcome, Pages, PagesError, SITE, Test, TestId, file};
use fathom_units::{Bytes as ByteCount, Direction};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Longest body of a request of the page.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// Bytes of a download, which ends with its phase.
const ENDLESS_BYTES: u64 = 1 << 50;

/// Longest name of a device, in bytes.
const MAX_NAME_BYTES: usize = 256;
const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";
/// Prefixes of the paths.
const TESTS: &str = "/page/test";
const SOCKET: &str = "/page/socket/";
const LOAD: &str = "/page/load/";
const RESULT: &str = "/page/result/";
const PUBLISH: &str = "/page/publish/";
const DEVICES: &str = "/page/devices";
const REPORT: &str = "/result/";

/// Only what this server has, nothing inline, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Precise clocks need isolation from other sites.
const HEADERS: [(&str, &str); 6] = [
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store, no-transform"),
];

type Answer = Result<Response<Content>, (Refusal, String)>;

/// Whether a request is one of the page.
pub(super) fn is_of_page(path: &str) -> bool {
    let prefixes = [TESTS, SOCKET, LOAD, RESULT, PUBLISH, DEVICES, REPORT];
    file(path).is_some() || prefixes.iter().any(|prefix| path.starts_with(prefix))
}

/// Answers a request of the page.
pub(super) async fn answer(request: Request<Incoming>, caller: Caller) -> Answer {
    let Some(pages) = caller.common.shared.pages.get().cloned() else {
        return Err(refused(Refusal::Http));
    };
    let path = request.uri().path().to_owned();
    let answered = route(request, &path, Arc::clone(&pages), caller).await;
    answered.map(|mut response| {
        for (name, value) in HEADERS {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        let of_site = || pages.site_policy().parse().ok().filter(|_| path.starts_with(SITE) && path != SITE);
        let policy = || of_site().unwrap_or(HeaderValue::from_static(POLICY));
        response.headers_mut().entry(CONTENT_SECURITY_POLICY).or_insert_with(policy);
        response
    })
}

async fn route(request: Request<Incoming>, path: &str, pages: Arc<Pages>, caller: Caller) -> Answer {
    let find = |id: &str| pages.test(id.parse().ok()?);
    let test_of = |prefix| find(path.strip_prefix(prefix)?);
    if request.method() == Method::POST {
        return match (path, test_of(LOAD), test_of(PUBLISH)) {
            (TESTS, ..) => begin(request, &pages, &caller).await,
            (_, Some(test), _) => upload(request, test, &caller).await,
            (.., Some(test)) => publish(request, pages, test).await,
            _ => Err(refused(Refusal::Http)),
        };
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return Err(refused(Refusal::Http));
    }
    if let Some(file) = file(path) {
        Ok(of_file(file, request.headers()))
    } else if let Some(test) = test_of(SOCKET) {
        socket::accept(request, test, Arc::clone(&caller))
    } else if let Some(test) = test_of(LOAD) {
        download(test, request.version(), &caller)
    } else if path == DEVICES {
        let devices = spawn_blocking(move || pages.devices()).await;
        devices.map(|list| text(JSON, list)).map_err(|_| refused(Refusal::Http))
    } else if let Some((id, part)) = result_of(path) {
        result(pages, id, part, &base(&request, &caller)?).await
    } else {
        Err(refused(Refusal::Http))
    }
}

fn of_file(file: File, headers: &HeaderMap) -> Response<Content> {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let packs = accepted.is_some_and(|accepted| accepted.contains("gzip"));
    let bytes = if packs { file.gzipped } else { file.bytes };
    let mut response = with_type(file.kind, Content::Text(Some(Bytes::from_static(bytes))));
    if packs {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Starts a test: takes the offer of a data channel, returns the ID of the test, and the answer.
async fn begin(request: Request<Incoming>, pages: &Pages, caller: &Caller) -> Answer {
    let host = base(&request, caller)?;
    let host = host.split_once("://").map_or(host.as_str(), |(_, host)| host).to_owned();
    let browser = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    let browser = browser.unwrap_or("a browser").to_owned();
    let max_bytes = max_bytes(request.uri().query().unwrap_or(""))?;
    let body = Limited::new(request.into_body(), MAX_BODY_BYTES).collect().await;
    let body = body.map_err(|error| (Refusal::Http, format!("invalid offer: {error}")))?.to_bytes();
    let offer = String::from_utf8_lossy(&body);
    let (client, local) = (caller.address, caller.local);
    // Keeps the session of the client open.
    let hold = caller.transfer(Direction::Down)?;
    let begin = Begin {
        offer: &offer,
        host: &host,
        browser: &browser,
        client,
        local,
        max_bytes,
        hold: Box::new(hold),
    };
    match pages.begin(begin) {
        Ok((test, answer)) => {
            let (id, sdp) = (test.id(), answer.unwrap_or_default());
            Ok(text("text/plain; charset=utf-8", format!("{id}\n{sdp}")))
        }
        Err(PagesError::Offer(why)) => {
            let mut response = text("text/plain; charset=utf-8", format!("{}\n", PagesError::Offer(why)));
            *response.status_mut() = StatusCode::BAD_REQUEST;
            Ok(response)
        }
        Err(error @ PagesError::Host(_)) => Err((Refusal::Descriptors, error.to_string())),
    }
}

fn max_bytes(query: &str) -> Result<Option<ByteCount>, (Refusal, String)> {
    let Some(value) = query.strip_prefix("bytes=") else { return Ok(None) };
    let bytes = value.parse().ok().filter(|bytes| *bytes >= 1_000_000);
    let bytes = bytes.ok_or_else(|| refused(Refusal::Http))?;
    Ok(Some(ByteCount(bytes)))
}

fn download(test: Arc<Test>, version: Version, caller: &Caller) -> Answer {
    let transfer = caller.transfer(Direction::Down)?;
    let Some(flow) = open(&test, Direction::Down, caller) else { return Ok(too_late()) };
    let _running = caller.activity.run();
    let load = Load {
        connection: Arc::clone(caller),
        version,
        transfer: Some(transfer),
        flow: Some(flow),
        _running,
        left_bytes: ENDLESS_BYTES,
        offset: 0,
    };
    Ok(with_type("application/octet-stream", Content::Load(load)))
}

async fn upload(request: Request<Incoming>, test: Arc<Test>, caller: &Caller) -> Answer {
    let transfer = caller.transfer(Direction::Up)?;
    let Some(flow) = open(&test, Direction::Up, caller) else { return Ok(too_late()) };
    let _running = caller.activity.run();
    let mut body = request.into_body();
    // An error is the end of the connection.
    while let Some(Ok(frame)) = body.frame().await {
        caller.progress();
        let length = frame.data_ref().map_or(0, Bytes::len);
        flow.add_received(length as u64);
        if !transfer.count(length) {
            return Err(refused(Refusal::Limit));
        }
        if !flow.may_go_on() {
            return Ok(too_late());
        }
    }
    Ok(text("text/plain", String::new()))
}

/// A flow of the current phase. Streams of one connection share the state of its TCP; that of a
/// proxy says nothing of the client.
fn open(test: &Arc<Test>, direction: Direction, caller: &Caller) -> Option<Flow> {
    let is_own = caller.activity.is_alone() && caller.address == caller.client.ip();
    let socket = caller.socket.as_ref().filter(|_| direction == Direction::Down && is_own);
    test.open_flow(direction, socket.and_then(|socket| socket.try_clone().ok()))
}

/// The phase of a transfer is over.
fn too_late() -> Response<Content> {
    let mut response = text("text/plain", "the phase of this load is over\n".to_owned());
    *response.status_mut() = StatusCode::CONFLICT;
    // What is still on its way need not be read.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Shows the result of a test to everybody, as the page of its user asks.
async fn publish(request: Request<Incoming>, pages: Arc<Pages>, test: Arc<Test>) -> Answer {
    let body = Limited::new(request.into_body(), MAX_NAME_BYTES).collect().await;
    let body = body.map_err(|error| (Refusal::Http, format!("invalid name: {error}")))?.to_bytes();
    let publish = move || pages.publish(&test, &String::from_utf8_lossy(&body));
    spawn_blocking(publish).await.map_err(|_| refused(Refusal::Http))?;
    Ok(text("text/plain", String::new()))
}

/// Which part of a result a request is for.
#[derive(Clone, Copy)]
enum Part {
    /// What the page shows.
    Brief,
    Report,
    Data,
    /// A picture for links to the report.
    Preview,
}

/// The result that has this path.
fn result_of(path: &str) -> Option<(TestId, Part)> {
    let (id, part) = if let Some(id) = path.strip_prefix(RESULT) {
        (id, Part::Brief)
    } else {
        match path.strip_prefix(REPORT)?.split_once('.') {
            None => (path.strip_prefix(REPORT)?, Part::Report),
            Some((id, "json")) => (id, Part::Data),
            Some((id, "png")) => (id, Part::Preview),
            Some(_) => return None,
        }
    };
    Some((id.parse().ok()?, part))
}

/// A part of a result. `base` is what the URLs of this server start with.
async fn result(pages: Arc<Pages>, id: TestId, part: Part, base: &str) -> Answer {
    let found = spawn_blocking(move || pages.outcome(id)).await.map_err(|_| refused(Refusal::Http))?;
    let judged = match found.ok_or_else(|| refused(Refusal::Http))? {
        Outcome::Over(judged) => judged,
        Outcome::Running => {
            let mut response = text("text/plain", "the test is not over\n".to_owned());
            *response.status_mut() = StatusCode::ACCEPTED;
            return Ok(response);
        }
    };
    Ok(match part {
        Part::Brief => text(JSON, judged.brief),
        Part::Data => text(JSON, judged.json),
        Part::Preview => with_type("image/png", Content::Text(Some(Bytes::from(judged.preview)))),
        Part::Report => {
            let policy = judged.policy().parse();
            let mut response = text(HTML, judged.page_at(&format!("{base}{REPORT}{id}")));
            policy
                .into_iter()
                .for_each(|policy| drop(response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy)));
            response
        }
    })
}
