//! What an acknowledgement does.
use super::Sender;
use super::flight::{Sent, State};
use super::recovery::Progress;
use crate::{Ack, AckEvent, Control, Recovery};
use fathom_units::{Duration, Time};

/// What an ACK delivered.
#[derive(Default)]
struct Delivered {
    packets: u32,
    cumulative: u32,
    /// When the first and the newest packet were sent, of those never sent again.
    first_sent: Option<Time>,
    newest_sent: Option<Time>,
}

impl Delivered {
    fn add(&mut self, sent: &Sent) {
        self.packets += 1;
        if !sent.retransmitted {
            self.first_sent = Some(self.first_sent.map_or(sent.at, |first| first.min(sent.at)));
            self.newest_sent = self.newest_sent.max(Some(sent.at));
        }
    }
}

impl Sender {
    /// An acknowledgement arrived at `now`.
    pub fn on_ack(&mut self, ack: &Ack, now: Time) {
        if ack.syn {
            return self.established(ack, now);
        }
        self.receive_window = ack.window;
        if ack.ack < self.acked {
            return;
        }
        let in_flight_before = self.flight.in_network();
        let advanced = ack.ack > self.acked;
        self.acked = ack.ack;
        let mut delivered = Delivered::default();
        self.take_cumulative(ack.ack, now, &mut delivered);
        self.take_selective(ack, now, &mut delivered);
        self.sample_rtt(&delivered, now);
        if ack.ece {
            self.delivered_ce += u64::from(delivered.packets);
        }
        if advanced {
            self.timers.backoff = 0;
        }
        let lost = self.detect_losses(now);
        let progress = Progress {
            delivered: delivered.packets,
            lost,
            advanced,
            echo: ack.echo,
            original: delivered.first_sent,
            dsack: ack.dsack,
        };
        self.repair(progress, ack.ece, now);
        if delivered.packets > 0 {
            self.tell_control(ack, &delivered, (in_flight_before, lost), now);
        }
        if advanced || delivered.packets > 0 {
            self.arm(now);
        }
    }

    fn established(&mut self, ack: &Ack, now: Time) {
        if self.established {
            return;
        }
        self.established = true;
        self.receive_window = ack.window;
        self.timers.disarm();
        self.timers.backoff = 0;
        self.rtt.add(now.saturating_since(ack.echo), 0, 0);
        self.rate.restart(now);
    }

    fn take_cumulative(&mut self, ack: u64, now: Time, delivered: &mut Delivered) {
        while let Some(sent) = self.flight.pop(ack) {
            delivered.cumulative += 1;
            if sent.state != State::Sacked {
                self.take(&sent, now, delivered);
            }
        }
    }

    fn take_selective(&mut self, ack: &Ack, now: Time, delivered: &mut Delivered) {
        let ranges = ack.sack.map(|range| (ack.ack + u64::from(range.start), ack.ack + u64::from(range.end)));
        let before = core::mem::replace(&mut self.sacked, ranges);
        if ranges.iter().all(|(start, end)| start >= end) {
            return;
        }
        for (start, end) in ranges {
            for (from, to) in unseen(start, end, &before) {
                self.take_range(from, to, now, delivered);
            }
        }
    }

    fn take_range(&mut self, start: u64, end: u64, now: Time, delivered: &mut Delivered) {
        for number in self.flight.numbers(start, end) {
            let Some(sent) = self.flight.get(number).copied() else { continue };
            if sent.state != State::Sacked {
                self.take(&sent, now, delivered);
                self.flight.set(number, State::Sacked);
            }
        }
    }

    /// A packet is delivered.
    fn take(&mut self, sent: &Sent, now: Time, delivered: &mut Delivered) {
        delivered.add(sent);
        self.rate.deliver(sent, now);
        let min_rtt = self.rtt.min();
        self.rack.delivered(sent, now, min_rtt);
    }

    /// The estimator takes the oldest packet's RTT, which includes the delay of a delayed ACK, as Linux does.
    fn sample_rtt(&mut self, delivered: &Delivered, now: Time) {
        if let Some(at) = delivered.first_sent {
            self.rtt.add(now - at, self.acked, self.next);
        }
    }

    fn tell_control(&mut self, ack: &Ack, delivered: &Delivered, (before, losses): (u32, u32), now: Time) {
        let mss = u64::from(self.config.mss);
        let event = AckEvent {
            now,
            newly_acked: delivered.packets,
            cumulative: delivered.cumulative,
            ece: ack.ece,
            rtt: delivered.newest_sent.map(|at| now - at),
            srtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min(),
            one_way_delay: ack.received_at.saturating_since(ack.echo),
            in_flight_before: before,
            in_flight: self.flight.in_network(),
            delivered: self.rate.delivered,
            delivered_ce: self.delivered_ce,
            next_packet: self.next.div_ceil(mss),
            acked_packet: self.acked.div_ceil(mss),
            recovery: self.repair.state,
            is_cwnd_limited: self.is_cwnd_limited(),
            rate: self.rate.take(losses, self.rtt.min().min(MAX_SHORTEST)),
        };
        let cwnd = self.window.cwnd;
        self.control.on_ack(&event, &mut self.window);
        debug_assert!(
            self.control.owns_window() || self.repair.state != Recovery::Recovery || cwnd == self.window.cwnd,
            "a control changed the window in recovery"
        );
    }
}

/// A sample over less than the smallest RTT is too short to tell a rate; over more than this none is.
const MAX_SHORTEST: Duration = Duration::from_secs(1);

/// Parts of `start..end` that lie in none of the ranges `seen`: at most four.
fn unseen(start: u64, end: u64, seen: &[(u64, u64); 3]) -> impl Iterator<Item = (u64, u64)> + use<> {
    let mut parts = [(start, end), (0, 0), (0, 0), (0, 0)];
    for (round, (from, to)) in seen.iter().copied().enumerate().filter(|(_, (from, to))| from < to) {
        // Each range splits at most one of the parts, which are apart, in two.
        let mut rest = (0, 0);
        for part in &mut parts[..=round] {
            let (low, high) = *part;
            if low < to && from < high {
                *part = (low, from.max(low));
                rest = if to < high { (to, high) } else { rest };
            }
        }
        parts[round + 1] = rest;
    }
    parts.into_iter().filter(|(low, high)| low < high)
}
