//! BBR's model of the path, and the mode and gains that follow from it.
use super::rate::{UNIT, is_at_least, packet_rate, packets_in};
use super::{
    Bbr, BbrMode, CWND_GAIN, CYCLE, DRAIN_GAIN, FIRST_PHASES, FULL_PIPE_GROWTH, FULL_PIPE_ROUNDS, HIGH_GAIN,
    MIN_CWND, MIN_RTT_WINDOW, PROBE_RTT_TIME,
};
use crate::{AckEvent, RateSample, Window};
use fathom_units::Time;

impl Bbr {
    pub(super) fn update_model(&mut self, ack: &AckEvent, window: &mut Window) {
        self.delivered = ack.delivered;
        self.is_round_start = false;
        let sample = ack.rate.filter(|sample| sample.interval.as_nanos() > 0);
        let sample = sample.map(|sample| self.with_own_limit(sample));
        if let Some(sample) = &sample {
            self.update_rate(ack, sample);
            self.update_aggregation(ack, window.cwnd);
        }
        let is_limited = sample.is_some_and(|sample| sample.is_app_limited);
        self.update_cycle(ack);
        self.check_full_pipe(is_limited);
        self.check_drain(ack, window);
        self.update_min_rtt(ack, window);
        self.update_gains();
    }
    /// Treats samples of ProbeRTT as application-limited.
    fn with_own_limit(&self, sample: RateSample) -> RateSample {
        let (from, until) = self.held_back;
        let is_held_back = (from..until).contains(&sample.prior_delivered);
        RateSample { is_app_limited: sample.is_app_limited || is_held_back, ..sample }
    }
    fn update_rate(&mut self, ack: &AckEvent, sample: &RateSample) {
        if sample.prior_delivered >= self.round_end {
            self.round_end = ack.delivered;
            self.round += 1;
            self.is_round_start = true;
            self.conserves_packets = false;
        }
        let mss = self.mss;
        let bytes_per_second = |rate: u64| rate.saturating_mul(mss * 1_000_000) >> super::rate::SHIFT;
        if self.policer.rate().is_none() {
            self.policer.on_sample(ack, sample, self.is_round_start, bytes_per_second);
        } else if self.mode == BbrMode::ProbeBw && self.is_round_start && self.policer.is_over() {
            self.policer.reset();
            self.begin_probe_bw(ack.now);
        }
        self.add_rate(sample);
    }
    fn add_rate(&mut self, sample: &RateSample) {
        // Most samples raise nothing; a multiplication detects that faster than the division.
        let least = self.rates.of_round(self.round) + 1;
        if !is_at_least(u64::from(sample.delivered), sample.interval, least) {
            return;
        }
        let rate = packet_rate(u64::from(sample.delivered), sample.interval);
        if !sample.is_app_limited || rate >= self.rates.max() {
            self.rates.add(self.round, rate);
        }
    }
    fn update_aggregation(&mut self, ack: &AckEvent, cwnd: u32) {
        if ack.newly_acked == 0 {
            return;
        }
        if self.is_round_start {
            self.aggregation.on_round();
        }
        self.aggregation.on_ack(ack.now, ack.newly_acked, self.rate(), cwnd);
    }
    fn update_cycle(&mut self, ack: &AckEvent) {
        if self.mode == BbrMode::ProbeBw && self.is_phase_over(ack) {
            self.next_phase(ack.now);
        }
    }
    fn is_phase_over(&self, ack: &AckEvent) -> bool {
        let lasted = ack.now.saturating_since(self.cycle_start);
        let is_long = self.min_rtt.is_none_or(|min_rtt| lasted > min_rtt);
        let had_losses = ack.rate.is_some_and(|sample| sample.losses > 0);
        let in_flight = self.in_network(ack.in_flight_before, ack);
        match self.pacing_gain {
            UNIT => is_long,
            // Long enough to fill a queue by the gain, unless there is no room for it.
            gain if gain > UNIT => is_long && (had_losses || in_flight >= self.held_by_path(gain)),
            // At most as long as that queue takes to drain.
            _ => is_long || in_flight <= self.held_by_path(UNIT),
        }
    }
    /// Packets of `in_flight` that remain when pacing allows a burst; probing counts the burst too.
    fn in_network(&self, in_flight: u32, ack: &AckEvent) -> u32 {
        let then = if self.pacing_gain > UNIT { in_flight + self.burst } else { in_flight };
        let delivered = packets_in(self.rate(), ack.paced_until.saturating_since(ack.now));
        then.saturating_sub(u32::try_from(delivered).unwrap_or(u32::MAX))
    }
    fn next_phase(&mut self, now: Time) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_start = now;
    }
    fn begin_probe_bw(&mut self, now: Time) {
        self.mode = BbrMode::ProbeBw;
        // Randomized, so that flows do not probe in step. Draining first would be useless.
        self.cycle = CYCLE.len() - 1 - self.rng.below(FIRST_PHASES) as usize;
        self.next_phase(now);
    }
    fn check_full_pipe(&mut self, is_app_limited: bool) {
        if self.is_pipe_full || !self.is_round_start || is_app_limited {
            return;
        }
        let (times, per) = FULL_PIPE_GROWTH;
        if self.rates.max() >= self.full_rate * times / per {
            self.full_rate = self.rates.max();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.is_pipe_full = self.full_rounds >= FULL_PIPE_ROUNDS;
    }
    fn check_drain(&mut self, ack: &AckEvent, window: &mut Window) {
        if self.mode == BbrMode::Startup && self.is_pipe_full {
            self.mode = BbrMode::Drain;
            window.ssthresh = self.held_by_path(UNIT);
        }
        if self.mode == BbrMode::Drain && self.in_network(ack.in_flight, ack) <= self.held_by_path(UNIT) {
            self.begin_probe_bw(ack.now);
        }
    }
    fn update_min_rtt(&mut self, ack: &AckEvent, window: &mut Window) {
        let is_old = self.min_rtt.is_some() && ack.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt
            && (is_old || self.min_rtt.is_none_or(|min_rtt| rtt < min_rtt))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = ack.now;
        }
        if is_old && !self.restarts_from_idle && self.mode != BbrMode::ProbeRtt {
            self.save_window(window.cwnd);
            self.mode = BbrMode::ProbeRtt;
            self.probe_rtt_ends = None;
            self.held_back.0 = ack.delivered;
        }
        if self.mode == BbrMode::ProbeRtt {
            self.probe_rtt(ack, window);
        }
        if ack.rate.is_some_and(|sample| sample.delivered > 0) {
            self.restarts_from_idle = false;
        }
    }
    fn probe_rtt(&mut self, ack: &AckEvent, window: &mut Window) {
        self.held_back.1 = ack.delivered + u64::from(ack.in_flight) + 1;
        if self.probe_rtt_ends.is_none() {
            if ack.in_flight <= MIN_CWND {
                self.probe_rtt_ends = Some(ack.now + PROBE_RTT_TIME);
                self.probe_rtt_had_round = false;
                self.round_end = ack.delivered;
            }
            return;
        }
        self.probe_rtt_had_round |= self.is_round_start;
        if self.probe_rtt_had_round {
            self.check_probe_rtt_end(ack.now, window);
        }
    }
    pub(super) fn check_probe_rtt_end(&mut self, now: Time, window: &mut Window) {
        if self.probe_rtt_ends.is_none_or(|ends| now <= ends) {
            return;
        }
        self.min_rtt_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.is_pipe_full {
            self.begin_probe_bw(now);
        } else {
            self.mode = BbrMode::Startup;
        }
    }
    fn update_gains(&mut self) {
        let is_policed = self.policer.rate().is_some();
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            BbrMode::Startup => (HIGH_GAIN, HIGH_GAIN),
            BbrMode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            BbrMode::ProbeBw if is_policed => (UNIT, CWND_GAIN),
            BbrMode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            BbrMode::ProbeRtt => (UNIT, UNIT),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ControlConfig, Recovery};
    use fathom_units::Duration;

    const SINCE: Time = Time::from_nanos(1_000_000_000);

    fn paced_for(held: Duration) -> AckEvent {
        AckEvent {
            now: SINCE,
            newly_acked: 2,
            cumulative: 2,
            ece: false,
            rtt: None,
            srtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
            one_way_delay: Duration::ZERO,
            in_flight_before: 10,
            in_flight: 8,
            delivered: 100,
            lost: 0,
            delivered_ce: 0,
            next_packet: 108,
            acked_packet: 100,
            recovery: Recovery::Open,
            is_cwnd_limited: false,
            paced_until: SINCE + held,
            rate: None,
        }
    }

    /// At one packet per ms, the packets that leave before the next burst are not counted.
    #[test]
    fn packets_that_leave_before_the_next_burst_are_not_counted() {
        let mut bbr = Bbr::new(&ControlConfig::default());
        bbr.rates.add(0, packet_rate(1, Duration::from_millis(1)));
        bbr.burst = 2;
        for (gain, held_us, expected) in [
            (UNIT, 0, 10),
            (UNIT, 900, 10),
            (UNIT, 2_500, 8),
            (UNIT, 99_000, 0),
            (CYCLE[0], 0, 12),
            (CYCLE[0], 2_500, 10),
            (CYCLE[1], 1_100, 9),
        ] {
            bbr.pacing_gain = gain;
            let ack = paced_for(Duration::from_micros(held_us));
            assert_eq!(bbr.in_network(10, &ack), expected, "gain {gain}, {held_us} us");
        }
    }
}
