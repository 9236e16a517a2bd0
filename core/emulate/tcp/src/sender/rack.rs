//! Loss by time: RACK, RFC 8985. A packet is lost if one sent later was delivered, and a little more time has passed.
//!
//! Originals were sent in order of their numbers, so that a place in the flight is all that is kept of them; retransmissions
//! stand in a queue of their own. Neither is walked twice, however large the window.
use super::flight::{Flight, Sent, State};
use alloc::collections::VecDeque;
use fathom_units::{Duration, Time};

/// Packets SACKed from which no time is given for reordering, if none was ever seen: the classic three duplicates.
const DUPLICATE_THRESHOLD: u32 = 3;
/// Recoveries for which a widened reordering window is kept. RFC 8985 section 6.2 step 4.
const KEPT_RECOVERIES: u8 = 16;
/// Parts of the smallest RTT by which packets may be late.
const WINDOW_PARTS: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// All originals below this number are settled.
    from: u64,
    /// Number and time of every retransmission, in order. Entries of packets that were sent again or acknowledged are stale.
    resent: VecDeque<(u64, Time)>,
    /// The delivered packet that was sent last: when, and its end.
    newest: (Time, u64),
    /// RTT of the packet delivered last.
    pub(super) rtt: Duration,
    /// Something was delivered since losses were looked for.
    pub(super) advanced: bool,
    pub(super) reordering_seen: bool,
    /// A needless retransmission is to widen the window, but once a round trip: when more than this are delivered.
    dsack_seen: bool,
    widened_at: u64,
    /// Quarters of the smallest RTT in the reordering window.
    steps: u8,
    recoveries_left: u8,
    /// Highest byte delivered.
    highest: u64,
}

/// What a look for losses found.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Found {
    /// Packets marked lost.
    pub(super) lost: u32,
    /// A retransmission was among them.
    pub(super) resent: bool,
    /// For packets that may only be late: when to look again.
    pub(super) again: Option<Time>,
}

/// Of one packet.
enum Verdict {
    Newer,
    Late(Time),
    Lost,
}

impl Rack {
    pub(super) fn new() -> Self {
        Rack {
            from: 0,
            resent: VecDeque::new(),
            newest: (Time::ZERO, 0),
            rtt: Duration::ZERO,
            advanced: false,
            reordering_seen: false,
            dsack_seen: false,
            widened_at: 0,
            steps: 1,
            recoveries_left: 0,
            highest: 0,
        }
    }
    /// A packet was sent again.
    pub(super) fn resent(&mut self, number: u64, at: Time) {
        self.resent.push_back((number, at));
    }
    /// Packets that were taken for lost are under way again, from `first` on.
    pub(super) fn restart(&mut self, first: u64) {
        (self.from, self.advanced) = (first, true);
    }
    /// Highest byte delivered.
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }
    /// `sent` was delivered, after the bytes up to `highest`. `min_rtt` tells an ACK of the original from one of the retransmission.
    pub(super) fn delivered(&mut self, sent: &Sent, highest: u64, now: Time, min_rtt: Duration) {
        let rtt = now.saturating_since(sent.at);
        let end = sent.end();
        if !sent.retransmitted {
            self.reordering_seen |= end < highest;
        }
        self.highest = self.highest.max(end);
        if sent.retransmitted && rtt < min_rtt {
            return;
        }
        // RFC 8985 has the RTT of the newest packet; Linux that of the last one it looks at.
        (self.rtt, self.advanced) = (rtt, true);
        self.newest = self.newest.max((sent.at, end));
    }
    /// A D-SACK: what was resent had arrived. Where reordering is known, packets are later than was thought.
    pub(super) fn needless(&mut self) {
        self.dsack_seen |= self.reordering_seen;
    }
    /// Once per ACK that delivers. `round_start` is what had been delivered when its newest packet was sent.
    pub(super) fn adapt(&mut self, round_start: u64, delivered: u64) {
        if round_start < self.widened_at {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.dsack_seen = false;
            self.widened_at = delivered;
            self.steps = self.steps.saturating_add(1);
            self.recoveries_left = KEPT_RECOVERIES;
        } else if self.recoveries_left == 0 {
            self.steps = 1;
        }
    }
    /// A recovery has ended, with good reason or without.
    pub(super) fn recovered(&mut self, was_needless: bool) {
        if was_needless {
            self.recoveries_left = (self.recoveries_left + 1).min(KEPT_RECOVERIES);
        } else {
            self.recoveries_left = self.recoveries_left.saturating_sub(1);
        }
    }
    fn window(&self, flight: &Flight, recovering: bool, (min_rtt, srtt): (Duration, Duration)) -> Duration {
        if !self.reordering_seen && (recovering || flight.sacked() >= DUPLICATE_THRESHOLD) {
            return Duration::ZERO;
        }
        (min_rtt / WINDOW_PARTS * u64::from(self.steps)).min(srtt)
    }
    fn judge(&self, sent: &Sent, now: Time, allowed: Duration) -> Verdict {
        if self.newest <= (sent.at, sent.end()) {
            Verdict::Newer
        } else if sent.at + allowed > now {
            // Linux waits for the last of those that may be late, which is next to the newest delivered.
            Verdict::Late(self.newest.0 + allowed)
        } else {
            Verdict::Lost
        }
    }

    /// Marks what is lost by now.
    pub(super) fn detect(
        &mut self,
        flight: &mut Flight,
        now: Time,
        recovering: bool,
        times: (Duration, Duration),
    ) -> Found {
        self.advanced = false;
        let allowed = self.rtt + self.window(flight, recovering, times);
        let mut found = Found::default();
        self.detect_originals(flight, now, allowed, &mut found);
        self.detect_resent(flight, now, allowed, &mut found);
        found
    }
    fn detect_originals(&mut self, flight: &mut Flight, now: Time, allowed: Duration, found: &mut Found) {
        self.from = self.from.max(flight.first());
        while let Some(sent) = flight.get(self.from) {
            if sent.state == State::Flying && !sent.retransmitted {
                match self.judge(sent, now, allowed) {
                    Verdict::Newer => return,
                    Verdict::Late(again) => return found.again = Some(again),
                    Verdict::Lost => flight.set(self.from, State::Lost),
                }
                found.lost += 1;
            }
            self.from += 1;
        }
    }
    fn detect_resent(&mut self, flight: &mut Flight, now: Time, allowed: Duration, found: &mut Found) {
        while let Some((number, at)) = self.resent.front().copied() {
            let current = flight.get(number).filter(|sent| sent.at == at && sent.is_under_way());
            if let Some(sent) = current {
                match self.judge(sent, now, allowed) {
                    Verdict::Newer => return,
                    Verdict::Late(again) => return found.again = Some(again),
                    Verdict::Lost => flight.set(number, State::Lost),
                }
                (found.lost, found.resent) = (found.lost + 1, true);
            }
            self.resent.pop_front();
        }
    }
}
