//! The controller of both directions.
use super::bounds::Config;
use super::direction::{DirectionController, Outcome, Tick};
use super::observation::{HourOfWeek, Observation};
use super::reason::Reason;
use super::reflectors::{ExcessDelay, Reflectors};
use fathom_units::{PerDirection, Rate, Time};

/// Decision about the shaper of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// New rate.
    pub rate: Rate,
    /// Reason for it.
    pub reason: Reason,
    /// The rate has changed, so the shaper must be updated.
    pub is_new: bool,
}

/// Controls the rates of both directions. See the [module](super).
#[derive(Clone, Debug)]
pub struct Controller {
    pub(super) config: Config,
    pub(super) directions: PerDirection<DirectionController>,
    reflectors: Reflectors,
    last: Option<Time>,
    delays: PerDirection<Option<ExcessDelay>>,
    last_reasons: PerDirection<Reason>,
}

impl Controller {
    /// Creates a controller with the start rates.
    pub fn new(config: Config) -> Self {
        let bounds = config.bounds();
        Controller {
            config,
            directions: PerDirection::from_fn(|direction| {
                DirectionController::new(direction, bounds[direction])
            }),
            reflectors: Reflectors::default(),
            last: None,
            delays: PerDirection::default(),
            last_reasons: PerDirection { up: Reason::Silent, down: Reason::Silent },
        }
    }
    /// Its configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }
    /// Current rates.
    pub fn rates(&self) -> PerDirection<Rate> {
        PerDirection { up: rounded(self.directions.up.rate), down: rounded(self.directions.down.rate) }
    }
    /// Excess delay beyond the shaper in s, by majority; `None` if no reflector responds.
    pub fn excess(&self) -> PerDirection<Option<f64>> {
        self.delays.map(|delay| delay.map(|delay| delay.excess))
    }
    /// Usual capacity of each direction at an hour of the week: rates reached in 80 % and in 20 %.
    pub fn usual(&self, hour: HourOfWeek) -> PerDirection<Option<(Rate, Rate)>> {
        let of = |state: &DirectionController| {
            state.learned.at(hour).map(|known| (rounded(known.low), rounded(known.high)))
        };
        PerDirection { up: of(&self.directions.up), down: of(&self.directions.down) }
    }
    /// Reflectors that disagree with the majority and should be replaced.
    pub fn suspects(&self) -> impl Iterator<Item = u16> {
        self.reflectors.suspects()
    }

    /// Processes a tick. A tick that is not later than the previous one changes nothing.
    pub fn observe(&mut self, observation: &Observation) -> PerDirection<Decision> {
        let Observation { at, hour, queues, delays } = *observation;
        let before = self.rates();
        if self.last.is_some_and(|last| at <= last) {
            return self.decisions(before);
        }
        let elapsed = at.saturating_since(self.last.unwrap_or(at)).as_secs_f64();
        self.last = Some(at);
        self.directions.up.read(at, queues.up);
        self.directions.down.read(at, queues.down);
        let quiet = PerDirection { up: self.directions.up.is_quiet(), down: self.directions.down.is_quiet() };
        self.reflectors.sample(at, delays, quiet);
        self.delays = self.reflectors.excess_delays(at, quiet);
        let loads = PerDirection { up: self.directions.up.load(), down: self.directions.down.load() };
        let up = Tick { at, elapsed, hour, delay: self.delays.up, other: loads.down };
        let down = Tick { delay: self.delays.down, other: loads.up, ..up };
        let outcomes =
            PerDirection { up: self.directions.up.decide(&up), down: self.directions.down.decide(&down) };
        self.shift(outcomes);
        self.last_reasons = outcomes.map(|outcome| outcome.reason);
        self.decisions(before)
    }

    fn shift(&mut self, outcomes: PerDirection<Outcome>) {
        for (direction, outcome) in outcomes {
            let Some(longer) = outcome.shift else { continue };
            if self.delays[direction].is_some_and(|delay| delay.is_one_way) {
                self.reflectors.shift(direction, longer);
            } else {
                self.reflectors.shift_round(longer);
            }
        }
    }
    fn decisions(&self, before: PerDirection<Rate>) -> PerDirection<Decision> {
        let rates = self.rates();
        let of = |rate, old, reason| Decision { rate, reason, is_new: rate != old };
        PerDirection {
            up: of(rates.up, before.up, self.last_reasons.up),
            down: of(rates.down, before.down, self.last_reasons.down),
        }
    }
}

fn rounded(bits_per_second: f64) -> Rate {
    Rate::from_bits_per_second((bits_per_second + 0.5) as u64)
}
