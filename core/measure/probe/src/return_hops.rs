//! The routers of the way from a server to its client: probes that the server sends.
//!
//! They are segments in the download that waits longest, and so show a queue of downloads that only
//! this flow has, and the way of the load. Without a download, they are in the control connection,
//! whose delays are those without load.
use crate::flow_probe::{FlowProbes, Ports};
use crate::hops::{BEYOND, HopRates, MAX_HOPS, SILENT_SLOWER, TRIES};
use crate::protocol::HopReport;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use fathom_run::{Hop, Metric, SeriesKey};
use fathom_units::Time;

/// Requests whose replies are recognized: those of about 10 s.
const MOST_OUTSTANDING: usize = 256;

#[derive(Clone, Copy, Debug)]
struct State {
    sent: Option<Time>,
    /// Requests so far.
    tries: u32,
    has_answered: bool,
}

/// An open download by TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Download {
    /// Its ports.
    pub ports: Ports,
    /// Its DSCP, six bits.
    pub dscp: u8,
    /// Its smoothed round-trip time in microseconds.
    pub rtt_us: u32,
}

/// An outstanding request.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u16,
    hop: u8,
    at: Time,
    ports: Ports,
}

/// Probes of the hops to one client.
#[derive(Clone, Debug)]
pub struct ReturnHops {
    flows: FlowProbes,
    control: Ports,
    /// The download that waits longest.
    download: Option<Ports>,
    states: [State; MAX_HOPS as usize],
    next: u16,
    sent: VecDeque<Sent>,
}

impl ReturnHops {
    /// Probes of the hops from `server` to `client`, with the ports of their control connection.
    #[must_use]
    pub const fn new(server: IpAddr, client: IpAddr, control: Ports) -> Self {
        let states = [State { sent: None, tries: 0, has_answered: false }; MAX_HOPS as usize];
        let flows = FlowProbes::new(server, client, 0);
        ReturnHops { flows, control, download: None, states, next: 1, sent: VecDeque::new() }
    }
    /// Takes a segment that arrived from the client.
    pub fn received(&mut self, segment: &[u8], now: Time) {
        self.flows.received(segment, now);
    }
    /// Sets the open downloads. No other flow is used, except the control connection.
    pub fn set_downloads(&mut self, downloads: &[Download]) {
        let dscp_of = |ports| {
            let download = downloads.iter().find(|download| download.ports == ports);
            download.map(|download| download.dscp).or_else(|| (ports == self.control).then_some(0))
        };
        self.flows.keep(dscp_of);
        self.download =
            downloads.iter().max_by_key(|download| download.rtt_us).map(|download| download.ports);
    }
    /// The packet to send now, from its IP header on, if any is due. It counts as sent.
    pub fn next(&mut self, now: Time) -> Option<Vec<u8>> {
        let is_due = |state: &State| {
            let is_silent = !state.has_answered && state.tries >= TRIES;
            let interval = HopRates::TEST.expiring_every * if is_silent { SILENT_SLOWER } else { 1 };
            state.sent.is_none_or(|at| now.saturating_since(at) >= interval)
        };
        let place = self.states.iter().take(self.tried()).position(is_due)?;
        let (number, hop, ports) = (self.next, place as u8 + 1, self.download.unwrap_or(self.control));
        let request = self.flows.request(ports, hop, number)?;
        self.next = self.next.checked_add(1).unwrap_or(1);
        self.states[place].sent = Some(now);
        self.states[place].tries = self.states[place].tries.saturating_add(1);
        self.sent.push_back(Sent { number, hop, at: now, ports });
        if self.sent.len() > MOST_OUTSTANDING {
            self.sent.pop_front();
        }
        Some(request)
    }
    /// Number of hops to try: each once, then those beyond the last one that answered too, because
    /// the client does not answer.
    fn tried(&self) -> usize {
        let is_first = self.states.iter().any(|state| state.sent.is_none());
        let last = self.states.iter().rposition(|state| state.has_answered);
        match last {
            Some(last) if !is_first => (last + 1 + usize::from(BEYOND)).min(self.states.len()),
            _ => self.states.len(),
        }
    }
    /// Reads an ICMP message of `router` that arrived at `at`: the first reply to a request.
    pub fn expired(&mut self, router: IpAddr, message: &[u8], at: Time) -> Option<HopReport> {
        // The flow may have ended.
        let (number, ports) = self.flows.quoted(message)?;
        let place = self.sent.iter().position(|sent| sent.number == number && sent.ports == ports)?;
        let sent = self.sent.remove(place)?;
        self.states[usize::from(sent.hop) - 1].has_answered = true;
        let rtt_us = at.saturating_since(sent.at).as_nanos() / 1_000;
        Some(HopReport {
            hop: sent.hop,
            address: router,
            sent_ns: sent.at.as_nanos(),
            rtt_us: u32::try_from(rtt_us).unwrap_or(u32::MAX),
            in_flow: ports != self.control,
        })
    }
}

/// The way from the server, as its reports show it to the client.
#[derive(Clone, Default, Debug)]
pub struct ReturnPath {
    /// By number: who answered in the control connection, and in a download.
    routers: BTreeMap<u8, [Option<IpAddr>; 2]>,
}

impl ReturnPath {
    /// Takes a reply; returns the series to which it belongs. `None` if its hop is beyond all
    /// paths.
    pub fn learn(&mut self, reply: &HopReport) -> Option<SeriesKey> {
        let hop = Some(reply.hop).filter(|hop| (1..=MAX_HOPS).contains(hop))?;
        self.routers.entry(hop).or_default()[usize::from(reply.in_flow)] = Some(reply.address);
        let metric = if reply.in_flow { Metric::HopReturnFlowRtt } else { Metric::HopReturnRtt };
        Some(SeriesKey { scope: Some(hop.to_string()), ..SeriesKey::of(metric) })
    }
    /// The routers so far.
    #[must_use]
    pub fn hops(&self) -> Vec<Hop> {
        let hop = |(number, [of_control, of_flow]): (&u8, &[Option<IpAddr>; 2])| {
            let address = of_control.or(*of_flow)?;
            Some(Hop {
                number: *number,
                address: address.to_string(),
                flow_address: of_flow.filter(|other| *other != address).map(|other| other.to_string()),
                other_address: None,
                name: None,
                autonomous_system: None,
                return_hops: None,
            })
        };
        self.routers.iter().filter_map(hop).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_probe::tests::{acknowledgment, exceeded};
    use alloc::vec;
    use core::net::Ipv4Addr;

    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7));
    const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 1, 2));
    const ROUTER: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1));
    const CONTROL: Ports = (4_000, 3_279);

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Sends what is due every 100 ms; the first `routers` hops answer after 3 ms. Returns the
    /// replies, and the hops that were probed.
    fn run(hops: &mut ReturnHops, times: core::ops::Range<u64>, routers: u8) -> (Vec<HopReport>, Vec<u8>) {
        let (mut replies, mut probed) = (vec![], vec![]);
        for ms in times.step_by(100) {
            while let Some(packet) = hops.next(at(ms)) {
                probed.push(packet[8]);
                if packet[8] <= routers {
                    replies.extend(hops.expired(ROUTER, &exceeded(&packet, 28), at(ms + 3)));
                    assert_eq!(
                        hops.expired(ROUTER, &exceeded(&packet, 28), at(ms + 4)),
                        None,
                        "the second reply"
                    );
                }
            }
        }
        (replies, probed)
    }

    #[test]
    fn all_hops_are_tried_then_those_that_answer() {
        let mut hops = ReturnHops::new(SERVER, CLIENT, CONTROL);
        assert_eq!(hops.next(at(0)), None, "the numbers of no connection are known");
        hops.received(&acknowledgment(CONTROL.0, 7), at(0));
        let (replies, probed) = run(&mut hops, 0..900, 3);
        assert_eq!(probed, (1..=30).collect::<Vec<u8>>());
        assert_eq!(
            replies.iter().map(|reply| (reply.hop, reply.rtt_us)).collect::<Vec<_>>(),
            [(1, 3_000), (2, 3_000), (3, 3_000)]
        );
        assert!(replies.iter().all(|reply| !reply.in_flow && reply.address == ROUTER));
        let (later, probed_later) = run(&mut hops, 1_000..11_000, 3);
        let count = |hop| probed_later.iter().filter(|one| **one == hop).count();
        // Hops that do not answer get three more, and then one every five seconds.
        assert_eq!([1, 2, 3, 4, 5, 6].map(count), [10, 10, 10, 4, 4, 0]);
        assert_eq!((later.len(), later[0].sent_ns), (30, 1_000_000_000));
    }

    #[test]
    fn probes_are_in_the_download_that_waits_longest() {
        let mut hops = ReturnHops::new(SERVER, CLIENT, CONTROL);
        let download = |local, rtt_us| Download { ports: (local, 3_279), dscp: 46, rtt_us };
        hops.set_downloads(&[download(5_000, 20_000), download(6_000, 10_000)]);
        assert_eq!(hops.next(at(0)), None, "not in the control connection");
        for local in [4_000, 5_000, 6_000, 7_000] {
            hops.received(&acknowledgment(local, 7), at(0));
        }
        let mut probe = |downloads: &[Download]| {
            hops.set_downloads(downloads);
            let packet = hops.next(at(0)).unwrap();
            ((u16::from_be_bytes([packet[20], packet[21]]), packet[1] >> 2), packet)
        };
        let (to_first, first) = probe(&[download(5_000, 20_000), download(6_000, 10_000)]);
        let (to_second, second) = probe(&[download(5_000, 20_000), download(6_000, 30_000)]);
        let (to_control, last) = probe(&[]);
        assert_eq!([to_first, to_second, to_control], [(5_000, 46), (6_000, 46), (4_000, 0)]);
        // Replies that arrive after the end of the flow count.
        let mut reply =
            |packet: &[u8]| hops.expired(ROUTER, &exceeded(packet, 28), at(50)).map(|reply| reply.in_flow);
        assert_eq!([reply(&first), reply(&second), reply(&last)], [Some(true), Some(true), Some(false)]);
        let mut other = first;
        other[20] ^= 1;
        assert_eq!(reply(&other), None);
    }

    #[test]
    fn the_way_has_the_router_of_the_download_where_it_differs() {
        let mut path = ReturnPath::default();
        let router = |last| IpAddr::from([198, 51, 100, last]);
        let mut learn = |hop, last, in_flow| {
            let reply = HopReport { hop, address: router(last), sent_ns: 1, rtt_us: 2, in_flow };
            path.learn(&reply).map(|key| (key.metric, key.scope.unwrap()))
        };
        assert_eq!(learn(2, 2, true), Some((Metric::HopReturnFlowRtt, "2".into())));
        assert_eq!(learn(1, 1, true), Some((Metric::HopReturnFlowRtt, "1".into())));
        assert_eq!(learn(2, 22, false), Some((Metric::HopReturnRtt, "2".into())));
        assert_eq!((learn(0, 9, false), learn(31, 9, true)), (None, None));
        let found = |hop: Hop| (hop.number, hop.address, hop.flow_address);
        let text = |last| router(last).to_string();
        assert_eq!(
            path.hops().into_iter().map(found).collect::<Vec<_>>(),
            [(1, text(1), None), (2, text(22), Some(text(2)))]
        );
    }

    #[test]
    fn unanswered_requests_are_forgotten() {
        let mut hops = ReturnHops::new(SERVER, CLIENT, CONTROL);
        hops.received(&acknowledgment(CONTROL.0, 7), at(0));
        let first = hops.next(at(0)).unwrap();
        run(&mut hops, 0..60_000, 0);
        assert!(hops.sent.len() <= MOST_OUTSTANDING);
        assert_eq!(hops.expired(ROUTER, &exceeded(&first, 28), at(60_000)), None);
    }
}
