//! Runs a law on the shapers of a line.
use super::dealer::{Dealer, later};
use super::schedule::{self, LENGTH};
use crate::law::{Law, Seen};
use crate::who::Who;
use fathom_fix::auto::ShapedLine;
use fathom_os::clock::Clock;
use fathom_shape::autorate::DelaySample;
use fathom_shaper::ApplyError;
use fathom_units::{Duration, PerDirection, Rate, Time};

/// Tick for the other laws. They act on each reply or every half second, so this is often enough.
const PEERS_TICK: Duration = Duration::from_millis(50);

/// What a law did at a tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tick {
    /// Time since the start, in s.
    pub(super) at: f64,
    pub(super) cuts: PerDirection<u64>,
    /// In bit/s.
    pub(super) rates: PerDirection<f64>,
}

/// A run of a law.
pub(super) struct Drive {
    pub(super) who: Who,
    pub(super) is_round_trip: bool,
    pub(super) clock: Clock,
    pub(super) begin: Time,
}

impl Drive {
    /// Runs until the end.
    pub(super) fn run(&self, law: &mut dyn Law, line: &mut ShapedLine) -> Result<Vec<Tick>, ApplyError> {
        let mut dealer = Dealer::new(self.who.plan(self.is_round_trip));
        let (mut ticks, mut set) = (Vec::new(), PerDirection::default());
        let mut next = self.clock.now();
        let end = self.begin + Duration::from_secs_f64(LENGTH);
        while next < end {
            let pace = if self.is_ours() { line.interval() } else { PEERS_TICK };
            next = (next + pace).max(self.clock.now());
            let sample = line.sample(next, self.is_ours() && line.is_quiet())?;
            let at = seconds(self.begin, sample.at);
            let delays = self.delivered(&mut dealer, at, &sample.delays);
            let before = law.cuts();
            let rates =
                law.tick(&Seen { at: sample.at, hour: sample.hour, queues: sample.queues, delays: &delays });
            line.set_rates(changed(&mut set, rates.map(|rate| Rate::from_bits_per_second(rate as u64))))?;
            let after = law.cuts();
            let cuts = PerDirection { up: after.up - before.up, down: after.down - before.down };
            ticks.push(Tick { at, cuts, rates });
            law.unwanted(sample.at).into_iter().for_each(|id| dealer.replace(id));
        }
        Ok(ticks)
    }
    const fn is_ours(&self) -> bool {
        matches!(self.who, Who::Fathom)
    }
    /// The replies that a law gets: ours all, another law as many as it would have requested; both
    /// with the path's extra delay.
    fn delivered(&self, dealer: &mut Dealer, at: f64, answers: &[DelaySample]) -> Vec<DelaySample> {
        let late = schedule::noise(at);
        let delivered = answers
            .iter()
            .filter_map(|answer| if self.is_ours() { Some(*answer) } else { dealer.deal(at, *answer) });
        delivered.map(|answer| DelaySample { delay: later(answer.delay, late), ..answer }).collect()
    }
}

/// Seconds since `begin`, negative before it.
fn seconds(begin: Time, at: Time) -> f64 {
    at.as_secs_f64() - begin.as_secs_f64()
}

/// Rates that differ from the current ones.
fn changed(set: &mut PerDirection<Rate>, wanted: PerDirection<Rate>) -> PerDirection<Option<Rate>> {
    let before = std::mem::replace(set, wanted);
    let new = |now: Rate, then: Rate| (now != then).then_some(now);
    PerDirection { up: new(wanted.up, before.up), down: new(wanted.down, before.down) }
}
