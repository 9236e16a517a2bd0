//! Time series of the most important flows.
use crate::bins::{Bin, Grid};
use crate::flow::{Sampled, series};
use crate::report::{Bottleneck, FlowSeries, QueueReport, SentSeries, Spread};
use alloc::vec::Vec;
use fathom_flow::{End, FlowId};

/// Maximum number of flows with a time series.
const FLOWS: usize = 12;
/// Number of flows per bottleneck that filled it most, and that were delayed most.
const FILLED: usize = 4;
const SUFFERED: usize = 2;
/// Maximum number of points: one for each pixel column of a small chart.
const POINTS: u64 = 512;
/// Mean number of ACKs per goodput interval; with fewer, the spacing of single ACKs would show.
const ACKS_A_MEAN: u64 = 10;
/// Mean number of nonempty bins per goodput interval; with fewer, bursts of ACKs would show.
const BINS_A_MEAN: u64 = 4;
/// Minimum number of goodput intervals of a flow.
const MIN_MEANS: u64 = 16;
/// A direction with a smaller share of the payload carries only requests or responses.
const MIN_SHARE: f64 = 0.01;

/// Series of the largest flows and of those that filled or met a queue; largest first.
pub(crate) fn of_flows(
    flows: &[QueueReport],
    sampled: &[&Sampled],
    bottlenecks: &[Bottleneck],
) -> Vec<FlowSeries> {
    let concerned = bottlenecks.iter().flat_map(|bottleneck| {
        let filled = bottleneck.shares.iter().take(FILLED).map(|share| share.flow);
        filled.chain(bottleneck.delayed_flows.iter().take(SUFFERED).map(|victim| victim.flow))
    });
    let mut largest: Vec<usize> = (0..flows.len().min(sampled.len())).collect();
    largest.sort_by_key(|place| core::cmp::Reverse(sampled.get(*place).map(|own| bytes(own))));
    let mut chosen: Vec<FlowId> = Vec::new();
    let by_size = largest.iter().filter_map(|place| Some(flows.get(*place)?.flow));
    for flow in concerned.chain(by_size) {
        if chosen.len() < FLOWS && !chosen.contains(&flow) {
            chosen.push(flow);
        }
    }
    let all = largest.iter().filter_map(|place| flows.get(*place).zip(sampled.get(*place)));
    all.filter(|(report, _)| chosen.contains(&report.flow))
        .map(|(report, own)| of_flow(report, own))
        .collect()
}

fn bytes(sampled: &Sampled) -> u64 {
    sampled.sent.iter().map(|sent| sent.payload_bytes).sum()
}

fn of_flow(report: &QueueReport, sampled: &Sampled) -> FlowSeries {
    let grid = &sampled.grid;
    let min = MIN_SHARE * bytes(sampled) as f64;
    let sent = |end: End| {
        let bytes = sampled.sent[end as usize].payload_bytes;
        if bytes == 0 || (bytes as f64) < min {
            return SentSeries::default();
        }
        let outstanding = spreads(grid, series::passed(end));
        SentSeries { outstanding, goodput: rates(grid, grid.bins(series::delivered(end))) }
    };
    FlowSeries {
        flow: report.flow,
        ends: report.ends,
        round_trips: [End::A, End::B].map(|end| spreads(grid, series::round_trip(end))),
        sent: [End::A, End::B].map(sent),
    }
}

fn spreads<const N: usize>(grid: &Grid<N>, series: usize) -> Vec<Spread> {
    let bins = grid.bins(series);
    let joined = |shift: u32| bins.chunk_by(move |a, b| a.index >> shift == b.index >> shift);
    let mut shift = 0;
    // Each point has two values.
    while joined(shift).count() as u64 > POINTS / 2 {
        shift += 1;
    }
    let width = grid.width_ns() * (1_u64 << shift) as f64;
    let spread = |group: &[Bin]| {
        let min = group.iter().map(|bin| bin.min).fold(f32::INFINITY, f32::min);
        let max = group.iter().map(|bin| bin.max).fold(0.0, f32::max);
        let index = group.first().map_or(0, |first| first.index >> shift);
        Spread { at_ns: (f64::from(index) + 0.5) * width, min: f64::from(min), max: f64::from(max) }
    };
    joined(shift).map(spread).collect()
}

/// Sums of `bins` as rates over equal intervals; only the last one may differ.
fn rates<const N: usize>(grid: &Grid<N>, bins: &[Bin]) -> Vec<(f64, f64)> {
    let Some((first, last)) = bins.first().zip(bins.last()) else { return Vec::new() };
    let acks: u64 = bins.iter().map(|bin| u64::from(bin.count)).sum();
    let span = u64::from(last.index - first.index) + 1;
    let means = (acks / ACKS_A_MEAN).min(bins.len() as u64 / BINS_A_MEAN).clamp(MIN_MEANS, POINTS);
    let size = span.div_ceil(means);
    // The remainder is an interval if at least half as long as the others, else it extends the
    // last.
    let count = ((span + size / 2) / size).max(1);
    let mut sums = alloc::vec![0.0; count as usize];
    for bin in bins {
        let place = (u64::from(bin.index - first.index) / size).min(count - 1);
        if let Some(sum) = sums.get_mut(place as usize) {
            *sum += bin.sum;
        }
    }
    let width = grid.width_ns();
    let mean = |(place, sum): (u64, f64)| {
        let (begin, end) = (place * size, if place + 1 == count { span } else { (place + 1) * size });
        let at = (f64::from(first.index) + end as f64) * width;
        (at, sum * 8e9 / ((end - begin) as f64 * width))
    };
    (0..count).zip(sums).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    /// With random times and values no value is lost, all are within their bin's extremes, and the
    /// number of points is limited.
    #[test]
    fn no_value_is_lost_in_long_series() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let mut grid = Grid::<1>::new();
            let step = 1.0 + rng.next_f64() * libm::pow(10.0, 3.0 + (seed % 6) as f64);
            let (mut at, mut sum, mut max) = (0.0, 0.0, 0.0_f64);
            for _ in 0..5_000 {
                at += step * rng.next_f64();
                let value = libm::floor(rng.next_f64() * 3_000.0);
                grid.turn_to(at as i64, 2048);
                grid.add(0, value);
                (sum, max) = (sum + value, max.max(value));
            }
            grid.close();
            let spreads = spreads(&grid, 0);
            assert!(spreads.len() as u64 <= POINTS / 2, "seed {seed}: {}", spreads.len());
            assert!(spreads.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns), "seed {seed}");
            let seen = spreads.iter().map(|spread| spread.max).fold(0.0, f64::max);
            assert_eq!(seen, max, "seed {seed}");
            let rates = rates(&grid, grid.bins(0));
            assert!(rates.len() as u64 <= POINTS, "seed {seed}: {}", rates.len());
            let mut begin = f64::from(grid.bins(0)[0].index) * grid.width_ns();
            let mut bits = 0.0;
            for (end, rate) in rates {
                bits += rate * (end - begin) / 1e9;
                begin = end;
            }
            assert!(libm::fabs(bits / (8.0 * sum) - 1.0) < 1e-9, "seed {seed}: {bits} {sum}");
            assert!(begin >= at && begin <= at + 2.0 * grid.width_ns(), "seed {seed}: {begin} {at}");
        }
    }

    #[test]
    fn a_pause_is_a_rate_of_zero() {
        let mut grid = Grid::<1>::new();
        let ms = 1 << 20;
        for number in (0..100).chain(1000..1100) {
            grid.turn_to(number * ms, 2048);
            grid.add(0, 1000.0);
        }
        grid.close();
        let rates = rates(&grid, grid.bins(0));
        let zeros = rates.iter().filter(|rate| rate.1 == 0.0).count();
        assert!(zeros * 10 > rates.len() * 7, "{zeros} of {}", rates.len());
        assert_eq!(super::rates(&Grid::<1>::new(), &[]), []);
    }
}
