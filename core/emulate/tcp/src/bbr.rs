//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00) as in Linux: models the path and
//! ignores single losses. Rates are in packets per microsecond, scaled by 2^24, gains in 256ths.
mod aggregation;
mod filter;
mod model;
mod output;
mod policer;
pub(crate) mod rate;

use crate::{AckEvent, Cause, Control, ControlConfig, Recovery, Window, WindowEvent};
pub(crate) use aggregation::Aggregation;
use fathom_units::{Duration, Rate, Rng, Time};
use filter::MaxFilter;
use policer::Policer;
use rate::{UNIT, bytes_per_second};

/// 2 / ln 2: the smallest gain that doubles the sending rate each round.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// The inverse of `HIGH_GAIN`: drains the queue of startup in one round.
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// A window of two rate-delay products covers delayed and stretched ACKs.
const CWND_GAIN: u64 = 2 * UNIT;
/// One phase probes for bandwidth, the next drains the queue of the probe, and six cruise.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The cycle may start with any phase but the draining one.
const FIRST_PHASES: u64 = 7;
/// Lifetime of a minimum RTT.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// How long the window stays small to find a new minimum RTT.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// Minimum window, in packets.
const MIN_CWND: u32 = 4;
/// The pipe is full when the rate has grown by less than a quarter for three rounds.
const FULL_PIPE_GROWTH: (u64, u64) = (5, 4);
const FULL_PIPE_ROUNDS: u8 = 3;
/// Below this rate packets are sent one by one, above it at least in pairs.
const PAIRS_FROM: u64 = 1_200_000 / 8;

/// The mode of BBR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BbrMode {
    /// Doubles the rate each round until the pipe is full.
    Startup,
    /// Drains the queue that startup created.
    Drain,
    /// Cruises, and probes for more bandwidth every eighth RTT.
    ProbeBw,
    /// Sends little to find the minimum RTT.
    ProbeRtt,
}

/// BBR version 1.
#[derive(Clone, Debug)]
pub struct Bbr {
    mss: u64,
    rng: Rng,
    mode: BbrMode,
    pacing_gain: u64,
    cwnd_gain: u64,
    rates: MaxFilter,
    policer: Policer,
    aggregation: Aggregation,
    round: u64,
    /// A packet that was sent with this many delivered ends the round.
    round_end: u64,
    is_round_start: bool,
    min_rtt: Option<Duration>,
    min_rtt_at: Time,
    probe_rtt_ends: Option<Time>,
    probe_rtt_had_round: bool,
    /// Packets delivered in the connection, as of the last ACK.
    delivered: u64,
    /// Range of `delivered` in which ProbeRTT, not the path, limited sending.
    held_back: (u64, u64),
    cycle: usize,
    cycle_start: Time,
    full_rate: u64,
    full_rounds: u8,
    is_pipe_full: bool,
    recovery: Recovery,
    conserves_packets: bool,
    /// The window to restore after recovery or ProbeRTT.
    prior_cwnd: u32,
    restarts_from_idle: bool,
    has_rtt: bool,
    /// Pacing rate in bytes per second,
    pacing: u64,
    /// and the rate and gain for which it was computed.
    paced_for: (u64, u64),
    /// Packets per burst.
    burst: u32,
}

impl Bbr {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new(config: &ControlConfig) -> Self {
        Bbr {
            mss: u64::from(config.mss.max(1)),
            rng: Rng::stream(config.seed, "bbr"),
            mode: BbrMode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            rates: MaxFilter::new(),
            policer: Policer::new(),
            aggregation: Aggregation::new(),
            round: 0,
            round_end: 0,
            is_round_start: false,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            probe_rtt_ends: None,
            probe_rtt_had_round: false,
            delivered: 0,
            held_back: (0, 0),
            cycle: 0,
            cycle_start: Time::ZERO,
            full_rate: 0,
            full_rounds: 0,
            is_pipe_full: false,
            recovery: Recovery::Open,
            conserves_packets: false,
            prior_cwnd: 0,
            restarts_from_idle: false,
            has_rtt: false,
            pacing: 0,
            paced_for: (0, 0),
            burst: 1,
        }
    }
    /// The current mode.
    pub const fn mode(&self) -> BbrMode {
        self.mode
    }
    /// Pacing rate divided by estimated rate, in 256ths.
    pub const fn pacing_gain(&self) -> u64 {
        self.pacing_gain
    }
    /// The estimated rate of the path, payload only.
    pub fn estimated_rate(&self) -> Rate {
        Rate::from_bits_per_second(8 * bytes_per_second(self.rate(), self.mss, UNIT))
    }
    fn rate(&self) -> u64 {
        self.policer.rate().unwrap_or(self.rates.max())
    }
}

impl Control for Bbr {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        self.update_model(ack, window);
        self.set_pacing(ack, window);
        self.set_window(ack, window);
    }
    fn reduce(&mut self, _cause: Cause, _now: Time, window: &Window) -> u32 {
        self.save_window(window.cwnd);
        // BBR does not use slow start and leaves the threshold unchanged.
        window.ssthresh
    }
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
        match event {
            WindowEvent::Start { idle } => self.on_start(idle, now, window),
            WindowEvent::TimedOut => {
                self.recovery = Recovery::Loss;
                self.full_rate = 0;
                self.policer.on_timeout(now, self.delivered);
            }
            WindowEvent::Undone => {
                // The loss that seemed to fill the pipe was spurious.
                self.full_rate = 0;
                self.full_rounds = 0;
                self.policer.reset();
            }
            // The next ACK restores BBR's own window.
            WindowEvent::Recovered => {}
        }
    }
    fn owns_window(&self) -> bool {
        true
    }
}
