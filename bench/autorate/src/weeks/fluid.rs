//! A fluid model of one direction of an access line: windows of the senders, our shaper's queue,
//! the bottleneck's queue.
//!
//! The sum of the windows is in flight. The part that is not queued is on the path for one round
//! trip, so senders are ACK-clocked. Upstream our queue precedes the bottleneck, downstream it
//! follows it.
use crate::line::At;
use fathom_units::{FULL_TCP_PAYLOAD, Rng};

/// CUBIC, RFC 9438: scale in segments/s^3, and the share that remains after a loss.
const CUBIC: f64 = 0.4;
const BETA: f64 = 0.7;
/// Bytes per segment.
const SEGMENT: f64 = FULL_TCP_PAYLOAD.get() as f64;
const LEAST: f64 = 2.0 * SEGMENT;
/// Largest window with Linux's default tcp_rmem: 6 MB.
const MOST: f64 = 6e6;
/// CoDel parameters (RFC 8289), in s.
const TARGET: f64 = 0.005;
const INTERVAL: f64 = 0.1;
/// CAKE's queue limit, in s at its rate.
const OUR_LIMIT: f64 = 1.0;
/// Probability per round trip that an overflowing queue hits a given flow.
const HIT: f64 = 0.7;

/// A sender that always has data, until its bytes or time are used up.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    window: f64,
    /// Window at the last loss.
    origin: f64,
    since_loss: f64,
    /// Time after the loss when the window is back at the origin, in s.
    k: f64,
    is_slow_start: bool,
    min_delay: f64,
    above: f64,
    next_drop: f64,
    drops: u32,
    /// Bytes left to send.
    pub(crate) bytes: f64,
    /// Time left, in s.
    pub(crate) time: f64,
    /// Whether it would fill any line, so that capacity it does not use is wasted.
    pub(crate) is_bulk: bool,
}

impl Flow {
    pub(crate) fn new(bytes: f64, time: f64) -> Self {
        Flow {
            window: 10.0 * SEGMENT,
            origin: 0.0,
            since_loss: 0.0,
            k: 0.0,
            is_slow_start: true,
            min_delay: f64::MAX,
            above: 0.0,
            next_drop: 0.0,
            drops: 0,
            bytes,
            time,
            is_bulk: bytes == f64::MAX,
        }
    }
    pub(crate) fn is_over(&self) -> bool {
        self.bytes <= 0.0 || self.time <= 0.0
    }
    fn grow(&mut self, acked: f64, delay: f64, rtt: f64, dt: f64) {
        self.since_loss += dt;
        if self.is_slow_start {
            self.window += acked;
            self.min_delay = self.min_delay.min(delay);
            // HyStart: an eighth of the round-trip time, 4 to 16 ms.
            let hint = (rtt / 8.0).clamp(0.004, 0.016);
            if delay > self.min_delay + hint {
                (self.is_slow_start, self.origin, self.since_loss, self.k) = (false, self.window, 0.0, 0.0);
            }
            self.window = self.window.min(MOST);
            return;
        }
        let origin = self.origin / SEGMENT;
        let away = self.since_loss - self.k;
        let cubic = CUBIC * away * away * away + origin;
        let reno = origin * BETA + 0.53 * self.since_loss / rtt;
        let target = cubic.max(reno) * SEGMENT;
        // Grows by at most half per round trip.
        let most = self.window * (1.0 + 0.5 * dt / rtt);
        self.window = target.clamp(self.window.min(target), most).clamp(LEAST, MOST);
    }
    /// A loss or mark; only one per round trip counts.
    fn lose(&mut self, rtt: f64) {
        if self.since_loss < rtt && !self.is_slow_start {
            return;
        }
        (self.origin, self.since_loss, self.is_slow_start) = (self.window, 0.0, false);
        self.k = (self.origin / SEGMENT * (1.0 - BETA) / CUBIC).cbrt();
        self.window = (self.window * BETA).max(LEAST);
    }
    /// CoDel on this flow's share of our queue; true if it drops or marks now.
    fn manage(&mut self, sojourn: f64, dt: f64) -> bool {
        if sojourn < TARGET {
            (self.above, self.next_drop) = (0.0, INTERVAL);
            self.drops = self.drops.min(1);
            return false;
        }
        self.above += dt;
        if self.above < self.next_drop {
            return false;
        }
        self.drops += 1;
        self.next_drop = self.above + INTERVAL / f64::from(self.drops).sqrt();
        true
    }
}

/// Results of a step.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Step {
    /// Bytes that left our shaper.
    pub(crate) shaped: f64,
    /// Bytes carried by the bottleneck.
    pub(crate) carried: f64,
    pub(crate) drops: u64,
}

/// State of one direction.
pub(crate) struct Pipe {
    is_up: bool,
    /// Round-trip time without queues, in s.
    base: f64,
    /// Buffer of the bottleneck, in bytes.
    limit: f64,
    /// Bytes queued at the bottleneck, and in our shaper.
    pub(crate) below: f64,
    pub(crate) ours: f64,
    pub(crate) flows: Vec<Flow>,
    rng: Rng,
}

impl Pipe {
    pub(crate) fn new(is_up: bool, base: f64, limit: f64, rng: Rng) -> Self {
        Pipe { is_up, base, limit, below: 0.0, ours: 0.0, flows: Vec::new(), rng }
    }
    /// Delay at the bottleneck, in s.
    pub(crate) fn delay(&self, at: At) -> f64 {
        if self.below > 0.0 { self.below * 8.0 / at.open + at.stall } else { 0.0 }
    }
    pub(crate) fn is_full(&self) -> bool {
        self.below > self.limit * 0.99
    }
    pub(crate) fn is_still(&self) -> bool {
        self.flows.is_empty() && self.below == 0.0 && self.ours == 0.0
    }
    /// Advances by `dt` s with our shaper at `rate` (bit/s), plus `other` bytes without congestion
    /// control.
    pub(crate) fn step(&mut self, dt: f64, at: At, rate: f64, other: f64) -> Step {
        let windows: f64 = self.flows.iter().map(|flow| flow.window).sum();
        let arriving = ((windows - self.below - self.ours) / self.base * dt).max(0.0) + other;
        let (can_carry, can_shape) = (at.capacity() / 8.0 * dt, rate / 8.0 * dt);
        let (shaped, carried);
        if self.is_up {
            shaped = (self.ours + arriving).min(can_shape);
            self.ours += arriving - shaped;
            carried = (self.below + shaped).min(can_carry);
            self.below += shaped - carried;
        } else {
            carried = (self.below + arriving).min(can_carry);
            self.below += arriving - carried;
            shaped = (self.ours + carried).min(can_shape);
            self.ours += carried - shaped;
        }
        let overflow = self.below > self.limit;
        self.below = self.below.min(self.limit);
        self.ours = self.ours.min(rate / 8.0 * OUR_LIMIT);
        let drops = self.react(dt, at, rate, (carried, overflow));
        Step { shaped, carried, drops }
    }
    fn react(&mut self, dt: f64, at: At, rate: f64, (carried, overflow): (f64, bool)) -> u64 {
        let windows: f64 = self.flows.iter().map(|flow| flow.window).sum();
        let sojourn = self.ours * 8.0 / rate;
        let delay = self.delay(at) + sojourn;
        let rtt = self.base + delay;
        let mut drops = 0;
        for flow in &mut self.flows {
            let acked = carried * flow.window / windows;
            flow.bytes -= acked;
            flow.time -= dt;
            flow.grow(acked, delay, rtt, dt);
            let is_dropped = flow.manage(sojourn, dt);
            drops += u64::from(is_dropped);
            let is_hit = overflow && self.rng.chance(HIT * dt / rtt * 3.0);
            if is_dropped || is_hit {
                flow.lose(rtt);
            }
        }
        self.flows.retain(|flow| !flow.is_over());
        drops
    }
}
