//! The model of the path: rate, round trips, minimum RTT.
use super::{Bbr3, Bbr3Mode, FULL_PIPE_GROWTH, FULL_PIPE_ROUNDS, MIN_RTT_WINDOW, PROBE_RTT_INTERVAL, Sample};
use crate::bbr::rate::packet_rate;
use crate::{AckEvent, Window};

impl Bbr3 {
    /// The sample of this ACK. Samples of ProbeRTT count as application-limited.
    pub(super) fn sample(&mut self, ack: &AckEvent) -> Option<Sample> {
        self.history.add(ack.in_flight_before, ack.delivered, ack.lost);
        let sample = ack.rate.filter(|sample| sample.interval.as_nanos() > 0)?;
        let (lost_before, sent_in_flight) = self.history.at(sample.prior_delivered);
        let (from, until) = self.held_back;
        Some(Sample {
            rate: packet_rate(u64::from(sample.delivered), sample.interval),
            delivered: sample.delivered,
            prior_delivered: sample.prior_delivered,
            is_limited: sample.is_app_limited || (from..until).contains(&sample.prior_delivered),
            sent_in_flight,
            lost: ack.lost.wrapping_sub(lost_before),
        })
    }
    pub(super) fn update_model(&mut self, ack: &AckEvent, sample: Option<&Sample>, window: &mut Window) {
        self.delivered = ack.delivered;
        self.is_round_start = false;
        self.is_loss_round_start = false;
        if let Some(sample) = sample {
            self.update_latest(ack, sample);
            self.update_round(sample);
            self.update_max_rate(sample);
        }
        self.adapt_short_term(window);
        self.update_aggregation(ack, window);
        if let Some(sample) = sample {
            self.check_full_pipe(sample);
            self.check_startup_losses(ack, sample);
        }
        self.check_startup_done();
        self.check_drain_done(ack);
        self.update_cycle(ack, sample, window);
        self.update_min_rtt(ack);
        self.check_probe_rtt(ack, window);
        if let Some(sample) = sample.filter(|_| self.is_loss_round_start) {
            (self.latest_rate, self.latest_in_flight) = (sample.rate, sample.delivered);
        }
        self.rate = self.max_rate().min(self.short_rate);
    }
    fn update_latest(&mut self, ack: &AckEvent, sample: &Sample) {
        self.latest_rate = self.latest_rate.max(sample.rate);
        self.latest_in_flight = self.latest_in_flight.max(sample.delivered);
        if sample.prior_delivered >= self.loss_round_end {
            self.loss_round_end = ack.delivered;
            self.is_loss_round_start = true;
        }
    }
    fn update_round(&mut self, sample: &Sample) {
        if sample.prior_delivered < self.round_end {
            return;
        }
        self.begin_round();
        self.round += 1;
        self.rounds_since_probe = self.rounds_since_probe.saturating_add(1);
        self.is_round_start = true;
    }
    pub(super) fn begin_round(&mut self) {
        self.round_end = self.delivered;
    }
    fn update_max_rate(&mut self, sample: &Sample) {
        if sample.rate >= self.max_rate() || !sample.is_limited {
            self.max_rates[1] = self.max_rates[1].max(sample.rate);
        }
    }
    /// A cycle of probes has ended: its maximum is kept for one more.
    pub(super) fn advance_max_rate(&mut self) {
        if self.max_rates[1] > 0 {
            self.max_rates = [self.max_rates[1], 0];
        }
    }
    fn update_aggregation(&mut self, ack: &AckEvent, window: &Window) {
        if ack.newly_acked == 0 {
            return;
        }
        if self.is_round_start {
            self.aggregation.on_round();
        }
        self.aggregation.on_ack(ack.now, ack.newly_acked, self.rate, window.cwnd);
    }
    pub(super) fn reset_full_pipe(&mut self, rate: u64) {
        (self.full_rate, self.full_rounds, self.is_full_now) = (rate, 0, false);
    }
    fn check_full_pipe(&mut self, sample: &Sample) {
        if self.is_full_now || !self.is_round_start || sample.is_limited {
            return;
        }
        let (times, per) = FULL_PIPE_GROWTH;
        if sample.rate >= self.full_rate * times / per {
            return self.reset_full_pipe(sample.rate);
        }
        self.full_rounds += 1;
        self.is_full_now = self.full_rounds >= FULL_PIPE_ROUNDS;
        self.is_pipe_full |= self.is_full_now;
    }
    fn update_min_rtt(&mut self, ack: &AckEvent) {
        let is_over = |at, span| ack.now > at + span;
        self.is_probe_rtt_due =
            self.recent_min_rtt.is_some() && is_over(self.recent_min_rtt_at, PROBE_RTT_INTERVAL);
        if let Some(rtt) = ack.rtt
            && (self.is_probe_rtt_due || self.recent_min_rtt.is_none_or(|least| rtt < least))
        {
            self.recent_min_rtt = Some(rtt);
            self.recent_min_rtt_at = ack.now;
        }
        let Some(recent) = self.recent_min_rtt else { return };
        let is_old = is_over(self.min_rtt_at, MIN_RTT_WINDOW);
        if is_old || self.min_rtt.is_none_or(|least| recent < least) {
            self.min_rtt = Some(recent);
            self.min_rtt_at = self.recent_min_rtt_at;
        }
    }
    /// True in a state that looks for more bandwidth: losses do not lower the short-term bounds.
    pub(super) const fn is_probing(&self) -> bool {
        matches!(self.mode, Bbr3Mode::Startup | Bbr3Mode::Refill | Bbr3Mode::Up)
    }
}
