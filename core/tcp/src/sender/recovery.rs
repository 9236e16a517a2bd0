//! Repair of losses: fast recovery by PRR (RFC 6937), reductions for ECN, timeouts, and undoing what was for nothing
//! (Eifel, RFC 4015; F-RTO, RFC 5682; D-SACK).
use super::Sender;
use crate::{Cause, Control, Recovery, Window, WindowEvent};
use fathom_units::Time;

/// The state of repair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repair {
    pub(super) state: Recovery,
    /// Recovery, CWR or Loss ends when all before this byte is acknowledged.
    pub(super) end: u64,
    /// As `end`, of the last timeout.
    pub(super) loss_end: u64,
    /// Window and threshold before the reduction; `None` where it cannot be undone.
    before: Option<(u32, u32)>,
    /// When the first packet was sent again since the reduction, and how many of those were not yet told needless.
    first_resent: Option<Time>,
    resent_open: u32,
    /// PRR.
    prior_cwnd: u32,
    prr_delivered: u32,
    prr_out: u32,
    /// When the timeout happened that may have been spurious: F-RTO.
    pub(super) timed_out: Option<Time>,
    /// A tail loss probe is out: its end, and whether it was sent before.
    pub(super) probe_end: Option<u64>,
    pub(super) probe_is_resent: bool,
}

impl Default for Repair {
    fn default() -> Self {
        Repair {
            state: Recovery::Open,
            end: 0,
            loss_end: 0,
            before: None,
            first_resent: None,
            resent_open: 0,
            prior_cwnd: 0,
            prr_delivered: 0,
            prr_out: 0,
            timed_out: None,
            probe_end: None,
            probe_is_resent: false,
        }
    }
}

impl Repair {
    /// Keeps what an undo sets back. `resent` packets of an earlier repair are still under way: their ACKs answer segments
    /// sent before this one began, and must not pass for ACKs of originals.
    pub(super) fn remember(&mut self, window: &Window, resent: u32) {
        self.before = Some((window.cwnd, window.ssthresh));
        self.resent_open = resent;
        if resent == 0 {
            self.first_resent = None;
        }
    }
    pub(super) fn resent(&mut self, now: Time) {
        self.first_resent.get_or_insert(now);
        self.resent_open += 1;
    }
    pub(super) fn sent(&mut self) {
        self.prr_out += 1;
    }
    /// A D-SACK: something that was sent again had arrived.
    pub(super) fn needless(&mut self) {
        self.resent_open = self.resent_open.saturating_sub(1);
    }
    /// The window moves towards the threshold by what PRR decides.
    pub(super) const fn is_reducing(&self) -> bool {
        matches!(self.state, Recovery::Cwr | Recovery::Recovery)
    }
}

/// What an ACK did, for the repair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Packets delivered by it.
    pub(super) delivered: u32,
    /// Packets found lost by it.
    pub(super) lost: u32,
    /// The cumulative acknowledgement moved on.
    pub(super) advanced: bool,
    /// It answers a segment sent at this time (Eifel).
    pub(super) echo: Time,
    /// When the oldest packet was sent that it delivered and that was never sent again (F-RTO).
    pub(super) original: Option<Time>,
    /// It carried a D-SACK.
    pub(super) dsack: bool,
}

impl Sender {
    /// Marks losses, and arranges the next look.
    pub(super) fn detect_losses(&mut self, now: Time) -> u32 {
        let recovering = matches!(self.repair.state, Recovery::Recovery | Recovery::Loss);
        let times = (self.rtt.min(), self.rtt.smoothed());
        let (lost, again) = self.rack.detect(&mut self.flight, now, recovering, times);
        self.timers.look_again(again);
        if lost > 0 && !recovering {
            self.reduce(Cause::Loss, now);
        }
        lost
    }

    /// Begins recovery or CWR.
    fn reduce(&mut self, cause: Cause, now: Time) {
        let was_reducing = self.repair.is_reducing();
        if !was_reducing {
            self.repair.remember(&self.window, self.flight.resent());
            self.window.ssthresh = self.control.reduce(cause, now, &self.window);
            (self.repair.prior_cwnd, self.repair.prr_delivered, self.repair.prr_out) =
                (self.window.cwnd, 0, 0);
            self.cwr = self.config.ecn;
        }
        self.repair.end = self.next;
        self.repair.state = if cause == Cause::Ecn { Recovery::Cwr } else { Recovery::Recovery };
        self.repair.probe_end = None;
    }

    /// Moves from state to state as an ACK asks. The window is set here in recovery, and nowhere else.
    pub(super) fn repair(&mut self, progress: Progress, ece: bool, now: Time) {
        if progress.dsack {
            self.rack.needless();
            self.repair.needless();
        }
        self.end_probe(progress, now);
        if self.undo(progress, now) {
            return;
        }
        if ece && matches!(self.repair.state, Recovery::Open | Recovery::Disorder) {
            self.reduce(Cause::Ecn, now);
        }
        match self.repair.state {
            Recovery::Open | Recovery::Disorder => {
                let quiet = self.flight.sacked() == 0 && self.flight.lost() == 0;
                self.repair.state = if quiet { Recovery::Open } else { Recovery::Disorder };
            }
            Recovery::Cwr | Recovery::Recovery if self.acked >= self.repair.end => self.recovered(now),
            Recovery::Cwr | Recovery::Recovery => self.prr(progress),
            Recovery::Loss if self.acked >= self.repair.loss_end => self.recovered(now),
            Recovery::Loss => {}
        }
    }

    /// Proportional rate reduction: as the old window's packets are delivered, the share of the new one is sent.
    fn prr(&mut self, progress: Progress) {
        if self.control.owns_window() || progress.delivered == 0 && progress.lost == 0 {
            return;
        }
        let (threshold, in_network) = (self.window.ssthresh, self.flight.in_network());
        let repair = &mut self.repair;
        repair.prr_delivered += progress.delivered;
        let more = if in_network > threshold {
            let share = u64::from(threshold) * u64::from(repair.prr_delivered);
            (share.div_ceil(u64::from(repair.prior_cwnd.max(1))) as u32).saturating_sub(repair.prr_out)
        } else {
            let due = repair.prr_delivered.saturating_sub(repair.prr_out).max(progress.delivered);
            // Slow-start reduction bound: one more for an ACK that tells of no further loss.
            let bound = due + u32::from(progress.advanced && progress.lost == 0);
            bound.min(threshold - in_network)
        };
        // The first retransmission always leaves.
        let more = more.max(u32::from(repair.prr_out == 0));
        self.window.cwnd = in_network + more;
    }

    fn recovered(&mut self, now: Time) {
        let was = self.repair.state;
        if was != Recovery::Loss && !self.control.owns_window() {
            self.window.cwnd = self.window.ssthresh;
        }
        if was != Recovery::Cwr {
            self.rack.recovered();
        }
        self.repair.before = None;
        self.repair.state = if self.flight.sacked() == 0 { Recovery::Open } else { Recovery::Disorder };
        self.control.on_event(WindowEvent::Recovered, now, &mut self.window);
    }

    /// Sets the window back if what was taken for loss was not: true if so.
    fn undo(&mut self, progress: Progress, now: Time) -> bool {
        let repairing = matches!(self.repair.state, Recovery::Recovery | Recovery::Loss);
        let Some((cwnd, threshold)) = self.repair.before.filter(|_| repairing) else { return false };
        let Some(first_resent) = self.repair.first_resent else { return false };
        let late = progress.advanced && progress.echo < first_resent;
        let all_needless = progress.dsack && self.repair.resent_open == 0;
        // What left before the timeout, and was not sent again, arrived: not everything was lost.
        let before = |timed_out: Time| progress.original.is_some_and(|at| at < timed_out);
        let spurious = self.repair.state == Recovery::Loss && self.repair.timed_out.is_some_and(before);
        if !(late || all_needless || spurious) {
            return false;
        }
        self.window.cwnd = self.window.cwnd.max(cwnd);
        self.window.ssthresh = self.window.ssthresh.max(threshold);
        self.rack.restore(self.flight.find_all());
        self.repair.before = None;
        self.repair.state = if self.flight.sacked() == 0 { Recovery::Open } else { Recovery::Disorder };
        self.timers.backoff = 0;
        self.control.on_event(WindowEvent::Undone, now, &mut self.window);
        true
    }

    /// RFC 8985 section 7.4: a probe that repaired a loss is a loss, and reduces the window.
    fn end_probe(&mut self, progress: Progress, now: Time) {
        if self.repair.probe_end.is_none_or(|end| self.acked < end) {
            return;
        }
        self.repair.probe_end = None;
        if self.repair.probe_is_resent && !progress.dsack && self.repair.state == Recovery::Open {
            self.reduce(Cause::Loss, now);
            self.repair.state = Recovery::Cwr;
        }
    }
}
