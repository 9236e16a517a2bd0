//! Thresholds used for more than one source of runs, the recommended rate of a shaper, and the
//! margins below a measured knee. Each is defined once, here.
use fathom_units::PerDirection;

/// Median latency increase in seconds from which a line is bloated: start of DSLReports' grade C.
pub const BLOATED_P50_S: f64 = 0.060;
/// A line is bloated from this 90th percentile of the latency increase, in seconds, even with a
/// small median: 10 % of the time it then exceeds the tolerance of a first-person game (100 ms) or
/// a call (ITU-T G.114: 150 ms one way).
pub const BLOATED_P90_S: f64 = 0.200;
/// Queueing delay in seconds that hardly anyone notices: within DSLReports' grade A (below 30 ms).
pub const MODEST_S: f64 = 0.020;

/// Lowest and highest recommended rate of a shaper, relative to the measured rate of the line. The
/// shaper controls the queue only if it is the slowest part of the path. 0.95 is the starting point
/// that sqm-scripts and tc-cake(8) recommend for lines with a steady rate; 0.85 allows for
/// unmeasured framing and a variable rate.
pub const SHAPER_RATE_RATIO: [f64; 2] = [0.85, 0.95];

/// The round-trip time in seconds that CAKE (`rtt`, tc-cake(8)) and CoDel (interval, RFC 8289
/// section 4.3) assume. If it is longer, they drop packets before senders can react, and lose
/// throughput.
const AQM_ROUND_TRIP_S: f64 = 0.100;
/// What to configure then, relative to the idle latency: other hosts are farther away than the
/// server, and packets wait. tc-cake(8) proposes 1000 ms for satellites, whose latency is 600 ms.
const ROUND_TRIP_RATIO: f64 = 1.5;

/// Flows that take longer to adapt to a shaper than this, in seconds, do so during most of the
/// shortest load of a test (6 s), so the next test shows it.
pub const SLOW_ADAPTATION_S: f64 = 5.0;

/// Shaper rates that `fathom fix` tries in turn until its checks pass, relative to the knee. The
/// knee is the highest rate without a queue, found within 0.8 %, so the margin can be much smaller
/// than [`SHAPER_RATE_RATIO`].
///
/// 0.985 is higher than the 0.95 of sqm-scripts because framing was measured and the result is
/// verified. The 2 % below the error of the knee drain the line's queue, which ingress traffic has
/// already passed. The entries from 0.94 on cover the documented range of 0.95 to 0.85 and serve
/// lines with a variable rate. Ingress is lower there because its queue drains only by the
/// difference between the rates of the line and the shaper.
pub const KNEE_MARGINS: [PerDirection<f64>; 5] =
    [margin(0.985, 0.985), margin(0.97, 0.97), margin(0.94, 0.94), margin(0.90, 0.87), margin(0.85, 0.80)];

const fn margin(up: f64, down: f64) -> PerDirection<f64> {
    PerDirection { up, down }
}

/// Lowest and highest recommended rate of a shaper on a link, in the unit of `rate`.
pub fn shaper_rates(rate: f64) -> [f64; 2] {
    SHAPER_RATE_RATIO.map(|share| share * rate)
}

/// The round-trip time for which to configure the AQM of a shaper, if it is not the default.
pub fn shaper_round_trip_s(idle_s: f64) -> Option<f64> {
    (idle_s > AQM_ROUND_TRIP_S).then_some(ROUND_TRIP_RATIO * idle_s)
}

/// Whether a latency increase under load makes a line bloated.
pub fn is_bloated(p50_s: f64, p90_s: f64) -> bool {
    p50_s >= BLOATED_P50_S || p90_s >= BLOATED_P90_S
}
