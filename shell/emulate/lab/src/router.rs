//! The routers of the line: they decrement the hop limit and answer packets whose limit is
//! exceeded.
use crate::address::Router as Addresses;
use crate::capture::{LossReason, Point, Recorder};
use crate::slice::{Buffer, Pool, Slice};
use fathom_link::{Event, LinePosition, Router, Verdict};
use fathom_qdisc::DropReason;
use fathom_units::{Direction, Duration, PerDirection, Time};
use fathom_wire::{IpPacket, icmp};
use std::net::IpAddr;

/// Rate limit of ICMP answers.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    answers: u64,
    since: Time,
}

/// Burst and rate per second of a router's ICMP answers, as in Linux (`net.ipv4.icmp_msgs_burst`,
/// `icmp_msgs_per_sec`).
const ANSWERS_AT_ONCE: u64 = 50;
const ANSWERS_PER_SECOND: u64 = 1000;

impl Allowance {
    fn take(&mut self, now: Time) -> bool {
        let each = Duration::from_nanos(1_000_000_000 / ANSWERS_PER_SECOND);
        let earned = now.saturating_since(self.since).as_nanos() / each.as_nanos();
        self.since += each * earned;
        self.answers = (self.answers + earned).min(ANSWERS_AT_ONCE);
        let allowed = self.answers > 0;
        self.answers = self.answers.saturating_sub(1);
        allowed
    }
}

/// All routers of the line, and what their queues did since the last sample.
#[derive(Debug)]
pub(crate) struct Routers {
    routers: Vec<(Addresses, Allowance)>,
    pool: Pool,
    /// Longest sojourn time of packets that left the queue, for each hop, up and down.
    longest_sojourn: Vec<PerDirection<Option<Duration>>>,
    /// Capture recorder, if enabled.
    pub(crate) recorder: Option<Recorder>,
}

impl Routers {
    pub(crate) fn new(addresses: Vec<Addresses>, pool: Pool, recorder: Option<Recorder>) -> Self {
        let hops = addresses.len();
        let full = Allowance { answers: ANSWERS_AT_ONCE, since: Time::ZERO };
        let routers = addresses.into_iter().map(|a| (a, full)).collect();
        Routers { routers, pool, longest_sojourn: vec![PerDirection::default(); hops], recorder }
    }
    /// Longest sojourn time at `position` since the last call; `None` if no packet left the queue.
    pub(crate) fn take_longest_sojourn(&mut self, position: LinePosition) -> Option<Duration> {
        self.sojourn_at(position).take()
    }
    fn sojourn_at(&mut self, position: LinePosition) -> &mut Option<Duration> {
        &mut self.longest_sojourn[position.hop][position.direction]
    }
    /// The Time Exceeded message of router `hop` for `packet`.
    fn answer(&mut self, hop: usize, packet: &Slice, now: Time) -> Option<Slice> {
        let (addresses, allowance) = &mut self.routers[hop];
        let offending = packet.to_bytes();
        let router = match IpPacket::new_checked(&offending[..]).ok()? {
            IpPacket::V4(_) => IpAddr::V4(addresses.v4),
            IpPacket::V6(_) => IpAddr::V6(addresses.v6),
        };
        let answer = icmp::time_exceeded(router, &offending)?;
        if !allowance.take(now) {
            return None;
        }
        let buffer = Buffer::of_packet(answer, &self.pool).ok()?;
        Slice::all(&buffer).next()
    }
}

/// Captures packets at the times given by the line.
impl Routers {
    /// `packet` reached the end of the line in `direction`.
    pub(crate) fn see_exit(&mut self, direction: Direction, packet: &Slice, due: Time) {
        // Upstream, its arrival at the last router was already captured.
        if let (Direction::Down, Some(recorder)) = (direction, &mut self.recorder) {
            recorder.passes(Point::near(0), packet, due);
        }
    }
    fn see_arrival(&mut self, position: LinePosition, packet: &Slice, now: Time) {
        let (last, Some(recorder)) = (self.routers.len() - 1, &mut self.recorder) else { return };
        match position.direction {
            Direction::Up => recorder.passes(Point::far(position.hop), packet, now),
            // Packets from the server have not crossed a link yet.
            Direction::Down if position.hop < last => {
                recorder.passes(Point::near(position.hop + 1), packet, now)
            }
            Direction::Down => {}
        }
    }
    fn see_inside(&mut self, position: LinePosition, packet: &Slice, now: Time) {
        let (last, Some(recorder)) = (self.routers.len() - 1, &mut self.recorder) else { return };
        // Inside the last router is the server's interface, where the kernel's packets are
        // captured.
        if position.hop < last {
            recorder.passes(Point::router(position.hop), packet, now);
        }
    }
}

fn loss_reason(reason: DropReason) -> LossReason {
    match reason {
        DropReason::Overlimit => LossReason::Overlimit,
        DropReason::Aqm => LossReason::Aqm,
        DropReason::AckFilter | DropReason::Expired | DropReason::Oversize => LossReason::Other,
    }
}

impl Router<Slice> for Routers {
    fn arrive(&mut self, position: LinePosition, packet: &mut Slice, now: Time) -> Verdict<Slice> {
        self.see_arrival(position, packet, now);
        if packet.pass_router() {
            self.see_inside(position, packet, now);
            return Verdict::Forward;
        }
        self.answer(position.hop, packet, now).map_or(Verdict::Discard, Verdict::Answer)
    }
    fn event(&mut self, position: LinePosition, event: Event<'_, Slice>, now: Time) {
        if let Event::Dequeued { sojourn, .. } = event {
            let longest = self.sojourn_at(position);
            *longest = (*longest).max(Some(sojourn));
        }
        let Some(recorder) = &mut self.recorder else { return };
        match event {
            Event::Dequeued { packet, .. } => recorder.passes(Point::behind(position), packet, now),
            Event::Dropped { packet, reason, .. } => {
                recorder.loses(position, packet, loss_reason(reason), now)
            }
            Event::Lost { packet } => recorder.loses(position, packet, LossReason::Link, now),
            Event::Marked { .. } | Event::Duplicated { .. } => {}
        }
    }
}
