//! LEDBAT (RFC 6817): yields to other traffic by keeping the queueing delay at a target.
use crate::reno::{MIN_SSTHRESH, growth, slow_start};
use crate::{AckEvent, Cause, Control, ControlConfig, Recovery, Reno, Window};
use fathom_units::{Duration, Time};

/// The base delay is the minimum of this many one-minute minima. RFC 6817 section 2.4.2.
const BASE_HISTORY: usize = 10;
const MINUTE: u64 = 60_000_000_000;
/// The current delay is the minimum of this many samples, as in ns-3; RFC 6817: at least 1.
const CURRENT_FILTER: usize = 4;

/// One-way delays between unsynchronized clocks: only differences count.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    minute: u64,
    /// Minima of the last minutes, by `minute` modulo the length; [`Duration::MAX`] if none.
    minima: [Duration; BASE_HISTORY],
    base: Duration,
    recent: [Duration; CURRENT_FILTER],
    next: usize,
}

/// Minimum window, in packets.
const MIN_CWND: u32 = 2;
/// The window may exceed the packets in flight by this many.
const ALLOWED_INCREASE: u32 = 1;

impl Delays {
    pub(crate) fn new() -> Self {
        Delays {
            minute: 0,
            minima: [Duration::MAX; BASE_HISTORY],
            base: Duration::MAX,
            recent: [Duration::MAX; CURRENT_FILTER],
            next: 0,
        }
    }
    pub(crate) fn add(&mut self, now: Time, delay: Duration) {
        self.forget(now.as_nanos() / MINUTE);
        let slot = &mut self.minima[(self.minute % BASE_HISTORY as u64) as usize];
        *slot = delay.min(*slot);
        self.base = self.base.min(delay);
        self.recent[self.next] = delay;
        self.next = (self.next + 1) % CURRENT_FILTER;
    }
    /// Discards minima that are older than the history.
    fn forget(&mut self, minute: u64) {
        if minute == self.minute {
            return;
        }
        let passed = (minute - self.minute).min(BASE_HISTORY as u64);
        for past in 0..passed {
            self.minima[((minute - past) % BASE_HISTORY as u64) as usize] = Duration::MAX;
        }
        self.minute = minute;
        self.base = self.minima.iter().copied().fold(Duration::MAX, Duration::min);
    }
    /// The delay of the path without a queue.
    pub(crate) const fn base(&self) -> Duration {
        self.base
    }
    pub(crate) fn queueing(&self) -> Duration {
        let current = self.recent.iter().copied().fold(Duration::MAX, Duration::min);
        current.saturating_sub(self.base)
    }
}

/// LEDBAT with GAIN 1.
#[derive(Clone, Debug)]
pub struct Ledbat {
    reno: Reno,
    target: i64,
    delays: Delays,
    /// Sum of off-target delays per ACKed packet in ns; target times window is one packet.
    credit: i64,
    has_begun: bool,
}

impl Ledbat {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new(config: &ControlConfig) -> Self {
        let target = i64::try_from(config.ledbat_target.as_nanos()).unwrap_or(i64::MAX).max(1);
        Ledbat { reno: Reno::new(), target, delays: Delays::new(), credit: 0, has_begun: false }
    }
    /// Changes the window by the distance from the target; grows at most as fast as Reno.
    fn steer(&mut self, ack: &AckEvent, window: &mut Window) {
        let queueing = i64::try_from(self.delays.queueing().as_nanos()).unwrap_or(i64::MAX);
        let off_target = self.target.saturating_sub(queueing);
        self.credit = self.credit.saturating_add(off_target.saturating_mul(i64::from(ack.newly_acked)));
        let packet = self.target.saturating_mul(i64::from(window.cwnd));
        if self.credit >= packet {
            self.credit -= packet;
            window.cwnd += 1;
        } else if self.credit <= -packet {
            let packets = self.credit / -packet;
            self.credit %= packet;
            window.cwnd = window.cwnd.saturating_sub(packets as u32);
        }
        // An unused window is not kept.
        let most = ack.in_flight_before.saturating_add(ALLOWED_INCREASE);
        window.cwnd = window.cwnd.min(most).max(MIN_CWND);
    }
}

impl Control for Ledbat {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        self.delays.add(ack.now, ack.one_way_delay);
        if !self.has_begun {
            // Slow start only after a timeout; otherwise at most Reno's growth.
            self.has_begun = true;
            window.ssthresh = window.ssthresh.min(window.cwnd.max(MIN_SSTHRESH));
        }
        let may_grow = growth(ack);
        if window.in_slow_start() {
            slow_start(window, may_grow);
        } else if !matches!(ack.recovery, Recovery::Cwr | Recovery::Recovery) {
            self.steer(ack, window);
        }
    }
    fn reduce(&mut self, cause: Cause, now: Time, window: &Window) -> u32 {
        self.credit = 0;
        self.reno.reduce(cause, now, window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_delay_is_the_minimum_of_ten_minutes() {
        let minutes = |n: u64| Time::from_nanos(n * MINUTE);
        let ms = Duration::from_millis;
        let mut delays = Delays::new();
        delays.add(minutes(0), ms(20));
        delays.add(minutes(3), ms(30));
        (4..=9).for_each(|minute| delays.add(minutes(minute), ms(40)));
        assert_eq!(delays.base, ms(20));
        assert_eq!(delays.queueing(), ms(20));
        // First the minutes 1 to 10 remain, then 4 to 13: the path has become longer.
        delays.add(minutes(10), ms(40));
        assert_eq!(delays.base, ms(30));
        delays.add(minutes(13), ms(45));
        assert_eq!(delays.base, ms(40));
        // After a long pause no old sample remains.
        delays.add(minutes(100), ms(50));
        assert_eq!(delays.base, ms(50));
    }

    #[test]
    fn the_current_delay_is_the_minimum_of_four_samples() {
        let mut delays = Delays::new();
        for (at, delay) in [20, 90, 80, 70, 60].into_iter().enumerate() {
            delays.add(Time::from_nanos(at as u64), Duration::from_millis(delay));
        }
        assert_eq!(delays.queueing(), Duration::from_millis(40));
    }
}
