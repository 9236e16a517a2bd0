//! Finds the knee: the highest shaper rate at which the queue of the line beyond it stays empty.
//!
//! The delay is constant up to the line's rate, and then grows steeply: at a rate `r` above the
//! line's `c`, the queue grows by `(r - c) / c` seconds per second, at any rate. A trial of some
//! seconds therefore reveals an excess of 1 %, at 1 Mbit/s as well as at 1 Gbit/s, and bisection
//! finds the knee. [`Knee`] chooses the rate of each trial. Its trials are its only state, so an
//! interrupted search can be resumed from a file.
use alloc::vec::Vec;
use fathom_units::{Duration, Rate};

/// Bisection ends when the lowest rate with a queue exceeds the highest rate without one by less
/// than this ratio, a quarter of the required accuracy of 3 %.
const RESOLUTION_RATIO: f64 = 0.008;
/// Rate of the first trial, and of the one after the first queue, over the delivered rate.
const BELOW_RATIO: f64 = 0.97;
/// Step above the first rate without a queue; each further step is twice as large.
const ABOVE_RATIO: f64 = 0.06;
/// Largest ratio of the next rate to one with a queue, which may have delivered a burst.
const CUT_RATIO: f64 = 0.85;
/// After this many consecutive loads that did not fill the shaper, the search ends. A single one
/// may be a sender that lost a retransmission.
const IDLE_TRIALS: usize = 3;
/// Minimum rate of a trial: at this rate a packet of 1500 bytes takes 120 ms.
pub const LEAST_RATE: Rate = Rate::from_bits_per_second(100_000);

/// Result of a load through the shaper at one rate, in one direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// Rate of the shaper.
    pub offered: Rate,
    /// Rate that left the shaper, counted like the shaper does.
    pub delivered: Rate,
    /// Median delay above idle.
    pub delay: Duration,
    /// The delay exceeds what the shaper itself adds.
    pub is_delayed: bool,
    /// The delay exceeds it only slightly, which can be caused by a busy machine.
    pub is_marginal: bool,
    /// The load filled the shaper. Otherwise the trial does not prove that the rate is good.
    pub is_demanded: bool,
}

/// What to do next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    /// Run a trial at this rate.
    Try(Rate),
    /// The knee was found.
    Found(Found),
    /// The search failed.
    Failed(Failure),
}

/// Result of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found {
    /// Highest rate without a queue.
    pub rate: Rate,
    /// Lowest rate with a queue, if any.
    pub above: Option<Rate>,
    /// A rate had a queue but a higher one had none: the rate varies, or others share the line.
    pub is_varying: bool,
}

/// Why a search failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The load never filled the shaper.
    NotDemanded,
    /// Every rate had a queue: it is not beyond this shaper, or the delay has another cause.
    AlwaysDelayed,
}

/// A search in one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Knee {
    guess: Rate,
    trials: Vec<Trial>,
}

impl Knee {
    /// Starts a search near `guess`, the throughput of the line without a shaper.
    pub const fn new(guess: Rate) -> Self {
        Knee { guess, trials: Vec::new() }
    }
    /// Resumes a search that was interrupted after these trials.
    pub const fn resume(guess: Rate, trials: Vec<Trial>) -> Self {
        Knee { guess, trials }
    }
    /// The rate near which the search started.
    pub const fn guess(&self) -> Rate {
        self.guess
    }
    /// Records the result of the last trial.
    pub fn note(&mut self, trial: Trial) {
        self.trials.push(trial);
    }
    /// All trials, in order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }
    /// The next step; `is_over` if there is no time for another trial.
    pub fn step(&self, is_over: bool) -> Step {
        let bad = self.rates(true).min();
        let good = self.rates(false).filter(|rate| bad.is_none_or(|bad| *rate < bad)).max();
        match (good, bad) {
            (Some(good), Some(bad)) if !is_over && is_near(good, bad) && self.is_doubtful(bad) => {
                Step::Try(bad)
            }
            (Some(good), bad) if is_over || bad.is_some_and(|bad| is_near(good, bad)) => {
                self.found(good, bad)
            }
            (Some(good), bad) if self.idle_in_a_row() >= IDLE_TRIALS => self.found(good, bad),
            (Some(good), Some(bad)) => Step::Try(middle(good, bad)),
            (Some(good), None) => Step::Try(scaled(good, 1.0 + self.climb())),
            (None, Some(bad)) if is_over || bad <= LEAST_RATE => Step::Failed(Failure::AlwaysDelayed),
            (None, Some(bad)) => Step::Try(self.below(bad)),
            (None, None) if is_over || self.idle_in_a_row() >= IDLE_TRIALS => {
                Step::Failed(Failure::NotDemanded)
            }
            (None, None) => Step::Try(self.first().max(LEAST_RATE)),
        }
    }
    /// Rates with a queue of any cause, or those without a queue despite a load.
    fn rates(&self, is_delayed: bool) -> impl Iterator<Item = Rate> {
        let tells = move |t: &&Trial| t.is_delayed == is_delayed && (is_delayed || t.is_demanded);
        self.trials.iter().filter(tells).filter(|trial| !self.is_refuted(trial)).map(|trial| trial.offered)
    }
    /// Whether a delay did not recur at the same rate, or a small one not at a higher rate. A stall
    /// of a tenth of a second leaves a queue that takes a whole trial to drain near the knee.
    fn is_refuted(&self, trial: &Trial) -> bool {
        let is_better = |other: &Trial| {
            let is_as_hard =
                other.offered == trial.offered || (trial.is_marginal && other.offered > trial.offered);
            !other.is_delayed && other.is_demanded && is_as_hard
        };
        trial.is_delayed && self.trials.iter().any(is_better)
    }
    /// Whether only a single trial speaks against a rate.
    fn is_doubtful(&self, rate: Rate) -> bool {
        self.trials.iter().filter(|trial| trial.is_delayed && trial.offered == rate).count() == 1
    }
    /// Number of consecutive last trials that filled neither the shaper nor a queue.
    fn idle_in_a_row(&self) -> usize {
        let is_idle = |trial: &&Trial| !trial.is_delayed && !trial.is_demanded;
        self.trials.iter().rev().take_while(is_idle).count()
    }
    /// Rate of a trial while only the throughput without a shaper is known.
    fn first(&self) -> Rate {
        (0..self.idle_in_a_row()).fold(scaled(self.guess, BELOW_RATIO), |rate, _| scaled(rate, CUT_RATIO))
    }
    /// Relative step while no rate has a queue; steps restart at a rate with a refuted queue.
    fn climb(&self) -> f64 {
        let refuted =
            self.trials.iter().filter(|trial| self.is_refuted(trial)).map(|trial| trial.offered).max();
        let since = self.rates(false).filter(|rate| refuted.is_none_or(|refuted| *rate >= refuted)).count();
        (1..since).fold(ABOVE_RATIO, |share, _| (2.0 * share).min(1.0))
    }
    /// Next rate below one with a queue, based on the rate delivered with a queue.
    fn below(&self, bad: Rate) -> Rate {
        let delivered =
            self.trials.iter().filter(|t| t.is_delayed).map(|t| scaled(t.delivered, BELOW_RATIO)).min();
        let (least, most) = (scaled(bad, CUT_RATIO), scaled(bad, BELOW_RATIO));
        delivered.unwrap_or(least).clamp(least, most).max(LEAST_RATE)
    }
    fn found(&self, rate: Rate, above: Option<Rate>) -> Step {
        let is_varying = above.is_some_and(|above| self.rates(false).any(|offered| offered > above));
        Step::Found(Found { rate, above, is_varying })
    }
}

fn is_near(good: Rate, bad: Rate) -> bool {
    bad.as_bits_per_second() as f64 <= good.as_bits_per_second() as f64 * (1.0 + RESOLUTION_RATIO)
}

fn scaled(rate: Rate, ratio: f64) -> Rate {
    Rate::from_bits_per_second((rate.as_bits_per_second() as f64 * ratio) as u64)
}

fn middle(low: Rate, high: Rate) -> Rate {
    Rate::from_bits_per_second(low.as_bits_per_second().midpoint(high.as_bits_per_second()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Rng;

    /// A line with this rate, for trials of 4 s of which the second half is evaluated.
    fn line(rate: f64, offered: Rate, budget_s: f64, rng: &mut Rng) -> Trial {
        let r = offered.as_bits_per_second() as f64;
        // One trial in ten is disturbed.
        let noise_s = if rng.chance(0.1) { 0.007 } else { rng.below(1000) as f64 * 1e-6 };
        let delay_s = noise_s + 3.0 * (r / rate - 1.0).max(0.0);
        Trial {
            offered,
            delivered: scaled(offered, (rate / r).min(1.0)),
            delay: Duration::from_secs_f64(delay_s),
            is_delayed: delay_s > budget_s,
            is_marginal: delay_s < 3.0 * budget_s,
            is_demanded: r <= rate * 1.05,
        }
    }

    /// Number of trials of 4 s in a minute, with pauses.
    const IN_A_MINUTE: usize = 13;

    #[test]
    fn within_three_percent_from_any_guess_in_a_minute() {
        for seed in 0..2000 {
            let mut rng = Rng::new(seed);
            let rate = 1e5 * libm::pow(10.0, 1.0 + rng.below(4000) as f64 / 1000.0);
            let guess = rate * (0.9 + rng.below(250) as f64 / 1000.0);
            let mut knee = Knee::new(Rate::from_bits_per_second(guess as u64));
            let found = loop {
                match knee.step(knee.trials().len() >= IN_A_MINUTE) {
                    Step::Try(offered) => knee.note(line(rate, offered, 0.005, &mut rng)),
                    Step::Found(found) => break found.rate.as_bits_per_second() as f64 / rate,
                    Step::Failed(failure) => panic!("seed {seed}: {failure:?}"),
                }
            };
            let disturbed = knee.trials().iter().filter(|t| t.is_delayed && t.is_marginal).count();
            let least = if disturbed < 2 { 0.97 } else { 0.85 };
            assert!((least..=1.006).contains(&found), "seed {seed}: {found} of the rate");
        }
    }

    /// The machine or line stalled during one trial, which leaves a queue that drains slowly near
    /// the knee and is not caused by its rate.
    #[test]
    fn one_delayed_trial_does_not_end_the_search() {
        for held_up in 0..8 {
            for guess in [0.93, 0.98, 1.0, 1.04] {
                let (mut rng, mut knee) =
                    (Rng::new(held_up), Knee::new(Rate::from_bits_per_second((guess * 4e7) as u64)));
                let found = loop {
                    match knee.step(knee.trials().len() >= IN_A_MINUTE) {
                        Step::Try(offered) => {
                            let mut trial = line(4e7, offered, 0.005, &mut rng);
                            // No other trial is disturbed.
                            while trial.is_delayed && offered < Rate::from_bits_per_second(40_000_000) {
                                trial = line(4e7, offered, 0.005, &mut rng);
                            }
                            if knee.trials().len() as u64 == held_up {
                                let delay = trial.delay.max(Duration::from_millis(35));
                                trial = Trial { delay, is_delayed: true, is_marginal: false, ..trial };
                            }
                            knee.note(trial);
                        }
                        Step::Found(found) => break found.rate.as_bits_per_second() as f64 / 4e7,
                        Step::Failed(failure) => panic!("{held_up} of {guess}: {failure:?}"),
                    }
                };
                assert!(
                    (0.97..=1.006).contains(&found),
                    "{held_up} of {guess}: {found}, {:#?}",
                    knee.trials()
                );
            }
        }
    }

    #[test]
    fn an_interrupted_search_continues() {
        let (mut rng, guess) = (Rng::new(1), Rate::from_bits_per_second(11_000_000));
        let mut whole = Knee::new(guess);
        while let Step::Try(offered) = whole.step(false) {
            whole.note(line(1e7, offered, 0.005, &mut rng));
        }
        for cut in 0..whole.trials().len() {
            let resumed = Knee::resume(guess, whole.trials()[..cut].to_vec());
            let next = Step::Try(whole.trials()[cut].offered);
            assert_eq!(resumed.step(false), next, "after {cut} trials");
        }
    }

    #[test]
    fn failures_of_a_search_have_a_reason() {
        let mut knee = Knee::new(Rate::from_bits_per_second(10_000_000));
        let trial = |offered, is_delayed, is_demanded| Trial {
            offered,
            delivered: offered,
            delay: Duration::ZERO,
            is_delayed,
            is_marginal: false,
            is_demanded,
        };
        while let Step::Try(offered) = knee.step(false) {
            knee.note(trial(offered, true, true));
        }
        assert_eq!(knee.step(false), Step::Failed(Failure::AlwaysDelayed));
        let mut idle = Knee::new(Rate::from_bits_per_second(10_000_000));
        while let Step::Try(offered) = idle.step(false) {
            idle.note(trial(offered, false, false));
        }
        assert_eq!(idle.step(false), Step::Failed(Failure::NotDemanded));
        assert_eq!(idle.trials().len(), IDLE_TRIALS);
        // A host that cannot fill the shaper beyond this rate, on a line with the same limit.
        let mut weak = Knee::new(Rate::from_bits_per_second(10_000_000));
        while let Step::Try(offered) = weak.step(false) {
            let mbit = offered.as_bits_per_second() as f64 / 1e6;
            weak.note(trial(offered, mbit > 11.0, mbit < 9.8));
        }
        let best = weak.trials().iter().filter(|t| t.is_demanded).map(|t| t.offered).max();
        assert!(matches!(weak.step(false), Step::Found(found) if Some(found.rate) == best), "{weak:?}");
    }
}
