//! Detects bufferbloat: delay of a target that grows with the load of this host's own link.
use crate::Link;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_stats::percentile;
use fathom_units::{Duration, WallTime};

/// Below this rate the link counts as idle: a few packets are no load.
const MIN_LOAD_BITS_PER_SECOND: f64 = 200_000.0;
/// Seconds with at least this share of the highest throughput in the window are busy ...
const BUSY: f64 = 0.5;
/// ... and seconds below this share of the highest throughput in the last hour, in both directions,
/// are quiet.
const QUIET: f64 = 0.1;
/// Period searched for idle delays, because a whole window may be busy.
const IDLE_WITHIN: Duration = Duration::from_secs(3_600);
/// Quantile of the quiet delays that estimates the path without queues.
const IDLE_QUARTILE: f64 = 0.25;
const SECOND: u64 = 1_000_000_000;

/// Throughput of this host's link per second, over the last hour.
#[derive(Clone, Default, Debug)]
pub(crate) struct Throughput {
    seconds: VecDeque<(u64, [f64; 2])>,
}

/// Delay under load and when idle.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bloat {
    pub(crate) busy: f64,
    pub(crate) idle: f64,
    pub(crate) text: String,
}

impl Throughput {
    /// Records the throughput of a second. With several interfaces, the busiest counts.
    pub(crate) fn add(&mut self, at: WallTime, link: Link, bits_per_second: f64) {
        let second = at.0 / SECOND;
        let is_known = self.seconds.back().is_some_and(|(s, _)| *s == second);
        if !is_known {
            self.seconds.push_back((second, [0.0; 2]));
        }
        let direction = usize::from(link == Link::Sent);
        if let Some(slot) = self.seconds.back_mut().and_then(|(_, both)| both.get_mut(direction)) {
            *slot = slot.max(bits_per_second);
        }
        let keep = IDLE_WITHIN.as_nanos() / SECOND;
        while self.seconds.front().is_some_and(|(s, _)| s.abs_diff(second) > keep) {
            self.seconds.pop_front();
        }
    }
    /// The highest throughput in the last `window`.
    fn highest(&self, window: Duration, now: WallTime, direction: usize) -> f64 {
        let from = now.0.saturating_sub(window.as_nanos()) / SECOND;
        let inside = self.seconds.iter().rev().take_while(|(s, _)| *s >= from);
        inside.filter_map(|(_, both)| both.get(direction)).fold(0.0, |highest, v| v.max(highest))
    }
    fn at(&self, at: WallTime) -> Option<[f64; 2]> {
        let second = at.0 / SECOND;
        // A throughput value describes the second before it.
        let found = self.seconds.binary_search_by_key(&(second + 1), |(s, _)| *s);
        let index = found.or_else(|_| self.seconds.binary_search_by_key(&second, |(s, _)| *s)).ok()?;
        self.seconds.get(index).map(|(_, both)| *both)
    }
    /// Compares the delays in busy seconds of the window with the idle delays of the last hour.
    /// Returns the worse direction.
    pub(crate) fn bloat(
        &self,
        delays: &[(WallTime, f64)],
        (window, now): (Duration, WallTime),
        min_probes: u64,
    ) -> Option<Bloat> {
        let one = |(direction, verb)| self.bloat_of(delays, (window, now), min_probes, (direction, verb));
        let both = [(1, "sends"), (0, "receives")].into_iter().filter_map(one);
        both.max_by(|a, b| (a.busy - a.idle).total_cmp(&(b.busy - b.idle)))
    }
    fn bloat_of(
        &self,
        delays: &[(WallTime, f64)],
        (window, now): (Duration, WallTime),
        min_probes: u64,
        (direction, verb): (usize, &str),
    ) -> Option<Bloat> {
        let highest = self.highest(window, now, direction);
        let busy_above = (highest * BUSY).max(MIN_LOAD_BITS_PER_SECOND);
        let hour = [0, 1].map(|way| self.highest(IDLE_WITHIN, now, way));
        let quiet_below = hour.map(|rate| (rate * QUIET).max(MIN_LOAD_BITS_PER_SECOND));
        let from = WallTime(now.0.saturating_sub(window.as_nanos()));
        let (mut busy, mut quiet): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (at, delay) in delays {
            let Some(load) = self.at(*at) else { continue };
            if *at >= from && load.get(direction).is_some_and(|l| *l >= busy_above) {
                busy.push(*delay);
            } else if load.iter().zip(&quiet_below).all(|(l, below)| l < below) {
                quiet.push(*delay);
            }
        }
        if (quiet.len() as u64) < min_probes {
            return None;
        }
        let idle = percentile(&mut quiet, IDLE_QUARTILE)?;
        if (busy.len() as u64) < min_probes {
            // Without load, there is no delay under load.
            let text = format!("{} while idle; the link has little load", fathom_text::delay(idle));
            return Some(Bloat { busy: idle, idle, text });
        }
        let delay = percentile(&mut busy, 0.5)?;
        let text = format!(
            "{} while this host {verb} up to {} ({} answers under load), {} while idle",
            fathom_text::delay(delay),
            fathom_text::rate(highest),
            busy.len(),
            fathom_text::delay(idle)
        );
        Some(Bloat { busy: delay, idle, text })
    }
}

/// How far back delays are needed.
pub(crate) const fn reach(window: Duration) -> Duration {
    if window.as_nanos() > IDLE_WITHIN.as_nanos() { window } else { IDLE_WITHIN }
}
