//! The queue of the main link.
use super::FULL_PACKET;
use super::range::{BUCKET, BUFFER, HEALTHY_BUFFER, POLICER_BURST, log_uniform, weighted};
use fathom_units::Rng;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    TailBytes,
    TailPackets,
    TailTime,
    HeadDrop,
    Red,
    Codel,
    FqCodel,
    Pie,
    Cake,
    DualPi2,
    TokenBucket,
    Policer,
}
use Kind::{
    Cake, Codel, DualPi2, FqCodel, HeadDrop, Pie, Policer, Red, TailBytes, TailPackets, TailTime, TokenBucket,
};

const KINDS: [(u64, Kind); 12] = [
    (25, TailBytes),
    (15, TailPackets),
    (3, TailTime),
    (9, HeadDrop),
    (7, Red),
    (7, Codel),
    (8, FqCodel),
    (6, Pie),
    (6, Cake),
    (4, DualPi2),
    (5, TokenBucket),
    (5, Policer),
];
const HEALTHY_KINDS: [(u64, Kind); 6] =
    [(30, TailBytes), (10, TailPackets), (30, FqCodel), (20, Cake), (5, Codel), (5, Pie)];

/// Below this rate, a short queue of full packets is not short, so a healthy line has `fq_codel`.
pub(super) const SHORT_QUEUE_RATE: f64 = 2e6;
/// A shaper's link is this much faster than the shaper.
pub(super) const SHAPED_LINK: f64 = 10.0;
/// RED needs room for its thresholds, bytes.
const MIN_RED_LIMIT: f64 = 60e3;
/// With a larger limit, RED's default burst is more packets than its model takes, bytes.
const MAX_RED_LIMIT: f64 = 7e9;
/// Managed queues have room for their bursts, packets.
const MIN_MANAGED_PACKETS: f64 = 1000.0;
/// Targets of CoDel and PIE on fast links, ms.
const CODEL_TARGET_MS: f64 = 5.0;
const PIE_TARGET_MS: f64 = 15.0;
/// The same on slow links, in full packets.
pub(super) const TARGET_PACKETS: f64 = 1.5;

pub(super) struct Queue {
    pub(super) text: String,
    /// The queue itself limits the rate, so the link must be faster.
    pub(super) is_shaper: bool,
}

/// Draws a queue in front of a link of `rate` bit/s.
pub(super) fn queue(rng: &mut Rng, rate: f64, is_healthy: bool) -> Queue {
    let kind = match is_healthy {
        true if rate < SHORT_QUEUE_RATE => FqCodel,
        true => weighted(rng, &HEALTHY_KINDS),
        false => weighted(rng, &KINDS),
    };
    let seconds = log_uniform(rng, if is_healthy { HEALTHY_BUFFER } else { BUFFER });
    let bytes = (rate / 8.0 * seconds).max(2.0 * FULL_PACKET);
    let packets = (bytes / FULL_PACKET).round().max(2.0);
    let room = packets.max(MIN_MANAGED_PACKETS);
    let least_ms = TARGET_PACKETS * FULL_PACKET * 8.0 / rate * 1e3;
    let codel = format!("limit {room}p target {:.1}ms", least_ms.max(CODEL_TARGET_MS));
    let pie = format!("limit {room}p target {:.1}ms", least_ms.max(PIE_TARGET_MS));
    let bucket = |depth_s: f64| (rate / 8.0 * depth_s).max(2.0 * FULL_PACKET);
    let text = match kind {
        TailBytes => format!("fifo limit {bytes:.0}b"),
        TailPackets => format!("fifo limit {packets}p"),
        TailTime => format!("fifo limit {:.3}ms", seconds * 1e3),
        HeadDrop => format!("fifo limit {bytes:.0}b drop head"),
        Red => format!("red limit {:.0}b bandwidth {rate:.0}bit", bytes.clamp(MIN_RED_LIMIT, MAX_RED_LIMIT)),
        Codel => format!("codel {codel}"),
        FqCodel => format!("fq_codel {codel}"),
        Pie => format!("pie {pie}"),
        DualPi2 => format!("dualpi2 {pie}"),
        Cake => "cake unlimited".to_owned(),
        TokenBucket => {
            let burst = bucket(log_uniform(rng, BUCKET));
            format!("tbf rate {rate:.0}bit burst {burst:.0}b limit {bytes:.0}b")
        }
        Policer => {
            let burst = bucket(log_uniform(rng, POLICER_BURST));
            format!("tbf rate {rate:.0}bit burst {burst:.0}b limit {FULL_PACKET:.0}b")
        }
    };
    Queue { text, is_shaper: matches!(kind, TokenBucket | Policer) }
}
