//! HTTP connections, independent of sockets.
use crate::metrics;
use crate::shared::Shared;
use crate::stats::Refusal;
use fathom_probe::protocol::{PROBE_PATH, http_response, parse_request};
use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;

/// While this much output is waiting, no request is answered, so that a client that does not read
/// cannot exhaust memory.
const OUTPUT_LIMIT_BYTES: usize = 16 * 1024;

/// Path of the metrics, for clients on this host.
pub(crate) const METRICS_PATH: &str = "/metrics";

/// State of an HTTP connection.
pub(crate) struct Http {
    input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    /// No more requests are answered; the connection ends when `output` is sent.
    pub(crate) ending: bool,
}

impl Http {
    /// Starts after the first line was read.
    pub(crate) fn new(first_line: &[u8], rest: &[u8]) -> Self {
        Http { input: [first_line, b"\r\n", rest].concat(), output: Vec::new(), ending: false }
    }
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }
    /// Whether part of a request has arrived.
    pub(crate) fn is_within_request(&self) -> bool {
        !self.input.is_empty()
    }
    /// Answers complete requests; returns whether there was one.
    pub(crate) fn answer(&mut self, shared: &Shared, client: IpAddr) -> bool {
        let mut answered = false;
        while !self.ending && self.output.len() < OUTPUT_LIMIT_BYTES {
            match parse_request(&self.input) {
                Ok(None) => break,
                Ok(Some((request, length))) => {
                    self.output.extend(answer(shared, client, request.path));
                    self.ending = request.close;
                    self.input.drain(..length);
                    answered = true;
                }
                Err(error) => {
                    shared.counters.refuse(Refusal::Http, Some(client));
                    self.output.extend(text(error.status(), &format!("{error}\n")));
                    self.ending = true;
                }
            }
        }
        answered
    }
}

fn answer(shared: &Shared, client: IpAddr, path: &str) -> Vec<u8> {
    let good = || shared.counters.http_answered.fetch_add(1, Relaxed);
    match path {
        PROBE_PATH => {
            good();
            http_response(200, "application/octet-stream", b".")
        }
        "/" => {
            good();
            text(200, &page())
        }
        // Counts and addresses of clients are for the operator only.
        METRICS_PATH if client.is_loopback() => {
            good();
            http_response(200, metrics::CONTENT_TYPE, metrics::text(&shared.stats()).as_bytes())
        }
        _ => {
            shared.counters.refuse(Refusal::Http, Some(client));
            text(404, &format!("This is a Fathom server. Only / and {PROBE_PATH} exist.\n"))
        }
    }
}

fn text(status: u16, body: &str) -> Vec<u8> {
    http_response(status, "text/plain; charset=utf-8", body.as_bytes())
}

fn page() -> String {
    format!(
        "Fathom {}: a test server for bufferbloat, the excess delay of a loaded link.\n\n\
         To test the path from you to this server, install fathom and run\n\n    \
         fathom test HOST\n\n\
         where HOST is the host in this page's address (HOST:PORT if it has a port).\n",
        env!("CARGO_PKG_VERSION")
    )
}
