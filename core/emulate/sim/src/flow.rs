//! Flows: a number, a direction, and two endpoints.
use crate::net::Edge;
use crate::packet::Label;
use alloc::boxed::Box;
use fathom_tcp::{Receiver, Sender};
use fathom_units::{Direction, Duration, Time};

/// One direction of a TCP connection, or a flow of datagrams.
pub(crate) struct Flow {
    pub(crate) ends: Ends,
    /// Direction of the data.
    pub(crate) direction: Direction,
    pub(crate) edge: Edge,
    pub(crate) dscp: u8,
    pub(crate) host: u8,
    /// The unit that it belongs to, and the unit's tag for it.
    pub(crate) unit: u32,
    pub(crate) tag: u32,
    /// The unit is notified when this many bytes have been delivered.
    pub(crate) goal: u64,
    /// Bytes given to the sender.
    pub(crate) written: u64,
    pub(crate) opened: Time,
    pub(crate) total: Total,
}

/// Totals of a flow.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Total {
    pub(crate) delivered_bytes: u64,
    pub(crate) sent_packets: u64,
    pub(crate) delivered_packets: u64,
    /// Sum over the delivered datagrams, in ns.
    pub(crate) delay_ns: u128,
    pub(crate) retransmits: u64,
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
    /// The label of packets that travel in direction `travel`.
    pub(crate) fn label(&self, number: u32, travel: Direction) -> Label {
        Label { flow: number, dscp: self.dscp, host: self.host, travel, part: self.edge.part }
    }
    /// The edge for ACKs: the access link applies only to the sender's packets.
    pub(crate) fn edge_back(&self) -> Edge {
        Edge { access: None, ..self.edge }
    }
    /// Removes both endpoints.
    pub(crate) fn close(&mut self, now: Time) {
        if let Ends::Tcp(tcp) = &self.ends {
            self.total.retransmits = tcp.sender.retransmits();
        }
        if !matches!(self.ends, Ends::Closed) {
            self.total.closed = Some(now);
            self.ends = Ends::Closed;
        }
    }
    /// Number of retransmitted segments.
    pub(crate) fn retransmits(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(tcp) => tcp.sender.retransmits(),
            _ => self.total.retransmits,
        }
    }
    /// Mean one-way delay of the delivered datagrams.
    pub(crate) fn mean_delay(&self) -> Option<Duration> {
        let mean = self.total.delay_ns.checked_div(u128::from(self.total.delivered_packets))?;
        (mean > 0).then(|| Duration::from_nanos(mean as u64))
    }
}
