//! Open load flows and their counters.
use crate::datagrams::Datagrams;
use crate::sync::{Slot, lock};
use fathom_os::fd::AsFd;
use fathom_os::tcp_info::tcp_info;
use fathom_probe::protocol::{FlowReport, FlowRequest};
use fathom_probe::{Download, Ports};
use fathom_units::Direction;
use portable_atomic::AtomicU64;
use socket2::{SockAddr, Socket};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// An open load flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) number: u32,
    pub(crate) direction: Direction,
    /// Traffic class of what the server sends.
    pub(crate) class: u8,
    pub(crate) socket: Socket,
    /// For an up flow: bytes received. For a down flow of datagrams: bytes sent.
    pub(crate) received: AtomicU64,
    /// State of a flow of datagrams.
    pub(crate) datagrams: Option<Datagrams>,
    /// For a down flow: bytes of the response that precedes the load.
    pub(crate) answer_bytes: AtomicU64,
    pub(crate) interrupted: AtomicBool,
    _slot: Slot,
}

impl Flow {
    /// `received` counts bytes that followed the first line.
    pub(crate) fn new(request: &FlowRequest, socket: Socket, received: u64, slot: Slot) -> Self {
        Flow {
            number: request.number,
            direction: request.direction,
            class: request.class,
            socket,
            received: AtomicU64::new(received),
            datagrams: None,
            answer_bytes: AtomicU64::new(0),
            interrupted: AtomicBool::new(false),
            _slot: slot,
        }
    }

    /// Its state, if it is a download by TCP.
    pub(crate) fn download(&self) -> Option<Download> {
        if self.direction == Direction::Up || self.datagrams.is_some() {
            return None;
        }
        let rtt_us = tcp_info(self.socket.as_fd()).ok()?.rtt_us;
        Some(Download { ports: ports(&self.socket)?, dscp: self.class >> 2, rtt_us })
    }
    /// Makes the flow's thread end: immediately if it receives, within `load::SEND_SLICE` if it
    /// sends.
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Relaxed);
        // Only the reading half: closing the other would send buffered data and a FIN. Fails if the
        // client has disconnected.
        let _ = self.socket.shutdown(Shutdown::Read);
    }
    pub(crate) fn report(&self) -> FlowReport {
        let info = match self.direction {
            Direction::Up => None,
            Direction::Down if self.datagrams.is_some() => None,
            Direction::Down => tcp_info(self.socket.as_fd()).ok(),
        };
        let acknowledged = info.and_then(|i| i.bytes_acked);
        let acknowledged = acknowledged.map(|b| b.saturating_sub(self.answer_bytes.load(Relaxed)));
        let received = self.datagrams.as_ref().filter(|_| self.direction == Direction::Up);
        FlowReport {
            number: self.number,
            bytes: acknowledged.unwrap_or_else(|| self.received.load(Relaxed)),
            rtt_us: info.map(|i| i.rtt_us),
            cwnd_bytes: info.map(|i| i.cwnd_bytes),
            retransmits: info.map(|i| i.retransmits),
            delivered_bytes: acknowledged.zip(info).map(|(bytes, i)| bytes.saturating_add(i.bytes_sacked)),
            unsent_bytes: info.and_then(|i| i.unsent_bytes),
            receiver_limited_us: info.and_then(|i| i.receiver_limited_us),
            datagrams: received.map(|datagrams| *lock(&datagrams.counts)),
        }
    }
}

/// Port of this host, then of the client; `None` if the connection has ended.
pub(crate) fn ports(socket: &Socket) -> Option<Ports> {
    let port = |address: SockAddr| Some(address.as_socket()?.port());
    Some((port(socket.local_addr().ok()?)?, port(socket.peer_addr().ok()?)?))
}
