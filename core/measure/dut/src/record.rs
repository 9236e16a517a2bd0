//! What was sent, and what arrived.
use crate::{StreamPlan, Traffic};
use alloc::vec;
use alloc::vec::Vec;
use fathom_run::Burst;
use fathom_units::Direction;

/// Headers of UDP and IPv4.
pub(crate) const HEADER_BYTES: u32 = 28;
/// Header of an Ethernet frame.
pub(crate) const ETHERNET_BYTES: u32 = 14;
/// The frames of a stream. Times are nanoseconds of one clock.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamRecord {
    /// What was to be sent.
    pub plan: StreamPlan,
    /// Send time of each frame; 0 for those that another stream sent.
    pub sent_ns: Vec<u64>,
    /// Arrival of each frame, if it arrived.
    pub received_ns: Vec<Option<u64>>,
    /// Time on the way back of the reply to each ping, if that arrived.
    pub returned_ns: Vec<Option<u64>>,
}

/// What was recorded of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Each stream.
    pub streams: Vec<StreamRecord>,
    /// When the last frame of the load was sent.
    pub load_end_ns: u64,
    /// When the test was over.
    pub end_ns: u64,
}

impl StreamRecord {
    /// Nothing of a stream.
    #[must_use]
    pub const fn new(plan: StreamPlan) -> Self {
        StreamRecord { plan, sent_ns: Vec::new(), received_ns: Vec::new(), returned_ns: Vec::new() }
    }
    /// A frame was sent.
    pub fn sent(&mut self, number: u32, at_ns: u64) {
        set(&mut self.sent_ns, number, at_ns, 0);
    }
    /// A frame arrived for the first time.
    pub fn received(&mut self, number: u32, at_ns: u64) {
        if self.received_ns.get(number as usize).is_none_or(Option::is_none) {
            set(&mut self.received_ns, number, Some(at_ns), None);
        }
    }
    /// The reply to a ping arrived.
    pub fn returned(&mut self, number: u32, took_ns: u64) {
        set(&mut self.returned_ns, number, Some(took_ns), None);
    }
    /// Number, send time and arrival of each frame.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (u32, u64, Option<u64>)> + '_ {
        let arrival = |at: usize| self.received_ns.get(at).copied().flatten();
        let all = self.sent_ns.iter().enumerate().filter(|(_, sent)| **sent > 0);
        all.map(move |(at, sent)| (at as u32, *sent, arrival(at)))
    }
    /// Frames of the load.
    pub(crate) fn load(&self) -> impl Iterator<Item = (u32, u64, Option<u64>)> + '_ {
        self.frames().filter(|(number, ..)| self.plan.is_load(*number))
    }
    /// Size of an Ethernet frame without its checksum.
    pub(crate) const fn frame_bytes(&self) -> u32 {
        self.plan.payload_bytes + HEADER_BYTES + ETHERNET_BYTES
    }
}

fn set<T: Copy>(list: &mut Vec<T>, number: u32, value: T, empty: T) {
    let at = number as usize;
    if list.len() <= at {
        list.resize(at + 1, empty);
    }
    list[at] = value;
}

impl Record {
    /// Nothing of a test.
    #[must_use]
    pub fn new(traffic: &Traffic) -> Self {
        let streams = traffic.streams.iter().map(|plan| StreamRecord::new(*plan)).collect();
        Record { streams, load_end_ns: 0, end_ns: 0 }
    }
    /// The burst that its streams sent together.
    pub(crate) fn burst(&self) -> Option<Burst> {
        let parts = || self.streams.iter().filter(|stream| !stream.plan.is_ping());
        let crate::Pattern::Burst { plan, .. } = parts().next()?.plan.pattern else { return None };
        let length = parts().map(|part| part.sent_ns.len()).max()?;
        let (mut sent_ns, mut received_ns) = (vec![0; length], vec![None; length]);
        for (number, sent, received) in parts().flat_map(StreamRecord::frames) {
            sent_ns[number as usize] = sent;
            received_ns[number as usize] = received;
        }
        // The last ones of one stream may not have been sent when another one stopped.
        let whole = sent_ns.iter().position(|sent| *sent == 0).unwrap_or(length);
        sent_ns.truncate(whole);
        received_ns.truncate(whole);
        Some(Burst {
            direction: Direction::Up,
            payload_bytes: plan.payload_bytes,
            header_bytes: HEADER_BYTES,
            before: plan.before,
            count: plan.count,
            echo_every: plan.echo_every,
            ecn: 0,
            ce: Vec::new(),
            is_complete: received_ns.iter().skip((plan.before + plan.count) as usize).any(Option::is_some),
            sent_ns,
            received_ns,
        })
    }
}
