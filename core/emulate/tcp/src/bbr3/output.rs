//! From the model to a pacing rate and a window.
use super::{Bbr3, Bbr3Mode, MIN_CWND, NONE, STARTUP_GAIN};
use crate::bbr::rate::{self, INITIAL_CWND, NOMINAL_RTT, UNIT, packet_rate};
use crate::{AckEvent, Recovery, Window};
use fathom_units::{Duration, Rate, Time};

/// Least packets per burst.
const MIN_BURST: u32 = 2;
/// Room for bursts in the sender, the path and the receiver.
const BURSTS: u32 = 3;

impl Bbr3 {
    /// Sending starts with nothing in flight.
    pub(super) fn on_start(&mut self, idle: Duration, now: Time, window: &mut Window) {
        if idle == Duration::ZERO {
            if !self.has_rtt {
                (self.min_rtt_at, self.recent_min_rtt_at) = (now, now);
                self.pace_before_rate(NOMINAL_RTT, window);
            }
            return;
        }
        self.restarts_from_idle = true;
        self.aggregation.restart(now);
        if self.is_in_cycle() {
            self.pace(rate::pacing(self.rate, self.mss, UNIT), window);
        } else if self.mode == Bbr3Mode::ProbeRtt {
            self.check_probe_rtt_done(now, window);
        }
    }
    /// Paces at the window over the RTT while there is no rate estimate.
    fn pace_before_rate(&mut self, rtt: Duration, window: &mut Window) {
        let rate = packet_rate(u64::from(window.cwnd), rtt);
        self.pace(rate::pacing(rate, self.mss, STARTUP_GAIN), window);
    }
    fn pace(&mut self, rate: u64, window: &mut Window) {
        if rate == self.pacing {
            return;
        }
        self.pacing = rate;
        window.pacing = Some(Rate::from_bits_per_second(rate.saturating_mul(8)));
        self.burst = rate::burst(rate, self.mss).max(MIN_BURST);
    }
    pub(super) fn set_pacing(&mut self, ack: &AckEvent, window: &mut Window) {
        if !self.has_rtt && ack.srtt > Duration::ZERO {
            self.has_rtt = true;
            self.pace_before_rate(ack.srtt, window);
        }
        let rate = rate::pacing(self.rate, self.mss, self.pacing_gain());
        // In startup a lower estimate means only that too little was sent.
        if self.is_pipe_full || rate > self.pacing {
            self.pace(rate, window);
        }
    }
    pub(super) fn rate_delay_product(&self, gain: u64) -> u32 {
        rate::rate_delay_product(self.rate, self.min_rtt, gain)
    }
    fn with_bursts(&self, packets: u32) -> u32 {
        let more = if self.mode == Bbr3Mode::Up { 2 } else { 0 };
        packets.max(BURSTS * self.burst).max(MIN_CWND).saturating_add(more)
    }
    /// Packets in flight without a queue.
    pub(super) fn held_by_path(&self) -> u32 {
        self.with_bursts(self.rate_delay_product(UNIT))
    }
    pub(super) fn save_window(&mut self, cwnd: u32) {
        let repairs = matches!(self.recovery, Recovery::Recovery | Recovery::Loss);
        let is_own = !repairs && self.mode != Bbr3Mode::ProbeRtt;
        self.prior_cwnd = if is_own { cwnd } else { self.prior_cwnd.max(cwnd) };
    }
    pub(super) fn set_window(&mut self, ack: &AckEvent, window: &mut Window) {
        let gained = self.rate_delay_product(self.cwnd_gain());
        let target = self.with_bursts(gained.saturating_add(self.aggregation.allowance(self.rate)));
        let grown = window.cwnd.saturating_add(ack.newly_acked);
        if self.is_pipe_full {
            window.cwnd = grown.min(target);
        } else if window.cwnd < target || ack.delivered < u64::from(INITIAL_CWND) {
            window.cwnd = grown;
        }
        window.cwnd = window.cwnd.max(MIN_CWND);
        if self.mode == Bbr3Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        window.cwnd = window.cwnd.min(self.bound());
    }
    /// The bound of the window by losses.
    fn bound(&self) -> u32 {
        let long_term = match self.mode {
            Bbr3Mode::Down | Bbr3Mode::Refill | Bbr3Mode::Up => self.long_in_flight,
            Bbr3Mode::Cruise | Bbr3Mode::ProbeRtt => self.with_headroom(),
            Bbr3Mode::Startup | Bbr3Mode::Drain => NONE,
        };
        long_term.min(self.short_in_flight).max(MIN_CWND)
    }
}
