//! Counts for `/metrics`. Their labels are ours: none has a value that an agent chose.
use hyper::StatusCode;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Endpoint {
    Enroll,
    Key,
    Write,
    Objects,
    Metrics,
    Other,
}

const ENDPOINTS: [&str; 6] = ["enroll", "key", "write", "objects", "metrics", "other"];
const OUTCOMES: [&str; 9] = [
    "accepted",
    "rejected",
    "unauthorized",
    "refused",
    "conflict",
    "limited",
    "too_large",
    "unavailable",
    "other",
];

/// Counts since the start.
#[derive(Default)]
pub(crate) struct Counts {
    requests: [[AtomicU64; OUTCOMES.len()]; ENDPOINTS.len()],
    /// Requests with the key of a machine that is not the site any more.
    pub(crate) duplicates: AtomicU64,
    pub(crate) series: AtomicU64,
    pub(crate) samples: AtomicU64,
    pub(crate) histograms: AtomicU64,
    pub(crate) object_bytes: AtomicU64,
    pub(crate) connections_refused: AtomicU64,
}

/// Statuses as we use them; the engine's are counted alike.
fn outcome(status: StatusCode) -> usize {
    match status.as_u16() {
        200..=299 => 0,
        400 | 415 | 422 => 1,
        401 => 2,
        403 => 3,
        409 => 4,
        429 => 5,
        413 => 6,
        500..=599 => 7,
        _ => 8,
    }
}

impl Counts {
    pub(crate) fn count(&self, endpoint: Endpoint, status: StatusCode) {
        self.requests[endpoint as usize][outcome(status)].fetch_add(1, Relaxed);
    }
    /// The text that Prometheus reads.
    pub(crate) fn exposition(&self, sites: usize, revoked: usize) -> String {
        let mut text = String::from(
            "# HELP fathom_gateway_requests_total Requests by outcome.\n# TYPE fathom_gateway_requests_total counter\n",
        );
        for (endpoint, counts) in ENDPOINTS.iter().zip(&self.requests) {
            for (outcome, count) in OUTCOMES.iter().zip(counts) {
                // Writing to a String cannot fail.
                let _ = writeln!(
                    text,
                    "fathom_gateway_requests_total{{endpoint=\"{endpoint}\",outcome=\"{outcome}\"}} {}",
                    count.load(Relaxed)
                );
            }
        }
        let totals = [
            (
                "duplicate_requests_total",
                "Requests by another machine with the identity of a site.",
                &self.duplicates,
            ),
            ("forwarded_series_total", "Series in forwarded requests.", &self.series),
            ("forwarded_samples_total", "Forwarded samples.", &self.samples),
            ("forwarded_histograms_total", "Forwarded histograms.", &self.histograms),
            ("stored_object_bytes_total", "Bytes of stored objects.", &self.object_bytes),
            ("refused_connections_total", "Connections beyond the limit.", &self.connections_refused),
        ];
        for (name, help, count) in totals {
            metric(&mut text, name, help, "counter", count.load(Relaxed));
        }
        metric(&mut text, "sites", "Enrolled sites.", "gauge", (sites - revoked) as u64);
        metric(&mut text, "revoked_sites", "Revoked sites.", "gauge", revoked as u64);
        text
    }
}

fn metric(text: &mut String, name: &str, help: &str, kind: &str, value: u64) {
    // As above.
    let _ = writeln!(
        text,
        "# HELP fathom_gateway_{name} {help}\n# TYPE fathom_gateway_{name} {kind}\nfathom_gateway_{name} {value}"
    );
}
