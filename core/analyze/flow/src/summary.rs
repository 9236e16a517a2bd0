//! What is kept of a capture when it was read to its end.
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

/// What a handshake made of ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnMode {
    /// It was not asked for, or refused.
    None,
    /// That of RFC 3168.
    Classic,
    /// Accurate ECN (RFC 9768).
    Accurate,
}

impl EcnMode {
    /// By the flags of SYN and SYN+ACK. Source: RFC 9768 section 3.1.1, table 2.
    fn of(asked: u16, answered: u16) -> EcnMode {
        const AE: u16 = 0x100;
        const CLASSIC: u16 = flag::CWR | flag::ECE;
        const ALL: u16 = AE | CLASSIC;
        let (asked, answered) = (asked & ALL, answered & ALL);
        let is_classic = answered == flag::ECE || (asked == ALL && answered == AE | flag::ECE);
        match asked {
            CLASSIC | ALL if is_classic => EcnMode::Classic,
            // All three come from one that sends back what it got.
            ALL if answered != 0 && answered != ALL => EcnMode::Accurate,
            _ => EcnMode::None,
        }
    }
}

/// A flow.
#[derive(Clone)]
pub struct FlowSummary {
    /// Its number.
    pub id: FlowId,
    /// Address and port of A, then of B.
    pub ends: [(Address, u16); 2],
    /// Its first packet.
    pub first: Times,
    /// Its last packet.
    pub last: Times,
    /// How it ended.
    pub close: Close,
    /// What the handshake made of ECN; `None` if not both of its SYNs were seen.
    pub ecn: Option<EcnMode>,
    /// Where it was followed, and its totals stay.
    connection: Box<Connection>,
}

impl FlowSummary {
    /// A flow between two ends, with its first and its last packet, of which all this is known from elsewhere.
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
    /// What A sent, then B.
    pub fn totals(&self) -> [&Totals; 2] {
        self.connection.halves.each_ref().map(|half| &half.totals)
    }
    /// What one end sent.
    pub fn sent_by(&self, end: End) -> &Totals {
        &self.connection.half(end).totals
    }
}

impl fmt::Debug for FlowSummary {
    /// Without what was needed only to follow it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FlowSummary { id, ends, first, last, close, ecn, .. } = self;
        write!(f, "{id:?} {ends:?} {first:?} {last:?} {close:?} {ecn:?} {:?}", self.totals())
    }
}

/// All flows of a capture.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    /// In order of first packets.
    pub flows: Vec<FlowSummary>,
    /// What was asked and answered apart from TCP.
    pub probes: ProbesTotals,
    /// What was counted over all.
    pub totalled: Totalled,
}

impl Flows {
    /// With those of another part of the same capture: numbered in the order of first packets. Clocks and probes are those of this part, which saw
    /// them all.
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

/// What is counted over a capture, apart from flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totalled {
    /// Packets.
    pub packets: u64,
    /// The first packet's time, ns.
    pub first_at: Option<i64>,
    /// The last packet's time, ns.
    pub last_at: i64,
    /// How often the clock went back from one packet to the next.
    pub clock_steps_back: u64,
    /// The most that it went back by, ns. Some microseconds are the rule where several queues of a card are captured.
    pub longest_step_back_ns: u64,
    /// Flows of one packet that were forgotten.
    pub forgotten_flows: u64,
    /// Packets of flows beyond the bound.
    pub untracked_packets: u64,
    /// Packets of neither TCP, UDP nor ICMP, and later fragments.
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
            // AE CWR ECE of SYN, then of SYN+ACK.
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
