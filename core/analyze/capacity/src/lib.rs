//! Capacity of a link: the traffic that passes while packets wait for it. At other times the rate
//! is that of the senders.
//!
//! [`pieces`] cuts the time in which the link was busy into pieces, and [`rates`] finds the typical
//! rate and its changes. [`reno_recovery_s`] and [`cubic_recovery_s`] compute how long a flow needs
//! to use that rate again after a loss.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod recovery;

pub use recovery::{CUBIC_BETA, cubic_recovery_s, reno_recovery_s};

use alloc::vec::Vec;
use fathom_stats::{median, percentile};

/// Traffic of a short interval, and the queue at that time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// End of the interval, ns.
    pub until_ns: f64,
    /// Bytes that passed.
    pub bytes: f64,
    /// Minimum queueing delay in the interval, if observed.
    pub delay_ns: Option<f64>,
}

/// A rate with its error and time span.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSpan {
    /// Start, ns since the start of the measurement.
    pub from_ns: f64,
    /// End, ns since the start of the measurement.
    pub to_ns: f64,
    /// Bits per second.
    pub bits_per_second: f64,
    /// Relative error.
    pub error_ratio: f64,
}

/// An interval with a queue throughout.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// Start, ns.
    pub from_ns: f64,
    /// End, ns.
    pub to_ns: f64,
    /// Bytes that passed.
    pub bytes: f64,
}

impl Piece {
    fn rate(&self) -> f64 {
        8e9 * self.bytes / (self.to_ns - self.from_ns).max(1.0)
    }
}

/// Minimum duration of a piece, so that pairs of ACKs have no effect.
const MIN_PIECE_NS: f64 = 100e6;
/// Minimum number of acknowledgments in a piece.
const MIN_STEPS: f64 = 16.0;
/// Smaller changes of the rate are ignored.
const MIN_CHANGE_RATIO: f64 = 0.08;
/// Minimum size of a change relative to the scatter of the pieces.
const MIN_SIGNIFICANCE: f64 = 6.0;
/// Pieces that deviate from the median by more than this multiple of the scatter are outliers.
const OUTLYING: f64 = 4.0;
/// Minimum relative scatter; a lower value is coincidence.
const MIN_BAND: f64 = 0.005;
/// If a larger share of the time consists of outliers, they are part of the link's normal behavior.
const MAX_STALLED: f64 = 0.15;
/// Minimum number of pieces to use their interquartile range.
const MIN_HALVED: usize = 16;
/// Minimum number of pieces between two changes.
const MIN_PIECES: usize = 4;

/// Splits the time in which the bottleneck was busy into pieces. A packet that waited for `d` shows
/// that the link was busy for `d` before. The same is assumed between consecutive steps, because
/// each contains packets throughout, and while the packets of one acknowledgment are sent.
///
/// Pieces are cut by time alone: cut when enough bytes have passed, fast pieces would be complete
/// more often than slow ones, and the rate of a slow link would be too high.
///
/// `acknowledged_bytes` is the number of bytes covered by one acknowledgment.
pub fn pieces(steps: &[Step], width_ns: f64, threshold_ns: f64, acknowledged_bytes: f64) -> Vec<Piece> {
    let sum = |runs: &[Run<'_>]| {
        let bytes: f64 = runs.iter().map(Run::bytes).sum();
        bytes / runs.iter().map(Run::length_ns).sum::<f64>().max(1.0)
    };
    let first = sum(&runs(steps, threshold_ns, 1.5 * width_ns, 0.0));
    if first <= 0.0 {
        return Vec::new();
    }
    let acknowledged_ns = acknowledged_bytes / first;
    let runs = runs(steps, threshold_ns, 1.5 * width_ns, 1.5 * acknowledged_ns);
    let length_ns = MIN_PIECE_NS.max(MIN_STEPS * acknowledged_bytes / sum(&runs));
    runs.iter().flat_map(|run| run.cut(length_ns)).collect()
}

/// Steps during which the link was busy throughout. The bytes of the first one passed before.
struct Run<'a> {
    from_ns: f64,
    steps: &'a [Step],
}

impl Run<'_> {
    fn bytes(&self) -> f64 {
        self.steps.iter().map(|step| step.bytes).sum()
    }
    fn length_ns(&self) -> f64 {
        self.steps.last().map_or(0.0, |last| last.until_ns - self.from_ns)
    }
    /// Pieces of at least `length_ns`; the rest of the run is omitted.
    fn cut(&self, length_ns: f64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut piece = Piece { from_ns: self.from_ns, to_ns: self.from_ns, bytes: 0.0 };
        for step in self.steps {
            piece.to_ns = step.until_ns;
            piece.bytes += step.bytes;
            // A step without a delay may hold bytes that passed with those of the next.
            if piece.to_ns - piece.from_ns >= length_ns && step.delay_ns.is_some() {
                pieces.push(piece);
                piece = Piece { from_ns: piece.to_ns, to_ns: piece.to_ns, bytes: 0.0 };
            }
        }
        pieces
    }
}

/// Runs of steps with a delay of at least `threshold_ns`, at most `gap_ns`, or the delay plus
/// `sent_ns`, apart.
fn runs(steps: &[Step], threshold_ns: f64, gap_ns: f64, sent_ns: f64) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    // Place of the first and last step of the current run.
    let mut open: Option<(usize, usize)> = None;
    let mut close = |span: Option<(usize, usize)>| {
        let Some((first, last)) = span else { return };
        let begin = steps.get(first).map_or(0.0, |step| step.until_ns);
        if let Some(after) = steps.get(first + 1..=last).filter(|after| !after.is_empty()) {
            runs.push(Run { from_ns: begin, steps: after });
        }
    };
    let mut last_ns = 0.0;
    for (place, step) in steps.iter().enumerate() {
        let Some(delay) = step.delay_ns else { continue };
        let is_next = step.until_ns - last_ns <= (delay + sent_ns).max(gap_ns);
        open = match open {
            Some((first, _)) if delay >= threshold_ns && is_next => Some((first, place)),
            before => {
                close(before);
                (delay >= threshold_ns).then_some((place, place))
            }
        };
        last_ns = step.until_ns;
    }
    close(open);
    runs
}

/// Rates of a link over a measurement, in bit/s.
#[derive(Clone, PartialEq, Debug)]
pub struct Rates {
    /// Rate without stalls.
    pub typical: RateSpan,
    /// Rates between changes.
    pub spans: Vec<RateSpan>,
    /// Share of the time with almost no traffic, or with much more than usual.
    pub stalled_ratio: f64,
}

/// The rate over all `pieces`, and over the spans between changes.
///
/// Outliers are stalls of the link and do not belong to its rate. They are omitted if they are few.
pub fn rates(pieces: &[Piece], acknowledged_bytes: f64) -> Option<Rates> {
    let middle = median(pieces.iter().map(Piece::rate))?;
    let step = acknowledged_bytes / median(pieces.iter().map(|piece| piece.bytes))?.max(1.0);
    let band = OUTLYING * scatter(pieces).max(step).max(MIN_BAND);
    let is_usual = |piece: &&Piece| libm::fabs(piece.rate() / middle.max(1.0) - 1.0) <= band;
    let typical: Vec<Piece> = pieces.iter().filter(is_usual).copied().collect();
    let stalled_ratio = 1.0 - time(&typical) / time(pieces).max(1.0);
    let kept = if stalled_ratio <= MAX_STALLED { typical.as_slice() } else { pieces };
    let mut spans = Vec::new();
    split(kept, acknowledged_bytes, &mut spans, 6);
    Some(Rates { typical: unless_idle(kept, over(kept, acknowledged_bytes)?), spans, stalled_ratio })
}

/// Corrects `span` for times when the link was idle although something looked like a queue. Such
/// times make pieces slower and never faster, so the mean falls below that of the interquartile
/// range.
fn unless_idle(pieces: &[Piece], span: RateSpan) -> RateSpan {
    let mut rates: Vec<f64> = pieces.iter().map(Piece::rate).collect();
    rates.sort_by(f64::total_cmp);
    let quarter = rates.len() / 4;
    let half = rates.get(quarter..rates.len() - quarter).unwrap_or(&rates);
    let middle = half.iter().sum::<f64>() / half.len().max(1) as f64;
    let chance = 2.0 * scatter(pieces) / libm::sqrt(pieces.len().max(1) as f64);
    let is_lean = pieces.len() >= MIN_HALVED && span.bits_per_second < middle * (1.0 - chance);
    if is_lean { RateSpan { bits_per_second: middle, ..span } } else { span }
}

/// How much the 90th percentile of the rates of `pieces` exceeds `bits_per_second`, as a ratio. If
/// the link was idle at times, its rate is that of the fastest pieces.
pub fn highest_above(pieces: &[Piece], bits_per_second: f64) -> f64 {
    let mut rates: Vec<f64> = pieces.iter().map(Piece::rate).collect();
    let high = percentile(&mut rates, 0.9).unwrap_or(0.0);
    (high / bits_per_second.max(1.0) - 1.0).max(0.0)
}

/// How the rates of pieces are distributed, in bit/s.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Spread {
    /// Number of pieces.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// 10th percentile.
    pub p10: f64,
    /// 25th percentile.
    pub p25: f64,
    /// 90th percentile.
    pub p90: f64,
}

/// The distribution of the rates of `pieces`; `None` without pieces.
pub fn spread(pieces: &[Piece]) -> Option<Spread> {
    let mut rates: Vec<f64> = pieces.iter().map(Piece::rate).collect();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let [p10, p25, p90] = [0.1, 0.25, 0.9].map(|p| percentile(&mut rates, p));
    Some(Spread { count: pieces.len(), mean, p10: p10?, p25: p25?, p90: p90? })
}

fn time(pieces: &[Piece]) -> f64 {
    pieces.iter().map(|piece| piece.to_ns - piece.from_ns).sum()
}

fn over(pieces: &[Piece], acknowledged_bytes: f64) -> Option<RateSpan> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    let bytes: f64 = pieces.iter().map(|piece| piece.bytes).sum();
    // Each run of pieces starts and ends within an acknowledgment.
    let ends = 1 + pieces.windows(2).filter(|pair| pair[0].to_ns != pair[1].from_ns).count();
    let edge = 2.0 * acknowledged_bytes * libm::sqrt(ends as f64) / bytes;
    Some(RateSpan {
        from_ns: first.from_ns,
        to_ns: last.to_ns,
        bits_per_second: 8e9 * bytes / time(pieces).max(1.0),
        error_ratio: edge + scatter(pieces) / libm::sqrt(pieces.len() as f64),
    })
}

/// Relative scatter of neighboring pieces: 1.48 times the median absolute deviation.
fn scatter(pieces: &[Piece]) -> f64 {
    let middle = median(pieces.iter().map(Piece::rate)).unwrap_or(0.0).max(1.0);
    let steps = pieces.windows(2).filter_map(|pair| match pair {
        [a, b] => Some(libm::fabs(a.rate() - b.rate())),
        _ => None,
    });
    // The difference of two values scatters by the square root of two more than each value.
    median(steps).unwrap_or(0.0) * 1.48 / core::f64::consts::SQRT_2 / middle
}

fn split(pieces: &[Piece], acknowledged_bytes: f64, spans: &mut Vec<RateSpan>, depth: u32) {
    let change = if depth == 0 { None } else { change(pieces, acknowledged_bytes) };
    match change.and_then(|at| pieces.split_at_checked(at)) {
        Some((before, after)) => {
            split(before, acknowledged_bytes, spans, depth - 1);
            split(after, acknowledged_bytes, spans, depth - 1);
        }
        None => spans.extend(over(pieces, acknowledged_bytes)),
    }
}

/// Index of the largest change of the rate, if any: binary segmentation by median differences.
fn change(pieces: &[Piece], acknowledged_bytes: f64) -> Option<usize> {
    let n = pieces.len();
    let rates: Vec<f64> = pieces.iter().map(Piece::rate).collect();
    let total: f64 = rates.iter().sum();
    let mut before = 0.0;
    let mut best = (0.0, 0);
    for at in 1..n {
        before += rates.get(at - 1)?;
        if at < MIN_PIECES || n - at < MIN_PIECES {
            continue;
        }
        let (left, right) = (at as f64, (n - at) as f64);
        let gap = libm::fabs(before / left - (total - before) / right);
        let weight = gap * libm::sqrt(left * right / n as f64);
        if weight > best.0 {
            best = (weight, at);
        }
    }
    let (left, right) = rates.split_at_checked(best.1)?;
    let (left, right) = (median(left.iter().copied())?, median(right.iter().copied())?);
    let step = acknowledged_bytes / median(pieces.iter().map(|piece| piece.bytes))?.max(1.0);
    let noise = scatter(pieces).max(step) * total / n as f64;
    let is_clear = best.0 > MIN_SIGNIFICANCE * noise;
    (is_clear && libm::fabs(left - right) > MIN_CHANGE_RATIO * left.max(right)).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    /// Pieces of a 10 Mbit/s link, each off by up to one acknowledgment. In `idle_percent` of them
    /// the link was idle for up to a fifth.
    fn link(seed: u64, idle_percent: u64) -> Vec<Piece> {
        let mut rng = Rng::stream(seed, "pieces");
        let piece = |number: u32| {
            let idle = if rng.below(100) < idle_percent { 0.02 * rng.below(11) as f64 } else { 0.0 };
            let bytes = 125_000.0 * (1.0 - idle) + 1500.0 * (rng.below(3) as f64 - 1.0);
            let from_ns = f64::from(number) * 150e6;
            Piece { from_ns, to_ns: from_ns + 100e6, bytes }
        };
        (0..60).map(piece).collect()
    }

    #[test]
    fn idle_times_do_not_lower_the_rate() {
        for seed in 1..=200 {
            for idle_percent in [0, 10, 15] {
                let found = rates(&link(seed, idle_percent), 3000.0).unwrap().typical.bits_per_second;
                assert!((found / 1e7 - 1.0).abs() < 0.013, "seed {seed}, {idle_percent} %: {found}");
            }
        }
    }
}
