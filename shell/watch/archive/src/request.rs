//! Sends one object by PUT.
use crate::answer::{Answer, Failure};
use fathom_os::files::read_at_most;
use fathom_text::http_answer;
use fathom_units::Duration;
use fathom_watch_http::{AgentOptions, agent, beginning, host_authorities, reason};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration as StdDuration;
use ureq::Agent;
use ureq::http::HeaderMap;

/// Timeout of connecting.
const CONNECT_LIMIT: StdDuration = StdDuration::from_secs(10);
/// Timeout of each write, and of the answer.
const SILENCE_LIMIT: StdDuration = StdDuration::from_secs(30);
/// Slowest line on which an object arrives, in bytes per second.
const MIN_RATE: u64 = 16_000;
/// Size from which the server is asked first whether it wants the object, in bytes: it can refuse a
/// key before all of the object is on its way.
const ASK_FIRST_BYTES: u64 = 128 << 10;
/// Longest pause that a server may ask for.
const MAX_RETRY_AFTER_S: u64 = 600;
/// Maximum size of a file of certificates, in bytes. Mozilla's whole list takes 200 kB.
const MAX_AUTHORITIES_BYTES: u64 = 4 << 20;

/// Codes of S3 that are about the object itself. All others are about the bucket, the key or the
/// time.
const S3_OBJECT_CODES: [&str; 3] = ["EntityTooLarge", "KeyTooLongError", "InvalidURI"];

/// What an answer with an error means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rules {
    Http,
    S3,
}

/// Sends requests to one server.
pub(crate) struct Client {
    url: String,
    ca_file: Option<PathBuf>,
    rules: Rules,
    /// Created when its certificates could be read.
    agent: Option<Agent>,
}

impl Client {
    pub(crate) fn new(url: &str, ca_file: Option<PathBuf>, rules: Rules) -> Client {
        Client { url: url.to_owned(), ca_file, rules, agent: None }
    }
    /// Sends a file.
    pub(crate) fn put(&mut self, url: &str, authorization: Option<&str>, path: &Path) -> Answer {
        match self.request(url, authorization, path) {
            Ok(answer) => answer,
            Err(failure) => failure.into(),
        }
    }
    fn request(&mut self, url: &str, authorization: Option<&str>, path: &Path) -> Result<Answer, Failure> {
        let unread = |error: io::Error| Failure::of_file(path, &error);
        let file = File::open(path).map_err(unread)?;
        let bytes = file.metadata().map_err(unread)?.len();
        let limit = SILENCE_LIMIT + StdDuration::from_secs(bytes / MIN_RATE);
        let request = self.agent()?.put(url).config();
        let request = request.timeout_global(Some(limit)).timeout_per_write(Some(SILENCE_LIMIT));
        let mut request = request.timeout_recv_response(Some(SILENCE_LIMIT)).build();
        if let Some(value) = authorization {
            request = request.header("Authorization", value);
        }
        if bytes >= ASK_FIRST_BYTES {
            request = request.header("Expect", "100-continue");
        }
        let response = request.send(&file).map_err(|error| Failure::new(reason(&error)))?;
        let (parts, body) = response.into_parts();
        Ok(meaning(self.rules, parts.status.as_u16(), &parts.headers, &beginning(body)))
    }
    fn agent(&mut self) -> Result<&Agent, Failure> {
        match &mut self.agent {
            Some(agent) => Ok(agent),
            slot => {
                let authorities = match &self.ca_file {
                    Some(path) => authorities(path)?,
                    None => host_authorities(&self.url),
                };
                let options = AgentOptions {
                    limit: SILENCE_LIMIT,
                    connect_limit: Some(CONNECT_LIMIT),
                    uses_proxy: true,
                    authorities,
                };
                Ok(slot.insert(agent(&options)))
            }
        }
    }
}

fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let bytes = read_at_most(path, MAX_AUTHORITIES_BYTES).map_err(|e| Failure::of_file(path, &e))?;
    let parsed: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let all = parsed.unwrap_or_default();
    let none = || Failure::new(format!("{}: contains no certificate in PEM format", path.display()));
    if all.is_empty() { Err(none()) } else { Ok(all) }
}

fn meaning(rules: Rules, status: u16, headers: &HeaderMap, body: &[u8]) -> Answer {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let code = tag(body, "Code");
    let text = match (code, tag(body, "Message")) {
        (Some(code), message) => {
            let message = message.unwrap_or("").trim_end_matches('.');
            http_answer(status, format!("{code}: {message}").as_bytes())
        }
        _ => http_answer(status, body),
    };
    let is_about_object = code.is_some_and(|code| S3_OBJECT_CODES.contains(&code));
    match status {
        200..=299 => Answer::Accepted,
        300..=399 => {
            let place = header("location").unwrap_or("the right address");
            Failure::new(format!("{text}: redirected: use {place}")).into()
        }
        401 | 403 => Failure::denied(format!("{text}: check the key or token")).into(),
        404 => Failure::new(format!("{text}: check the address and the bucket")).into(),
        400 | 409 if rules == Rules::S3 && !is_about_object => Failure::new(text).into(),
        400..=499 if !matches!(status, 408 | 429) => Answer::Refused(text),
        _ => {
            let seconds = header("retry-after").and_then(|value| value.trim().parse().ok());
            let after = seconds.map(|seconds: u64| Duration::from_secs(seconds.min(MAX_RETRY_AFTER_S)));
            Answer::Retry(Failure { after, ..Failure::new(text) })
        }
    }
}

/// The content of the first element of this name.
fn tag<'a>(body: &'a [u8], name: &str) -> Option<&'a str> {
    let text = std::str::from_utf8(body).ok()?;
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once('<')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_about_the_object_is_refused() {
        let no_bucket =
            b"<?xml version=\"1.0\"?>\n<Error><Code>NoSuchBucket</Code><Message>none</Message></Error>";
        let too_large = b"<Error><Code>EntityTooLarge</Code></Error>";
        let mut headers = HeaderMap::new();
        headers.insert("location", "https://there".parse().unwrap());
        headers.insert("retry-after", "7".parse().unwrap());
        let of = |rules, status, body: &[u8]| match meaning(rules, status, &headers, body) {
            Answer::Accepted => "accepted".to_owned(),
            Answer::Refused(why) => format!("refused: {why}"),
            Answer::Retry(f) => {
                format!("retry: {} {} {:?}", f.why, f.is_denied, f.after.map(|t| t.as_nanos()))
            }
        };
        use Rules::{Http, S3};
        let cases: [(Rules, u16, &[u8], &str); 12] = [
            (Http, 201, b"", "accepted"),
            (Http, 302, b"", "retry: HTTP 302: redirected: use https://there false None"),
            (Http, 400, b"bad", "refused: HTTP 400: bad"),
            (Http, 401, b"", "retry: HTTP 401: check the key or token true None"),
            (Http, 403, b"no", "retry: HTTP 403: no: check the key or token true None"),
            (
                S3,
                404,
                no_bucket,
                "retry: HTTP 404: NoSuchBucket: none: check the address and the bucket false None",
            ),
            (Http, 408, b"", "retry: HTTP 408 false Some(7000000000)"),
            (Http, 413, b"", "refused: HTTP 413"),
            (Http, 429, b"", "retry: HTTP 429 false Some(7000000000)"),
            (Http, 503, b"", "retry: HTTP 503 false Some(7000000000)"),
            (S3, 400, no_bucket, "retry: HTTP 400: NoSuchBucket: none false None"),
            (S3, 400, too_large, "refused: HTTP 400: EntityTooLarge:"),
        ];
        for (rules, status, body, expected) in cases {
            assert_eq!(of(rules, status, body), expected);
        }
    }
}
