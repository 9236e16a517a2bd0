//! Undoing spurious reductions. Three signs: an ACK of an original sent before the first
//! retransmission (Eifel, RFC 3522 and 4015), D-SACKs for all retransmissions (RFC 3708), and,
//! after a timeout, an ACK of data that was never retransmitted (F-RTO, RFC 5682).
use super::Sender;
use crate::{Cause, Control, Recovery, WindowEvent};
use fathom_units::Time;

/// What an ACK reports to loss recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// The cumulative ACK advanced.
    pub(super) advanced: bool,
    /// Packets that it SACKed.
    pub(super) selective: u32,
    /// It delivered a packet that was sent once, before this recovery began.
    pub(super) original: bool,
    pub(super) ece: bool,
    /// Send time of the segment that it answers (Eifel).
    pub(super) echo: Time,
}

/// State for an undo.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Undo {
    /// An undo is possible.
    is_open: bool,
    /// Window before the reduction; PRR uses it too.
    pub(super) cwnd: u32,
    /// Previous threshold; `None` if the window must not be restored.
    pub(super) threshold: Option<u32>,
    /// Retransmissions not yet known to be spurious; `None` before the first.
    resent: Option<u32>,
    /// When the first unacknowledged retransmission was sent.
    pub(super) first_resent: Option<Time>,
}

impl Undo {
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }
    pub(super) fn forget(&mut self) {
        (self.is_open, self.threshold) = (false, None);
    }
    /// A packet was retransmitted.
    pub(super) fn resent(&mut self, now: Time) {
        self.first_resent.get_or_insert(now);
        self.resent = Some(self.resent.unwrap_or(0) + 1);
    }
    /// A D-SACK arrived.
    pub(super) fn needless(&mut self) {
        self.resent = self.resent.map(|resent| resent.saturating_sub(1));
    }
    /// True if an original arrived late; always true without retransmissions.
    fn is_late(&self, echo: Time) -> bool {
        self.first_resent.is_none_or(|first| echo < first)
    }
    fn is_needless(&self) -> bool {
        self.is_open && self.resent == Some(0)
    }
    fn is_due(&self, echo: Time) -> bool {
        self.is_needless() || self.is_open && self.is_late(echo)
    }
}

impl Sender {
    /// Begins a recovery that may be spurious. `threshold` is the one to restore.
    pub(super) fn begin_undo(&mut self, threshold: Option<u32>) {
        let under_way = self.flight.resent() + u32::from(self.probe.is_some_and(|probe| probe.is_resent));
        let is_retransmitted = self.flight.any_retransmitted();
        let undo = &mut self.repair.undo;
        (undo.is_open, undo.threshold) = (true, threshold);
        // Retransmissions of an earlier recovery may be spurious too. Zero means that all are.
        undo.resent = (under_way > 0).then_some(under_way);
        if !is_retransmitted {
            undo.first_resent = None;
        }
    }

    /// Restores the window. `finds`: packets considered lost are in flight after all.
    fn undo(&mut self, finds: bool, now: Time) {
        if finds {
            self.flight.find_all();
            self.rack.restart(self.flight.first());
        }
        let Undo { cwnd, threshold, .. } = self.repair.undo;
        self.repair.undo.forget();
        self.rack.advanced = true;
        let Some(threshold) = threshold else { return };
        if !self.control.owns_window() {
            self.window.cwnd = self.window.cwnd.max(cwnd);
        }
        if threshold > self.window.ssthresh {
            self.window.ssthresh = threshold;
            self.cwr = false;
        }
        self.control.on_event(WindowEvent::Undone, now, &mut self.window);
    }

    /// Recovery is over; undoes it if it was spurious.
    pub(super) fn undo_or_settle(&mut self, echo: Time, now: Time) {
        let is_due = self.repair.undo.is_due(echo);
        if is_due {
            self.undo(false, now);
        } else {
            self.rack.recovered(false);
        }
    }

    /// In recovery a late original filled a gap. Undoes everything if no retransmission is in
    /// flight; otherwise recovery continues, and the result is true: nothing else to do.
    pub(super) fn undo_partly(&mut self, echo: Time, now: Time) -> bool {
        if !self.repair.undo.is_open() || !self.repair.undo.is_late(echo) {
            return false;
        }
        self.rack.reordering_seen = true;
        if self.flight.resent() > 0 {
            return true;
        }
        self.undo(true, now);
        let is_quiet = self.flight.sacked() == 0 && !self.flight.any_retransmitted();
        self.repair.state = if is_quiet { Recovery::Open } else { Recovery::Disorder };
        false
    }

    /// Undoes the reduction if all retransmissions were spurious.
    pub(super) fn undo_needless(&mut self, now: Time) -> bool {
        let is_due = self.repair.undo.is_needless();
        if is_due {
            self.rack.recovered(true);
            self.undo(false, now);
        }
        is_due
    }

    /// After a timeout: RFC 5682 section 3, with SACK.
    pub(super) fn judge_timeout(&mut self, progress: Progress, now: Time) {
        let is_over = self.acked >= self.repair.end;
        if progress.advanced && self.repair.undo.is_due(progress.echo) {
            return self.undo_timeout(now);
        }
        if self.repair.is_doubtful {
            if progress.original {
                return self.undo_timeout(now);
            }
            if self.next > self.repair.end {
                // New data was sent, and the ACK is not for an original: the loss was real.
                self.repair.is_doubtful = progress.advanced && progress.selective == 0;
            } else if progress.advanced && !is_over {
                self.repair.end = self.next;
                self.repair.is_doubtful = self.may_send_new();
                self.repair.new_data_first = self.repair.is_doubtful;
                if self.repair.new_data_first {
                    return;
                }
            }
        }
        if is_over {
            self.undo_or_settle(progress.echo, now);
            self.repair.state = Recovery::Open;
            self.control.on_event(WindowEvent::Recovered, now, &mut self.window);
        }
    }
    fn undo_timeout(&mut self, now: Time) {
        self.undo(true, now);
        self.timers.in_row = 0;
        self.repair.state = Recovery::Open;
    }

    /// RFC 6298 section 5 and RFC 5681 section 3.1.
    pub(super) fn time_out(&mut self, now: Time) {
        let (state, rtt) = (self.repair.state, self.rack.rtt);
        let is_first = !self.repair.is_recovering();
        self.flight.lose_all(|sent| sent.at + rtt > now);
        // Once per window of data: not again for a repeated timeout or one during recovery.
        let is_new_window = match state {
            Recovery::Open | Recovery::Disorder => true,
            Recovery::Cwr | Recovery::Recovery => self.acked >= self.repair.end,
            Recovery::Loss => self.timers.in_row == 0 || self.acked >= self.repair.end,
        };
        if is_new_window {
            let threshold = self.current_threshold();
            self.begin_undo(Some(threshold));
            self.reduce(Cause::Timeout, now);
        }
        self.control.on_event(WindowEvent::TimedOut, now, &mut self.window);
        self.window.cwnd = self.flight.in_network() + 1;
        self.repair.is_doubtful = is_first || self.timers.in_row > 0;
        self.repair.new_data_first = false;
        (self.repair.state, self.repair.end) = (Recovery::Loss, self.next);
        self.probe = None;
        self.cwr = self.config.ecn;
    }
}
