//! Converts the path of several captures.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_path::{Hop, PathReport, Remark};
use fathom_run::{CapturedHop, Estimate, HopDelay, IpMarking, Remarking};

/// Maximum number of frame numbers of lost packets.
const FRAMES: usize = 5;
const NS: f64 = 1e9;

/// Hops between successive captures with these names, the direction with the most packets first.
pub fn hops(report: &PathReport, names: &[String]) -> Vec<CapturedHop> {
    report.directions.iter().flat_map(|way| &way.hops).map(|hop| captured(hop, names)).collect()
}

fn captured(hop: &Hop, names: &[String]) -> CapturedHop {
    let name = |number: usize| names.get(number).cloned().unwrap_or_default();
    // The offset applies to the two captures in the order in which they were compared.
    let delays = hop.delays.filter(|_| hop.clock.is_steady);
    let sign = if hop.clock.reference == hop.from { 1.0 } else { -1.0 };
    CapturedHop {
        captures: [name(hop.from), name(hop.to)],
        matched_packets: hop.matched,
        lost_packets: hop.lost,
        lost_frames: hop.losses.iter().take(FRAMES).map(|loss| u64::from(loss.frame)).collect(),
        uncaptured_packets: hop.uncaptured,
        appeared_packets: hop.appeared,
        unjudged_packets: hop.unjudged,
        translated_flows: hop.translated_flows,
        reordered_packets: hop.reordered,
        duplicated_packets: hop.duplicated,
        // Packets of only one direction do not determine the clock offset.
        min_delay_s: delays
            .zip(hop.clock.error_ns)
            .map(|(delays, error_ns)| Estimate { value: delays.min_ns / NS, error: error_ns / NS }),
        delay: delays.map(|delays| HopDelay {
            median_s: delays.p50_ns / NS,
            p95_s: delays.p95_ns / NS,
            max_s: delays.max_ns / NS,
        }),
        clock_offset_s: sign * hop.clock.offset_ns / NS,
        clock_skew_ratio: sign * hop.clock.skew_ppm / 1e6,
        is_clock_set: !hop.clock.is_steady,
        remarked: hop.remarks.iter().filter(|remark| remark.from != remark.to).map(remarked).collect(),
        routers: hop.hop_limits.first().map(|(fell, _)| *fell),
    }
}

fn remarked(remark: &Remark) -> Remarking {
    let marking = |(dscp, ecn): (u8, u8)| IpMarking { dscp, ecn: ecn & 3 };
    Remarking { from: marking(remark.from), to: marking(remark.to), packets: remark.packets }
}
