//! Sends a request and interprets the response.
use crate::destination::Destination;
use fathom_watch_http::{beginning, first_line, reason, shown};
use fathom_watch_metrics::partial_success;
use fathom_watch_plan::PushKind;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::time::Duration;
use ureq::Body;
use ureq::http::{HeaderMap, Response};

/// Maximum delay accepted from `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Encoding of a request body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WireFormat {
    Write1,
    Write2,
    Otlp,
}

/// Result of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    /// All points were accepted.
    Accepted,
    /// Some points were rejected, with the reason; the others were accepted.
    PartlyAccepted(u64, String),
    /// The receiver does not support this format.
    UnknownFormat(String),
    /// The request was permanently rejected, with the reason.
    Rejected(String),
    /// The request may be accepted later.
    Retry { why: String, after: Option<Duration> },
}

impl WireFormat {
    pub(crate) const fn of(kind: PushKind) -> WireFormat {
        match kind {
            PushKind::RemoteWrite2 => WireFormat::Write2,
            PushKind::RemoteWrite1 => WireFormat::Write1,
            PushKind::Otlp => WireFormat::Otlp,
        }
    }
    fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            WireFormat::Write1 => &[
                ("Content-Type", "application/x-protobuf"),
                ("Content-Encoding", "snappy"),
                ("X-Prometheus-Remote-Write-Version", "0.1.0"),
            ],
            WireFormat::Write2 => &[
                ("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"),
                ("Content-Encoding", "snappy"),
                ("X-Prometheus-Remote-Write-Version", "2.0.0"),
            ],
            WireFormat::Otlp => &[("Content-Type", "application/x-protobuf"), ("Content-Encoding", "gzip")],
        }
    }
    fn pack(self, body: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            WireFormat::Write1 | WireFormat::Write2 => {
                snap::raw::Encoder::new().compress_vec(body).map_err(|e| e.to_string())
            }
            WireFormat::Otlp => {
                let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
                packer.write_all(body).map_err(|e| e.to_string())?;
                packer.finish().map_err(|e| e.to_string())
            }
        }
    }
}

/// Sends a request body.
pub(crate) fn post(to: &Destination, form: WireFormat, body: &[u8]) -> Reply {
    let packed = match form.pack(body) {
        Ok(packed) => packed,
        Err(why) => return Reply::Rejected(format!("cannot compress the request: {why}")),
    };
    let mut request = to.agent.post(&to.push.url);
    let own = to.push.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in form.headers().iter().copied().chain(own) {
        request = request.header(name, value);
    }
    match to.token() {
        Ok(None) => {}
        Ok(Some(token)) => request = request.header("Authorization", format!("Bearer {token}")),
        // The token file may be in the middle of a replacement.
        Err(error) => return Reply::Retry { why: error.to_string(), after: None },
    }
    match request.send(packed.as_slice()) {
        Ok(response) => meaning(form, response),
        Err(error) => Reply::Retry { why: reason(&error), after: None },
    }
}

fn meaning(form: WireFormat, response: Response<Body>) -> Reply {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let answer = beginning(response.into_body());
    match status {
        200..=299 => accepted(form, &headers, &answer),
        415 if form == WireFormat::Write2 => Reply::UnknownFormat(shown(status, &answer)),
        // Receivers of 1.0 may report only a bad request; receivers of 2.0 report what they wrote.
        400 if form == WireFormat::Write2 && !says_written(&headers) => {
            Reply::UnknownFormat(shown(status, &answer))
        }
        _ if is_retried(form, status) => {
            Reply::Retry { why: shown(status, &answer), after: retry_after(&headers) }
        }
        _ => Reply::Rejected(shown(status, &answer)),
    }
}

fn accepted(form: WireFormat, headers: &HeaderMap, answer: &[u8]) -> Reply {
    match form {
        WireFormat::Write1 => Reply::Accepted,
        WireFormat::Write2 if says_written(headers) => Reply::Accepted,
        // It parsed the request as an empty one of 1.0 (remote-write 2.0, "Required Written
        // Response Headers").
        WireFormat::Write2 => Reply::UnknownFormat("no report of written data".to_owned()),
        WireFormat::Otlp => match partial_success(answer) {
            None => Reply::Accepted,
            Some(partial) => Reply::PartlyAccepted(partial.rejected, first_line(partial.message.as_bytes())),
        },
    }
}

fn says_written(headers: &HeaderMap) -> bool {
    ["samples", "histograms", "exemplars"]
        .iter()
        .any(|what| headers.contains_key(format!("x-prometheus-remote-write-{what}-written")))
}

/// Remote-write retries all server errors; OTLP only those listed in its specification.
fn is_retried(form: WireFormat, status: u16) -> bool {
    match form {
        WireFormat::Write1 | WireFormat::Write2 => status == 429 || status >= 500,
        WireFormat::Otlp => matches!(status, 429 | 502..=504),
    }
}

/// The delay in seconds. The header may also be a date, which is ignored in favor of our own
/// pauses.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("retry-after")?.to_str().ok()?;
    text.trim().parse().ok().map(|seconds| Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}
