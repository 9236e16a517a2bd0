//! Loss recovery: the state machine. The order of its steps is Linux's, because the window depends
//! on which undo and which loss is found first.
use super::Sender;
use super::undo::{Progress, Undo};
use crate::{Cause, Control, Recovery, WindowEvent};
use fathom_units::Time;

/// The state of recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    pub(super) state: Recovery,
    /// Recovery, CWR or Loss ends when all data before this byte, sent before it began, is ACKed.
    pub(super) end: u64,
    pub(super) undo: Undo,
    prr: Prr,
    /// F-RTO: it is unknown whether the timeout was spurious.
    pub(super) is_doubtful: bool,
    /// F-RTO step 2b: until the next ACK send new data before retransmissions.
    pub(super) new_data_first: bool,
}

/// Proportional rate reduction.
#[derive(Clone, Copy, Default, Debug)]
struct Prr {
    delivered: u32,
    out: u32,
}

impl Default for Repair {
    fn default() -> Self {
        Repair {
            state: Recovery::Open,
            end: 0,
            undo: Undo::default(),
            prr: Prr::default(),
            is_doubtful: false,
            new_data_first: false,
        }
    }
}

impl Repair {
    /// The window is being reduced: PRR sets it, and no control grows it.
    pub(super) const fn is_reducing(&self) -> bool {
        matches!(self.state, Recovery::Cwr | Recovery::Recovery)
    }
    pub(super) const fn is_recovering(&self) -> bool {
        matches!(self.state, Recovery::Recovery | Recovery::Loss)
    }
    /// A packet was sent.
    pub(super) fn sent(&mut self) {
        self.prr.out = self.prr.out.saturating_add(1);
    }
}

impl Sender {
    /// Runs the state machine for an ACK. True if the reordering timer was set.
    pub(super) fn repair(&mut self, progress: Progress, now: Time) -> bool {
        if progress.ece {
            // Congestion is certain, even if the losses are spurious.
            self.repair.undo.threshold = None;
        }
        self.end_repair(progress, now);
        match self.repair.state {
            Recovery::Recovery => self.go_on_recovering(progress, now),
            Recovery::Loss => self.go_on_after_timeout(progress, now),
            Recovery::Open | Recovery::Disorder | Recovery::Cwr => self.begin_repair(progress, now),
        }
    }

    /// Ends recovery when all data before it is ACKed; CWR when a packet with the CWR flag is too.
    fn end_repair(&mut self, progress: Progress, now: Time) {
        match self.repair.state {
            Recovery::Cwr if self.acked > self.repair.end => {
                self.end_reduction(now);
                self.repair.state = Recovery::Open;
            }
            Recovery::Recovery if self.acked >= self.repair.end => {
                self.undo_or_settle(progress.echo, now);
                self.end_reduction(now);
                self.repair.state = Recovery::Open;
            }
            _ => {}
        }
    }

    fn go_on_recovering(&mut self, progress: Progress, now: Time) -> bool {
        if progress.advanced && self.undo_partly(progress.echo, now) {
            return false;
        }
        if self.undo_needless(now) {
            self.keep_open(progress, now);
        }
        let waits = self.mark_losses(now).1;
        if self.repair.state != Recovery::Recovery && self.knows_of_loss() {
            self.recover(progress.ece, now);
        }
        waits
    }

    fn go_on_after_timeout(&mut self, progress: Progress, now: Time) -> bool {
        self.judge_timeout(progress, now);
        let (again_lost, waits) = self.mark_losses(now);
        let goes_on = self.repair.state == Recovery::Open || again_lost;
        if goes_on {
            return self.begin_repair(progress, now) || waits;
        }
        waits
    }

    fn begin_repair(&mut self, progress: Progress, now: Time) -> bool {
        if matches!(self.repair.state, Recovery::Open | Recovery::Disorder) {
            self.undo_needless(now);
        }
        let waits = self.mark_losses(now).1;
        if self.knows_of_loss() {
            self.recover(progress.ece, now);
        } else {
            self.keep_open(progress, now);
        }
        waits
    }

    /// True if losses are not repaired, including retransmissions in flight from the last recovery.
    fn knows_of_loss(&self) -> bool {
        self.flight.lost() + self.flight.resent() > 0
    }

    /// No loss is proven, but an ECN echo may still reduce the window.
    fn keep_open(&mut self, progress: Progress, now: Time) {
        let is_retransmitted = self.flight.any_retransmitted();
        if !is_retransmitted {
            self.repair.undo.first_resent = None;
        }
        if progress.ece && self.config.ecn && !self.repair.is_reducing() && !self.repair.is_recovering() {
            self.repair.undo.forget();
            self.reduce(Cause::Ecn, now);
            self.repair.state = Recovery::Cwr;
        }
        if self.repair.state != Recovery::Cwr {
            let is_quiet = self.flight.sacked() == 0 && self.flight.lost() == 0 && !is_retransmitted;
            self.repair.state = if is_quiet { Recovery::Open } else { Recovery::Disorder };
        }
    }

    /// Marks losses. Returns whether a retransmission was lost, and whether the timer was set.
    fn mark_losses(&mut self, now: Time) -> (bool, bool) {
        if !self.rack.advanced {
            return (false, false);
        }
        let times = (self.rtt.min(), self.rtt.smoothed());
        let found = self.rack.detect(&mut self.flight, now, self.repair.is_recovering(), times);
        if let Some(at) = found.again {
            self.await_reordering(at);
        }
        (found.resent, found.again.is_some())
    }

    /// The reordering timer expired: late packets are lost.
    pub(super) fn give_up_late(&mut self, now: Time) {
        let times = (self.rtt.min(), self.rtt.smoothed());
        let found = self.rack.detect(&mut self.flight, now, self.repair.is_recovering(), times);
        if found.lost > 0 && self.repair.state != Recovery::Recovery {
            self.recover(false, now);
            self.reduce_proportionally(1, found.lost, false);
        }
    }

    /// Begins fast recovery.
    fn recover(&mut self, ece: bool, now: Time) {
        self.begin_undo(None);
        if !self.repair.is_reducing() {
            self.repair.undo.threshold = (!ece).then(|| self.current_threshold());
            self.reduce(Cause::Loss, now);
        }
        self.repair.state = Recovery::Recovery;
    }

    /// Begins a reduction of the window: its target, and PRR's state.
    pub(super) fn reduce(&mut self, cause: Cause, now: Time) {
        self.repair.end = self.next;
        self.probe = None;
        self.repair.undo.cwnd = self.window.cwnd;
        self.repair.prr = Prr::default();
        self.window.ssthresh = self.control.reduce(cause, now, &self.window);
        self.cwr = self.config.ecn;
    }

    /// The threshold to remember: 3/4 of the window, unless that is being reduced.
    pub(super) fn current_threshold(&self) -> u32 {
        let cwnd = self.window.cwnd;
        let most = if self.repair.is_reducing() { 0 } else { cwnd / 2 + cwnd / 4 };
        self.window.ssthresh.max(most)
    }

    /// PRR (RFC 6937, RFC 9937): sends in proportion to the packets delivered.
    pub(super) fn reduce_proportionally(&mut self, delivered: u32, lost: u32, advanced: bool) {
        if delivered == 0 || self.control.owns_window() {
            return;
        }
        let (threshold, in_network) = (self.window.ssthresh, self.flight.in_network());
        let before = self.repair.undo.cwnd.max(1);
        let prr = &mut self.repair.prr;
        prr.delivered = prr.delivered.saturating_add(delivered);
        let more = if in_network > threshold {
            let share = u64::from(threshold) * u64::from(prr.delivered);
            (share.div_ceil(u64::from(before)) as u32).saturating_sub(prr.out)
        } else {
            let due = prr.delivered.saturating_sub(prr.out).max(delivered);
            // Slow-start reduction bound: one more for an ACK that reveals no further loss.
            (due + u32::from(advanced && lost == 0)).min(threshold - in_network)
        };
        // The first retransmission is always sent.
        let more = more.max(u32::from(prr.out == 0));
        self.window.cwnd = in_network + more;
    }

    /// Ends CWR or recovery: the window is its target, unless the reduction was undone.
    pub(super) fn end_reduction(&mut self, now: Time) {
        let stands = self.repair.state == Recovery::Cwr || self.repair.undo.is_open();
        if stands && !self.control.owns_window() && self.window.ssthresh < u32::MAX {
            self.window.cwnd = self.window.ssthresh;
        }
        self.control.on_event(WindowEvent::Recovered, now, &mut self.window);
    }
}
