//! `POST /api/v1/write`: reads, checks and forwards a request of remote-write.
use crate::api::{App, blocking};
use crate::body;
use crate::caller::Caller;
use crate::event::EventKind;
use crate::forward::{self, Answer, WRITTEN};
use crate::reply::{Reply, refused, text};
use crate::secrets::now_ms;
use fathom_fleet_admission::{Admitted, Rejection, Version, admit};
use fathom_web::Refusal;
use hyper::StatusCode;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Maximum size of a request, packed and unpacked. Agents send about 1 MiB unpacked.
const MAX_PACKED_BYTES: u64 = 2 << 20;
const MAX_PLAIN_BYTES: usize = 4 << 20;
/// How long a request waits for others.
const MAX_WAIT: Duration = Duration::from_secs(5);
const RETRY_S: u64 = 10;
const TYPE: &str = "application/x-protobuf";

/// The version that the headers name.
fn version(headers: &HeaderMap) -> Result<Version, Refusal> {
    let value =
        |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let parts: Vec<&str> = value(header::CONTENT_TYPE).split(';').map(str::trim).collect();
    let version = match parts.as_slice() {
        [TYPE] | [TYPE, "proto=prometheus.WriteRequest"] => Some(Version::V1),
        [TYPE, "proto=io.prometheus.write.v2.Request"] => Some(Version::V2),
        _ => None,
    };
    let is_packed = value(header::CONTENT_ENCODING) == "snappy";
    let unsupported = || Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported request");
    version.filter(|_| is_packed).ok_or_else(unsupported)
}

/// Handles a request of an authenticated site.
pub(crate) async fn write(
    app: &Arc<App>,
    caller: Caller,
    headers: &HeaderMap,
    incoming: &mut Incoming,
) -> Result<Reply, Refusal> {
    let version = version(headers)?;
    if app.forwarder.is_none() {
        return Err(Refusal::new(StatusCode::NOT_FOUND, "no engine"));
    }
    let used = app.sites.of(&caller.site, now_ms());
    let _own = used.begin_write()?;
    // What bodies take is bounded in total.
    let size = body::declared(incoming).unwrap_or(MAX_PACKED_BYTES);
    if size > MAX_PACKED_BYTES {
        return Err(body::too_large(MAX_PACKED_BYTES));
    }
    let kilobytes = u32::try_from(size / 1_024 + 1).unwrap_or(u32::MAX);
    let busy = || Refusal::later("the gateway is busy", RETRY_S);
    let waited = tokio::time::timeout(MAX_WAIT, app.memory.acquire_many(kilobytes)).await;
    let _memory = waited.ok().and_then(Result::ok).ok_or_else(busy)?;
    let packed = body::read(incoming, MAX_PACKED_BYTES, app.body_timeout).await?;
    let turn = tokio::time::timeout(MAX_WAIT, Arc::clone(&app.turns).acquire_owned()).await;
    let turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
    let app = Arc::clone(app);
    let done = blocking(move || {
        let _turn = turn;
        app.check_and_forward(&caller, version, &packed)
    });
    done.await?
}

impl App {
    fn check_and_forward(&self, caller: &Caller, version: Version, packed: &Bytes) -> Result<Reply, Refusal> {
        let Some(forwarder) = &self.forwarder else { return Err(forward::unreachable()) };
        let used = self.sites.of(&caller.site, now_ms());
        let checked = unpack(packed).and_then(|plain| {
            let (who, now) = ((&caller.site, &caller.labels), now_ms());
            let mut usage = used.usage();
            admit(version, &plain, who, (&mut usage, self.sites.limits()), &self.salt, now).map_err(refusal)
        });
        let admitted = match checked {
            Ok(admitted) => admitted,
            Err(refusal) => {
                self.events.report(EventKind::Rejected(caller.site.clone(), refusal.text.clone()), now_ms());
                return Ok(rejected(refusal));
            }
        };
        let answer = forwarder.send(version, packed);
        let is_verdict = answer.as_ref().is_ok_and(Answer::is_verdict);
        if !is_verdict {
            used.usage().put_back_samples(&admitted);
        }
        match answer {
            Ok(answer) if is_verdict => {
                self.engine_is_up(true, "");
                self.count(&admitted, answer.status);
                Ok(reply(&answer))
            }
            Ok(answer) => {
                let why = format!("HTTP {} {}", answer.status.as_u16(), answer.text);
                self.engine_is_up(answer.is_busy(), why.trim());
                if answer.is_busy() { Ok(reply(&answer)) } else { Err(unavailable(&answer)) }
            }
            Err(why) => {
                self.engine_is_up(false, &why);
                Err(forward::unreachable())
            }
        }
    }
    /// Reports when the engine stops and starts to take requests.
    fn engine_is_up(&self, is_up: bool, why: &str) {
        if self.is_engine_up.swap(is_up, Relaxed) != is_up {
            let kind = if is_up { EventKind::EngineUp } else { EventKind::EngineDown(why.to_owned()) };
            self.events.report(kind, now_ms());
        }
    }
    fn count(&self, admitted: &Admitted, status: StatusCode) {
        if status.is_success() {
            self.counts.series.fetch_add(admitted.totals.series, Relaxed);
            self.counts.samples.fetch_add(admitted.totals.points.samples, Relaxed);
            self.counts.histograms.fetch_add(admitted.totals.points.histograms, Relaxed);
        }
    }
}

/// Unpacks a body. Its declared size is checked before anything is allocated.
fn unpack(packed: &[u8]) -> Result<Vec<u8>, Refusal> {
    let damaged = |_| Refusal::bad("invalid request");
    let size = snap::raw::decompress_len(packed).map_err(damaged)?;
    if size > MAX_PLAIN_BYTES {
        return Err(body::too_large(MAX_PLAIN_BYTES as u64));
    }
    snap::raw::Decoder::new().decompress_vec(packed).map_err(damaged)
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn refusal(rejection: Rejection) -> Refusal {
    let retry_after_s = rejection.retry_after_s();
    let status =
        if retry_after_s.is_some() { StatusCode::TOO_MANY_REQUESTS } else { StatusCode::BAD_REQUEST };
    Refusal { status, text: rejection.to_string(), retry_after_s }
}

/// A rejection says that nothing was written: without that, a sender of 2.0 takes it for a receiver
/// that knows only 1.0.
fn rejected(refusal: Refusal) -> Reply {
    let mut reply = refused(refusal);
    for name in WRITTEN {
        reply.headers_mut().insert(name, HeaderValue::from_static("0"));
    }
    reply
}

fn unavailable(answer: &Answer) -> Refusal {
    let asked = answer.retry_after.as_ref().and_then(|text| text.trim().parse().ok());
    Refusal { retry_after_s: asked.or(Some(RETRY_S)), ..forward::unreachable() }
}

/// The engine's answer, passed back.
fn reply(answer: &Answer) -> Reply {
    let mut reply = text("text/plain; charset=utf-8", answer.status, answer.text.clone());
    let headers = reply.headers_mut();
    let after = answer.retry_after.iter().map(|value| ("retry-after", value));
    for (name, value) in answer.written.iter().map(|(name, value)| (*name, value)).chain(after) {
        // The value was read as text.
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    reply
}
