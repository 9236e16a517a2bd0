//! Requests and responses of ICMP echo, DNS and QUIC.
use crate::probe_totals::{ProbesTotals, Socket};
use crate::quic::QuicFlows;
use crate::{Probe, ProbeKind, RttValidity, Sink, Times};
use alloc::collections::{BTreeMap, VecDeque};
use fathom_capture::{IcmpHeader, Packet, UdpHeader};

/// Maximum number of outstanding requests; beyond it, the oldest counts as unanswered.
const MAX_WAITING: usize = 65_536;

/// Identifies the request that a response belongs to: client, server, and a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Question {
    kind: ProbeKind,
    ends: [Socket; 2],
    number: u16,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    times: Times,
    validity: RttValidity,
    /// IPv4 identification; 0 if there is none.
    identification: u16,
    hop_limit: u8,
}

/// No client retries that fast, ns: the fastest resolvers wait for 50 ms. A repetition within this
/// time is a second capture of the same packet.
const COPY_NS: i64 = 10_000_000;

impl Asked {
    fn of(packet: &Packet<'_>, times: Times) -> Asked {
        let identification = packet.identification.unwrap_or(0);
        Asked { times, validity: RttValidity::Clean, identification, hop_limit: packet.hop_limit }
    }
    /// Whether `later` is the same packet at another interface of the capture, later on its path.
    const fn is_again(&self, later: &Asked) -> bool {
        let is_same = self.identification != 0 && self.identification == later.identification;
        is_same || later.hop_limit < self.hop_limit || later.times.at.saturating_sub(self.times.at) < COPY_NS
    }
}

#[derive(Debug, Default)]
pub(crate) struct Probes {
    waiting: BTreeMap<Question, Asked>,
    /// Requests in order of arrival with their frame numbers; some are already answered.
    order: VecDeque<(Question, u64)>,
    quic: QuicFlows,
    pub(crate) totals: ProbesTotals,
}

/// ICMP types of echo request and reply, for version 4 and 6 (RFC 792, RFC 4443).
const ECHO: [(bool, u8, u8); 2] = [(false, 8, 0), (true, 128, 129)];
/// Port of DNS (RFC 1035 section 4.2.1).
const DNS_PORT: u16 = 53;
/// The QR bit in the third byte of a DNS header marks a response.
const DNS_RESPONSE: u8 = 0x80;

impl Probes {
    pub(crate) fn icmp<S: Sink>(
        &mut self,
        times: Times,
        packet: &Packet<'_>,
        icmp: &IcmpHeader<'_>,
        sink: &mut S,
    ) {
        let [id_high, id_low, number_high, number_low] = icmp.rest;
        let identifier = u16::from_be_bytes([id_high, id_low]);
        let number = u16::from_be_bytes([number_high, number_low]);
        let kind = ProbeKind::Echo;
        for (_, request, reply) in ECHO.into_iter().filter(|(is_v6, ..)| *is_v6 == icmp.is_v6) {
            if icmp.kind == request {
                let ends = [(packet.source, identifier), (packet.destination, 0)];
                self.ask(Question { kind, ends, number }, Asked::of(packet, times), sink);
            } else if icmp.kind == reply {
                let ends = [(packet.destination, identifier), (packet.source, 0)];
                self.answer(&Question { kind, ends, number }, times, sink);
            }
        }
    }
    pub(crate) fn udp<S: Sink>(
        &mut self,
        times: Times,
        packet: &Packet<'_>,
        udp: &UdpHeader<'_>,
        sink: &mut S,
    ) {
        let ends = [(packet.source, udp.source_port), (packet.destination, udp.destination_port)];
        if udp.source_port == DNS_PORT || udp.destination_port == DNS_PORT {
            self.dns(ends, udp, Asked::of(packet, times), sink);
        } else {
            self.quic.datagram(ends, udp, times, &mut self.totals, sink);
        }
    }
    fn dns<S: Sink>(&mut self, ends: [Socket; 2], udp: &UdpHeader<'_>, seen: Asked, sink: &mut S) {
        let [high, low, flags, ..] = udp.payload else { return };
        let (kind, number) = (ProbeKind::Dns, u16::from_be_bytes([*high, *low]));
        let is_response = flags & DNS_RESPONSE != 0;
        let [from, to] = ends;
        if !is_response && udp.destination_port == DNS_PORT {
            self.ask(Question { kind, ends, number }, seen, sink);
        } else if is_response && udp.source_port == DNS_PORT {
            self.answer(&Question { kind, ends: [to, from], number }, seen.times, sink);
        }
    }
    fn ask<S: Sink>(&mut self, question: Question, seen: Asked, sink: &mut S) {
        let totals = self.totals.of(question.kind);
        if let Some(first) = self.waiting.get_mut(&question) {
            if !first.is_again(&seen) {
                first.validity = RttValidity::Ambiguous;
                totals.asked_again += 1;
            }
            return;
        }
        totals.asked += 1;
        self.waiting.insert(question, seen);
        self.order.push_back((question, seen.times.frame));
        while self.order.len() > MAX_WAITING {
            self.give_up_oldest(sink);
        }
    }
    fn answer<S: Sink>(&mut self, question: &Question, times: Times, sink: &mut S) {
        let Some(Asked { times: asked, validity, .. }) = self.waiting.remove(question) else { return };
        let probe =
            Probe { kind: question.kind, ends: question.ends, asked, answered: Some(times), validity };
        self.totals.answered(&probe);
        sink.probe(&probe);
        // Keeps the queue no longer than the set of outstanding requests.
        while self.order.front().is_some_and(|(first, frame)| !is_waiting(&self.waiting, first, *frame)) {
            self.order.pop_front();
        }
    }
    fn give_up_oldest<S: Sink>(&mut self, sink: &mut S) {
        let Some((question, frame)) = self.order.pop_front() else { return };
        if !is_waiting(&self.waiting, &question, frame) {
            return;
        }
        let Some(Asked { times: asked, validity, .. }) = self.waiting.remove(&question) else { return };
        self.totals.of(question.kind).unanswered += 1;
        sink.probe(&Probe { kind: question.kind, ends: question.ends, asked, answered: None, validity });
    }
    /// Reports outstanding requests as unanswered at the end of the capture.
    pub(crate) fn finish<S: Sink>(mut self, sink: &mut S) -> ProbesTotals {
        while !self.order.is_empty() {
            self.give_up_oldest(sink);
        }
        self.totals.quic_handshake.unanswered = self.quic.unanswered();
        self.totals
    }
}

fn is_waiting(waiting: &BTreeMap<Question, Asked>, question: &Question, frame: u64) -> bool {
    waiting.get(question).is_some_and(|asked| asked.times.frame == frame)
}
