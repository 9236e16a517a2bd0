//! The maximum delivery rate of the last rounds.

/// A sample counts in its own round and the ten after it.
const ROUNDS: u64 = 11;

/// Windowed maximum by rounds. Linux approximates it with the three best samples.
#[derive(Clone, Debug)]
pub(super) struct MaxFilter {
    /// Maximum of each round, indexed by the round modulo the length.
    maxima: [u64; ROUNDS as usize],
    round: u64,
    max: u64,
}

impl MaxFilter {
    pub(super) const fn new() -> Self {
        MaxFilter { maxima: [0; ROUNDS as usize], round: 0, max: 0 }
    }
    pub(super) const fn max(&self) -> u64 {
        self.max
    }
    /// The maximum of this round so far; 0 if the round is new.
    pub(super) const fn of_round(&self, round: u64) -> u64 {
        if round == self.round { self.maxima[(round % ROUNDS) as usize] } else { 0 }
    }
    /// Adds a sample. Old maxima expire only here, not in rounds without samples.
    pub(super) fn add(&mut self, round: u64, value: u64) {
        if round != self.round {
            self.forget(round);
        }
        let slot = &mut self.maxima[(round % ROUNDS) as usize];
        *slot = value.max(*slot);
        self.max = self.max.max(value);
    }
    fn forget(&mut self, round: u64) {
        for past in 0..(round - self.round).min(ROUNDS) {
            self.maxima[((round - past) % ROUNDS) as usize] = 0;
        }
        self.round = round;
        self.max = self.maxima.iter().copied().fold(0, u64::max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_windowed_maximum() {
        let mut rng = fathom_units::Rng::new(7);
        let (mut filter, mut samples, mut round) = (MaxFilter::new(), alloc::vec::Vec::new(), 0);
        for _ in 0..3_000 {
            round += rng.below(4);
            let value = 1 + rng.below(1_000);
            samples.push((round, value));
            filter.add(round, value);
            let inside = samples.iter().filter(|(at, _)| round - at < ROUNDS).map(|(_, sample)| *sample);
            assert_eq!(Some(filter.max()), inside.max(), "seed 7, round {round}");
        }
    }
}
