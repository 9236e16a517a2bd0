//! Timers: retransmission timeout, tail loss probe, reordering. One is armed at a time, as in Linux, but for reordering.
use super::rtt::due;
use super::{Sender, State};
use crate::{Cause, Control, Data, Recovery};
use fathom_units::{Duration, Time};

/// Added to a probe's timeout if one packet alone is out, whose ACK may be delayed. Linux: the least RTO.
const LONE_PACKET: Duration = Duration::from_millis(200);
/// Ticks added else, for rounding. Linux: two.
const ROUNDING_TICKS: u64 = 2;

/// What is armed.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Timers {
    main: Option<(Time, Main)>,
    reordering: Option<Time>,
    /// Doublings of the timeout.
    pub(super) backoff: u32,
    /// A tail loss probe is to leave at the next poll.
    probe_due: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Main {
    Opening,
    Retransmission,
    Probe,
}

impl Timers {
    pub(super) fn next(&self) -> Option<Time> {
        [self.main.map(|(at, _)| at), self.reordering].into_iter().flatten().min()
    }
    pub(super) fn is_armed(&self) -> bool {
        self.main.is_some()
    }
    pub(super) fn arm_opening(&mut self, now: Time, timeout: Duration) {
        self.main = Some((due(now, timeout, self.backoff, Duration::from_secs(120)), Main::Opening));
    }
    pub(super) fn disarm(&mut self) {
        self.main = None;
    }
    pub(super) fn look_again(&mut self, at: Option<Time>) {
        self.reordering = at;
    }
}

impl Sender {
    /// What a timer that is due asks for. Does nothing before its time.
    pub fn on_timer(&mut self, now: Time) {
        if self.timers.reordering.is_some_and(|at| at <= now) {
            self.timers.reordering = None;
            self.detect_losses(now);
        }
        let Some((at, kind)) = self.timers.main else { return };
        if at > now {
            return;
        }
        self.timers.main = None;
        match kind {
            Main::Opening => {
                self.timers.backoff += 1;
                self.syn_sent = None;
            }
            Main::Probe => self.timers.probe_due = true,
            Main::Retransmission => self.time_out(now),
        }
    }

    /// Arms the timer after sending or after an ACK: a probe where one is allowed, else the timeout.
    pub(super) fn arm(&mut self, now: Time) {
        if self.flight.out() == 0 {
            self.timers.disarm();
            return;
        }
        let timeout = self.round_up(due(now, self.timeout(), self.timers.backoff, self.config.max_rto));
        let probe =
            self.may_probe().then(|| self.round_up(now + self.probe_timeout())).filter(|at| *at < timeout);
        self.timers.main = Some(probe.map_or((timeout, Main::Retransmission), |at| (at, Main::Probe)));
    }
    fn timeout(&self) -> Duration {
        if self.rtt.is_known() { self.rtt.timeout() } else { self.config.initial_rto }
    }
    /// The kernel's timers fire on its ticks.
    fn round_up(&self, at: Time) -> Time {
        let tick = self.config.granularity.as_nanos().max(1);
        Time::from_nanos(at.as_nanos().div_ceil(tick) * tick)
    }

    /// RFC 8985 section 7.2: nothing is SACKed, no repair is going on, no probe is out.
    fn may_probe(&self) -> bool {
        let repair = &self.repair;
        repair.state == Recovery::Open
            && self.flight.sacked() == 0
            && repair.probe_end.is_none()
            && self.rtt.is_known()
    }
    fn probe_timeout(&self) -> Duration {
        let more =
            if self.flight.out() == 1 { LONE_PACKET } else { self.config.granularity * ROUNDING_TICKS };
        self.rtt.smoothed() * 2 + more
    }
    /// The probe that is due: new data if there is, else the last packet again.
    pub(super) fn tail_probe(&mut self, now: Time) -> Option<Data> {
        if !core::mem::take(&mut self.timers.probe_due) {
            return None;
        }
        let is_new = self.may_send_new();
        let last = self.flight.next().checked_sub(1);
        let last = last.filter(|last| self.flight.get(*last).is_some_and(|sent| sent.state == State::Flying));
        let data =
            if is_new { Some(self.send_new(now)) } else { last.and_then(|last| self.resend(last, now)) };
        if data.is_some() {
            self.repair.probe_end = Some(self.next);
            self.repair.probe_is_resent = !is_new;
            self.last_sent = Some(now);
        }
        self.arm(now);
        data
    }

    /// RFC 6298 section 5 and RFC 5681 section 3.1.
    fn time_out(&mut self, now: Time) {
        // Once per window of data: a timeout in mid-recovery, or the next of a row, does not halve the threshold again.
        let fresh = match self.repair.state {
            Recovery::Open | Recovery::Disorder => true,
            Recovery::Cwr | Recovery::Recovery => self.acked >= self.repair.end,
            Recovery::Loss => self.timers.backoff == 0,
        };
        if fresh {
            self.repair.remember(&self.window, self.flight.resent());
            self.window.ssthresh = self.control.reduce(Cause::Timeout, now, &self.window);
        }
        self.repair.timed_out = fresh.then_some(now);
        self.flight.lose_all();
        self.repair.state = Recovery::Loss;
        self.repair.loss_end = self.next;
        self.repair.probe_end = None;
        self.window.cwnd = self.flight.in_network() + 1;
        self.cwr = false;
        self.timers.backoff += 1;
        self.pace_at = now;
        self.arm(now);
    }
}
