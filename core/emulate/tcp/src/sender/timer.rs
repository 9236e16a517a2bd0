//! Timers: retransmission timeout, tail loss probe, reordering. Only one is armed, as in Linux.
use super::rtt::backed_off;
use super::{Sender, probe};
use crate::Recovery;
use fathom_units::{Duration, Time};

/// Added to short timeouts because clocks are coarse. Linux: 2 ms (`TCP_TIMEOUT_MIN_US`).
pub(super) const SLACK: Duration = Duration::from_millis(2);

/// The armed timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    kind: Kind,
    at: Time,
    /// Number of doublings of the timeout.
    backoff: u32,
    /// Timeouts since the cumulative ACK last advanced.
    pub(super) in_row: u32,
    /// The next poll sends a tail loss probe.
    pub(super) probe_due: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Off,
    Opening,
    Retransmission,
    Probe,
    Reordering,
}

impl Timers {
    pub(super) const fn new() -> Self {
        Timers { kind: Kind::Off, at: Time::MAX, backoff: 0, in_row: 0, probe_due: false }
    }
    pub(super) fn next(&self) -> Option<Time> {
        (self.kind != Kind::Off).then_some(self.at)
    }
    pub(super) fn disarm(&mut self) {
        *self = Timers { probe_due: self.probe_due, ..Timers::new() };
    }
    /// A valid RTT sample shows that the path works.
    pub(super) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }
}

impl Sender {
    /// Runs the timer that is due, if any. Call [`Sender::poll_transmit`] afterwards.
    pub fn on_timer(&mut self, now: Time) {
        if self.timers.next().is_none_or(|at| at > now) {
            return;
        }
        match self.timers.kind {
            Kind::Off => {}
            Kind::Opening => {
                self.timers.backoff += 1;
                self.timers.in_row += 1;
                self.timers.kind = Kind::Off;
                self.syn_sent = None;
            }
            Kind::Retransmission => {
                self.time_out(now);
                self.timers.in_row += 1;
                self.timers.backoff += 1;
                self.arm_timeout(now);
            }
            // At most one probe is outstanding.
            Kind::Probe if self.probe.is_some() => self.await_timeout(now),
            Kind::Probe => {
                self.timers.probe_due = true;
                self.await_timeout(now);
            }
            Kind::Reordering => {
                self.give_up_late(now);
                self.await_timeout(now);
            }
        }
    }

    fn set_timer(&mut self, kind: Kind, at: Time) {
        // The kernel's timers fire on ticks.
        let tick = self.config.granularity.as_nanos().max(1);
        let ticks = at.as_nanos().div_ceil(tick);
        (self.timers.kind, self.timers.at) = (kind, Time::from_nanos(ticks.saturating_mul(tick)));
    }
    pub(super) fn arm_opening(&mut self, now: Time) {
        let timeout = backed_off(self.config.initial_rto, self.timers.backoff, self.config.max_rto);
        self.set_timer(Kind::Opening, now + timeout);
    }
    fn timeout(&self) -> Duration {
        let timeout = if self.rtt.is_known() { self.rtt.timeout() } else { self.config.initial_rto };
        backed_off(timeout, self.timers.backoff, self.config.max_rto)
    }
    /// Starts the timeout now.
    pub(super) fn arm_timeout(&mut self, now: Time) {
        if self.flight.out() == 0 {
            return self.timers.disarm();
        }
        self.set_timer(Kind::Retransmission, now + self.timeout());
    }
    /// Resumes the timeout after another timer: it runs since the first packet was sent.
    fn await_timeout(&mut self, now: Time) {
        let Some(head) = self.flight.head() else { return self.timers.disarm() };
        let at = (head.at + self.timeout()).max(now + Duration::from_nanos(1));
        self.set_timer(Kind::Retransmission, at);
    }
    /// Some packets may only be late: check again at `at`.
    pub(super) fn await_reordering(&mut self, at: Time) {
        self.set_timer(Kind::Reordering, at + SLACK);
    }
    /// The first packet was retransmitted.
    pub(super) fn restart_timeout(&mut self, now: Time) {
        if self.timers.kind != Kind::Reordering {
            self.arm_timeout(now);
        }
    }

    /// Arms a timer after ACKs or transmissions: the probe if allowed, else the timeout.
    pub(super) fn arm(&mut self, has_sent: bool, now: Time) {
        let is_stale = core::mem::take(&mut self.is_stale);
        if !has_sent && !is_stale {
            return;
        }
        let Some(head) = self.flight.head() else { return self.timers.disarm() };
        let head_at = head.at;
        if self.may_probe() {
            // Sending alone does not delay the timeout.
            let timeout = if has_sent { head_at } else { now } + self.timeout();
            let probe = now + self.probe_timeout();
            self.set_timer(Kind::Probe, if timeout > now { probe.min(timeout) } else { probe });
            return;
        }
        let was_probing = matches!(self.timers.kind, Kind::Probe | Kind::Reordering);
        if is_stale && !was_probing {
            self.arm_timeout(now);
        } else if is_stale || matches!(self.timers.kind, Kind::Off | Kind::Probe) {
            self.await_timeout(now);
        }
    }

    /// RFC 8985 section 7.2: not during recovery.
    fn may_probe(&self) -> bool {
        matches!(self.repair.state, Recovery::Open | Recovery::Cwr)
    }
    fn probe_timeout(&self) -> Duration {
        if !self.rtt.is_known() {
            return self.config.initial_rto;
        }
        // The ACK of a single packet may be delayed.
        let more = if self.flight.out() == 1 { self.config.min_rto } else { SLACK };
        self.rtt.smoothed() * probe::RTTS + more
    }
}
