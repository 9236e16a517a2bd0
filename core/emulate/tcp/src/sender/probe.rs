//! Tail loss probe, RFC 8985 section 7: no later packet reveals the loss of a burst's last one.
use super::Sender;
use super::flight::State;
use crate::{Cause, Data, Recovery};
use fathom_units::Time;

/// Smoothed RTTs until a probe.
pub(super) const RTTS: u64 = 2;

/// An outstanding probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// End of the data sent up to the probe.
    end: u64,
    /// It was a retransmission, so its ACK may reveal a loss.
    pub(super) is_resent: bool,
}

impl Sender {
    /// The probe that is due, regardless of the window: new data, or else the last packet.
    pub(super) fn tail_probe(&mut self, now: Time) -> Option<Data> {
        if !core::mem::take(&mut self.timers.probe_due) || self.flight.out() == 0 {
            return None;
        }
        let is_new = self.may_send_new();
        let data = if is_new { Some(self.send_new(now)) } else { self.send_last(now) };
        if data.is_some() {
            self.pace(1, false, now);
            self.probe = Some(Probe { end: self.next, is_resent: !is_new });
            self.arm_timeout(now);
            // A probe is not followed by another one.
            (self.has_sent, self.is_stale) = (false, false);
        }
        data
    }
    fn send_last(&mut self, now: Time) -> Option<Data> {
        let last = self.flight.next().checked_sub(1)?;
        self.flight.get(last).filter(|sent| sent.state == State::Flying)?;
        self.retransmit(last, now)
    }

    /// RFC 8985 section 7.4: a probe that repaired a loss reduces the window. If the original
    /// arrived too, there is a D-SACK or a duplicate ACK.
    pub(super) fn end_probe(&mut self, dsack: bool, is_duplicate: bool, now: Time) {
        let Some(probe) = self.probe.filter(|probe| self.acked >= probe.end) else { return };
        if !probe.is_resent || dsack {
            self.probe = None;
        } else if self.acked > probe.end {
            self.reduce(Cause::Loss, now);
            self.repair.state = Recovery::Cwr;
            self.end_reduction(now);
            let is_quiet = self.flight.sacked() == 0 && self.flight.lost() == 0;
            self.repair.state = if is_quiet { Recovery::Open } else { Recovery::Disorder };
        } else if is_duplicate {
            self.probe = None;
        }
    }
}
