//! Converts the totals of a flow.
use alloc::format;
use alloc::string::String;
use fathom_capture::Address;
use fathom_flow::missing_end;
use fathom_flow::{FlowSummary, RttTotals, Tally, Totals};
use fathom_run::{CapturedFlow, CapturedSide, Limits, Retransmissions, RoundTrips};

/// Converts flow `summary` of a capture that started at `origin` ns.
pub(crate) fn captured(summary: &FlowSummary, origin: i64) -> CapturedFlow {
    let [a, b] = summary.totals();
    let is_whole = missing_end(summary).is_none();
    CapturedFlow {
        number: summary.id.number(),
        ends: summary.ends.map(socket),
        program: None,
        frames: [summary.first.frame, summary.last.frame],
        start_s: seconds(summary.first.at.saturating_sub(origin)),
        duration_s: seconds(summary.last.at.saturating_sub(summary.first.at)),
        sent: [side(a, is_whole), side(b, is_whole)],
    }
}

/// Formats `192.0.2.1:443` or `[2001:db8::1]:443`.
pub(crate) fn socket((address, port): (Address, u16)) -> String {
    match address.ip() {
        core::net::IpAddr::V4(ip) => format!("{ip}:{port}"),
        core::net::IpAddr::V6(ip) => format!("[{ip}]:{port}"),
    }
}

fn seconds(ns: i64) -> f64 {
    ns.max(0) as f64 / 1e9
}

/// Omits values that depend on the other end's packets if those were not captured.
fn side(totals: &Totals, is_whole: bool) -> CapturedSide {
    let causes = totals.retransmissions;
    let retransmissions = Retransmissions {
        fast_packets: causes.fast,
        probe_packets: causes.probe,
        timeout_packets: causes.timeout,
        spurious_packets: causes.spurious,
        unknown_packets: causes.unknown,
    };
    let uncaused = Retransmissions { unknown_packets: causes.total(), ..Retransmissions::default() };
    CapturedSide {
        packets: totals.packets,
        payload_bytes: totals.unique_bytes,
        goodput_bits_per_second: goodput(totals),
        retransmissions: if is_whole { retransmissions } else { uncaused },
        reordered_packets: totals.reordered_packets,
        ce_packets: totals.ecn.ce,
        max_outstanding_bytes: if is_whole { totals.outstanding_bytes.max } else { 0 },
        rtt: round_trips(&totals.rtt),
        limits: limits(totals).filter(|_| is_whole),
    }
}

/// Payload divided by the time from the first to the last data packet; `None` for a single packet.
fn goodput(totals: &Totals) -> Option<f64> {
    let took = seconds(totals.last_data_at?.saturating_sub(totals.first_data_at?));
    (took > 0.0).then(|| totals.unique_bytes as f64 * 8.0 / took)
}

/// Uses the method with more samples: timestamps may be coarse, and ACKs may be rare.
fn round_trips(seen: &RttTotals) -> Option<RoundTrips> {
    let count = |tally: &Tally| tally.moments().count;
    let tally =
        if count(&seen.timestamps) > count(&seen.sequence) { &seen.timestamps } else { &seen.sequence };
    trips(tally)
}

/// `None` without samples.
pub(crate) fn trips(tally: &Tally) -> Option<RoundTrips> {
    let at = |share| tally.percentile(share).map(|ns| ns as f64 / 1e9);
    let moments = tally.moments();
    Some(RoundTrips {
        count: moments.count,
        min_s: moments.min as f64 / 1e9,
        p50_s: at(0.5)?,
        p95_s: at(0.95)?,
        max_s: moments.max as f64 / 1e9,
    })
}

fn limits(totals: &Totals) -> Option<Limits> {
    let shares = totals.shares;
    let all = (shares.network_ns + shares.window_ns + shares.application_ns) as f64;
    (all > 0.0).then(|| Limits {
        window_ratio: shares.window_ns as f64 / all,
        congestion_ratio: shares.network_ns as f64 / all,
        application_ratio: shares.application_ns as f64 / all,
    })
}
