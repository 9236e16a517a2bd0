//! Combines the delays of all reflectors by majority.
use super::baseline::Track;
use super::flow::seconds;
use super::observation::{Delay, DelaySample};
use alloc::vec::Vec;
use fathom_units::{Direction, PerDirection, Time};

/// Maximum number of tracked reflectors; those without a response for a minute are replaced.
pub const REFLECTORS: usize = 32;
/// How long a response counts, s: two of cake-autorate's intervals of 0.3 s, plus a late tick.
const FRESH: f64 = 0.7;
/// A reflector may be forgotten after this time without a response, s.
const FORGOTTEN: f64 = 60.0;
/// Distance from the median that makes an outlier, s: half of the delay that triggers a cut.
const OUTLIER: f64 = 0.012;
/// Weight of a sample in a reflector's distance from the median: some 10 s at 3 Hz.
const DISTANCE_WEIGHT: f64 = 0.03;
/// Weight of a tick in the idle delay: some 5 s at 10 Hz.
const IDLE_WEIGHT: f64 = 0.02;
/// Minimum threshold for a cut, s: 30 ms is the goal for users, less the feedback delay.
const LEAST_THRESHOLD: f64 = 0.020;
/// Recent responses considered: of four, two late ones suffice and a wrong one does not.
const LATEST: usize = 4;
/// Maximum threshold on noisy lines, s.
const MOST_THRESHOLD: f64 = 0.025;
/// Number of mean absolute deviations above the idle delay that count as noise.
const DEVIATIONS: f64 = 4.0;

#[derive(Clone, Copy, Debug)]
struct Reflector {
    id: u16,
    last_answer: Time,
    directions: PerDirection<Track>,
    round: Track,
    /// Mean distance from the median of all reflectors, s.
    distance: f64,
}

/// Median delay of the reflectors while nothing is sent, s.
#[derive(Clone, Copy, Default, Debug)]
struct IdleDelay {
    mean: f64,
    deviation: f64,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Reflectors {
    all: Vec<Reflector>,
    idle: PerDirection<IdleDelay>,
    idle_round_trip: IdleDelay,
}

/// Delay of one direction beyond the shaper, by a majority of the reflectors.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct ExcessDelay {
    /// Delay above the idle delay, s.
    pub(crate) excess: f64,
    /// Threshold for a queue, s.
    pub(crate) threshold: f64,
    /// The delay is of this direction, not of the round trip.
    pub(crate) is_one_way: bool,
}

impl Reflectors {
    /// Records responses. A direction is quiet if its traffic cannot fill a queue.
    pub(crate) fn sample(&mut self, at: Time, samples: &[DelaySample], quiet: PerDirection<bool>) {
        for sample in samples {
            let Some(reflector) = self.of(sample.reflector, at) else { continue };
            reflector.last_answer = at;
            match sample.delay {
                Delay::OneWay(delays) => {
                    for (direction, ns) in delays {
                        let track = &mut reflector.directions[direction];
                        track.sample(at, ns as f64 / 1e9, quiet[direction]);
                    }
                }
                Delay::RoundTrip(rtt) => {
                    reflector.round.sample(at, rtt.as_secs_f64(), quiet.up && quiet.down)
                }
            }
        }
        self.compare(at, samples);
    }
    pub(crate) fn excess_delays(
        &mut self,
        at: Time,
        quiet: PerDirection<bool>,
    ) -> PerDirection<Option<ExcessDelay>> {
        let up = self.middle(at, |reflector| &reflector.directions.up);
        let down = self.middle(at, |reflector| &reflector.directions.down);
        let round = self.middle(at, |reflector| &reflector.round);
        let round = round.map(|excess| self.idle_round_trip.excess(excess, quiet.up && quiet.down, false));
        PerDirection {
            up: up.map(|excess| self.idle.up.excess(excess, quiet.up, true)).or(round),
            down: down.map(|excess| self.idle.down.excess(excess, quiet.down, true)).or(round),
        }
    }
    /// Raises the baselines: a delay that a cut did not change belongs to the path.
    pub(crate) fn shift(&mut self, direction: Direction, longer: f64) {
        self.all.iter_mut().for_each(|reflector| reflector.directions[direction].shift(longer));
    }
    pub(crate) fn shift_round(&mut self, longer: f64) {
        self.all.iter_mut().for_each(|reflector| reflector.round.shift(longer));
    }
    /// Outliers: reflectors that disagree with the others.
    pub(crate) fn suspects(&self) -> impl Iterator<Item = u16> {
        self.all.iter().filter(|reflector| reflector.is_outlier()).map(|reflector| reflector.id)
    }

    fn of(&mut self, id: u16, at: Time) -> Option<&mut Reflector> {
        if let Some(known) = self.all.iter().position(|reflector| reflector.id == id) {
            return self.all.get_mut(known);
        }
        if self.all.len() >= REFLECTORS {
            self.all.retain(|reflector| seconds(reflector.last_answer, at) < FORGOTTEN);
        }
        if self.all.len() >= REFLECTORS {
            return None;
        }
        self.all.push(Reflector {
            id,
            last_answer: at,
            directions: PerDirection::default(),
            round: Track::default(),
            distance: 0.0,
        });
        self.all.last_mut()
    }
    /// Updates the distance from the median of reflectors that responded.
    fn compare(&mut self, at: Time, samples: &[DelaySample]) {
        let picks: [fn(&Reflector) -> &Track; 3] =
            [|r| &r.directions.up, |r| &r.directions.down, |r| &r.round];
        let middles = picks.map(|pick| self.middle_of(at, pick, |_| true));
        for reflector in self.all.iter_mut().filter(|r| samples.iter().any(|s| s.reflector == r.id)) {
            let distances = picks
                .iter()
                .zip(middles)
                .filter_map(|(pick, middle)| Some((pick(reflector).excess(at, 0.0)? - middle?).abs()));
            let furthest = distances.fold(0.0, f64::max).min(1.0);
            reflector.distance += (furthest - reflector.distance) * DISTANCE_WEIGHT;
        }
    }
    /// Median of the latest responses without outliers; of all, if too few are left to outvote one.
    fn middle(&self, at: Time, pick: fn(&Reflector) -> &Track) -> Option<f64> {
        let is_fresh = |reflector: &&Reflector| pick(reflector).excess(at, FRESH).is_some();
        let believed = self.all.iter().filter(|reflector| !reflector.is_outlier()).filter(is_fresh).count();
        let is_asked = |reflector: &Reflector| believed < 2 || !reflector.is_outlier();
        let mut times = Sorted::default();
        let asked = self.all.iter().filter(|reflector| is_asked(reflector)).filter(is_fresh);
        asked.for_each(|reflector| times.insert(-pick(reflector).age(at)));
        let oldest = times.nth_greatest(LATEST)?;
        self.middle_of(at, pick, |reflector| is_asked(reflector) && -pick(reflector).age(at) >= oldest)
    }
    /// The median. Of an even number the higher middle value, which detects a queue one sample
    /// earlier; of two the lower one, so that both must agree.
    fn middle_of(
        &self,
        at: Time,
        pick: fn(&Reflector) -> &Track,
        is_asked: impl Fn(&Reflector) -> bool,
    ) -> Option<f64> {
        let mut values = Sorted::default();
        let asked = self.all.iter().filter(|reflector| is_asked(reflector));
        asked
            .filter_map(|reflector| pick(reflector).excess(at, FRESH))
            .for_each(|value| values.insert(value));
        values.middle()
    }
}

/// A small sorted array.
struct Sorted {
    values: [f64; REFLECTORS],
    count: usize,
}

impl Default for Sorted {
    fn default() -> Self {
        Sorted { values: [0.0; REFLECTORS], count: 0 }
    }
}

impl Sorted {
    fn insert(&mut self, value: f64) {
        let place = self.values[..self.count].iter().position(|other| value < *other).unwrap_or(self.count);
        self.values.copy_within(place..self.count, place + 1);
        self.values[place] = value;
        self.count += 1;
    }
    fn middle(&self) -> Option<f64> {
        let middle = if self.count == 2 { 0 } else { self.count / 2 };
        (self.count > 0).then(|| self.values[middle])
    }
    /// The `rank`th largest value, or the smallest if there are fewer.
    fn nth_greatest(&self, rank: usize) -> Option<f64> {
        (self.count > 0).then(|| self.values[self.count.saturating_sub(rank)])
    }
}

impl Reflector {
    fn is_outlier(&self) -> bool {
        self.distance > OUTLIER
    }
}

impl IdleDelay {
    fn threshold(&self) -> f64 {
        (self.deviation * DEVIATIONS).clamp(LEAST_THRESHOLD, MOST_THRESHOLD)
    }
    /// Compares with the idle delay, which is updated while the direction is quiet.
    fn excess(&mut self, excess: f64, is_quiet: bool, is_one_way: bool) -> ExcessDelay {
        let delay = ExcessDelay { excess: excess - self.mean, threshold: self.threshold(), is_one_way };
        if is_quiet && delay.excess < MOST_THRESHOLD {
            let off = excess - self.mean;
            self.mean += off * IDLE_WEIGHT;
            self.deviation += (off.abs() - self.deviation) * IDLE_WEIGHT;
        }
        delay
    }
}
