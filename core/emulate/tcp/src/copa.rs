//! Copa (Arun and Balakrishnan, NSDI 2018): aims at the rate of one packet per `delta` queueing
//! delays, so that a bottleneck holds a few packets of each flow and empties regularly.
use crate::fraction::{Fraction, PACKET};
use crate::reno::MIN_SSTHRESH;
use crate::{AckEvent, Cause, Control, ControlConfig, Window, WindowEvent};
use fathom_units::{Bytes, Duration, Rate, Time};

/// 1 / delta without competition: delta is 0.5.
const DEFAULT_INVERSE_DELTA: u32 = 2;
/// Largest 1 / delta against flows that fill the buffer. The paper has no limit.
const MAX_INVERSE_DELTA: u32 = 1 << 16;
/// The minimum RTT is that of the last 10 s.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Round trips in which the queue must have been nearly empty, or else others fill it.
const EMPTY_ROUNDS: u64 = 5;
/// Nearly empty: a tenth of the range of the RTT.
const NEARLY_EMPTY: u64 = 10;
/// Rounds in one direction after which the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// Minimum window, in packets.
const MIN_CWND: u32 = 2;

/// Minimum or maximum over the last one to two spans.
#[derive(Clone, Copy, Debug)]
struct Extreme {
    began: Time,
    last: Duration,
    now: Duration,
    pick: fn(Duration, Duration) -> Duration,
}

impl Extreme {
    fn new(pick: fn(Duration, Duration) -> Duration, neutral: Duration) -> Self {
        Extreme { began: Time::ZERO, last: neutral, now: neutral, pick }
    }
    fn add(&mut self, at: Time, span: Duration, value: Duration) {
        if at.saturating_since(self.began) >= span {
            (self.last, self.now, self.began) = (self.now, value, at);
        }
        self.now = (self.pick)(self.now, value);
    }
    fn get(&self) -> Duration {
        (self.pick)(self.last, self.now)
    }
}

/// Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    mss: u64,
    /// Minimum RTT of half a round: the RTT without the delays of ACKs.
    standing: Extreme,
    min_rtt: Extreme,
    max_rtt: Extreme,
    /// When the queue was nearly empty.
    empty_at: Time,
    inverse_delta: u32,
    /// Packets per `1 / delta` and round by which the window moves.
    velocity: u32,
    is_growing: bool,
    /// Rounds in this direction.
    rounds: u32,
    /// The round ends when this packet has been ACKed; the window at its start.
    end: u64,
    start_cwnd: u32,
    had_loss: bool,
    fraction: Fraction,
    is_slow_start: bool,
}

impl Copa {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new(config: &ControlConfig) -> Self {
        Copa {
            mss: u64::from(config.mss),
            standing: Extreme::new(Duration::min, Duration::MAX),
            min_rtt: Extreme::new(Duration::min, Duration::MAX),
            max_rtt: Extreme::new(Duration::max, Duration::ZERO),
            empty_at: Time::ZERO,
            inverse_delta: DEFAULT_INVERSE_DELTA,
            velocity: 1,
            is_growing: true,
            rounds: 0,
            end: 0,
            start_cwnd: 0,
            had_loss: false,
            fraction: Fraction::default(),
            is_slow_start: true,
        }
    }
    fn add_rtt(&mut self, ack: &AckEvent, rtt: Duration, cwnd: u32) {
        self.standing.add(ack.now, ack.srtt / 2, rtt);
        self.min_rtt.add(ack.now, MIN_RTT_WINDOW, rtt);
        self.max_rtt.add(ack.now, ack.srtt * 4, rtt);
        let range = self.max_rtt.get().saturating_sub(self.min_rtt.get());
        // On a slow link a tenth of the range is less than the packets that the flow itself keeps.
        let own = self.standing.get() * u64::from(DEFAULT_INVERSE_DELTA) / u64::from(cwnd.max(1));
        if self.queueing() <= own.max(range / NEARLY_EMPTY) {
            self.empty_at = ack.now;
        }
    }
    fn queueing(&self) -> Duration {
        self.standing.get().saturating_sub(self.min_rtt.get())
    }
    /// True if the rate is below one packet per `delta` queueing delays.
    fn is_below_target(&self, cwnd: u32) -> bool {
        // cwnd / standing <= inverse_delta / queueing
        let (standing, queueing) = (self.standing.get().as_nanos(), self.queueing().as_nanos());
        u128::from(cwnd) * u128::from(queueing) <= u128::from(self.inverse_delta) * u128::from(standing)
    }
    /// Once per round trip: the velocity, and `delta`.
    fn end_round(&mut self, ack: &AckEvent, cwnd: u32) {
        if ack.acked_packet < self.end {
            return;
        }
        let grew = cwnd > self.start_cwnd;
        if grew == self.is_growing && cwnd != self.start_cwnd {
            self.rounds += 1;
            if self.rounds >= STEADY_ROUNDS {
                self.velocity = self.velocity.saturating_mul(2).min(cwnd.max(1));
            }
        } else {
            self.turn(grew);
        }
        self.compete(ack);
        (self.end, self.start_cwnd, self.had_loss) = (ack.next_packet, cwnd, false);
    }
    fn turn(&mut self, is_growing: bool) {
        (self.is_growing, self.rounds, self.velocity) = (is_growing, 0, 1);
    }
    /// Against flows that keep a queue, 1 / delta follows AIMD as Reno's window does.
    fn compete(&mut self, ack: &AckEvent) {
        let is_alone = ack.now.saturating_since(self.empty_at) <= ack.srtt * EMPTY_ROUNDS;
        self.inverse_delta = match (is_alone, self.had_loss) {
            (true, _) => DEFAULT_INVERSE_DELTA,
            (false, true) => (self.inverse_delta / 2).max(DEFAULT_INVERSE_DELTA),
            (false, false) => (self.inverse_delta + 1).min(MAX_INVERSE_DELTA),
        };
    }
    fn steer(&mut self, ack: &AckEvent, window: &mut Window) {
        let rises = self.is_below_target(window.cwnd);
        if self.is_slow_start && rises {
            if ack.is_cwnd_limited {
                window.cwnd = window.cwnd.saturating_add(ack.newly_acked);
            }
            return;
        }
        self.is_slow_start = false;
        if rises != self.is_growing && self.velocity > 1 {
            // At once: half a round at a high velocity would overshoot.
            self.turn(rises);
        }
        let per_round = u64::from(self.velocity) * u64::from(self.inverse_delta) * PACKET as u64;
        let moved = (u64::from(ack.newly_acked) * per_round / u64::from(window.cwnd.max(1))) as i64;
        match rises {
            true if !ack.is_cwnd_limited => {}
            true => self.fraction.add(moved),
            false => self.fraction.add(-moved),
        }
        self.fraction.apply(window, MIN_CWND);
    }
}

impl Control for Copa {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.add_rtt(ack, rtt, window.cwnd);
        }
        self.had_loss |= ack.rate.is_some_and(|sample| sample.losses > 0);
        if self.standing.get() < Duration::MAX {
            self.steer(ack, window);
        }
        self.end_round(ack, window.cwnd);
        // Two windows per RTT, so that packets are not sent in bursts.
        let bytes = Bytes(2 * u64::from(window.cwnd) * self.mss);
        let standing = Some(self.standing.get()).filter(|rtt| *rtt > Duration::ZERO);
        window.pacing = standing.map(|rtt| Rate::from_bytes_per(bytes, rtt));
    }
    /// Losses do not reduce the window; against other flows they reduce 1 / delta.
    fn reduce(&mut self, cause: Cause, _now: Time, window: &Window) -> u32 {
        self.had_loss = true;
        match cause {
            Cause::Loss | Cause::Ecn => window.ssthresh,
            Cause::Timeout => (window.cwnd / 2).max(MIN_SSTHRESH),
        }
    }
    fn on_event(&mut self, event: WindowEvent, _now: Time, _window: &mut Window) {
        if event == WindowEvent::TimedOut {
            self.is_slow_start = true;
            self.turn(true);
        }
    }
    fn owns_window(&self) -> bool {
        true
    }
}
