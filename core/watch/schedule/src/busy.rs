//! Whether others use a line.
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use fathom_stats::percentile;
use fathom_units::{Duration, PerDirection, WallTime};

/// Share of the line's rate from which it counts as busy: a video call on a line of 50 Mbit/s. The
/// loads of a test would disturb it, and its load would be missing in the rate.
const BUSY_SHARE: f64 = 0.05;
/// Rate that counts as busy while the line's is unknown, in bit/s.
const BUSY_RATE: f64 = 1e6;
/// Delay above the lowest of the day that shows a queue. Wi-Fi alone adds less to the median of a
/// minute.
const BUSY_DELAY: Duration = Duration::from_millis(20);
/// Percentile of the delays of the targets above their lowest ones. One target that is slow by
/// itself does not count, and of two the slower one does: the other may be in the local network.
const PERCENTILE: f64 = 0.6;
const HOUR_NS: u64 = 3_600 * 1_000_000_000;
/// Hours in which the lowest delay is searched.
const HOURS: u64 = 24;

/// How others use a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Busy {
    /// This host carries this rate, in bit/s.
    Rate(f64),
    /// The delays of the targets are this much above their lowest ones.
    Delay(Duration),
}

/// Whether others use a line: by the rates of this host's interface and those of the line, both in
/// bit/s, and by the delays of the targets above their lowest ones, which show other hosts too.
#[must_use]
pub fn busy(
    now: PerDirection<Option<f64>>,
    line: PerDirection<Option<f64>>,
    above: Option<Duration>,
) -> Option<Busy> {
    let exceeds = |carried: Option<f64>, of_line: Option<f64>| {
        let limit = of_line.map_or(BUSY_RATE, |rate| rate * BUSY_SHARE);
        carried.filter(|rate| *rate > limit).map(Busy::Rate)
    };
    let by_rate = exceeds(now.up, line.up).or(exceeds(now.down, line.down));
    by_rate.or(above.filter(|delay| *delay > BUSY_DELAY).map(Busy::Delay))
}

/// The lowest delays of each series in the last day.
#[derive(Clone, Default, Debug)]
pub struct Lows {
    series: BTreeMap<u32, VecDeque<(u64, Duration)>>,
}

impl Lows {
    /// Adds the present delays (medians of the last minute) by number of their series. Returns how
    /// much most of them are above the lowest of the day, because of a queue that they share.
    pub fn above(&mut self, now: WallTime, delays: &[(u32, Duration)]) -> Option<Duration> {
        let hour = now.0 / HOUR_NS;
        self.series.retain(|number, _| delays.iter().any(|(known, _)| known == number));
        let excess = delays.iter().map(|(number, delay)| {
            let lows = self.series.entry(*number).or_default();
            lows.retain(|(at, _)| hour.abs_diff(*at) < HOURS);
            match lows.iter_mut().find(|(at, _)| *at == hour) {
                Some((_, low)) => *low = (*low).min(*delay),
                None => lows.push_back((hour, *delay)),
            }
            let low = lows.iter().map(|(_, low)| *low).min().unwrap_or(*delay);
            (*delay - low).as_secs_f64()
        });
        percentile(&mut excess.collect::<Vec<f64>>(), PERCENTILE).map(Duration::from_secs_f64)
    }
}
