//! One request, and what its answer means.
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

/// What `Retry-After` may ask for.
const MOST_PAUSE: Duration = Duration::from_secs(600);

/// How a body is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Write1,
    Write2,
    Otlp,
}

/// What became of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    /// All of it was taken.
    Taken,
    /// So many points were not, for a reason; the rest was.
    Partly(u64, String),
    /// This form is not known there.
    Unknown(String),
    /// It will never be taken, and why not.
    Refused(String),
    /// It may be taken later.
    Later { why: String, after: Option<Duration> },
}

impl Form {
    pub(crate) const fn of(kind: PushKind) -> Form {
        match kind {
            PushKind::RemoteWrite2 => Form::Write2,
            PushKind::RemoteWrite1 => Form::Write1,
            PushKind::Otlp => Form::Otlp,
        }
    }
    fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Form::Write1 => &[
                ("Content-Type", "application/x-protobuf"),
                ("Content-Encoding", "snappy"),
                ("X-Prometheus-Remote-Write-Version", "0.1.0"),
            ],
            Form::Write2 => &[
                ("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"),
                ("Content-Encoding", "snappy"),
                ("X-Prometheus-Remote-Write-Version", "2.0.0"),
            ],
            Form::Otlp => &[("Content-Type", "application/x-protobuf"), ("Content-Encoding", "gzip")],
        }
    }
    fn pack(self, body: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Form::Write1 | Form::Write2 => {
                snap::raw::Encoder::new().compress_vec(body).map_err(|e| e.to_string())
            }
            Form::Otlp => {
                let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
                packer.write_all(body).map_err(|e| e.to_string())?;
                packer.finish().map_err(|e| e.to_string())
            }
        }
    }
}

/// Sends a body.
pub(crate) fn post(to: &Destination, form: Form, body: &[u8]) -> Reply {
    let packed = match form.pack(body) {
        Ok(packed) => packed,
        Err(why) => return Reply::Refused(format!("it cannot be packed: {why}")),
    };
    let mut request = to.agent.post(&to.push.url);
    let own = to.push.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in form.headers().iter().copied().chain(own) {
        request = request.header(name, value);
    }
    match to.token() {
        Ok(None) => {}
        Ok(Some(token)) => request = request.header("Authorization", format!("Bearer {token}")),
        // It may be between two tokens.
        Err(error) => return Reply::Later { why: error.to_string(), after: None },
    }
    match request.send(packed.as_slice()) {
        Ok(response) => meaning(form, response),
        Err(error) => Reply::Later { why: reason(&error), after: None },
    }
}

fn meaning(form: Form, response: Response<Body>) -> Reply {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let answer = beginning(response.into_body());
    match status {
        200..=299 => taken(form, &headers, &answer),
        415 if form == Form::Write2 => Reply::Unknown(shown(status, &answer)),
        // Those who know 1.0 alone may find nothing but a bad request; those who know 2.0 say what they wrote.
        400 if form == Form::Write2 && !says_written(&headers) => Reply::Unknown(shown(status, &answer)),
        _ if is_retried(form, status) => {
            Reply::Later { why: shown(status, &answer), after: retry_after(&headers) }
        }
        _ => Reply::Refused(shown(status, &answer)),
    }
}

fn taken(form: Form, headers: &HeaderMap, answer: &[u8]) -> Reply {
    match form {
        Form::Write1 => Reply::Taken,
        Form::Write2 if says_written(headers) => Reply::Taken,
        // It read a request of 1.0 into it, and found nothing (remote-write 2.0, "Required Written Response Headers").
        Form::Write2 => Reply::Unknown("it does not say what it wrote".to_owned()),
        Form::Otlp => match partial_success(answer) {
            None => Reply::Taken,
            Some(partial) => Reply::Partly(partial.rejected, first_line(partial.message.as_bytes())),
        },
    }
}

fn says_written(headers: &HeaderMap) -> bool {
    ["samples", "histograms", "exemplars"]
        .iter()
        .any(|what| headers.contains_key(format!("x-prometheus-remote-write-{what}-written")))
}

/// Remote-write retries all errors of the server; OTLP those which its specification lists.
fn is_retried(form: Form, status: u16) -> bool {
    match form {
        Form::Write1 | Form::Write2 => status == 429 || status >= 500,
        Form::Otlp => matches!(status, 429 | 502..=504),
    }
}

/// Seconds; a date, which the header may be too, is left to our own pauses.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("retry-after")?.to_str().ok()?;
    text.trim().parse().ok().map(|seconds| Duration::from_secs(seconds).min(MOST_PAUSE))
}
