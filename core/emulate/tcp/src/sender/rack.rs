//! RACK loss detection, RFC 8985: a packet is lost if one sent later was delivered, plus some time.
//!
//! Originals are sent in order, so a position in the flight is enough for them; retransmissions
//! have a separate queue. Neither is scanned twice, however large the window.
use super::flight::{Flight, Sent, State};
use alloc::collections::VecDeque;
use fathom_units::{Duration, Time};

/// SACKed packets that end the wait for reordering if none was seen: three duplicates.
const DUPLICATE_THRESHOLD: u32 = 3;
/// Recoveries for which a widened reordering window is kept. RFC 8985 section 6.2 step 4.
const KEPT_RECOVERIES: u8 = 16;
/// The minimum RTT divided by this is the unit of the reordering window.
const WINDOW_PARTS: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// All originals below this number are settled.
    from: u64,
    /// Every retransmission in order. Entries of packets resent or ACKed since are stale.
    resent: VecDeque<(u64, Time)>,
    /// The delivered packet that was sent last: its send time and its end.
    newest: (Time, u64),
    /// RTT of the last delivered packet.
    pub(super) rtt: Duration,
    /// Packets were delivered since the last detection.
    pub(super) advanced: bool,
    pub(super) reordering_seen: bool,
    /// A spurious retransmission widens the window once per round trip, here after `widened_at`.
    dsack_seen: bool,
    widened_at: u64,
    /// Size of the reordering window in quarters of the minimum RTT.
    steps: u8,
    recoveries_left: u8,
    /// Highest byte delivered.
    highest: u64,
}

/// The result of loss detection.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Found {
    /// Packets marked lost.
    pub(super) lost: u32,
    /// One of them was a retransmission.
    pub(super) resent: bool,
    /// When to check again packets that may only be late.
    pub(super) again: Option<Time>,
}

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
    pub(super) fn resent(&mut self, number: u64, at: Time) {
        self.resent.push_back((number, at));
    }
    /// Packets from `first` on are no longer considered lost.
    pub(super) fn restart(&mut self, first: u64) {
        (self.from, self.advanced) = (first, true);
    }
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }
    /// Records a delivery. With an RTT below `min_rtt` the ACK is for the original transmission.
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
        // RFC 8985 uses the RTT of the newest packet, Linux that of the last one processed.
        (self.rtt, self.advanced) = (rtt, true);
        self.newest = self.newest.max((sent.at, end));
    }
    /// A D-SACK: the retransmission was spurious. With reordering seen, it widens the window.
    pub(super) fn needless(&mut self) {
        self.dsack_seen |= self.reordering_seen;
    }
    /// Once per delivering ACK. `round_start`: packets delivered when its newest packet was sent.
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
    /// A recovery has ended.
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
            // Linux waits for the last of the late packets, which is next to the newest delivered.
            Verdict::Late(self.newest.0 + allowed)
        } else {
            Verdict::Lost
        }
    }

    /// Marks packets that are lost by now.
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
