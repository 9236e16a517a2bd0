//! Synthetic links with one sample per second. Comments give the source of each delay component.
use super::Failure;
use fathom_units::{Duration, Rng};
use fathom_watch_samples::Outcome;

pub(crate) const PROFILES: [&str; 3] = ["fibre", "docsis", "wifi"];

const DAY: u64 = 86_400;

/// Parameters of a link type, delays in microseconds.
struct Profile {
    /// Delay of the path.
    base: u64,
    /// Uniform jitter: a DOCSIS modem waits for the next 2 ms map and its grant; GPON for its
    /// cycle.
    even: u64,
    /// Mean of the exponential jitter: other traffic, radio retries.
    tail: u64,
    /// Percentage of probes with a long tail of ten times that.
    long_percent: u64,
    /// Maximum delay of a full buffer.
    buffer: u64,
    /// Loss without a full buffer, per million.
    loss_ppm: u64,
}

/// A link; its delays depend only on the seed.
pub(crate) struct Line {
    profile: Profile,
    rng: Rng,
    /// Routes change every few weeks: the path gets longer or shorter by up to a tenth.
    level_percent: u64,
    /// An upload fills the buffer between these two seconds.
    bloat: (u64, u64),
    depth: u64,
}

impl Line {
    pub(crate) fn new(profile: &str, seed: u64) -> Result<Line, Failure> {
        let profile = match profile {
            "fibre" => {
                Profile { base: 4_000, even: 120, tail: 30, long_percent: 1, buffer: 30_000, loss_ppm: 20 }
            }
            "docsis" => Profile {
                base: 11_000,
                even: 4_000,
                tail: 1_200,
                long_percent: 3,
                buffer: 350_000,
                loss_ppm: 500,
            },
            "wifi" => Profile {
                base: 9_000,
                even: 1_500,
                tail: 3_000,
                long_percent: 6,
                buffer: 200_000,
                loss_ppm: 2_000,
            },
            other => return Err(format!("no profile {other}").into()),
        };
        Ok(Line { profile, rng: Rng::new(seed), level_percent: 100, bloat: (0, 0), depth: 0 })
    }

    /// The outcome of the probe in a second; seconds must be requested in order.
    pub(crate) fn next(&mut self, second: u64) -> Outcome {
        let (profile, rng) = (&self.profile, &mut self.rng);
        if rng.below(25 * DAY) == 0 {
            self.level_percent = 92 + rng.below(20);
        }
        // Evenings are busy: twice the jitter, four times as many uploads.
        let evening = (19 * 3_600..23 * 3_600).contains(&(second % DAY));
        if second >= self.bloat.1 && rng.below(if evening { DAY / 16 } else { DAY / 4 }) == 0 {
            self.bloat = (second, second + 20 + rng.exponential(150));
            self.depth = profile.buffer / 4 + rng.below(profile.buffer * 3 / 4);
        }
        let bloated = second < self.bloat.1;
        // A buffer fills within seconds and then stays full, except for the sender's sawtooth.
        let filled = (second - self.bloat.0.min(second) + 1).min(5) * self.depth / 5;
        let queue = if bloated { filled - rng.below(filled / 4 + 1) } else { 0 };
        if rng.below(1_000_000) < profile.loss_ppm + if bloated { 20_000 } else { 0 } {
            return Outcome::Lost;
        }
        let mut us = profile.base * self.level_percent / 100 + rng.below(profile.even) + queue;
        us += rng.exponential(if evening { profile.tail * 2 } else { profile.tail });
        if rng.below(100) < profile.long_percent {
            us += rng.exponential(profile.tail * 10);
        }
        // Nanosecond resolution as from real clocks, so that round numbers do not help compression.
        Outcome::Answered(Duration::from_nanos(us * 1_000 + rng.below(1_000)))
    }
}
