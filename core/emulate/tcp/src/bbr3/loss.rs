//! What losses change in the model, and how a spurious recovery restores it.
use super::{BETA_PERCENT, Bbr3, Bbr3Mode, FULL_PIPE_LOSSES, LOSS_PERCENT, NONE, Sample, Undo};
use crate::bbr::rate::UNIT;
use crate::{AckEvent, Recovery, Window};
use fathom_units::Time;

/// What [`BETA_PERCENT`] leaves of a bound.
fn reduced(bound: u32) -> u32 {
    (u64::from(bound) * BETA_PERCENT / 100) as u32
}

impl Bbr3 {
    /// Counts the packets that were marked lost since the last ACK.
    pub(super) fn note_losses(&mut self, ack: &AckEvent, window: &Window) {
        if ack.lost == self.lost {
            return;
        }
        self.lost = ack.lost;
        self.loss_events += 1;
        if !self.has_loss {
            self.loss_round_end = ack.delivered;
            self.save_window(window.cwnd);
            self.save_for_undo();
        }
        self.has_loss = true;
    }
    pub(super) fn save_for_undo(&mut self) {
        self.undo = Undo {
            mode: None,
            short_rate: self.short_rate,
            short_in_flight: self.short_in_flight,
            long_in_flight: self.long_in_flight,
        };
    }
    /// The recovery was spurious.
    pub(super) fn restore(&mut self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.has_loss = false;
        self.reset_full_pipe(0);
        self.short_rate = self.short_rate.max(self.undo.short_rate);
        self.short_in_flight = self.short_in_flight.max(self.undo.short_in_flight);
        self.long_in_flight = self.long_in_flight.max(self.undo.long_in_flight);
        match self.undo.mode.take() {
            Some(Bbr3Mode::Startup) if self.mode != Bbr3Mode::Startup => {
                self.is_pipe_full = false;
                if self.mode != Bbr3Mode::ProbeRtt {
                    self.mode = Bbr3Mode::Startup;
                }
            }
            Some(Bbr3Mode::Up) if self.mode != Bbr3Mode::Up && self.mode != Bbr3Mode::ProbeRtt => {
                self.begin_refill();
            }
            _ => {}
        }
    }
    /// True if the round of the newest delivered packet lost too much.
    pub(super) fn is_too_high(sample: &Sample) -> bool {
        u64::from(sample.lost) * 100 > u64::from(sample.sent_in_flight) * LOSS_PERCENT
    }
    /// A probe had too much in flight.
    pub(super) fn bound_long_term(&mut self, sample: &Sample, now: Time, cwnd: u32) {
        self.was_too_high = true;
        self.is_probe_sample = false;
        if !sample.is_limited {
            self.long_in_flight = sample.sent_in_flight.max(reduced(self.target_in_flight(cwnd)));
        }
        if self.mode == Bbr3Mode::Up {
            self.undo.mode = Some(Bbr3Mode::Up);
            self.begin_down(now);
        }
    }
    /// Losses may also show that the pipe is full.
    pub(super) fn check_startup_losses(&mut self, ack: &AckEvent, sample: &Sample) {
        if !self.is_loss_round_start {
            return;
        }
        let events = core::mem::take(&mut self.loss_events);
        let is_recovering = ack.recovery == Recovery::Recovery && self.recovery == Recovery::Recovery;
        let is_full = is_recovering && events >= FULL_PIPE_LOSSES && Self::is_too_high(sample);
        if self.is_pipe_full || self.mode != Bbr3Mode::Startup || !is_full {
            return;
        }
        self.undo.mode = Some(Bbr3Mode::Startup);
        (self.is_full_now, self.is_pipe_full) = (true, true);
        self.long_in_flight = self.rate_delay_product(UNIT).max(self.latest_in_flight);
    }
    /// Once per round: after losses, what was delivered in it, or 70 % of the bound before.
    pub(super) fn adapt_short_term(&mut self, window: &Window) {
        if !self.is_loss_round_start {
            return;
        }
        if core::mem::take(&mut self.has_loss) && !self.is_probing() {
            let rate = if self.short_rate == u64::MAX { self.max_rate() } else { self.short_rate };
            let in_flight = if self.short_in_flight == NONE { window.cwnd } else { self.short_in_flight };
            self.short_rate = self.latest_rate.max(rate / 100 * BETA_PERCENT);
            self.short_in_flight = self.latest_in_flight.max(reduced(in_flight));
        }
    }
    pub(super) fn reset_short_term(&mut self) {
        (self.short_rate, self.short_in_flight) = (u64::MAX, NONE);
    }
    pub(super) fn reset_signals(&mut self) {
        self.has_loss = false;
        (self.latest_rate, self.latest_in_flight) = (0, 0);
    }
}
