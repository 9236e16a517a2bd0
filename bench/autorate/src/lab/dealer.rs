//! Presents the server's replies as those of the reflectors that a law would probe.
use crate::who::Plan;
use fathom_shape::autorate::{Delay, DelaySample};
use fathom_units::PerDirection;

/// Whose reply is next, and when. All share one path: which reflector is probed does not matter,
/// only how often.
pub(super) struct Dealer {
    plan: Plan,
    ids: Vec<u16>,
    turn: usize,
    due: f64,
}

impl Dealer {
    pub(super) fn new(plan: Plan) -> Dealer {
        let ids = (0..).take(plan.reflectors).collect();
        Dealer { plan, ids, turn: 0, due: 0.0 }
    }
    /// The reply at `now` (s), unless the law would not have probed anyone then.
    pub(super) fn deal(&mut self, now: f64, sample: DelaySample) -> Option<DelaySample> {
        let every = self.plan.every / self.plan.reflectors as f64;
        if now < self.due - every / 2.0 {
            return None;
        }
        self.due = (self.due + every).max(now);
        let reflector = *self.ids.get(self.turn)?;
        self.turn = (self.turn + 1) % self.ids.len();
        Some(DelaySample { reflector, ..sample })
    }
    /// Replaces this reflector with another.
    pub(super) fn replace(&mut self, id: u16) {
        let new = self.ids.iter().max().map_or(0, |most| most.wrapping_add(1));
        self.ids.iter_mut().filter(|known| **known == id).for_each(|known| *known = new);
    }
}

/// Adds `ms` of path delay to a reply.
pub(super) fn later(delay: Delay, ms: PerDirection<f64>) -> Delay {
    match delay {
        Delay::OneWay(PerDirection { up, down }) => {
            Delay::OneWay(PerDirection { up: up + ns(ms.up), down: down + ns(ms.down) })
        }
        Delay::RoundTrip(time) => {
            Delay::RoundTrip(time + fathom_units::Duration::from_secs_f64((ms.up + ms.down) / 1e3))
        }
    }
}

fn ns(ms: f64) -> i64 {
    (ms * 1e6) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replies every 50 ms for 3 s: the reflectors they are attributed to.
    fn dealt(plan: Plan) -> Vec<u16> {
        let mut dealer = Dealer::new(plan);
        let sample = DelaySample { reflector: 9, delay: Delay::OneWay(PerDirection { up: 1, down: 2 }) };
        let answers = (0..60).filter_map(|number| dealer.deal(f64::from(number) * 0.05, sample));
        answers.map(|answer| answer.reflector).collect()
    }

    #[test]
    fn a_law_hears_as_many_answers_as_it_asks_for() {
        let six = dealt(Plan { reflectors: 6, every: 0.3, is_round_trip: false });
        assert_eq!((six.len(), &six[..8]), (60, &[0, 1, 2, 3, 4, 5, 0, 1][..]));
        let five = dealt(Plan { reflectors: 5, every: 0.5, is_round_trip: false });
        assert_eq!((five.len(), &five[..6]), (30, &[0, 1, 2, 3, 4, 0][..]));
    }

    #[test]
    fn one_that_is_replaced_has_a_number_of_its_own() {
        let mut dealer = Dealer::new(Plan { reflectors: 3, every: 0.3, is_round_trip: false });
        dealer.replace(1);
        assert_eq!(dealer.ids, [0, 3, 2]);
    }

    #[test]
    fn the_path_adds_to_either_way() {
        let late = PerDirection { up: 0.0, down: 70.0 };
        let one_way = later(Delay::OneWay(PerDirection { up: -5, down: 7 }), late);
        assert_eq!(one_way, Delay::OneWay(PerDirection { up: -5, down: 70_000_007 }));
        let ms = |n| Delay::RoundTrip(fathom_units::Duration::from_millis(n));
        assert_eq!(later(ms(10), late), ms(80));
    }
}
