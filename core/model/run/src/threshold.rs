//! Thresholds that more than one source of runs is compared with, the recommended rate of a shaper, and the margins below a measured
//! knee. Each exists once, here.
use fathom_units::PerDirection;

/// Median increase of latency under load, in seconds, from which a line is called bloated: where DSLReports' grade C begins.
pub const BLOATED_P50_S: f64 = 0.060;
/// 90th percentile of the increase, in seconds, from which a line is called bloated whatever its median: one moment in ten is then
/// beyond what a first-person game (100 ms) or a call (ITU-T G.114: 150 ms one way) bears.
pub const BLOATED_P90_S: f64 = 0.200;
/// Queueing delay, in seconds, that delays nobody noticeably: within DSLReports' grade A (below 30 ms).
pub const MODEST_S: f64 = 0.020;

/// Lowest and highest recommended rate of a shaper, as shares of the measured rate of the line. The queue forms where it is
/// managed only if the shaper is the slowest part of the path. 0.95 is what the documentation of sqm-scripts and tc-cake(8) start
/// from on lines whose rate is steady; 0.85 leaves room for framing that was not measured and for a rate that varies.
pub const SHAPER_RATE_RATIO: [f64; 2] = [0.85, 0.95];

/// Shares of the knee at which `fathom fix` shapes, tried one after the other until its checks pass. The knee is the highest rate
/// without a queue, found within 0.8 %, so that far less than [`SHAPER_RATE_RATIO`] has to be left for what is unknown.
///
/// 0.985 deviates from the 0.95 of sqm-scripts because framing was measured and the result is verified: the two percent below the
/// knee's error drain a queue of the line (ingress has passed it already). The rows from 0.94 on reach the documented 0.95 and 0.85
/// and are for lines whose rate varies; ingress then gets less, as its queue drains only by what the line can do above the shaper.
pub const KNEE_MARGINS: [PerDirection<f64>; 5] =
    [margin(0.985, 0.985), margin(0.97, 0.97), margin(0.94, 0.94), margin(0.90, 0.87), margin(0.85, 0.80)];

const fn margin(up: f64, down: f64) -> PerDirection<f64> {
    PerDirection { up, down }
}

/// Lowest and highest recommended rate of a shaper in front of a link, in the unit of `rate`.
pub fn shaper_rates(rate: f64) -> [f64; 2] {
    SHAPER_RATE_RATIO.map(|share| share * rate)
}

/// Whether an increase of latency under load, by its median and its 90th percentile in seconds, makes a line bloated.
pub fn is_bloated(p50_s: f64, p90_s: f64) -> bool {
    p50_s >= BLOATED_P50_S || p90_s >= BLOATED_P90_S
}
