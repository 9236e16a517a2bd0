//! Why a segment is sent again.
use crate::half::{Arrival, Half};
use crate::limit::elapsed;
use crate::rtt::Estimator;
use crate::seen::Hole;
use crate::selective::DUP_THRESH;
use crate::{Cause, Times};

/// The transmission before this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) times: Times,
    /// It was a retransmission itself.
    pub(crate) is_repair: bool,
}

/// Data of a full segment on Ethernet, IPv4 and TCP without options.
const ETHERNET_MSS: u64 = 1460;

impl Half {
    /// Why `arrival` is sent again, by what the sender can know: the duplicate ACKs and SACKs that passed here, and the time.
    pub(crate) fn cause(
        &mut self,
        arrival: &Arrival,
        last: Option<Sending>,
        hole: Option<(u64, Hole)>,
        path: Estimator,
    ) -> Cause {
        let start = arrival.start.max(self.acknowledged);
        if arrival.start < self.timeout_until {
            return Cause::Timeout;
        }
        let is_first = start == self.acknowledged;
        let is_repair = last.is_some_and(|last| last.is_repair);
        let is_told =
            self.sacked.tells_loss(start, self.full_segment()) || (is_first && self.duplicates >= DUP_THRESH);
        if is_told && !is_repair {
            self.recovery_until = self.highest;
            return Cause::Fast;
        }
        let since =
            last.map(|last| last.times).or(hole.map(|(_, hole)| hole.opened)).map_or(0, |times| times.at);
        let waited = elapsed(since.max(self.advanced_at), arrival.times.at);
        // The timer of the sender may be a little shorter than what is reckoned here.
        if is_first && waited >= path.timeout() / 8 * 7 {
            self.timeout_until = self.highest;
            return Cause::Timeout;
        }
        let is_passed = self.sacked.is_passed(start);
        // In recovery, what SACK shows to be missing is sent again without further proof, and so is what a partial ACK stops at.
        if start < self.recovery_until && !is_repair && (is_passed || is_first) {
            return Cause::Fast;
        }
        // RFC 8985 section 6.2: what was sent later has arrived.
        let is_overtaken = last.is_some_and(|last| last.times.at < self.delivered);
        if is_told || is_passed || is_overtaken {
            self.recovery_until = self.highest;
            return Cause::Probe;
        }
        // RFC 8985 section 7.2: two smoothed round trips after the last segment was sent; the capture may be anywhere on the path.
        let is_tail = arrival.stop >= self.highest;
        let is_due = path.smoothed() > 0 && waited >= path.smoothed();
        if is_tail && !is_repair && is_due { Cause::Probe } else { Cause::Unknown }
    }
    /// Bytes of a full segment: by the handshake, or else the longest so far, if Ethernet could carry it.
    fn full_segment(&self) -> u64 {
        if self.full > 0 {
            u64::from(self.full)
        } else {
            self.totals.segment_bytes.max.clamp(1, ETHERNET_MSS)
        }
    }
}
