//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-01): LEDBAT by the round-trip time, with decreases
//! that let flows share, and pauses in which they see the path without their own queue.
use crate::fraction::{Fraction, PACKET};
use crate::ledbat::Delays;
use crate::reno::{growth, half};
use crate::{AckEvent, Cause, Control, Recovery, Window};
use fathom_units::{Duration, Time};

/// Queueing delay that the flow keeps.
const TARGET: Duration = Duration::from_millis(60);
/// Reno's growth is divided by 2 TARGET / base, at most by this (section 4.2).
const MAX_DIVISOR: u64 = 16;
/// Minimum window in packets, and the window of a slowdown.
const MIN_CWND: u32 = 2;
/// Round trips between the end of slow start and the first slowdown, and of a slowdown.
const SLOWDOWN_ROUNDS: u64 = 2;
/// A slowdown may take a tenth of the time: the next one begins after this many durations.
const SLOWDOWN_SPACING: u64 = 9;

/// Slowdowns.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// Slow start of the connection, which a delay ends.
    Start,
    /// Steady, until the next slowdown.
    Steady { slows_at: Time },
    /// The window is minimal since `began`.
    Slow { began: Time, until: Time },
    /// Slow start back to the window before the slowdown.
    Ramp { began: Time },
}

/// LEDBAT++.
#[derive(Clone, Debug)]
pub struct LedbatPlusPlus {
    delays: Delays,
    phase: Phase,
    fraction: Fraction,
    /// The window falls at most once per round: this packet ends it.
    round_end: u64,
}

impl Default for LedbatPlusPlus {
    fn default() -> Self {
        Self::new()
    }
}

impl LedbatPlusPlus {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new() -> Self {
        LedbatPlusPlus {
            delays: Delays::new(),
            phase: Phase::Start,
            fraction: Fraction::default(),
            round_end: 0,
        }
    }
    /// By how much slower than Reno the window grows.
    fn divisor(&self) -> u64 {
        let base = self.delays.base().as_nanos().max(1);
        (2 * TARGET.as_nanos()).div_ceil(base).clamp(1, MAX_DIVISOR)
    }
    fn add(&mut self, amount: i64, window: &mut Window) {
        self.fraction.add(amount);
        self.fraction.apply(window, MIN_CWND);
    }
    fn slow_start(&mut self, acked: u32, window: &mut Window) {
        self.add(i64::from(acked) * PACKET / self.divisor() as i64, window);
        window.cwnd = window.cwnd.min(window.ssthresh.max(MIN_CWND));
    }
    /// Grows below the target; above it falls by the excess, at most by half the window a round.
    fn steer(&mut self, ack: &AckEvent, acked: u32, window: &mut Window) {
        let queueing = self.delays.queueing();
        if queueing <= TARGET {
            let grown = i64::from(acked) * PACKET / self.divisor() as i64;
            self.add(grown / i64::from(window.cwnd.max(1)), window);
            return;
        }
        if ack.acked_packet < self.round_end {
            return;
        }
        self.round_end = ack.next_packet;
        let (excess, target) = ((queueing - TARGET).as_nanos(), TARGET.as_nanos());
        let cwnd = i64::from(window.cwnd) * PACKET;
        let fall = (i128::from(cwnd) * i128::from(excess) / i128::from(target)).min(i128::from(cwnd / 2));
        self.add(PACKET / self.divisor() as i64 - fall as i64, window);
        window.ssthresh = window.ssthresh.min(window.cwnd.max(MIN_CWND));
    }
    fn follow(&mut self, ack: &AckEvent, acked: u32, window: &mut Window) {
        match self.phase {
            Phase::Start if window.in_slow_start() && self.delays.queueing() <= TARGET * 3 / 4 => {
                self.slow_start(acked, window);
            }
            Phase::Start => {
                window.ssthresh = window.ssthresh.min(window.cwnd.max(MIN_CWND));
                self.phase = Phase::Steady { slows_at: ack.now + ack.srtt * SLOWDOWN_ROUNDS };
            }
            Phase::Steady { slows_at } if ack.now >= slows_at && ack.recovery == Recovery::Open => {
                window.ssthresh = window.cwnd.max(MIN_CWND);
                window.cwnd = MIN_CWND;
                self.fraction = Fraction::default();
                self.phase = Phase::Slow { began: ack.now, until: ack.now + ack.srtt * SLOWDOWN_ROUNDS };
            }
            // After a timeout.
            Phase::Steady { .. } if window.in_slow_start() => self.slow_start(acked, window),
            Phase::Steady { .. } => self.steer(ack, acked, window),
            Phase::Slow { began, until } if ack.now >= until => self.phase = Phase::Ramp { began },
            Phase::Slow { .. } => {}
            Phase::Ramp { .. } if window.in_slow_start() => self.slow_start(acked, window),
            Phase::Ramp { began } => {
                let took = ack.now - began;
                self.phase = Phase::Steady { slows_at: ack.now + took * SLOWDOWN_SPACING };
            }
        }
    }
}

impl Control for LedbatPlusPlus {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.delays.add(ack.now, rtt);
        }
        if !matches!(ack.recovery, Recovery::Cwr | Recovery::Recovery) {
            self.follow(ack, growth(ack), window);
        }
    }
    fn reduce(&mut self, _cause: Cause, _now: Time, window: &Window) -> u32 {
        self.fraction = Fraction::default();
        half(window)
    }
}
