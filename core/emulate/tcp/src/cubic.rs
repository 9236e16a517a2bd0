//! CUBIC (RFC 9438) with Linux's integer arithmetic and jiffies, so that windows match exactly.
use crate::hystart::{HyStart, SlowStartExit};
use crate::hystart_plus_plus::HyStartPlusPlus;
use crate::reno::{Increase, MIN_SSTHRESH, growth, slow_start};
use crate::{AckEvent, Cause, Control, ControlConfig, Window, WindowEvent};
use fathom_units::{Duration, Time};

/// Linux represents beta in 1024ths: 717 is the 0.7 of RFC 9438.
const BETA: u32 = 717;
const BETA_SCALE: u32 = 1024;
/// Time within an epoch is in 1024ths of a second.
const SECOND: u64 = 1024;
/// C = 0.4 packets per s^3, in 1024ths: 410.
const C: u64 = 410;
/// `C` t^3 with t in 1024ths of a second is too large by 2^40.
const CUBE_SHIFT: u32 = 40;
/// The inverse, for K. Truncated as in Linux.
const K_FACTOR: u64 = (1 << CUBE_SHIFT) / C;
/// 256 s in 1024ths: further from K, `C` t^3 overflows 64 bits.
const MAX_OFFSET: u64 = 1 << 18;
/// Packets ACKed per packet of growth of the Reno estimate, in eighths of the window: 15/8, so
/// alpha is 0.533. RFC 9438 uses 3 (1 - beta) / (1 + beta) = 0.529.
const RENO_EIGHTHS: u32 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// In the first epoch W_max is unknown: grow by at least 5 % per round.
const FIRST_EPOCH_DIVISOR: u32 = 20;
/// At most half a packet per ACKed packet: RFC 9438's limit of 1.5 windows per round.
const MIN_DIVISOR: u32 = 2;

/// The Reno-friendly region, where Reno would be faster.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Friendliness {
    /// Disabled.
    Off,
    /// Linux 6.12: the estimate of Reno's window always grows by 0.53 packets per round.
    #[default]
    Linux,
    /// RFC 9438 section 4.3: by 1 packet per round above the window before the last reduction.
    Rfc9438,
}

/// The kernel's jiffies. Cached, so that a read needs no division within a tick.
#[derive(Clone, Debug)]
struct Clock {
    granularity: u64,
    ticks_per_second: u64,
    tick: u64,
    tick_ends: u64,
}

impl Clock {
    fn new(granularity: Duration) -> Self {
        let granularity = granularity.as_nanos().max(1);
        Clock { granularity, ticks_per_second: 1_000_000_000 / granularity, tick: 0, tick_ends: 0 }
    }
    fn read(&mut self, now: Time) -> u64 {
        if now.as_nanos() >= self.tick_ends {
            self.tick = now.as_nanos() / self.granularity;
            self.tick_ends = (self.tick + 1).saturating_mul(self.granularity);
        }
        self.tick
    }
    /// `d` in ticks, rounded up as in Linux.
    const fn ticks(&self, d: Duration) -> u64 {
        d.as_nanos().div_ceil(self.granularity)
    }
    /// `ticks` in 1024ths of a second.
    const fn scaled(&self, ticks: u64) -> u64 {
        ticks.saturating_mul(self.granularity).saturating_mul(SECOND) / 1_000_000_000
    }
}

/// A period of growth between two reductions.
#[derive(Clone, Debug)]
struct Epoch {
    start: u64,
    /// Inflection point, in packets: W_max, or the initial window if that was larger.
    origin: u32,
    /// Time from the start to the inflection point, in 1024ths of a second.
    k: u64,
    /// Packets ACKed and not yet counted in `reno`.
    acked: u32,
    /// The estimate of Reno's window.
    reno: u32,
}

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    clock: Clock,
    increase: Increase,
    /// Packets to be ACKed per packet of growth.
    divisor: u32,
    /// Window before the last reduction, minus fast convergence; 0 before the first.
    w_max: u32,
    /// Window before the last reduction.
    prior: u32,
    epoch: Option<Epoch>,
    /// Window and tick of the last computation of `divisor`.
    computed: (u32, u64),
    min_rtt: Option<Duration>,
    hystart: HyStart,
    plus_plus: Option<HyStartPlusPlus>,
    fast_convergence: bool,
    friendliness: Friendliness,
}

impl Cubic {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new(config: &ControlConfig) -> Self {
        Cubic {
            clock: Clock::new(config.granularity),
            increase: Increase::default(),
            divisor: MIN_DIVISOR,
            w_max: 0,
            prior: 0,
            epoch: None,
            computed: (0, 0),
            min_rtt: None,
            hystart: HyStart::new(config.slow_start_exit),
            plus_plus: (config.slow_start_exit == SlowStartExit::HyStartPlusPlus).then(HyStartPlusPlus::new),
            fast_convergence: config.fast_convergence,
            friendliness: config.tcp_friendliness,
        }
    }
    fn on_rtt(&mut self, ack: &AckEvent, rtt: Duration, window: &mut Window) {
        let tick = self.clock.read(ack.now);
        // In the first second after a loss, the queue that caused it still drains.
        let is_draining = |epoch: &Epoch| tick - epoch.start < self.clock.ticks_per_second;
        if self.epoch.as_ref().is_some_and(is_draining) {
            return;
        }
        let min_rtt = self.min_rtt.map_or(rtt, |least| least.min(rtt));
        self.min_rtt = Some(min_rtt);
        if !window.in_slow_start() {
            return;
        }
        let exits = match &mut self.plus_plus {
            Some(plus_plus) => plus_plus.exits(ack, rtt),
            None => self.hystart.exits(ack, rtt, min_rtt, window),
        };
        if exits {
            window.ssthresh = window.cwnd;
        }
    }
    /// Updates `divisor`.
    fn update(&mut self, now: Time, cwnd: u32, acked: u32) {
        let tick = self.clock.read(now);
        let (w_max, min_rtt) = (self.w_max, self.min_rtt.unwrap_or(Duration::ZERO));
        if let Some(epoch) = &mut self.epoch {
            epoch.acked = epoch.acked.saturating_add(acked);
        }
        let (last_cwnd, last_tick) = self.computed;
        if last_cwnd == cwnd && tick - last_tick <= self.clock.ticks_per_second / 32 {
            return;
        }
        if self.epoch.is_none() || tick != last_tick {
            self.computed = (cwnd, tick);
            let epoch = self.epoch.get_or_insert_with(|| Epoch::new(tick, w_max, cwnd, acked));
            let elapsed = self.clock.scaled(tick - epoch.start + self.clock.ticks(min_rtt));
            self.divisor = divisor(cwnd, epoch.target(elapsed));
            if w_max == 0 {
                self.divisor = self.divisor.min(FIRST_EPOCH_DIVISOR);
            }
        }
        self.keep_up_with_reno(cwnd);
        self.divisor = self.divisor.max(MIN_DIVISOR);
    }
    fn keep_up_with_reno(&mut self, cwnd: u32) {
        let Some(epoch) = &mut self.epoch else { return };
        if self.friendliness == Friendliness::Off {
            return;
        }
        let slow = (u64::from(cwnd) * u64::from(RENO_EIGHTHS) / 8) as u32;
        let is_raised = |reno| self.friendliness == Friendliness::Rfc9438 && reno >= self.prior;
        loop {
            let per = if is_raised(epoch.reno) { cwnd } else { slow };
            if epoch.acked <= per {
                break;
            }
            epoch.acked -= per;
            epoch.reno += 1;
        }
        if epoch.reno > cwnd {
            self.divisor = self.divisor.min(cwnd / (epoch.reno - cwnd));
        }
    }
    /// After a timeout the model of the path is no longer valid.
    fn forget_path(&mut self) {
        self.w_max = 0;
        self.epoch = None;
        self.increase.reset();
        self.min_rtt = None;
        self.computed = (0, 0);
        self.divisor = MIN_DIVISOR;
        self.hystart.forget();
        self.plus_plus = self.plus_plus.as_ref().map(|_| HyStartPlusPlus::new());
    }
}

impl Epoch {
    fn new(start: u64, w_max: u32, cwnd: u32, acked: u32) -> Self {
        let k = cube_root(K_FACTOR * u64::from(w_max.saturating_sub(cwnd)));
        Epoch { start, origin: w_max.max(cwnd), k, acked, reno: cwnd }
    }
    /// W(t), in packets.
    fn target(&self, elapsed: u64) -> u64 {
        let offset = elapsed.abs_diff(self.k).min(MAX_OFFSET);
        let distance = (C * offset * offset * offset) >> CUBE_SHIFT;
        let origin = u64::from(self.origin);
        if elapsed < self.k { origin.saturating_sub(distance) } else { origin + distance }
    }
}

/// Packets to be ACKed per packet of growth, to reach `target` in one round.
fn divisor(cwnd: u32, target: u64) -> u32 {
    match target.checked_sub(u64::from(cwnd)) {
        None | Some(0) => cwnd.saturating_mul(100),
        Some(missing) => (u64::from(cwnd) / missing) as u32,
    }
}

/// The integer cube root, rounded down. Linux approximates it within 0.2 %.
pub(crate) fn cube_root(n: u64) -> u64 {
    let mut root = 0;
    // From bit 21: 2^22 cubed exceeds 64 bits.
    for bit in (0..=21).rev() {
        let candidate: u64 = root | 1 << bit;
        if u128::from(candidate) * u128::from(candidate * candidate) <= u128::from(n) {
            root = candidate;
        }
    }
    root
}

impl Control for Cubic {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.on_rtt(ack, rtt, window);
        }
        let acked = growth(ack);
        if acked == 0 {
            return;
        }
        let slowed = match &mut self.plus_plus {
            Some(plus_plus) if window.in_slow_start() => plus_plus.growth(acked, window),
            _ => acked,
        };
        let rest = slow_start(window, slowed);
        if rest > 0 {
            self.update(ack.now, window.cwnd, rest);
            self.increase.add(window, self.divisor, rest);
        }
    }
    fn reduce(&mut self, _cause: Cause, _now: Time, window: &Window) -> u32 {
        let cwnd = window.cwnd;
        let shrinks_again = cwnd < self.w_max && self.fast_convergence;
        let scaled = |factor, scale| (u64::from(cwnd) * u64::from(factor) / u64::from(scale)) as u32;
        self.w_max = if shrinks_again { scaled(BETA_SCALE + BETA, 2 * BETA_SCALE) } else { cwnd };
        self.prior = cwnd;
        self.epoch = None;
        self.increase.reset();
        scaled(BETA, BETA_SCALE).max(MIN_SSTHRESH)
    }
    fn on_event(&mut self, event: WindowEvent, now: Time, _window: &mut Window) {
        if event == WindowEvent::TimedOut {
            self.forget_path();
        }
        if let (WindowEvent::Start { idle }, Some(epoch)) = (event, &mut self.epoch) {
            // Idle time does not count, otherwise the window would jump when sending resumes.
            let last_sent = now.saturating_sub(idle).as_nanos() / self.clock.granularity;
            let tick = self.clock.read(now);
            epoch.start = (epoch.start + (tick - last_sent)).min(tick);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux: every transition to `TCP_CA_Loss` calls `bictcp_reset`, even without a new reduction.
    #[test]
    fn every_timeout_resets_the_path_model() {
        let mut cubic = Cubic::new(&ControlConfig::default());
        let mut window = Window { cwnd: 100, ssthresh: 100, pacing: None };
        window.ssthresh = cubic.reduce(Cause::Loss, Time::ZERO, &window);
        assert_eq!((cubic.w_max, window.ssthresh), (100, 70));
        cubic.on_event(WindowEvent::TimedOut, Time::ZERO, &mut window);
        assert!(cubic.w_max == 0 && cubic.min_rtt.is_none() && cubic.epoch.is_none(), "{cubic:?}");
        assert_eq!(window.ssthresh, 70);
    }

    #[test]
    fn cube_roots_are_exact() {
        for n in (0..4_000).chain([1 << 40, (1 << 52) + 7, u64::MAX]) {
            let root = u128::from(cube_root(n));
            assert!(root.pow(3) <= u128::from(n) && (root + 1).pow(3) > u128::from(n), "{n}: {root}");
        }
    }
}
