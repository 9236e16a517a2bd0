//! Both directions together.
use super::bounds::Config;
use super::observation::{Both, HourOfWeek, Observation};
use super::reason::Reason;
use super::reflectors::{Heard, Reflectors};
use super::way::{Outcome, Tick, Way};
use fathom_units::{Rate, Time};

/// What is to be done with one direction's shaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The rate from now on.
    pub rate: Rate,
    /// Why.
    pub reason: Reason,
    /// True if it is not the rate of the tick before: the shaper must be told.
    pub is_new: bool,
}

/// Keeps both rates. See the [module](super).
#[derive(Clone, Debug)]
pub struct Controller {
    pub(super) config: Config,
    pub(super) ways: Both<Way>,
    reflectors: Reflectors,
    last: Option<Time>,
    heard: Both<Option<Heard>>,
    last_reasons: Both<Reason>,
}

impl Controller {
    /// Begins at the start rates.
    pub fn new(config: Config) -> Self {
        let bounds = config.bounds();
        Controller {
            config,
            ways: Both { up: Way::new(true, bounds.up), down: Way::new(false, bounds.down) },
            reflectors: Reflectors::default(),
            last: None,
            heard: Both::default(),
            last_reasons: Both { up: Reason::Silent, down: Reason::Silent },
        }
    }
    /// What it was told once.
    pub const fn config(&self) -> &Config {
        &self.config
    }
    /// The rates that hold now.
    pub fn rates(&self) -> Both<Rate> {
        Both { up: rounded(self.ways.up.rate), down: rounded(self.ways.down.rate) }
    }
    /// Delay beyond our queue above the usual, in s, as most reflectors say; nothing if none answers.
    pub fn excess(&self) -> Both<Option<f64>> {
        self.heard.map(|heard| heard.map(|heard| heard.excess))
    }
    /// What the lines carried at an hour of the week, in four fifths and in a fifth of the cases, if that is known.
    pub fn usual(&self, hour: HourOfWeek) -> Both<Option<(Rate, Rate)>> {
        let of = |way: &Way| way.learned.at(hour).map(|known| (rounded(known.low), rounded(known.high)));
        Both { up: of(&self.ways.up), down: of(&self.ways.down) }
    }
    /// Reflectors that say otherwise than most: others should be asked instead.
    pub fn suspects(&self) -> impl Iterator<Item = u16> {
        self.reflectors.suspects()
    }

    /// A tick. One that is not later than the last changes nothing.
    pub fn observe(&mut self, observation: &Observation) -> Both<Decision> {
        let Observation { at, hour, queues, delays } = *observation;
        let before = self.rates();
        if self.last.is_some_and(|last| at <= last) {
            return self.decisions(before);
        }
        let elapsed = at.saturating_since(self.last.unwrap_or(at)).as_secs_f64();
        self.last = Some(at);
        self.ways.up.read(at, queues.up);
        self.ways.down.read(at, queues.down);
        let quiet = Both { up: self.ways.up.is_quiet(), down: self.ways.down.is_quiet() };
        self.reflectors.sample(at, delays, quiet);
        self.heard = self.reflectors.heard(at, quiet);
        let loads = Both { up: self.ways.up.load(), down: self.ways.down.load() };
        let up = Tick { at, elapsed, hour, heard: self.heard.up, other: loads.down };
        let down = Tick { heard: self.heard.down, other: loads.up, ..up };
        let outcomes = Both { up: self.ways.up.decide(&up), down: self.ways.down.decide(&down) };
        self.shift(outcomes);
        self.last_reasons = outcomes.map(|outcome| outcome.reason);
        self.decisions(before)
    }

    fn shift(&mut self, outcomes: Both<Outcome>) {
        if let Some(longer) = outcomes.up.shift {
            self.longer(self.heard.up, longer, true);
        }
        if let Some(longer) = outcomes.down.shift {
            self.longer(self.heard.down, longer, false);
        }
    }
    fn longer(&mut self, heard: Option<Heard>, longer: f64, is_up: bool) {
        if heard.is_some_and(|heard| heard.is_one_way) {
            self.reflectors.shift(longer, |ways| if is_up { &mut ways.up } else { &mut ways.down });
        } else {
            self.reflectors.shift_round(longer);
        }
    }
    fn decisions(&self, before: Both<Rate>) -> Both<Decision> {
        let rates = self.rates();
        let of = |rate, old, reason| Decision { rate, reason, is_new: rate != old };
        Both {
            up: of(rates.up, before.up, self.last_reasons.up),
            down: of(rates.down, before.down, self.last_reasons.down),
        }
    }
}

fn rounded(bits_per_second: f64) -> Rate {
    Rate::from_bits_per_second((bits_per_second + 0.5) as u64)
}
