//! The state machine.
use super::{
    AckPhase, Bbr3, Bbr3Mode, DRAIN_ROUNDS, MIN_CWND, NONE, PROBE_RTT_CWND_GAIN, PROBE_RTT_TIME, PROBE_WAIT,
    PROBE_WAIT_SPREAD, RENO_ROUNDS, Sample, USED_PERCENT,
};
use crate::bbr::rate::UNIT;
use crate::{AckEvent, Window};
use fathom_units::{Duration, Time};

impl Bbr3 {
    pub(super) fn check_startup_done(&mut self) {
        if self.mode == Bbr3Mode::Startup && self.is_pipe_full {
            self.mode = Bbr3Mode::Drain;
            self.drain_start = self.round;
        }
    }
    pub(super) fn check_drain_done(&mut self, ack: &AckEvent) {
        let is_long = self.round > self.drain_start + DRAIN_ROUNDS;
        if self.mode == Bbr3Mode::Drain && (is_long || ack.in_flight <= self.held_by_path()) {
            self.begin_down(ack.now);
        }
    }
    pub(super) fn begin_down(&mut self, now: Time) {
        self.reset_signals();
        self.up_acked_per_packet = NONE;
        self.pick_wait();
        self.cycle_start = now;
        self.ack_phase = AckPhase::Stopping;
        self.begin_round();
        self.mode = Bbr3Mode::Down;
    }
    pub(super) fn begin_refill(&mut self) {
        self.reset_short_term();
        (self.up_rounds, self.up_acked) = (0, 0);
        self.was_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.begin_round();
        self.mode = Bbr3Mode::Refill;
    }
    fn begin_up(&mut self, rate: u64, cwnd: u32) {
        self.ack_phase = AckPhase::Starting;
        self.begin_round();
        self.reset_full_pipe(rate);
        self.mode = Bbr3Mode::Up;
        self.steepen(cwnd);
    }
    fn pick_wait(&mut self) {
        self.rounds_since_probe = self.rng.below(2) as u32;
        let spread = Duration::from_nanos(self.rng.below(PROBE_WAIT_SPREAD.as_nanos()));
        self.probe_wait = PROBE_WAIT + spread;
    }
    pub(super) fn update_cycle(&mut self, ack: &AckEvent, sample: Option<&Sample>, window: &Window) {
        if !self.is_pipe_full || self.adapt_long_term(ack, sample, window) {
            return;
        }
        match self.mode {
            Bbr3Mode::Down | Bbr3Mode::Cruise if self.is_time_to_probe(ack.now, window.cwnd) => {
                self.begin_refill();
            }
            Bbr3Mode::Down if self.is_time_to_cruise(ack.in_flight) => self.mode = Bbr3Mode::Cruise,
            Bbr3Mode::Refill if self.is_round_start => {
                self.is_probe_sample = true;
                self.begin_up(sample.map_or(0, |sample| sample.rate), window.cwnd);
            }
            Bbr3Mode::Up => self.check_up_done(ack, sample, window.cwnd),
            _ => {}
        }
    }
    /// True if it has begun another state.
    fn adapt_long_term(&mut self, ack: &AckEvent, sample: Option<&Sample>, window: &Window) -> bool {
        if self.ack_phase == AckPhase::Starting && self.is_round_start {
            self.ack_phase = AckPhase::Feedback;
        }
        if self.ack_phase == AckPhase::Stopping && self.is_round_start && self.end_feedback(sample) {
            return true;
        }
        let Some(sample) = sample else { return false };
        if Self::is_too_high(sample) {
            if self.is_probe_sample {
                let before = self.mode;
                self.bound_long_term(sample, ack.now, window.cwnd);
                return self.mode != before;
            }
        } else if self.long_in_flight != NONE {
            self.long_in_flight = self.long_in_flight.max(sample.sent_in_flight);
            if self.mode == Bbr3Mode::Up {
                self.raise_long_term(ack, window.cwnd);
            }
        }
        false
    }
    /// All packets of the last probe are ACKed. True if a refill has begun.
    fn end_feedback(&mut self, sample: Option<&Sample>) -> bool {
        self.is_probe_sample = false;
        self.ack_phase = AckPhase::Init;
        if !self.is_in_cycle() {
            return false;
        }
        if sample.is_some_and(|sample| !sample.is_limited) {
            self.advance_max_rate();
        }
        // A careful probe met no loss: a full one follows at once.
        let goes_on = self.was_precautionary && !self.was_too_high;
        if goes_on {
            self.begin_refill();
        }
        goes_on
    }
    fn is_time_to_probe(&self, now: Time, cwnd: u32) -> bool {
        let rounds = self.target_in_flight(cwnd).min(RENO_ROUNDS);
        now > self.cycle_start + self.probe_wait || self.rounds_since_probe >= rounds
    }
    fn is_time_to_cruise(&self, in_flight: u32) -> bool {
        in_flight <= self.with_headroom() && in_flight <= self.held_by_path()
    }
    fn check_up_done(&mut self, ack: &AckEvent, sample: Option<&Sample>, cwnd: u32) {
        let is_careful = self.was_too_high && ack.in_flight >= self.long_in_flight;
        if is_careful {
            self.was_precautionary = true;
        } else if ack.is_cwnd_limited && cwnd >= self.long_in_flight {
            // The bound, not the path, limits the rate.
            return self.reset_full_pipe(sample.map_or(0, |sample| sample.rate));
        }
        if is_careful || self.is_full_now {
            self.was_too_high = false;
            self.begin_down(ack.now);
        }
    }
    /// The long-term bound, with room for others.
    pub(super) fn with_headroom(&self) -> u32 {
        if self.long_in_flight == NONE {
            return NONE;
        }
        let used = (u64::from(self.long_in_flight) * USED_PERCENT / 100) as u32;
        used.min(self.long_in_flight.saturating_sub(1)).max(MIN_CWND)
    }
    /// The bound grows by 1, 2, 4, ... packets in the rounds of a probe.
    fn steepen(&mut self, cwnd: u32) {
        let growth = 1 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_acked_per_packet = (cwnd / growth).max(1);
    }
    fn raise_long_term(&mut self, ack: &AckEvent, cwnd: u32) {
        if !ack.is_cwnd_limited || cwnd < self.long_in_flight {
            return;
        }
        self.up_acked += ack.newly_acked;
        let packets = self.up_acked / self.up_acked_per_packet;
        self.up_acked -= packets * self.up_acked_per_packet;
        self.long_in_flight = self.long_in_flight.saturating_add(packets);
        if self.is_round_start {
            self.steepen(cwnd);
        }
    }
    pub(super) fn check_probe_rtt(&mut self, ack: &AckEvent, window: &mut Window) {
        if self.mode != Bbr3Mode::ProbeRtt && self.is_probe_rtt_due && !self.restarts_from_idle {
            self.save_window(window.cwnd);
            self.mode = Bbr3Mode::ProbeRtt;
            self.probe_rtt_ends = None;
            self.held_back.0 = ack.delivered;
            self.ack_phase = AckPhase::Stopping;
            self.begin_round();
        }
        if self.mode == Bbr3Mode::ProbeRtt {
            self.probe_rtt(ack, window);
        }
        if ack.newly_acked > 0 {
            self.restarts_from_idle = false;
        }
    }
    fn probe_rtt(&mut self, ack: &AckEvent, window: &mut Window) {
        self.held_back.1 = ack.delivered + u64::from(ack.in_flight) + 1;
        match self.probe_rtt_ends {
            None if ack.in_flight <= self.probe_rtt_window() => {
                self.probe_rtt_ends = Some(ack.now + PROBE_RTT_TIME);
                self.probe_rtt_had_round = false;
                self.begin_round();
            }
            None => {}
            Some(_) => {
                self.probe_rtt_had_round |= self.is_round_start;
                if self.probe_rtt_had_round {
                    self.check_probe_rtt_done(ack.now, window);
                }
            }
        }
    }
    pub(super) fn check_probe_rtt_done(&mut self, now: Time, window: &mut Window) {
        if self.probe_rtt_ends.is_none_or(|ends| now <= ends) {
            return;
        }
        self.recent_min_rtt_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.reset_short_term();
        if self.is_pipe_full {
            self.begin_down(now);
            self.mode = Bbr3Mode::Cruise;
        } else {
            self.mode = Bbr3Mode::Startup;
        }
    }
    pub(super) fn probe_rtt_window(&self) -> u32 {
        self.rate_delay_product(PROBE_RTT_CWND_GAIN).max(MIN_CWND)
    }
    /// What should be in flight: what the path holds, unless the window is less.
    pub(super) fn target_in_flight(&self, cwnd: u32) -> u32 {
        self.rate_delay_product(UNIT).min(cwnd)
    }
}
