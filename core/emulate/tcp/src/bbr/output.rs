//! From the model to a pacing rate and a window.
use super::rate::{self, INITIAL_CWND, NOMINAL_RTT, UNIT, packet_rate};
use super::{Bbr, BbrMode, HIGH_GAIN, MIN_CWND, PAIRS_FROM};
use crate::{AckEvent, Recovery, Window};
use fathom_units::{Duration, Rate, Time};

/// The states after Disorder and CWR in Linux's order: those that repair loss.
const fn repairs_loss(recovery: Recovery) -> bool {
    matches!(recovery, Recovery::Recovery | Recovery::Loss)
}

impl Bbr {
    /// Sending starts with nothing in flight.
    pub(super) fn on_start(&mut self, idle: Duration, now: Time, window: &mut Window) {
        if idle == Duration::ZERO {
            if !self.has_rtt {
                self.min_rtt_at = now;
                self.pace_before_rate(NOMINAL_RTT, window);
            }
            return;
        }
        self.restarts_from_idle = true;
        self.aggregation.restart(now);
        match self.mode {
            // There is no queue to drain, and probing would be useless: pace at the estimated rate.
            BbrMode::ProbeBw => self.pace(rate::pacing(self.rate(), self.mss, UNIT), window),
            BbrMode::ProbeRtt => self.check_probe_rtt_end(now, window),
            BbrMode::Startup | BbrMode::Drain => {}
        }
    }
    /// Paces at the window over the RTT while there is no rate estimate.
    fn pace_before_rate(&mut self, rtt: Duration, window: &mut Window) {
        let rate = packet_rate(u64::from(window.cwnd), rtt);
        self.pace(rate::pacing(rate, self.mss, HIGH_GAIN), window);
    }
    fn pace(&mut self, rate: u64, window: &mut Window) {
        self.paced_for = (0, 0);
        if rate == self.pacing {
            return;
        }
        self.pacing = rate;
        window.pacing = Some(Rate::from_bits_per_second(rate.saturating_mul(8)));
        let least = if rate < PAIRS_FROM { 1 } else { 2 };
        self.burst = rate::burst(rate, self.mss).clamp(least, 127);
    }
    pub(super) fn set_pacing(&mut self, ack: &AckEvent, window: &mut Window) {
        if !self.has_rtt && ack.srtt > Duration::ZERO {
            self.has_rtt = true;
            self.pace_before_rate(ack.srtt, window);
        }
        let paced_for = (self.rate(), self.pacing_gain);
        if paced_for == self.paced_for {
            return;
        }
        let rate = rate::pacing(self.rate(), self.mss, self.pacing_gain);
        // In startup a lower estimate means only that too little was sent.
        if self.is_pipe_full || rate > self.pacing {
            self.pace(rate, window);
        }
        self.paced_for = paced_for;
    }
    fn rate_delay_product(&self, rate: u64, gain: u64) -> u32 {
        rate::rate_delay_product(rate, self.min_rtt, gain)
    }
    /// Adds room for bursts in the sender, the receiver and the path, and for delayed ACKs.
    fn with_bursts(&self, packets: u32) -> u32 {
        let packets = packets.saturating_add(3 * self.burst);
        let even = packets.saturating_add(packets % 2);
        let looks_for_more = self.mode == BbrMode::ProbeBw && self.cycle == 0;
        if looks_for_more { even.saturating_add(2) } else { even }
    }
    /// Packets in flight at `gain` times the maximum rate of the last rounds.
    pub(super) fn held_by_path(&self, gain: u64) -> u32 {
        self.with_bursts(self.rate_delay_product(self.rates.max(), gain))
    }
    pub(super) fn save_window(&mut self, cwnd: u32) {
        let is_own = !repairs_loss(self.recovery) && self.mode != BbrMode::ProbeRtt;
        self.prior_cwnd = if is_own { cwnd } else { self.prior_cwnd.max(cwnd) };
    }
    pub(super) fn set_window(&mut self, ack: &AckEvent, window: &mut Window) {
        if ack.newly_acked > 0 && !self.recovers(ack, window) {
            self.approach_target(ack, window);
        }
        if self.mode == BbrMode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_CWND);
        }
    }
    /// In the first round of recovery sends one packet per delivered packet; after recovery
    /// restores the previous window. True while it sets the window.
    fn recovers(&mut self, ack: &AckEvent, window: &mut Window) -> bool {
        let losses = ack.rate.map_or(0, |sample| sample.losses);
        window.cwnd = window.cwnd.saturating_sub(losses).max(1);
        let arrived = ack.in_flight + ack.newly_acked;
        if ack.recovery == Recovery::Recovery && self.recovery != Recovery::Recovery {
            self.conserves_packets = true;
            self.round_end = ack.delivered;
            window.cwnd = arrived;
        } else if repairs_loss(self.recovery) && !repairs_loss(ack.recovery) {
            self.conserves_packets = false;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.recovery = ack.recovery;
        if self.conserves_packets {
            window.cwnd = window.cwnd.max(arrived);
        }
        self.conserves_packets
    }
    fn approach_target(&self, ack: &AckEvent, window: &mut Window) {
        let rate = self.rate();
        let mut target = self.rate_delay_product(rate, self.cwnd_gain);
        if self.is_pipe_full {
            target = target.saturating_add(self.aggregation.allowance(rate));
        }
        let target = self.with_bursts(target);
        let grown = window.cwnd.saturating_add(ack.newly_acked);
        if self.is_pipe_full {
            window.cwnd = grown.min(target);
        } else if window.cwnd < target || ack.delivered < u64::from(INITIAL_CWND) {
            window.cwnd = grown;
        }
        window.cwnd = window.cwnd.max(MIN_CWND);
    }
}
