//! The formats of requests, and what the responses of receivers mean.
use crate::partial_success;
use alloc::string::{String, ToString};
use fathom_text::{first_line, http_answer};
use fathom_units::Duration;

/// Maximum delay accepted from `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Encoding of a request body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireFormat {
    /// Remote-write 1.0.
    Write1,
    /// Remote-write 2.0.
    Write2,
    /// OTLP over HTTP.
    Otlp,
}

/// What matters of the response of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response<'a> {
    /// The status.
    pub status: u16,
    /// Whether it has a header of remote-write 2.0 that says what was written.
    pub says_written: bool,
    /// `Retry-After`.
    pub retry_after: Option<&'a str>,
    /// The body, or its beginning.
    pub body: &'a [u8],
}

/// Result of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// All points were accepted.
    Accepted,
    /// Some points were rejected, with the reason; the others were accepted.
    PartlyAccepted(u64, String),
    /// The receiver does not support this format.
    UnknownFormat(String),
    /// The request was permanently rejected, with the reason.
    Rejected(String),
    /// The request may be accepted later.
    Retry {
        /// Why it was not accepted now.
        why: String,
        /// When the receiver wants to see it again.
        after: Option<Duration>,
    },
}

impl WireFormat {
    /// The headers that name the format, except `Content-Encoding`.
    #[must_use]
    pub const fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            WireFormat::Write1 => {
                &[("Content-Type", "application/x-protobuf"), ("X-Prometheus-Remote-Write-Version", "0.1.0")]
            }
            WireFormat::Write2 => &[
                ("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"),
                ("X-Prometheus-Remote-Write-Version", "2.0.0"),
            ],
            WireFormat::Otlp => &[("Content-Type", "application/x-protobuf")],
        }
    }
    /// The result of a request with this response.
    #[must_use]
    pub fn reply(self, response: &Response<'_>) -> Reply {
        let Response { status, says_written, retry_after, body } = *response;
        match status {
            200..=299 => self.accepted(says_written, body),
            415 if self == WireFormat::Write2 => Reply::UnknownFormat(http_answer(status, body)),
            // Receivers of 1.0 may report only a bad request; receivers of 2.0 report what they
            // wrote.
            400 if self == WireFormat::Write2 && !says_written => {
                Reply::UnknownFormat(http_answer(status, body))
            }
            _ if self.is_retried(status) => {
                Reply::Retry { why: http_answer(status, body), after: retry_after.and_then(seconds) }
            }
            _ => Reply::Rejected(http_answer(status, body)),
        }
    }
    fn accepted(self, says_written: bool, body: &[u8]) -> Reply {
        match self {
            WireFormat::Write1 => Reply::Accepted,
            WireFormat::Write2 if says_written => Reply::Accepted,
            // It parsed the request as an empty one of 1.0 (remote-write 2.0, "Required Written
            // Response Headers").
            WireFormat::Write2 => Reply::UnknownFormat("no report of written data".to_string()),
            WireFormat::Otlp => match partial_success(body) {
                None => Reply::Accepted,
                Some(partial) => {
                    Reply::PartlyAccepted(partial.rejected, first_line(partial.message.as_bytes()))
                }
            },
        }
    }
    /// Remote-write retries all server errors; OTLP only those listed in its specification. Refused
    /// credentials can be replaced.
    const fn is_retried(self, status: u16) -> bool {
        match self {
            WireFormat::Write1 | WireFormat::Write2 => matches!(status, 401 | 403 | 429 | 500..),
            WireFormat::Otlp => matches!(status, 401 | 403 | 429 | 502..=504),
        }
    }
}

/// The delay in seconds. The header may also be a date, which is ignored in favor of our own
/// pauses.
fn seconds(retry_after: &str) -> Option<Duration> {
    let seconds = retry_after.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use WireFormat::{Otlp, Write1, Write2};

    fn reply(form: WireFormat, status: u16, says_written: bool, retry_after: Option<&str>) -> Reply {
        form.reply(&Response { status, says_written, retry_after, body: b"" })
    }

    #[test]
    fn a_status_means_what_the_format_says() {
        let retry = |why: &str, after: Option<u64>| Reply::Retry {
            why: why.to_string(),
            after: after.map(Duration::from_secs),
        };
        let rejected = |why: &str| Reply::Rejected(why.to_string());
        let unknown = |why: &str| Reply::UnknownFormat(why.to_string());
        let cases = [
            (Write1, 204, false, None, Reply::Accepted),
            (Write2, 204, true, None, Reply::Accepted),
            (Write2, 204, false, None, unknown("no report of written data")),
            (Write2, 400, false, None, unknown("HTTP 400")),
            (Write2, 400, true, None, rejected("HTTP 400")),
            (Write2, 415, true, None, unknown("HTTP 415")),
            (Write1, 400, false, None, rejected("HTTP 400")),
            (Write1, 302, false, None, rejected("HTTP 302")),
            (Write1, 401, false, None, retry("HTTP 401", None)),
            (Otlp, 403, false, None, retry("HTTP 403", None)),
            (Write1, 500, false, None, retry("HTTP 500", None)),
            (Write1, 429, false, Some(" 7 "), retry("HTTP 429", Some(7))),
            (Write1, 503, false, Some("86400"), retry("HTTP 503", Some(600))),
            (Write1, 503, false, Some("Fri, 20 Nov 2026 10:00:00 GMT"), retry("HTTP 503", None)),
            (Otlp, 500, false, None, rejected("HTTP 500")),
            (Otlp, 503, false, None, retry("HTTP 503", None)),
        ];
        for (form, status, says_written, retry_after, expected) in cases {
            let got = reply(form, status, says_written, retry_after);
            assert_eq!(got, expected, "{form:?} {status} {retry_after:?}");
        }
    }
}
