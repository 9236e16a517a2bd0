//! Probes of the routers of the line, as `fathom test` sends them.
//!
//! Router `n`, from 0, is at the end of link `n` and answers what expires there: hop `n + 1`. The
//! server is one hop beyond the last router. Each router answers everything at once.
use crate::packet::{Body, END, Label, Packet, Part};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};
use fathom_probe::{HopProbe, HopRates, HopReply, Hops};
use fathom_run::{Path, Series};
use fathom_units::{Direction, Time};

/// IP lengths: an echo request of 64 bytes of ICMP, and a datagram without payload.
const REQUEST_LEN: u16 = 84;
const DATAGRAM_LEN: u16 = 28;
/// The IP and ICMP headers of an error, which quotes the whole packet.
const ERROR_HEADERS: u16 = 28;
/// Flow numbers, since these probes belong to no workload: echo requests to the server, datagrams
/// of other flows, and echo requests to routers. Those of [`crate::probe`] are above.
const EXPIRING_FLOW: u32 = u32::MAX - 2;
const OTHER_FLOWS: u32 = u32::MAX - 3;
const ECHO_FLOWS: u32 = u32::MAX - 300;
/// Hop limit of answers: the default of Linux.
const HOP_LIMIT: u8 = 64;

/// Kind of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HopKind {
    /// An echo request to the server that expires.
    Expiring,
    /// A datagram of another flow that expires.
    OtherFlow,
    /// An echo request to a router.
    Echo,
}

impl HopKind {
    /// The kind with this number.
    pub(crate) const fn of(number: u8) -> Self {
        match number {
            0 => HopKind::Expiring,
            1 => HopKind::OtherFlow,
            _ => HopKind::Echo,
        }
    }
}

/// The probes of all hops.
pub(crate) struct HopProbes {
    hops: Hops,
    /// Number of links of the line.
    links: u8,
}

impl HopProbes {
    pub(crate) fn new(links: usize) -> Self {
        HopProbes { hops: Hops::new(HopRates::TEST), links: u8::try_from(links).unwrap_or(END) }
    }
    /// The next probe, if any is due.
    pub(crate) fn send(&mut self, now: Time) -> Option<Packet> {
        // Segments in the flow of an upload need a privilege, and are not simulated.
        let (hop, kind, number) = match self.hops.next(now, false)? {
            HopProbe::Expiring { hop, sequence } | HopProbe::InFlow { hop, sequence } => {
                (hop, HopKind::Expiring, u32::from(sequence))
            }
            HopProbe::OtherFlow { hop, flow } => (hop, HopKind::OtherFlow, u32::from(flow)),
            HopProbe::Echo { hop, sequence, .. } => (hop, HopKind::Echo, sequence),
        };
        let ip_len = if kind == HopKind::OtherFlow { DATAGRAM_LEN } else { REQUEST_LEN };
        Some(self.label(hop, kind, number, Direction::Up).probe(Body::Hop { hop, kind, number }, ip_len))
    }
    /// A probe reaches its hop, which answers, or the answer reaches the user.
    pub(crate) fn arrived(&mut self, packet: &Packet, now: Time) -> Option<Packet> {
        let Body::Hop { hop, kind, number } = packet.body() else { return None };
        if !packet.is_to_user() {
            let has_expired = kind != HopKind::Echo && !self.is_server(hop);
            let ip_len = packet.ip_len() + if has_expired { ERROR_HEADERS } else { 0 };
            return Some(self.label(hop, kind, number, Direction::Down).probe(packet.body(), ip_len));
        }
        let from = self.address(hop);
        match kind {
            HopKind::Expiring => {
                let reply = HopReply { sequence: number as u16, is_end: self.is_server(hop) };
                let hop_limit = HOP_LIMIT.saturating_sub(hop - 1);
                self.hops.expired(reply, from, Some(hop_limit), now);
            }
            HopKind::OtherFlow => self.hops.expired_in_other_flow(hop, from),
            HopKind::Echo => drop(self.hops.echoed(hop, number, from, now)),
        }
        None
    }
    /// The path, and the delays of its hops. Unanswered probes are censored at `end`.
    pub(crate) fn finish(self, end: Time) -> (Path, Vec<Series>) {
        let path = self.hops.path();
        (path, self.hops.into_series().map(|series| series.close(end)).collect())
    }
    const fn is_server(&self, hop: u8) -> bool {
        hop > self.links
    }
    /// The addresses of the lab.
    fn address(&self, hop: u8) -> IpAddr {
        let address = if self.is_server(hop) { [198, 19, 0, 2] } else { [198, 18, hop, 1] };
        IpAddr::V4(Ipv4Addr::from(address))
    }
    fn label(&self, hop: u8, kind: HopKind, number: u32, travel: Direction) -> Label {
        let flow = match kind {
            HopKind::Expiring => EXPIRING_FLOW,
            HopKind::OtherFlow => OTHER_FLOWS - number,
            HopKind::Echo => ECHO_FLOWS - u32::from(hop),
        };
        let far = if self.is_server(hop) { END } else { hop - 1 };
        Label { flow, dscp: 0, host: 0, travel, part: Part { near: END, far } }
    }
}
