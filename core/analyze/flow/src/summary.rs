//! Summary of a capture after reading it completely.
use crate::connection::{Close, Connection};
use crate::flag;
use crate::limit::elapsed;
use crate::probe_totals::ProbesTotals;
use crate::totals::Totals;
use crate::{End, FlowId, Times};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use fathom_capture::Address;

/// Result of the ECN negotiation in a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnMode {
    /// Not requested, or rejected.
    None,
    /// Classic ECN (RFC 3168).
    Classic,
    /// Accurate ECN (RFC 9768).
    Accurate,
}

impl EcnMode {
    /// From the flags of SYN and SYN+ACK. Source: RFC 9768 section 3.1.1, table 2.
    fn of(asked: u16, answered: u16) -> EcnMode {
        const AE: u16 = 0x100;
        const CLASSIC: u16 = flag::CWR | flag::ECE;
        const ALL: u16 = AE | CLASSIC;
        let (asked, answered) = (asked & ALL, answered & ALL);
        let is_classic = answered == flag::ECE || (asked == ALL && answered == AE | flag::ECE);
        match asked {
            CLASSIC | ALL if is_classic => EcnMode::Classic,
            // A responder that reflects all three flags does not support ECN.
            ALL if answered != 0 && answered != ALL => EcnMode::Accurate,
            _ => EcnMode::None,
        }
    }
}

/// Summary of a flow.
#[derive(Clone)]
pub struct FlowSummary {
    /// Identifier.
    pub id: FlowId,
    /// Address and port of A and B.
    pub ends: [(Address, u16); 2],
    /// First packet.
    pub first: Times,
    /// Last packet.
    pub last: Times,
    /// How it ended.
    pub close: Close,
    /// Result of the ECN negotiation; `None` unless both SYNs were captured.
    pub ecn: Option<EcnMode>,
    /// The state used for following, which contains the totals.
    connection: Box<Connection>,
}

impl FlowSummary {
    /// Creates the summary of a flow that was followed elsewhere.
    pub fn new(
        id: FlowId,
        ends: [(Address, u16); 2],
        [first, last]: [Times; 2],
        close: Close,
        totals: [Totals; 2],
    ) -> Self {
        let mut connection = Connection::boxed(id, ends, first);
        connection.halves.iter_mut().zip(totals).for_each(|(half, totals)| half.totals = totals);
        FlowSummary { id, ends, first, last, close, ecn: None, connection }
    }
    pub(crate) fn of(mut connection: Box<Connection>) -> Self {
        connection.finish();
        let Connection { id, ends, first, last, close, .. } = *connection;
        let [a, b] = &connection.halves;
        let ecn = a.syn_flags.zip(b.syn_flags).map(|(asked, answered)| EcnMode::of(asked, answered));
        FlowSummary { id, ends, first, last, close, ecn, connection }
    }
    /// Totals of A and B.
    pub fn totals(&self) -> [&Totals; 2] {
        self.connection.halves.each_ref().map(|half| &half.totals)
    }
    /// Totals of one end.
    pub fn sent_by(&self, end: End) -> &Totals {
        &self.connection.half(end).totals
    }
}

impl fmt::Debug for FlowSummary {
    /// Omits the state that is only needed for following.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FlowSummary { id, ends, first, last, close, ecn, .. } = self;
        write!(f, "{id:?} {ends:?} {first:?} {last:?} {close:?} {ecn:?} {:?}", self.totals())
    }
}

/// Summary of all flows of a capture.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    /// Flows in the order of first packets.
    pub flows: Vec<FlowSummary>,
    /// Requests and responses of protocols other than TCP.
    pub probes: ProbesTotals,
    /// Totals of the whole capture.
    pub totalled: Totalled,
}

impl Flows {
    /// The `count` flows with the most bytes of data, largest first.
    pub fn largest(&self, count: usize) -> Vec<FlowId> {
        let bytes = |flow: &&FlowSummary| flow.totals().iter().map(|side| side.unique_bytes).sum::<u64>();
        let mut all: Vec<&FlowSummary> = self.flows.iter().collect();
        all.sort_by_cached_key(|flow| core::cmp::Reverse(bytes(flow)));
        all.iter().take(count).map(|flow| flow.id).collect()
    }
    /// Adds the flows of another shard of the same capture and numbers all in the order of first
    /// packets. Clocks and probes are kept from `self`, which saw all of them.
    pub(crate) fn join(mut self, other: Flows) -> Flows {
        self.flows.extend(other.flows);
        self.flows.sort_unstable_by_key(|flow| flow.first.frame);
        for (number, flow) in self.flows.iter_mut().enumerate() {
            flow.id = FlowId(number as u32);
        }
        self.totalled.forgotten_flows += other.totalled.forgotten_flows;
        self.totalled.untracked_packets += other.totalled.untracked_packets;
        self
    }
}

/// Totals of a capture that are not per flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totalled {
    /// Number of packets.
    pub packets: u64,
    /// Time of the first packet, ns.
    pub first_at: Option<i64>,
    /// Time of the last packet, ns.
    pub last_at: i64,
    /// Number of backward steps of the clock between consecutive packets.
    pub clock_steps_back: u64,
    /// Largest backward step, ns. With several queues of a card a few microseconds are normal.
    pub longest_step_back_ns: u64,
    /// Number of forgotten flows with one packet.
    pub forgotten_flows: u64,
    /// Number of packets of flows beyond the limit.
    pub untracked_packets: u64,
    /// Number of packets other than TCP, UDP and ICMP, including later fragments.
    pub other_packets: u64,
}

impl Totalled {
    pub(crate) fn clock(&mut self, times: Times) {
        if self.packets == 0 {
            self.first_at = Some(times.at);
        } else if times.at < self.last_at {
            self.step_back(elapsed(times.at, self.last_at));
        }
        self.last_at = times.at;
        self.packets += 1;
    }
    #[cold]
    fn step_back(&mut self, step: u64) {
        self.clock_steps_back += u64::from(step > 0);
        self.longest_step_back_ns = self.longest_step_back_ns.max(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecn_by_the_handshakes_of_rfc_9768() {
        let rows = [
            // AE, CWR and ECE of the SYN, then of the SYN+ACK.
            (0x1c0, 0x080, EcnMode::Accurate),
            (0x1c0, 0x0c0, EcnMode::Accurate),
            (0x1c0, 0x100, EcnMode::Accurate),
            (0x1c0, 0x180, EcnMode::Accurate),
            (0x1c0, 0x140, EcnMode::Classic),
            (0x0c0, 0x040, EcnMode::Classic),
            (0x1c0, 0x040, EcnMode::Classic),
            (0x1c0, 0x000, EcnMode::None),
            (0x1c0, 0x1c0, EcnMode::None),
            (0x000, 0x000, EcnMode::None),
            (0x000, 0x040, EcnMode::None),
            (0x0c0, 0x000, EcnMode::None),
        ];
        for (asked, answered, mode) in rows {
            assert_eq!(EcnMode::of(0x02 | asked, 0x12 | answered), mode, "{asked:x} {answered:x}");
        }
    }
}
