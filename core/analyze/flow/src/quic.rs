//! Round trips of QUIC (RFC 9000, RFC 9369). Only the handshake and the spin bit are visible.
use crate::limit::elapsed;
use crate::probe_totals::{ProbesTotals, Socket};
use crate::{Probe, ProbeKind, RttValidity, Sink, Times};
use alloc::collections::{BTreeMap, VecDeque};
use fathom_capture::UdpHeader;

/// Bits of a packet's first byte (RFC 9000 section 17).
mod first_byte {
    pub(super) const LONG: u8 = 0x80;
    pub(super) const FIXED: u8 = 0x40;
    pub(super) const SPIN: u8 = 0x20;
    pub(super) const TYPE: u8 = 0x30;
    /// In version 2, Initial has type 1 instead of 0.
    pub(super) const INITIAL_OF_VERSION_2: u8 = 0x10;
}

/// Version numbers.
mod version {
    pub(super) const ONE: u32 = 1;
    /// RFC 9369.
    pub(super) const TWO: u32 = 0x6b33_43cf;
    /// `0xff0000xx`: drafts of version 1.
    pub(super) const DRAFT: u32 = 0xff00_0000;
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    client: Socket,
    initial: Times,
    /// `Ambiguous` if the client retransmitted its Initial before a response.
    validity: RttValidity,
    reply: Option<Times>,
    /// The client's first packet after the response was captured.
    is_open: bool,
    /// The server's spin bit, and the time of its last transition.
    spin: Option<bool>,
    turned: Option<Times>,
}

/// Maximum number of connections; beyond it, the oldest is forgotten.
const MAX_CONNECTIONS: usize = 16_384;

#[derive(Debug, Default)]
pub(crate) struct QuicFlows {
    /// Keyed by both endpoints, the smaller first.
    all: BTreeMap<[Socket; 2], Connection>,
    order: VecDeque<[Socket; 2]>,
}

impl QuicFlows {
    /// Processes a datagram that may be QUIC.
    pub(crate) fn datagram<S: Sink>(
        &mut self,
        [from, to]: [Socket; 2],
        udp: &UdpHeader<'_>,
        times: Times,
        totals: &mut ProbesTotals,
        sink: &mut S,
    ) {
        let Some(first) = udp.payload.first().copied().filter(|first| first & first_byte::FIXED != 0) else {
            return;
        };
        let key = if from <= to { [from, to] } else { [to, from] };
        let is_initial = udp.payload_bytes >= MIN_INITIAL_BYTES && is_initial(udp.payload);
        let Some(connection) = self.all.get_mut(&key) else {
            if is_initial {
                self.open(key, from, times);
                totals.quic_handshake.asked += 1;
            }
            return;
        };
        let probe = if connection.client == from {
            connection.by_client(to, is_initial, times, totals)
        } else {
            connection.by_server(from, first, times)
        };
        if let Some(probe) = probe {
            totals.answered(&probe);
            sink.probe(&probe);
        }
    }
    fn open(&mut self, key: [Socket; 2], client: Socket, initial: Times) {
        if self.order.len() >= MAX_CONNECTIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
        let validity = RttValidity::Clean;
        let connection =
            Connection { client, initial, validity, reply: None, is_open: false, spin: None, turned: None };
        self.all.insert(key, connection);
        self.order.push_back(key);
    }
    /// Number of connections without a response from the server.
    pub(crate) fn unanswered(&self) -> u64 {
        self.all.values().filter(|connection| connection.reply.is_none()).count() as u64
    }
}

/// A spin bit transition is a reordered packet if it comes sooner than the handshake's round-trip
/// time divided by this (RFC 9312 section 3.8.2).
const MIN_TURN_DIVISOR: u64 = 4;

impl Connection {
    fn by_client(
        &mut self,
        server: Socket,
        is_initial: bool,
        times: Times,
        totals: &mut ProbesTotals,
    ) -> Option<Probe> {
        let Some(reply) = self.reply else {
            if is_initial {
                self.validity = RttValidity::Ambiguous;
                totals.quic_handshake.asked_again += 1;
            }
            return None;
        };
        if self.is_open {
            return None;
        }
        self.is_open = true;
        totals.quic_handshake.asked += 1;
        // After a retransmission the client's packet may not be an answer to this response.
        let (kind, ends) = (ProbeKind::QuicHandshake, [server, self.client]);
        Some(Probe { kind, ends, asked: reply, answered: Some(times), validity: self.validity })
    }
    fn by_server(&mut self, server: Socket, first: u8, times: Times) -> Option<Probe> {
        let ends = [self.client, server];
        if self.reply.is_none() {
            self.reply = Some(times);
            let (asked, answered) = (self.initial, Some(times));
            return Some(Probe {
                kind: ProbeKind::QuicHandshake,
                ends,
                asked,
                answered,
                validity: self.validity,
            });
        }
        if first & first_byte::LONG != 0 {
            return None;
        }
        let spin = first & first_byte::SPIN != 0;
        let before = self.spin.replace(spin)?;
        if before == spin {
            return None;
        }
        let handshake = self.reply.map_or(0, |reply| elapsed(self.initial.at, reply.at));
        let last = self.turned.replace(times)?;
        if elapsed(last.at, times.at) < handshake / MIN_TURN_DIVISOR {
            self.spin = Some(before);
            self.turned = Some(last);
            return None;
        }
        let (kind, validity) = (ProbeKind::QuicSpin, RttValidity::Ambiguous);
        Some(Probe { kind, ends, asked: last, answered: Some(times), validity })
    }
}

/// Minimum size of a client's first datagram (RFC 9000 section 14.1).
const MIN_INITIAL_BYTES: u32 = 1200;

fn is_initial(payload: &[u8]) -> bool {
    let [first, a, b, c, d, ..] = payload else { return false };
    let initial = match u32::from_be_bytes([*a, *b, *c, *d]) {
        version::TWO => first_byte::INITIAL_OF_VERSION_2,
        version if version == version::ONE || version & 0xffff_ff00 == version::DRAFT => 0,
        _ => return false,
    };
    first & first_byte::LONG != 0 && first & first_byte::TYPE == initial
}
