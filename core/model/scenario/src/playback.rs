//! The player of an adaptive video, without I/O: which segment is requested when, and when playback
//! stalls. For the simulator and tests.
//!
//! It requests the first segment at the lowest bitrate, and each later one at the highest that is
//! at most [`SAFETY`] of the harmonic mean of the rates of the last [`MEAN_OF`] segments. Playback
//! starts, or goes on after a stall, with the next segment that arrives.
//!
//! Source: harmonic mean of five: Yin et al., A control-theoretic approach for dynamic adaptive
//! video streaming over HTTP, SIGCOMM 2015 (its rate-based player); share: ExoPlayer,
//! `DEFAULT_BANDWIDTH_FRACTION`.
use crate::VideoPlan;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Bytes, Duration, Rate, Time};

const MEAN_OF: usize = 5;
const SAFETY: f64 = 0.7;

/// A pause of playback because nothing was left to play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stall {
    at: Time,
    lasted: Duration,
}

/// One viewer.
#[derive(Clone, Debug)]
pub struct Playback {
    plan: VideoPlan,
    /// When the segments that have arrived are played; `None` before the first.
    plays_until: Option<Time>,
    /// Start and size of the request under way.
    request: Option<(Time, Bytes)>,
    /// Rates at which the last segments arrived, in bit/s.
    recent: VecDeque<f64>,
    /// When each segment was requested, and its bitrate.
    requested: Vec<(Time, Rate)>,
    stalls: Vec<Stall>,
}

impl Playback {
    /// A player that has nothing.
    #[must_use]
    pub const fn new(plan: VideoPlan) -> Self {
        Playback {
            plan,
            plays_until: None,
            request: None,
            recent: VecDeque::new(),
            requested: Vec::new(),
            stalls: Vec::new(),
        }
    }
    /// When the next segment is due: as soon as the buffer has space for it. [`Time::MAX`] while
    /// one is under way.
    #[must_use]
    pub fn due(&self) -> Time {
        match (self.request, self.plays_until) {
            (Some(_), _) => Time::MAX,
            (None, None) => Time::ZERO,
            (None, Some(until)) => Time::from_nanos(
                (until + self.plan.every).as_nanos().saturating_sub(self.plan.buffer.as_nanos()),
            ),
        }
    }
    /// Requests the next segment, of this size.
    pub fn request(&mut self, now: Time) -> Bytes {
        let rate = self.choose();
        let bytes = rate.bytes_in(self.plan.every).max(Bytes(1));
        self.request = Some((now, bytes));
        self.requested.push((now, rate));
        bytes
    }
    fn choose(&self) -> Rate {
        let inverse: f64 = self.recent.iter().map(|rate| 1.0 / rate).sum();
        let affordable = if inverse > 0.0 { SAFETY * self.recent.len() as f64 / inverse } else { 0.0 };
        let fits =
            |rate: &&Rate| rate.as_bits_per_second() > 0 && rate.as_bits_per_second() as f64 <= affordable;
        self.plan.rates.iter().rev().find(fits).copied().unwrap_or(self.plan.rates[0])
    }
    /// The requested segment has arrived.
    pub fn arrived(&mut self, now: Time) {
        let Some((since, bytes)) = self.request.take() else { return };
        let took = now.saturating_since(since).max(Duration::from_nanos(1));
        self.recent.push_back(bytes.get() as f64 * 8.0 / took.as_secs_f64());
        if self.recent.len() > MEAN_OF {
            self.recent.pop_front();
        }
        self.stalls.extend(self.stall(now));
        self.plays_until = Some(self.plays_until.map_or(now, |until| until.max(now)) + self.plan.every);
    }
    /// Drops the request under way.
    pub const fn abandon(&mut self) {
        self.request = None;
    }
    /// The stall under way, if playback is stalled now.
    fn stall(&self, now: Time) -> Option<Stall> {
        let at = self.plays_until.filter(|until| *until < now)?;
        Some(Stall { at, lasted: now.saturating_since(at) })
    }
    /// The bitrates and the stalls until `end`; `key` is that of a metric of this viewer.
    #[must_use]
    pub fn series(&self, key: impl Fn(Metric) -> SeriesKey, end: Time) -> [Series; 2] {
        let [mut rates, mut stalls] =
            [Metric::VideoRate, Metric::VideoStall].map(|metric| Series::new(key(metric)));
        for (at, rate) in &self.requested {
            let value = Value::Observed(rate.as_bits_per_second() as f64);
            rates.push(Observation { at: *at, value });
        }
        for Stall { at, lasted } in &self.stalls {
            stalls.push(Observation { at: *at, value: Value::Observed(lasted.as_secs_f64()) });
        }
        if let Some(Stall { at, lasted }) = self.stall(end) {
            stalls.push(Observation { at, value: Value::Censored { at_least: lasted.as_secs_f64() } });
        }
        [rates, stalls]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const fn mbit(rate: u64) -> Rate {
        Rate::from_bits_per_second(rate * 1_000_000)
    }

    /// Plays for `seconds` over a line of these Mbit/s in each second: the bitrates requested, and
    /// the stalls in ms.
    fn play(seconds: u64, line_mbit: impl Fn(u64) -> u64) -> (Vec<u64>, Vec<(u64, u64)>) {
        let (every, buffer) = (Duration::from_secs(2), Duration::from_secs(8));
        let mut rates = [Rate::default(); crate::MAX_RATES];
        rates[..3].copy_from_slice(&[mbit(1), mbit(2), mbit(4)]);
        let mut player = Playback::new(VideoPlan { rates, every, buffer });
        let (mut now, end) = (Time::ZERO, Time::ZERO + Duration::from_secs(seconds));
        while now < end {
            let mut bits = player.request(now).get() * 8;
            // In steps of a millisecond: a Mbit/s carries 1000 bits.
            while bits > 0 {
                let second = now.as_nanos() / 1_000_000_000;
                bits = bits.saturating_sub(line_mbit(second) * 1000);
                now += Duration::from_millis(1);
            }
            player.arrived(now);
            now = now.max(player.due());
        }
        let requested = player.requested.iter().map(|(_, rate)| rate.as_bits_per_second() / 1_000_000);
        let ms = |nanos: u64| nanos / 1_000_000;
        let stalls = player.stalls.iter().map(|s| (ms(s.at.as_nanos()), ms(s.lasted.as_nanos())));
        (requested.collect(), stalls.collect())
    }

    #[test]
    fn the_bitrate_follows_the_line_and_the_buffer_fills() {
        // 10 Mbit/s: the first segment of 2 Mbit takes 0.2 s, those of 8 Mbit 0.8 s. The fourth
        // arrives at 2.6 s, with 8.2 - 2.6 = 5.6 s to play; after the fifth at 3.4 s, 6.8 s are
        // left, and the next is due when 6 are.
        assert_eq!(play(8, |_| 10), (alloc::vec![1, 4, 4, 4, 4, 4, 4], alloc::vec![]));
    }

    #[test]
    fn a_line_below_the_lowest_bitrate_stalls_for_the_difference() {
        // Each segment of 2 Mbit takes 4 s at 0.5 Mbit/s and lasts 2 s: in half of the time.
        let (requested, stalls) = play(12, |second| second % 2);
        assert_eq!(requested, [1; 3]);
        assert_eq!(stalls, [(6_000, 2_000), (10_000, 2_000)]);
    }

    #[test]
    fn an_outage_longer_than_the_buffer_is_one_stall() {
        let (requested, stalls) = play(20, |second| if (4..16).contains(&second) { 0 } else { 10 });
        assert_eq!(stalls.len(), 1, "{requested:?} {stalls:?}");
        // What had arrived by 4 s plays until 10.2 s; the request of 4.2 s is answered at 16.8 s.
        assert_eq!(stalls[0], (10_200, 6_600));
    }

    #[test]
    fn a_stall_under_way_is_known() {
        let rates = [mbit(1); crate::MAX_RATES];
        let (every, buffer) = (Duration::from_secs(2), Duration::from_secs(8));
        let mut player = Playback::new(VideoPlan { rates, every, buffer });
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        assert_eq!(player.stall(at(9)), None);
        player.request(at(0));
        assert_eq!(player.due(), Time::MAX);
        player.arrived(at(1));
        assert_eq!(player.stall(at(3)), None);
        let [requested, stalls] = player.series(SeriesKey::of, at(5));
        assert_eq!((requested.values, requested.at_ns), (alloc::vec![1e6], alloc::vec![0]));
        assert_eq!((stalls.values, stalls.censored), (alloc::vec![2.0], alloc::vec![0]));
    }
}
