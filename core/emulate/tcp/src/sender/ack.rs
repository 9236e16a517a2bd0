//! ACK processing.
use super::Sender;
use super::flight::{Sent, State};
use super::undo::Progress;
use crate::{Ack, AckEvent, Control, Recovery};
use fathom_units::{Duration, Time};

/// Earliest and latest send time of delivered packets that were never retransmitted.
#[derive(Clone, Copy, Default)]
struct Span(Option<(Time, Time)>);

impl Span {
    fn add(&mut self, at: Time) {
        self.0 = Some(self.0.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
    }
}

/// What an ACK delivered.
#[derive(Default)]
struct Delivered {
    packets: u32,
    cumulative: u32,
    selective: u32,
    /// It cumulatively ACKed a packet that had been retransmitted.
    resent: bool,
    /// It delivered a packet that was sent once, before the current recovery began.
    original: bool,
    by_ack: Span,
    by_sack: Span,
}

impl Sender {
    /// Handles an ACK that arrived at `now`.
    pub fn on_ack(&mut self, ack: &Ack, now: Time) {
        if ack.syn {
            return self.establish(ack, now);
        }
        if ack.ack > self.next {
            return;
        }
        let in_flight_before = self.flight.in_network();
        let losses_before = self.flight.losses;
        let advanced = ack.ack > self.acked;
        self.repair.new_data_first = false;
        if ack.ack >= self.acked {
            (self.acked, self.receive_window) = (ack.ack, ack.window);
        }
        let mut delivered = Delivered::default();
        let highest = self.rack.highest();
        self.take_selective(ack, now, &mut delivered);
        if advanced {
            self.timers.in_row = 0;
            self.take_cumulative(ack.echo, highest, now, &mut delivered);
        }
        let rtt = self.sample_rtt(ack, &delivered, advanced, now);
        if let Some(start) = self.rate.round_start() {
            self.rack.adapt(start, self.rate.delivered);
        }
        let waits = self.look_after(ack, &delivered, advanced, now);
        if !waits && self.moves_timer(&delivered, advanced) {
            self.is_stale = true;
        }
        let lost = self.flight.losses.wrapping_sub(losses_before);
        if self.repair.is_reducing() {
            self.reduce_proportionally(delivered.packets, lost, advanced);
        }
        if delivered.packets > 0 {
            self.tell_control(ack, &delivered, (in_flight_before, lost, rtt), now);
            self.set_pace();
        }
    }

    /// Handles probes and recovery, if needed. True if the reordering timer was set.
    fn look_after(&mut self, ack: &Ack, delivered: &Delivered, advanced: bool, now: Time) -> bool {
        if ack.ece {
            self.delivered_ce += u64::from(delivered.packets);
        }
        if ack.dsack {
            if self.probe.is_none() {
                self.rack.needless();
            }
            self.repair.undo.needless();
        }
        let is_duplicate = !advanced && delivered.selective == 0 && !ack.dsack;
        if self.probe.is_some() {
            self.end_probe(ack.dsack, is_duplicate, now);
        }
        let is_plain = advanced && delivered.selective == 0 && !ack.ece && !ack.dsack;
        if is_plain && self.repair.state == Recovery::Open {
            return false;
        }
        let progress = Progress {
            advanced,
            selective: delivered.selective,
            original: delivered.original,
            ece: ack.ece,
            echo: ack.echo,
        };
        self.repair(progress, now)
    }

    /// True if the timers restart: the cumulative ACK advanced, or it SACKed a packet sent before
    /// the first one's last transmission. Restarting at each SACK could delay the timeout forever.
    fn moves_timer(&self, delivered: &Delivered, advanced: bool) -> bool {
        let head = self.flight.head();
        advanced
            || delivered
                .by_sack
                .0
                .zip(head)
                .is_some_and(|((first, _), head)| delivered.selective > 0 && first < head.at)
    }

    fn establish(&mut self, ack: &Ack, now: Time) {
        if self.established {
            return;
        }
        self.established = true;
        self.receive_window = ack.window;
        if self.timers.in_row > 1 {
            // RFC 6298 section 5.7 and Linux: more than one SYN was lost.
            self.window.cwnd = 1;
        }
        self.timers.disarm();
        let rtt = now.saturating_since(ack.echo);
        self.rtt.add_least(rtt);
        self.rtt.add(rtt, 0, 0);
        self.rate.restart(now);
        self.set_pace();
    }

    /// An ACK of a segment sent before the retransmission is for the original: RFC 8985 section 6.2
    /// step 2. Linux tests only the minimum RTT, so after an undo it may mark all lost again.
    fn take_cumulative(&mut self, echo: Time, highest: u64, now: Time, delivered: &mut Delivered) {
        while let Some(sent) = self.flight.pop(self.acked) {
            delivered.cumulative += 1;
            delivered.resent |= sent.retransmitted;
            if sent.state != State::Sacked {
                self.take(&sent, now, delivered);
                if !sent.retransmitted {
                    delivered.by_ack.add(sent.at);
                }
                if !sent.retransmitted || echo >= sent.at {
                    self.rack.delivered(&sent, highest, now, self.rtt.min());
                }
            }
        }
    }

    fn take_selective(&mut self, ack: &Ack, now: Time, delivered: &mut Delivered) {
        if ack.sack.iter().all(|range| range.start >= range.end) {
            return;
        }
        let absolute = |offset: u32| (ack.ack + u64::from(offset)).max(self.acked);
        let mut ranges = ack.sack.map(|range| (absolute(range.start), absolute(range.end)));
        // Ascending, so that ranges of one ACK do not look reordered.
        ranges.sort_unstable();
        let before = core::mem::replace(&mut self.sacked, ranges);
        for (start, end) in ranges {
            // Usually a range has grown at its end, or is unchanged.
            let seen = before.iter().filter(|(low, high)| *low <= start && start < *high);
            let start = seen.map(|(_, high)| *high).max().unwrap_or(start);
            if start < end {
                for (from, to) in unseen(start, end, &before) {
                    self.take_range(from, to, now, delivered);
                }
            }
        }
    }

    fn take_range(&mut self, start: u64, end: u64, now: Time, delivered: &mut Delivered) {
        for number in self.flight.numbers(start, end) {
            let Some(sent) = self.flight.get(number).copied() else { continue };
            if sent.state != State::Sacked {
                self.flight.set(number, State::Sacked);
                self.take(&sent, now, delivered);
                self.rack.delivered(&sent, self.rack.highest(), now, self.rtt.min());
                delivered.selective += 1;
                if !sent.retransmitted {
                    delivered.by_sack.add(sent.at);
                }
            }
        }
    }

    /// Records the delivery of a packet.
    fn take(&mut self, sent: &Sent, now: Time, delivered: &mut Delivered) {
        delivered.packets += 1;
        delivered.original |= !sent.retransmitted && sent.end() <= self.repair.end;
        self.rate.deliver(sent, now);
    }

    /// The estimator uses the oldest packet's RTT, with the ACK delay, as in Linux. Returns the
    /// newest packet's. If all were retransmitted, the timestamp counts (RFC 7323 section 4).
    fn sample_rtt(
        &mut self,
        ack: &Ack,
        delivered: &Delivered,
        advanced: bool,
        now: Time,
    ) -> Option<Duration> {
        let by_ack = delivered.by_ack.0.filter(|_| !delivered.resent);
        let by_sack = delivered.by_sack.0;
        let by_echo = advanced.then_some((ack.echo, ack.echo));
        let (oldest, _) = by_ack.or(by_sack).or(by_echo)?;
        let (_, newest) = by_sack.or(by_ack).or(by_echo)?;
        let rtt = now.saturating_since(newest);
        self.rtt.add_least(rtt);
        self.rtt.add(now.saturating_since(oldest), self.acked, self.next);
        self.timers.reset_backoff();
        Some(rtt)
    }

    fn tell_control(
        &mut self,
        ack: &Ack,
        delivered: &Delivered,
        (in_flight_before, losses, rtt): (u32, u32, Option<Duration>),
        now: Time,
    ) {
        let min_rtt = self.rtt.min();
        let event = AckEvent {
            now,
            newly_acked: delivered.packets,
            cumulative: delivered.cumulative,
            ece: ack.ece,
            rtt,
            srtt: self.rtt.smoothed(),
            min_rtt,
            one_way_delay: ack.received_at.saturating_since(ack.echo),
            in_flight_before,
            in_flight: self.flight.in_network(),
            delivered: self.rate.delivered,
            lost: self.flight.losses,
            delivered_ce: self.delivered_ce,
            next_packet: self.flight.next(),
            acked_packet: self.flight.first(),
            recovery: self.repair.state,
            is_cwnd_limited: self.is_cwnd_limited(),
            paced_until: self.pacer.next(),
            rate: self.rate.take(losses, min_rtt),
        };
        let cwnd = self.window.cwnd;
        self.control.on_ack(&event, &mut self.window);
        debug_assert!(
            self.control.owns_window() || self.repair.state != Recovery::Recovery || cwnd == self.window.cwnd,
            "a control changed the window in recovery"
        );
    }
}

/// The parts of `start..end` outside the ranges `seen`: at most four.
fn unseen(start: u64, end: u64, seen: &[(u64, u64); 3]) -> impl Iterator<Item = (u64, u64)> + use<> {
    let mut parts = [(start, end), (0, 0), (0, 0), (0, 0)];
    for (round, (from, to)) in seen.iter().copied().enumerate().filter(|(_, (from, to))| from < to) {
        // The parts are disjoint, so each range splits at most one of them.
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
