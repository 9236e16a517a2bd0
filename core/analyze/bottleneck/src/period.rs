//! Period of an oscillating queue, and its cause.
use crate::delay_curve::DelayPoint;
use crate::episodes::Episode;
use alloc::vec::Vec;
use fathom_capacity::{CUBIC_BETA, cubic_recovery_s, reno_recovery_s};
use fathom_stats::median;

/// Number of points of the evenly spaced series.
const POINTS: usize = 1024;
/// A lower correlation does not indicate a period.
const MIN_CORRELATION: f64 = 0.3;
/// BBR probes for the minimum round-trip time after ten seconds without a lower one, for 200 ms
/// (draft-ietf-ccwg-bbr, ProbeRTTInterval).
const BBR_INTERVAL_NS: f64 = 10e9;
/// Shorter dips come from a stalled link, longer ones from a paused sender.
const MIN_DIP_NS: f64 = 100e6;
const MAX_DIP_NS: f64 = 1e9;
/// Observed and predicted period agree within this factor.
const AGREES: f64 = 1.6;

/// Cause of an oscillation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OscillationCause {
    /// CUBIC: the window grows along a cubic function after a loss.
    Cubic,
    /// Reno: the window grows by one packet per round trip after a loss.
    Reno,
    /// BBR: it drains the queue every ten seconds, without losses.
    Bbr,
}

/// Oscillation of a queue.
#[derive(Clone, PartialEq, Debug)]
pub struct Oscillation {
    /// Period (ns) and correlation from the autocorrelation of the delay.
    pub correlation: Option<(f64, f64)>,
    /// Mean, minimum and maximum time between loss episodes, ns.
    pub between_episodes: Option<(f64, f64, f64)>,
    /// Time between dips of the delay to its minimum, ns, and the number of dips.
    pub between_dips: Option<(f64, u32)>,
    /// Predicted period of each possible cause, ns.
    pub predicted: Vec<(OscillationCause, f64)>,
    /// The cause that agrees in shape and period; `None` if there is none or it is unclear.
    pub cause: Option<OscillationCause>,
}

/// Properties of the sender for the predictions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Sender {
    /// Maximum packets in flight before a loss.
    pub(crate) window_packets: f64,
    /// Mean round-trip time, and that with a full queue, ns.
    pub(crate) mean_ns: f64,
    pub(crate) max_ns: f64,
}

pub(crate) fn oscillation(
    delays: &[DelayPoint],
    episodes: &[Episode],
    sender: Option<Sender>,
    base_error_ns: f64,
) -> Oscillation {
    let between_episodes = between_episodes(episodes);
    let between_dips = dips(delays, base_error_ns);
    let correlation = correlation(delays);
    let is_losing = episodes.len() >= 3;
    let mut predicted: Vec<(OscillationCause, f64)> = sender.map(predict).into_iter().flatten().collect();
    predicted.push((OscillationCause::Bbr, BBR_INTERVAL_NS));
    let seen = between_episodes.map(|(mean, ..)| mean);
    let cause =
        if is_losing { by_losses(&predicted, seen, shrinking(episodes)) } else { by_dips(between_dips) };
    Oscillation { correlation, between_episodes, between_dips, predicted, cause }
}

fn by_dips(between_dips: Option<(f64, u32)>) -> Option<OscillationCause> {
    let (between, count) = between_dips?;
    let is_bbr = count >= 2 && (0.95..=1.2).contains(&(between / BBR_INTERVAL_NS));
    is_bbr.then_some(OscillationCause::Bbr)
}

/// The loss-based congestion control with the closest period, if close enough; `shrinking` is the
/// ratio by which the window shrinks after a loss.
fn by_losses(
    predicted: &[(OscillationCause, f64)],
    seen: Option<f64>,
    shrinking: Option<f64>,
) -> Option<OscillationCause> {
    let seen = seen?;
    let distance = |(cause, period): &(OscillationCause, f64)| {
        let target = if *cause == OscillationCause::Cubic { CUBIC_BETA } else { 0.5 };
        // Shrinking to 0.5 instead of 0.7 weighs as much as a period off by a factor of two.
        let shape = shrinking.map_or(0.0, |ratio| 3.0 * libm::fabs(ratio - target));
        (*cause, libm::fabs(libm::log(period / seen)), shape)
    };
    let loss_based = predicted.iter().filter(|(cause, _)| *cause != OscillationCause::Bbr).map(distance);
    let best = loss_based.min_by(|a, b| (a.1 + a.2).total_cmp(&(b.1 + b.2)))?;
    (best.1 <= libm::log(AGREES)).then_some(best.0)
}

/// Ratio by which an episode reduces the bytes in flight.
fn shrinking(episodes: &[Episode]) -> Option<f64> {
    let whole =
        episodes.iter().filter(|episode| episode.outstanding_bytes > 0 && episode.min_after_bytes < u64::MAX);
    median(whole.map(|episode| episode.min_after_bytes as f64 / episode.outstanding_bytes as f64))
}

fn predict(sender: Sender) -> [(OscillationCause, f64); 2] {
    let (window, round_trip_s) = (sender.window_packets, sender.mean_ns / 1e9);
    let (cubic_s, reno_s) = (cubic_recovery_s(window, round_trip_s), reno_recovery_s(window, round_trip_s));
    // An overflow takes effect a round trip later, and growth starts after the retransmission.
    let repair = sender.max_ns;
    [(OscillationCause::Cubic, 1e9 * cubic_s + repair), (OscillationCause::Reno, 1e9 * reno_s + repair)]
}

fn between_episodes(episodes: &[Episode]) -> Option<(f64, f64, f64)> {
    let (first, last) = (episodes.first()?, episodes.last()?);
    let gaps = || episodes.windows(2).map(|pair| pair[1].from_ns - pair[0].from_ns);
    let count = episodes.len() - 1;
    let mean = (last.from_ns - first.from_ns) / count as f64;
    let least = gaps().fold(f64::INFINITY, f64::min);
    (count > 0).then(|| (mean, least, gaps().fold(0.0, f64::max)))
}

/// Evenly spaced means; gaps repeat the previous value.
fn even(delays: &[DelayPoint]) -> Option<(f64, Vec<f64>)> {
    let (first, last) = (delays.first()?, delays.last()?);
    let step = (last.at_ns - first.at_ns) / POINTS as f64;
    let mut sums: Vec<(f64, u32)> = alloc::vec![(0.0, 0); POINTS];
    for point in delays {
        let place = ((point.at_ns - first.at_ns) / step.max(1.0)) as usize;
        if let Some(sum) = sums.get_mut(place.min(POINTS - 1)) {
            *sum = (sum.0 + point.mean_ns, sum.1 + 1);
        }
    }
    let mut value = first.mean_ns;
    let mut mean = |(sum, count): (f64, u32)| {
        value = if count > 0 { sum / f64::from(count) } else { value };
        value
    };
    (step > 0.0).then(|| (step, sums.into_iter().map(&mut mean).collect()))
}

/// First high peak of the autocorrelation after it became negative, within half the time.
fn correlation(delays: &[DelayPoint]) -> Option<(f64, f64)> {
    let (step, values) = even(delays)?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let at_lag = |lag: usize| -> f64 {
        let products = centred.iter().zip(centred.iter().skip(lag)).map(|(a, b)| a * b);
        products.sum::<f64>() / (centred.len() - lag) as f64
    };
    let power = at_lag(0);
    let all: Vec<f64> = (0..=POINTS / 2).map(|lag| at_lag(lag) / power.max(f64::MIN_POSITIVE)).collect();
    let crossing = all.iter().position(|value| *value < 0.0)?;
    let most = all.iter().skip(crossing).copied().fold(0.0, f64::max);
    let is_peak = |lag: usize| {
        let near = all.get(lag.saturating_sub(4)..(lag + 5).min(all.len())).unwrap_or(&[]);
        all.get(lag).is_some_and(|value| *value >= 0.8 * most && near.iter().all(|other| other <= value))
    };
    let lag = (crossing..all.len()).find(|lag| is_peak(*lag))?;
    let value = *all.get(lag)?;
    (value >= MIN_CORRELATION).then_some((lag as f64 * step, value))
}

/// Median time between dips of the delay, and their number. A dip goes to a quarter of the median
/// or less and lasts about as long as BBR's 200 ms.
fn dips(delays: &[DelayPoint], base_error_ns: f64) -> Option<(f64, u32)> {
    let usual = median(delays.iter().map(|point| point.mean_ns))?;
    let low = (0.25 * usual).max(base_error_ns);
    let width = delays.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns).fold(f64::INFINITY, f64::min);
    let mut begins: Vec<f64> = Vec::new();
    let mut open: Option<(f64, f64)> = None;
    for point in delays.iter().filter(|_| usual > 2.0 * base_error_ns) {
        if point.min_ns <= low {
            let from = open.map_or(point.at_ns, |(from, _)| from);
            open = Some((from, point.at_ns));
        } else if open.is_some_and(|(_, to)| point.at_ns - to > 500e6)
            && let Some((from, to)) = open.take()
        {
            let is_dip = (MIN_DIP_NS..MAX_DIP_NS).contains(&(to - from + width));
            begins.extend(is_dip.then_some(from));
        }
    }
    let between = median(begins.windows(2).map(|pair| pair[1] - pair[0]))?;
    Some((between, begins.len() as u32))
}
