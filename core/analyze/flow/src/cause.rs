//! Causes of retransmissions.
use crate::half_connection::{Arrival, HalfConnection};
use crate::limit::elapsed;
use crate::rtt::Estimator;
use crate::sack_scoreboard::DUP_THRESH;
use crate::sent_segments::Hole;
use crate::{RetransmissionCause, Times};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) times: Times,
    pub(crate) is_repair: bool,
}

/// Payload of a full-size segment with Ethernet, IPv4 and TCP without options.
const ETHERNET_MSS: u64 = 1460;

impl HalfConnection {
    /// Infers the cause of a retransmission from what its sender can know: the duplicate ACKs and
    /// SACKs that were captured, and the time.
    pub(crate) fn cause(
        &mut self,
        arrival: &Arrival,
        last: Option<Sending>,
        hole: Option<(u64, Hole)>,
        path: Estimator,
    ) -> RetransmissionCause {
        let start = arrival.start.max(self.acknowledged);
        let is_first = start == self.acknowledged;
        let is_repair = last.is_some_and(|last| last.is_repair);
        let is_passed = self.sacked.is_passed(start);
        // RFC 8985 section 6.2: a segment that was sent later has arrived.
        let is_overtaken = last.is_some_and(|last| last.times.at < self.delivered);
        if arrival.start < self.timeout_until {
            return if is_repair && (is_passed || is_overtaken) {
                RetransmissionCause::Probe
            } else {
                RetransmissionCause::Timeout
            };
        }
        let is_reported_lost =
            self.sacked.is_lost(start, self.full_segment()) || (is_first && self.duplicates >= DUP_THRESH);
        if is_reported_lost && !is_repair {
            return self.recover();
        }
        let sent =
            last.map(|last| last.times).or(hole.map(|(_, hole)| hole.opened)).map_or(0, |times| times.at);
        let now = arrival.times.at;
        if is_first && self.is_timeout(elapsed(sent, now), elapsed(self.advanced_at, now), path) {
            self.timeout_until = self.highest;
            return RetransmissionCause::Timeout;
        }
        // Fewer SACKs than RFC 6675 requires suffice for RACK and in recovery; or a partial ACK.
        if !is_repair && (is_passed || (is_first && start < self.recovery_until)) {
            return self.recover();
        }
        if is_reported_lost || is_passed || is_overtaken {
            return RetransmissionCause::Probe;
        }
        // RFC 8985 section 7.2: tail loss probe, two smoothed round trips after the last segment.
        // One is required here because the capture point may be anywhere on the path.
        let is_tail = arrival.stop >= self.highest;
        let quiet = elapsed(sent.max(self.advanced_at), now);
        let is_due = path.smoothed() > 0 && quiet >= path.smoothed();
        if is_tail && !is_repair && is_due {
            RetransmissionCause::Probe
        } else {
            RetransmissionCause::Unknown
        }
    }
    /// Fast retransmit: recovery lasts until all data sent so far is acknowledged.
    const fn recover(&mut self) -> RetransmissionCause {
        self.recovery_until = self.highest;
        RetransmissionCause::Fast
    }
    /// Whether the retransmission timer may have expired. RFC 6298 restarts it at each ACK, Linux
    /// counts from the transmission. The sender's timeout may be slightly shorter than the one
    /// estimated here.
    fn is_timeout(&self, since_sent: u64, since_ack: u64, path: Estimator) -> bool {
        let timeout = path.timeout();
        since_sent >= timeout / 8 * 7 && (self.advanced_at == 0 || since_ack >= timeout / 2)
    }
    /// Payload of a full-size segment: by handshake, or else the largest so far, up to Ethernet's.
    fn full_segment(&self) -> u64 {
        if self.full > 0 {
            u64::from(self.full)
        } else {
            self.totals.segment_bytes.max.clamp(1, ETHERNET_MSS)
        }
    }
}
