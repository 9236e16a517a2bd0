//! Flows: what has a number, a way, and two ends.
use crate::net::Edge;
use crate::packet::Label;
use alloc::boxed::Box;
use fathom_tcp::{Receiver, Sender};
use fathom_units::{Direction, Duration, Time};

/// One direction of a TCP connection, or of datagrams.
pub(crate) struct Flow {
    pub(crate) ends: Ends,
    /// Of its data.
    pub(crate) direction: Direction,
    pub(crate) edge: Edge,
    pub(crate) dscp: u8,
    pub(crate) host: u8,
    /// It belongs to this unit, which knows it by this tag.
    pub(crate) unit: u32,
    pub(crate) tag: u32,
    /// The unit is told when so many bytes have been delivered.
    pub(crate) goal: u64,
    /// Bytes given to its sender.
    pub(crate) written: u64,
    pub(crate) opened: Time,
    pub(crate) total: Total,
}

/// What it came to.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Total {
    pub(crate) delivered_bytes: u64,
    pub(crate) sent_packets: u64,
    pub(crate) delivered_packets: u64,
    /// Sum over the datagrams delivered, in nanoseconds.
    pub(crate) delay_ns: u128,
    pub(crate) retransmits: u64,
    /// See [`Flow::acknowledged_bytes`].
    pub(crate) acknowledged_bytes: u64,
    pub(crate) closed: Option<Time>,
}

pub(crate) enum Ends {
    Tcp(Box<Tcp>),
    Datagrams,
    Closed,
}

pub(crate) struct Tcp {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// When the agenda wakes them; [`Time::MAX`] if it does not.
    pub(crate) sender_woken: Time,
    pub(crate) receiver_woken: Time,
}

impl Flow {
    /// Of its packets that carry data, or go the other way.
    pub(crate) fn label(&self, number: u32, travel: Direction) -> Label {
        Label { flow: number, dscp: self.dscp, host: self.host, travel, part: self.edge.part }
    }
    /// How acknowledgements reach the line: the access link is the sender's.
    pub(crate) fn edge_back(&self) -> Edge {
        Edge { access: None, ..self.edge }
    }
    /// Takes the ends away.
    pub(crate) fn close(&mut self, now: Time) {
        if let Ends::Tcp(tcp) = &self.ends {
            self.total.retransmits = tcp.sender.retransmits();
            self.total.acknowledged_bytes = acknowledged_bytes(&tcp.sender);
        }
        if !matches!(self.ends, Ends::Closed) {
            self.total.closed = Some(now);
            self.ends = Ends::Closed;
        }
    }
    /// Segments sent again.
    pub(crate) fn retransmits(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(tcp) => tcp.sender.retransmits(),
            _ => self.total.retransmits,
        }
    }
    /// Payload that the sender knows to be delivered, in order or not.
    pub(crate) fn acknowledged_bytes(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(tcp) => acknowledged_bytes(&tcp.sender),
            Ends::Datagrams => self.total.delivered_bytes,
            Ends::Closed => self.total.acknowledged_bytes,
        }
    }
    /// Mean one-way delay of its datagrams.
    pub(crate) fn mean_delay(&self) -> Option<Duration> {
        let mean = self.total.delay_ns.checked_div(u128::from(self.total.delivered_packets))?;
        (mean > 0).then(|| Duration::from_nanos(mean as u64))
    }
}

fn acknowledged_bytes(sender: &Sender) -> u64 {
    sender.delivered() * u64::from(sender.mss())
}
