//! Observes the inside of the line.
use crate::packet::{Body, BoxedPacket, Packet};
use crate::queue_log::{QueueLog, Wait};
use alloc::vec::Vec;
use fathom_link::{Event, LinePosition, Router, Verdict};
use fathom_qdisc::Packet as _;
use fathom_units::{Duration, PerDirection, Time};

/// Counts events on the line and keeps the longest sojourns.
pub(crate) struct Watch {
    /// Longest sojourn of each hop since the last query.
    longest: Vec<PerDirection<Option<Duration>>>,
    /// Drops per flow.
    pub(crate) dropped: Vec<u64>,
    pub(crate) marked: Vec<u64>,
    pub(crate) counted: Inside,
    /// Every packet's wait, if asked for.
    pub(crate) log: Option<QueueLog>,
}

/// Packet counts by event inside the line.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Inside {
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
}

impl Watch {
    pub(crate) fn new(hops: usize) -> Self {
        let longest = alloc::vec![PerDirection::default(); hops];
        Watch { longest, dropped: Vec::new(), marked: Vec::new(), counted: Inside::default(), log: None }
    }
    /// Adds a flow.
    pub(crate) fn open(&mut self) {
        self.dropped.push(0);
        self.marked.push(0);
    }
    fn log_event(&mut self, position: LinePosition, event: &Event<'_, BoxedPacket>, now: Time) {
        let Some(log) = &mut self.log else { return };
        match event {
            Event::Dequeued { packet, sojourn, .. } => {
                let is_udp_probe = matches!(packet.body(), Body::Probe { is_icmp: false, .. });
                let (arrived, ip_bytes) = (now.saturating_sub(*sojourn), packet.ip_len().get() as u32);
                log.left(
                    position,
                    Wait { arrived, sojourn: *sojourn, ip_bytes, left_bytes: 0, is_udp_probe },
                );
            }
            Event::Dropped { packet, .. } | Event::Lost { packet } => {
                if let Body::Probe { is_icmp: false, sent_at, .. } = packet.body() {
                    log.lost_probes.push(sent_at);
                }
            }
            Event::Marked { .. } | Event::Duplicated { .. } => {}
        }
    }
    /// The longest sojourn at `position` since the last query.
    pub(crate) fn take_longest(&mut self, position: LinePosition) -> Option<Duration> {
        self.longest[position.hop][position.direction].take()
    }
}

/// Counts a packet of a flow; probes have no counters.
fn count(counters: &mut [u64], packet: &Packet) {
    if let Some(counter) = counters.get_mut(packet.flow as usize) {
        *counter += 1;
    }
}

impl Router<BoxedPacket> for Watch {
    fn arrive(&mut self, position: LinePosition, packet: &mut BoxedPacket, _: Time) -> Verdict<BoxedPacket> {
        // `END` never matches, because no line has that many routers.
        if usize::from(packet.leaves) == position.hop { Verdict::Leave } else { Verdict::Forward }
    }
    fn event(&mut self, position: LinePosition, event: Event<'_, BoxedPacket>, now: Time) {
        self.log_event(position, &event, now);
        match event {
            Event::Dequeued { sojourn, .. } => {
                let longest = &mut self.longest[position.hop][position.direction];
                *longest = (*longest).max(Some(sojourn));
            }
            Event::Marked { packet, .. } => count(&mut self.marked, packet),
            Event::Dropped { packet, .. } => {
                self.counted.dropped += 1;
                count(&mut self.dropped, packet);
            }
            Event::Lost { .. } => self.counted.lost += 1,
            Event::Duplicated { .. } => self.counted.duplicated += 1,
        }
    }
}
