//! COBALT: a CoDel that lowers its count gradually, with BLUE for unresponsive flows. Source:
//! "Piece of CAKE" (arXiv:1804.07617) section 3.2; constants of `sch_cake`.
use crate::Variant;
use fathom_units::{Duration, Rng, Time};

/// BLUE's steps in units of 2^-32: +1/256 for an overflow, -1/4096 for an empty queue.
const BLUE_UP: u32 = 1 << 24;
const BLUE_DOWN: u32 = 1 << 20;
/// Below this count the inverse root is exact. Above it Newton's error is below 3/8 count^-2.
const EXACT_ROOTS: u32 = 16;
/// 1 in units of 2^-32.
const ONE: u64 = 1 << 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CobaltParams {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// Time of a full packet at the tin's rate.
    pub(super) packet_time: Duration,
}

impl CobaltParams {
    /// The largest sojourn that is not a standing queue: a few packets on a slow link, and on
    /// ingress two packets for each of the `bulk_flows`, so that each can keep one in flight.
    pub(super) fn acceptable(&self, bulk_flows: u32) -> Duration {
        self.target.max(self.packet_time * 4).max(self.packet_time * 2 * u64::from(bulk_flows))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Signal {
    pub(super) mark: bool,
    pub(super) drop: bool,
}

/// COBALT's state for one queue.
///
/// A queue whose count is 0 stays above target for an interval before its first signal, as the
/// comments in Linux 6.12 say. The code of Linux ([`Variant::Linux`]) signals on the next packet in
/// two cases: if the queue never signaled, because its inverse root is 0 then; and after an idle
/// interval, whose end it treats as the end of an interval above target.
#[derive(Clone, Debug)]
pub(super) struct Cobalt {
    /// Signals since signaling began, minus those forgotten since.
    count: u32,
    /// 1/sqrt(count) in units of 2^-32.
    inverse_root: u64,
    /// When the next signal is due; below target, when the count is next lowered.
    next: Time,
    /// True if the last packet's sojourn was above target.
    dropping: bool,
    /// BLUE's probability in units of 2^-32, and the time of its last change.
    probability: u32,
    changed: Option<Time>,
    variant: Variant,
}

impl Cobalt {
    pub(super) const fn new(variant: Variant) -> Self {
        Cobalt {
            count: 0,
            inverse_root: if matches!(variant, Variant::Linux) { 0 } else { ONE },
            next: Time::ZERO,
            dropping: false,
            probability: 0,
            changed: None,
            variant,
        }
    }

    /// Decides on a dequeued packet. `above`: its sojourn is not acceptable.
    pub(super) fn judge(
        &mut self,
        interval: Duration,
        above: bool,
        markable: bool,
        now: Time,
        rng: &mut Rng,
    ) -> Signal {
        let due = self.is_due(now);
        let was_at_rest = self.count == 0 && now > self.next;
        if above && !self.dropping {
            self.count = self.count.max(1);
            self.next = now + self.step(interval);
        }
        self.dropping = above;
        let mut signal = Signal::default();
        if due && above {
            signal = Signal { mark: markable, drop: !markable };
            self.count_to(self.count.saturating_add(1), interval);
        } else {
            self.forget(due, interval, now);
        }
        // Regardless of ECN: a flow that fills the buffer has ignored its marks.
        signal.drop |= self.probability > 0 && (rng.next_u64() as u32) < self.probability;
        if self.count == 0 {
            // With a count of 0, `next` is when the queue has been quiet for an interval.
            self.next = now + interval;
        } else if was_at_rest && self.variant == Variant::Linux {
            self.next = now;
        } else if !signal.drop {
            // At most one mark per packet: missed marks are not made up for.
            self.next = self.next.max(now);
        }
        signal
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.next
    }
    fn step(&self, interval: Duration) -> Duration {
        let nanos = (u128::from(interval.as_nanos()) * u128::from(self.inverse_root)) >> 32;
        Duration::from_nanos(nanos as u64)
    }
    /// Sets the count and advances `next` by the step that belongs to it.
    fn count_to(&mut self, count: u32, interval: Duration) {
        self.count = count;
        self.inverse_root =
            if count < EXACT_ROOTS { exact(count) } else { refined(self.inverse_root, count) };
        self.next += self.step(interval);
    }
    fn forget(&mut self, mut due: bool, interval: Duration, now: Time) {
        while due {
            self.count_to(self.count - 1, interval);
            due = self.is_due(now);
        }
    }

    /// Records that the queue lost a packet because the buffer was full.
    pub(super) fn overflowed(&mut self, target: Duration, now: Time) {
        if self.may_change(target, now) {
            self.probability = self.probability.saturating_add(BLUE_UP);
            self.changed = Some(now);
        }
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }
    /// Records that the queue was empty when its turn came.
    pub(super) fn was_empty(&mut self, params: &CobaltParams, now: Time) {
        if self.probability > 0 && self.may_change(params.target, now) {
            self.probability = self.probability.saturating_sub(BLUE_DOWN);
            self.changed = Some(now);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.count_to(self.count - 1, params.interval);
        }
    }
    fn may_change(&self, target: Duration, now: Time) -> bool {
        self.changed.is_none_or(|changed| now.saturating_since(changed) > target)
    }
    /// True if there is neither a count nor a probability left to lower.
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.next
    }
}

fn exact(count: u32) -> u64 {
    (ONE as f64 / libm::sqrt(f64::from(count.max(1))) + 0.5) as u64
}

/// One Newton step for 1/sqrt(count) from `near`, the value at an adjacent count.
fn refined(near: u64, count: u32) -> u64 {
    let square = (u128::from(near) * u128::from(near)) >> 32;
    let bracket = (3 * u128::from(ONE)).saturating_sub(u128::from(count) * square);
    ((u128::from(near) * bracket) >> 33) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_inverse_root_is_exact_up_to_15_and_accurate_above() {
        let mut cobalt = Cobalt::new(Variant::Rfc);
        let mut error_at = |count: u32| {
            cobalt.count_to(count, Duration::ZERO);
            let right = 4_294_967_296.0 / libm::sqrt(f64::from(count.max(1)));
            libm::fabs(cobalt.inverse_root as f64 / right - 1.0)
        };
        let up: Vec<f64> = (1..100_000).map(&mut error_at).collect();
        let down: Vec<f64> = (0..99_999).rev().map(&mut error_at).collect();
        let worst = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
        assert!(worst(&up[..15]) < 1e-9 && worst(&down[down.len() - 15..]) < 1e-9);
        // 3/8 / 16^2 = 0.0015.
        assert!(worst(&up) < 0.002 && worst(&down) < 0.002, "{} {}", worst(&up), worst(&down));
    }

    /// In Linux 6.12 the initial inverse root is 0, so the first interval has zero length.
    #[test]
    fn the_first_signal_comes_after_an_interval_but_in_linux_immediately() {
        let (interval, at) = (Duration::from_millis(100), |ms| Time::ZERO + Duration::from_millis(ms));
        for (variant, first) in [(Variant::Rfc, 106), (Variant::Linux, 7)] {
            let mut cobalt = Cobalt::new(variant);
            let mut drops_at = |ms| cobalt.judge(interval, ms > 5, false, at(ms), &mut Rng::new(1)).drop;
            assert_eq!((0..200).find(|ms| drops_at(*ms)), Some(first), "{variant}");
        }
    }

    #[test]
    fn blue_changes_at_most_once_per_target() {
        let params = CobaltParams {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            packet_time: Duration::ZERO,
        };
        let mut cobalt = Cobalt::new(Variant::Rfc);
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        for ms in [0, 1, 5, 6, 11, 12] {
            cobalt.overflowed(params.target, at(ms));
        }
        // Changes at 0, 6 and 12 ms: 5 ms is not more than the target.
        assert_eq!(cobalt.probability, 3 * BLUE_UP);
        for ms in [13, 18, 20, 24] {
            cobalt.was_empty(&params, at(ms));
        }
        assert_eq!(cobalt.probability, 3 * BLUE_UP - 2 * BLUE_DOWN);
        (0..2000).for_each(|n| cobalt.was_empty(&params, at(30 + 6 * n)));
        assert!(cobalt.probability == 0 && cobalt.is_at_rest(at(20_000)), "{cobalt:?}");
        (0..300).for_each(|n| cobalt.overflowed(params.target, at(30_000 + 6 * n)));
        assert_eq!(cobalt.probability, u32::MAX);
    }
}
