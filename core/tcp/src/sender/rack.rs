//! Loss by time: RACK, RFC 8985. A packet is lost if one sent later was delivered, and a little more time has passed.
use super::flight::{Flight, Sent, State};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_units::{Duration, Time};

/// Packets SACKed from which no time is given for reordering, if none was ever seen: the classic three duplicates.
const DUPLICATE_THRESHOLD: u32 = 3;
/// Recoveries for which a widened reordering window is kept. RFC 8985 section 6.2 step 4.
const KEPT_RECOVERIES: u32 = 16;
/// Parts of the smallest RTT by which packets may be late.
const WINDOW_PARTS: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Number and time of every transmission, in order. Entries of packets that were sent again or acknowledged are stale.
    order: VecDeque<(u64, Time)>,
    /// The delivered packet that was sent last: when, its end, its RTT.
    newest: Option<(Time, u64)>,
    rtt: Duration,
    /// Quarters of the smallest RTT in the reordering window.
    steps: u64,
    recoveries_left: u32,
    pub(super) reordering_seen: bool,
    /// Highest byte delivered.
    highest: u64,
}

impl Rack {
    pub(super) fn new() -> Self {
        Rack {
            order: VecDeque::new(),
            newest: None,
            rtt: Duration::ZERO,
            steps: 1,
            recoveries_left: 0,
            reordering_seen: false,
            highest: 0,
        }
    }
    pub(super) fn sent(&mut self, number: u64, at: Time) {
        self.order.push_back((number, at));
    }
    /// Packets that were taken for lost are under way again. They left before all that is still looked at.
    pub(super) fn restore(&mut self, mut found: Vec<(u64, Time)>) {
        found.sort_by_key(|(number, at)| (*at, *number));
        found.into_iter().rev().for_each(|entry| self.order.push_front(entry));
    }
    /// `sent` was delivered. `min_rtt` tells an ACK of the original from one of the retransmission.
    pub(super) fn delivered(&mut self, sent: &Sent, now: Time, min_rtt: Duration) {
        if !sent.retransmitted && sent.end() < self.highest {
            self.reordering_seen = true;
        }
        self.highest = self.highest.max(sent.end());
        let rtt = now - sent.at;
        if sent.retransmitted && rtt < min_rtt {
            return;
        }
        let key = (sent.at, sent.end());
        if self.newest.is_none_or(|newest| newest < key) {
            (self.newest, self.rtt) = (Some(key), rtt);
        }
    }
    /// A D-SACK: what was resent had arrived, so packets are later than was thought.
    pub(super) fn needless(&mut self) {
        self.steps = (self.steps + 1).min(255);
        self.recoveries_left = KEPT_RECOVERIES;
    }
    /// A recovery has ended.
    pub(super) fn recovered(&mut self) {
        self.recoveries_left = self.recoveries_left.saturating_sub(1);
        if self.recoveries_left == 0 {
            self.steps = 1;
        }
    }
    fn window(&self, flight: &Flight, recovering: bool, min_rtt: Duration, srtt: Duration) -> Duration {
        if !self.reordering_seen && (recovering || flight.sacked() >= DUPLICATE_THRESHOLD) {
            return Duration::ZERO;
        }
        Duration::from_nanos(min_rtt.as_nanos() / WINDOW_PARTS * self.steps).min(srtt)
    }
    /// Marks what is lost by now. Gives the number of packets so marked, and when to look again for one that may be late.
    pub(super) fn detect(
        &mut self,
        flight: &mut Flight,
        now: Time,
        recovering: bool,
        (min_rtt, srtt): (Duration, Duration),
    ) -> (u32, Option<Time>) {
        let Some(newest) = self.newest else { return (0, None) };
        let allowed = self.rtt + self.window(flight, recovering, min_rtt, srtt);
        let mut lost = 0;
        while let Some((number, at)) = self.order.front().copied() {
            let current = flight.get(number).filter(|sent| sent.at == at);
            let under_way = current.filter(|sent| matches!(sent.state, State::Flying | State::Resent));
            if let Some(sent) = under_way {
                if newest <= (at, sent.end()) {
                    return (lost, None);
                }
                if at + allowed > now {
                    return (lost, Some(at + allowed));
                }
                flight.set(number, State::Lost);
                lost += 1;
            }
            self.order.pop_front();
        }
        (lost, None)
    }
}
