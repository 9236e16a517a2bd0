//! The counters in the text format of Prometheus.
use crate::stats::{Refusal, Stats};
use std::fmt::Write;

/// Version 0.0.4 of the format.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All counters of `stats`. Every reason of a refusal is listed, also those that did not occur, so
/// that a rate can be computed from the first occurrence on.
pub(crate) fn text(stats: &Stats) -> String {
    let mut text = String::new();
    for (name, kind, help, value) in [
        ("sessions_total", "counter", "Sessions opened.", stats.sessions),
        ("sessions_lost_total", "counter", "Sessions whose connection broke.", stats.lost_sessions),
        ("sessions_open", "gauge", "Sessions that are open.", stats.open_sessions.into()),
        ("connections_open", "gauge", "TCP connections that are open.", stats.open_connections.into()),
        ("received_bytes_total", "counter", "Payload received in finished flows.", stats.up_bytes),
        ("sent_bytes_total", "counter", "Payload of finished flows acknowledged.", stats.down_bytes),
        ("udp_probes_answered_total", "counter", "UDP probes answered.", stats.udp_answered),
        ("http_requests_answered_total", "counter", "HTTP requests answered.", stats.http_answered),
        ("panics_total", "counter", "Parts of the server that panicked: a bug.", stats.panics),
    ] {
        metric(&mut text, name, kind, help);
        line(&mut text, name, "", value);
    }
    metric(&mut text, "refused_total", "counter", "Requests refused, by reason.");
    for reason in Refusal::ALL {
        let label = format!("{{reason=\"{}\"}}", reason.name());
        line(&mut text, "refused_total", &label, stats.refused.get(reason).copied().unwrap_or(0));
    }
    text
}

fn metric(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "# HELP fathom_serve_{name} {help}\n# TYPE fathom_serve_{name} {kind}");
}

fn line(text: &mut String, name: &str, label: &str, value: u64) {
    let _ = writeln!(text, "fathom_serve_{name}{label} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_comment_or_a_sample() {
        let mut stats = Stats { sessions: 3, ..Stats::default() };
        stats.refused.insert(Refusal::Idle, 7);
        let text = text(&stats);
        assert!(text.contains("\nfathom_serve_sessions_total 3\n"), "{text}");
        assert!(text.contains("\nfathom_serve_refused_total{reason=\"idle\"} 7\n"), "{text}");
        for line in text.lines().filter(|l| !l.starts_with("# ")) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with("fathom_serve_") && value.parse::<u64>().is_ok(), "{line}");
        }
    }
}
