//! Scores that other documents and tools define, from the samples of one run.
use crate::PhaseKind;
use serde::Serialize;

/// One score of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Score {
    /// Its row in [`crate::SCORES`], whose unit it has.
    pub name: &'static str,
    /// Its phase; `None` for a score of the whole test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseKind>,
    /// The value; absent if it cannot be computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What the run lacks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Class or confidence, by the words of its definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<&'static str>,
    /// Version of the definition, with its parameters.
    pub definition: &'static str,
}

/// Why a score cannot be computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// No latency was measured without load.
    IdleLatency,
    /// Fewer probes than a percentile requires.
    Probes,
    /// The last probes of the phase were not answered, so a percentile has no upper bound.
    Responses,
    /// Probes were TCP segments, which are sent again when lost.
    Loss,
    /// A direction was not loaded alone, or its rate is unknown.
    Rates,
    /// The senders did not report their retransmissions.
    Retransmissions,
}

/// Requirements of an application for Quality of Outcome (QoO).
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    /// Row in [`crate::SCORES`].
    pub name: &'static str,
    /// Percentiles as ratios, each with the longest round trip that is optimal and the shortest
    /// that is unacceptable, in seconds (ROP and CPUP of the draft).
    pub latency_s: &'static [(f64, f64, f64)],
    /// Packet loss that is optimal and that is unacceptable, as ratios.
    pub loss_ratio: Option<(f64, f64)>,
    /// Least rate in each direction.
    pub bits_per_second: f64,
    /// The draft, and the source of the numbers.
    pub definition: &'static str,
}

impl Requirement {
    /// Those that Fathom scores.
    pub const ALL: [Requirement; 2] = [
        Requirement {
            name: "qoo_video_call_percent",
            latency_s: &[(0.95, 0.3, 0.8)],
            loss_ratio: Some((0.0, 0.01)),
            bits_per_second: 384e3,
            definition: "draft-ietf-ippm-qoo-11 (two-way; ITU-T G.1010 table I.1, videophone)",
        },
        Requirement {
            name: "qoo_game_percent",
            latency_s: &[(0.50, 0.030, 0.150), (0.95, 0.065, 0.200), (0.99, 0.100, 0.250)],
            loss_ratio: None,
            bits_per_second: 0.0,
            definition: "draft-ietf-ippm-qoo-11 (two-way; gaming of goresponsiveness 3439542)",
        },
    ];
    /// Percentage of the way from unacceptable (0) to optimal (100) conditions. `latency_s` gives
    /// the percentile of a ratio.
    pub fn percent(&self, latency_s: impl Fn(f64) -> f64, loss_ratio: f64, bits_per_second: f64) -> f64 {
        let part = |got: f64, (optimal, unacceptable): (f64, f64)| {
            (1.0 - (got - optimal) / (unacceptable - optimal)).clamp(0.0, 1.0)
        };
        let latency = self.latency_s.iter().map(|(share, rop, cpup)| part(latency_s(*share), (*rop, *cpup)));
        let loss = self.loss_ratio.map(|range| part(loss_ratio, range));
        let rate = if bits_per_second >= self.bits_per_second { 1.0 } else { 0.0 };
        100.0 * latency.chain(loss).fold(rate, f64::min)
    }
}

/// Percentage by which queues lengthen a round trip: mean during the transfer over the baseline.
pub fn buffer_delay_percent(mean_s: f64, baseline_s: f64) -> f64 {
    100.0 * (mean_s - baseline_s) / baseline_s
}

/// Percentage of the transmitted bytes that were no retransmissions.
pub fn tcp_efficiency_percent(transmitted_bytes: f64, retransmitted_bytes: f64) -> f64 {
    100.0 * (transmitted_bytes - retransmitted_bytes) / transmitted_bytes
}

/// Inputs of AIM, Cloudflare's Aggregated Internet Measurement.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    /// Median without load.
    pub latency_s: f64,
    /// Mean difference of consecutive latencies without load.
    pub jitter_s: f64,
    /// The larger of the medians under load of the directions, less `latency_s`.
    pub increase_s: f64,
    /// Packet loss without load, 0 to 1; unmeasured loss has 0 points.
    pub loss_ratio: Option<f64>,
    /// Rate of a download.
    pub down_bits_per_second: f64,
}

/// Points of a latency or an increase, by its upper limits in seconds.
const AIM_LATENCY: ([f64; 5], [i32; 6]) = ([0.010, 0.020, 0.050, 0.100, 0.500], [20, 10, 5, 0, -10, -20]);
const AIM_JITTER: ([f64; 4], [i32; 5]) = ([0.010, 0.020, 0.100, 0.500], [10, 5, 0, -10, -20]);
const AIM_LOSS: ([f64; 4], [i32; 5]) = ([0.01, 0.05, 0.25, 0.5], [10, 5, 0, -10, -20]);
const AIM_RATE: ([f64; 4], [i32; 5]) = ([1e6, 1e7, 5e7, 1e8], [0, 5, 10, 20, 30]);
const AIM_CLASSES: [&str; 5] = ["bad", "poor", "average", "good", "great"];

/// The value of the range that starts at the last limit not above `value`.
fn step<T: Copy>(limits: &[f64], values: &[T], value: f64) -> T {
    values[limits.iter().take_while(|limit| value >= **limit).count()]
}

impl Aim {
    /// Version of the source with the limits and points.
    pub const DEFINITION: &'static str = "AIM of @cloudflare/speedtest 1.14.1";

    /// Name, points and class of each kind of use.
    pub fn scores(&self) -> [(&'static str, f64, &'static str); 3] {
        let latency = |seconds| step(&AIM_LATENCY.0, &AIM_LATENCY.1, seconds);
        let game = latency(self.latency_s)
            + latency(self.increase_s)
            + self.loss_ratio.map_or(0, |ratio| step(&AIM_LOSS.0, &AIM_LOSS.1, ratio));
        let streaming = game + step(&AIM_RATE.0, &AIM_RATE.1, self.down_bits_per_second);
        let call = game + step(&AIM_JITTER.0, &AIM_JITTER.1, self.jitter_s);
        [
            ("aim_streaming_points", streaming, [15.0, 20.0, 40.0, 60.0]),
            ("aim_gaming_points", game, [5.0, 15.0, 25.0, 30.0]),
            ("aim_rtc_points", call, [5.0, 15.0, 25.0, 40.0]),
        ]
        .map(|(name, sum, limits)| {
            let points = f64::from(sum.max(0));
            (name, points, step(&limits, &AIM_CLASSES, points))
        })
    }
}
