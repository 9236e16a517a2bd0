//! BBR version 3 (draft-ietf-ccwg-bbr-06): BBR whose model also has what the path loses.
//!
//! Where the draft inspects each lost packet, this inspects each ACK: losses since the newest
//! delivered packet was sent, and what was in flight then. Rates are as in version 1.
mod cycle;
mod history;
mod loss;
mod model;
mod output;

use crate::bbr::Aggregation;
use crate::bbr::rate::{UNIT, bytes_per_second};
use crate::{AckEvent, Cause, Control, ControlConfig, Recovery, Window, WindowEvent};
use alloc::boxed::Box;
use fathom_units::{Duration, Rate, Rng, Time};
use history::History;

/// 4 ln 2: the smallest gain that doubles the sending rate each round.
const STARTUP_GAIN: u64 = UNIT * 277 / 100;
const DRAIN_GAIN: u64 = UNIT / 2;
const DOWN_GAIN: u64 = UNIT * 9 / 10;
const UP_GAIN: u64 = UNIT * 5 / 4;
const CWND_GAIN: u64 = 2 * UNIT;
const UP_CWND_GAIN: u64 = UNIT * 9 / 4;
const PROBE_RTT_CWND_GAIN: u64 = UNIT / 2;
/// Percent of the packets of a round that may be lost while probing.
const LOSS_PERCENT: u64 = 2;
/// Percent of a bound that a round with losses leaves, and of the long-term bound that is used.
const BETA_PERCENT: u64 = 70;
const USED_PERCENT: u64 = 85;
/// Minimum window, in packets.
const MIN_CWND: u32 = 4;
/// The pipe is full when the rate has grown by less than a quarter for three rounds,
const FULL_PIPE_GROWTH: (u64, u64) = (5, 4);
const FULL_PIPE_ROUNDS: u8 = 3;
/// or with this many ACKs that report losses, in a round that loses too much.
const FULL_PIPE_LOSSES: u32 = 6;
/// Longest drain, in rounds.
const DRAIN_ROUNDS: u64 = 3;
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// Time between two probes of the rate: 2 s, and up to a second more.
const PROBE_WAIT: Duration = Duration::from_secs(2);
const PROBE_WAIT_SPREAD: Duration = Duration::from_secs(1);
/// As often as Reno would lose a packet, but at least once in this many rounds.
const RENO_ROUNDS: u32 = 63;
/// No bound.
const NONE: u32 = u32::MAX;

/// The state of BBR version 3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bbr3Mode {
    /// Doubles the rate each round until the pipe is full.
    Startup,
    /// Drains the queue that startup created.
    Drain,
    /// Sends less until there is headroom.
    Down,
    /// Sends at the estimated rate.
    Cruise,
    /// Fills the pipe for a round, so that the probe begins without a queue.
    Refill,
    /// Probes for more bandwidth.
    Up,
    /// Sends little to find the minimum RTT.
    ProbeRtt,
}

/// What the ACKs of a round say about a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckPhase {
    /// Nothing: there is no probe.
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// A usable sample of the delivery rate.
#[derive(Clone, Copy, Debug)]
struct Sample {
    rate: u64,
    delivered: u32,
    prior_delivered: u64,
    is_limited: bool,
    /// Packets in flight when the newest delivered packet was sent, and lost since then.
    sent_in_flight: u32,
    lost: u32,
}

/// What a spurious recovery restores.
#[derive(Clone, Copy, Debug)]
struct Undo {
    mode: Option<Bbr3Mode>,
    short_rate: u64,
    short_in_flight: u32,
    long_in_flight: u32,
}

/// BBR version 3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    mss: u64,
    rng: Rng,
    mode: Bbr3Mode,
    history: History,
    aggregation: Aggregation,
    /// Maximum rate of the previous cycle of probes, and of this one.
    max_rates: [u64; 2],
    /// Bounds of this cycle, after losses; [`NONE`] or the maximum if there is none.
    short_rate: u64,
    short_in_flight: u32,
    /// Bound from probes that lost too much.
    long_in_flight: u32,
    /// Maxima of this round.
    latest_rate: u64,
    latest_in_flight: u32,
    /// The rate to send at: the smaller of estimate and bound.
    rate: u64,
    round: u64,
    /// A packet that was sent with this many delivered ends the round.
    round_end: u64,
    is_round_start: bool,
    loss_round_end: u64,
    is_loss_round_start: bool,
    has_loss: bool,
    /// ACKs with losses in this round.
    loss_events: u32,
    /// Packets lost in the connection, as of the last ACK.
    lost: u32,
    full_rate: u64,
    full_rounds: u8,
    /// The rate does not grow any more since the last probe began, and since the connection began.
    is_full_now: bool,
    is_pipe_full: bool,
    drain_start: u64,
    ack_phase: AckPhase,
    is_probe_sample: bool,
    rounds_since_probe: u32,
    probe_wait: Duration,
    cycle_start: Time,
    /// Rounds and ACKed packets of this probe, and ACKed packets per packet of growth.
    up_rounds: u32,
    up_acked: u32,
    up_acked_per_packet: u32,
    was_too_high: bool,
    was_precautionary: bool,
    min_rtt: Option<Duration>,
    min_rtt_at: Time,
    /// Minimum RTT since the last pause for it.
    recent_min_rtt: Option<Duration>,
    recent_min_rtt_at: Time,
    is_probe_rtt_due: bool,
    probe_rtt_ends: Option<Time>,
    probe_rtt_had_round: bool,
    /// Range of `delivered` in which ProbeRTT, not the path, limited sending.
    held_back: (u64, u64),
    delivered: u64,
    restarts_from_idle: bool,
    recovery: Recovery,
    prior_cwnd: u32,
    undo: Undo,
    has_rtt: bool,
    /// Pacing rate in bytes per second.
    pacing: u64,
    /// Packets per burst.
    burst: u32,
}

impl Bbr3 {
    /// Creates the control for a new connection.
    #[must_use]
    pub fn new(config: &ControlConfig) -> Box<Self> {
        Box::new(Bbr3 {
            mss: u64::from(config.mss.max(1)),
            rng: Rng::stream(config.seed, "bbr3"),
            mode: Bbr3Mode::Startup,
            history: History::new(),
            aggregation: Aggregation::new(),
            max_rates: [0; 2],
            short_rate: u64::MAX,
            short_in_flight: NONE,
            long_in_flight: NONE,
            latest_rate: 0,
            latest_in_flight: 0,
            rate: 0,
            round: 0,
            round_end: 0,
            is_round_start: false,
            loss_round_end: 0,
            is_loss_round_start: false,
            has_loss: false,
            loss_events: 0,
            lost: 0,
            full_rate: 0,
            full_rounds: 0,
            is_full_now: false,
            is_pipe_full: false,
            drain_start: 0,
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            rounds_since_probe: 0,
            probe_wait: Duration::ZERO,
            cycle_start: Time::ZERO,
            up_rounds: 0,
            up_acked: 0,
            up_acked_per_packet: NONE,
            was_too_high: false,
            was_precautionary: false,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            recent_min_rtt: None,
            recent_min_rtt_at: Time::ZERO,
            is_probe_rtt_due: false,
            probe_rtt_ends: None,
            probe_rtt_had_round: false,
            held_back: (0, 0),
            delivered: 0,
            restarts_from_idle: false,
            recovery: Recovery::Open,
            prior_cwnd: 0,
            undo: Undo { mode: None, short_rate: 0, short_in_flight: 0, long_in_flight: 0 },
            has_rtt: false,
            pacing: 0,
            burst: 2,
        })
    }
    /// The current state.
    pub const fn mode(&self) -> Bbr3Mode {
        self.mode
    }
    /// The maximum rate of the last two cycles, payload only.
    pub fn estimated_rate(&self) -> Rate {
        Rate::from_bits_per_second(8 * bytes_per_second(self.max_rate(), self.mss, UNIT))
    }
    /// Bound of the packets in flight from probes that lost too much.
    pub fn inflight_longterm(&self) -> Option<u32> {
        (self.long_in_flight != NONE).then_some(self.long_in_flight)
    }
    /// Bound of the packets in flight from losses of this cycle.
    pub fn inflight_shortterm(&self) -> Option<u32> {
        (self.short_in_flight != NONE).then_some(self.short_in_flight)
    }
    fn max_rate(&self) -> u64 {
        self.max_rates[0].max(self.max_rates[1])
    }
    const fn pacing_gain(&self) -> u64 {
        match self.mode {
            Bbr3Mode::Startup => STARTUP_GAIN,
            Bbr3Mode::Drain => DRAIN_GAIN,
            Bbr3Mode::Down => DOWN_GAIN,
            Bbr3Mode::Up => UP_GAIN,
            Bbr3Mode::Cruise | Bbr3Mode::Refill | Bbr3Mode::ProbeRtt => UNIT,
        }
    }
    const fn cwnd_gain(&self) -> u64 {
        match self.mode {
            Bbr3Mode::Up => UP_CWND_GAIN,
            Bbr3Mode::ProbeRtt => PROBE_RTT_CWND_GAIN,
            _ => CWND_GAIN,
        }
    }
    const fn is_in_cycle(&self) -> bool {
        matches!(self.mode, Bbr3Mode::Down | Bbr3Mode::Cruise | Bbr3Mode::Refill | Bbr3Mode::Up)
    }
}

impl Control for Box<Bbr3> {
    fn on_ack(&mut self, ack: &AckEvent, window: &mut Window) {
        let sample = self.sample(ack);
        self.note_losses(ack, window);
        self.update_model(ack, sample.as_ref(), window);
        self.set_pacing(ack, window);
        self.set_window(ack, window);
        self.recovery = ack.recovery;
    }
    fn reduce(&mut self, _cause: Cause, _now: Time, window: &Window) -> u32 {
        self.save_window(window.cwnd);
        self.save_for_undo();
        // BBR does not use slow start and leaves the threshold unchanged.
        window.ssthresh
    }
    fn on_event(&mut self, event: WindowEvent, now: Time, window: &mut Window) {
        match event {
            WindowEvent::Start { idle } => self.on_start(idle, now, window),
            WindowEvent::TimedOut => self.recovery = Recovery::Loss,
            WindowEvent::Undone => self.restore(window),
            // The next ACK sets BBR's own window.
            WindowEvent::Recovered => {}
        }
    }
    fn owns_window(&self) -> bool {
        true
    }
}
