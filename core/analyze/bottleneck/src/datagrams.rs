//! UDP flows: their bytes over time, in each direction separately.
use crate::bins::Grid;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_capture::{Address, Packet, Transport, UdpHeader};

/// Maximum number of flows. Beyond it the smaller half is forgotten: a scan creates thousands of
/// flows with one packet each.
const FLOWS: usize = 512;
/// Maximum number of bins of each flow: at most 12 MB for all.
const BINS: usize = 1024;

/// Address and port of the sender and of the receiver.
pub(crate) type Route = [(Address, u16); 2];

/// Packets from one socket to another.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    pub(crate) grid: Grid<1>,
    pub(crate) packets: u64,
    pub(crate) ip_bytes: u64,
    /// Time of the first and last packet, ns since the start of the capture.
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Datagrams {
    fn new(at: i64) -> Self {
        Datagrams { grid: Grid::of(BINS), packets: 0, ip_bytes: 0, first: at, last: at }
    }
    /// Bytes of each bin with packets, and the time at its center.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = (f64, f64)> {
        self.grid.bins(0).iter().map(|bin| (self.grid.middle_ns(bin), bin.sum))
    }
}

/// The UDP flows of a capture.
#[derive(Clone, Default, Debug)]
pub(crate) struct DatagramFlows(BTreeMap<Route, Datagrams>);

impl DatagramFlows {
    pub(crate) fn add(&mut self, packet: &Packet<'_>, at: i64) {
        let Transport::Udp(UdpHeader { source_port, destination_port, .. }) = packet.transport else {
            return;
        };
        let route = [(packet.source, source_port), (packet.destination, destination_port)];
        if self.0.len() >= FLOWS && !self.0.contains_key(&route) {
            self.forget_smaller_half();
        }
        let flow = self.0.entry(route).or_insert_with(|| Datagrams::new(at));
        flow.packets += 1;
        flow.ip_bytes += u64::from(packet.ip_bytes);
        flow.first = flow.first.min(at);
        flow.last = flow.last.max(at);
        flow.grid.turn_to(at, BINS);
        flow.grid.add(0, f64::from(packet.ip_bytes));
    }
    #[cold]
    fn forget_smaller_half(&mut self) {
        let mut routes: Vec<(u64, Route)> =
            self.0.iter().map(|(route, flow)| (flow.ip_bytes, *route)).collect();
        routes.sort_unstable();
        for (_, route) in routes.iter().take(FLOWS / 2) {
            self.0.remove(route);
        }
    }
    pub(crate) fn close(&mut self) {
        self.0.values_mut().for_each(|flow| flow.grid.close());
    }
    /// All flows, the one with the most bytes first.
    pub(crate) fn by_size(&self) -> Vec<(Route, &Datagrams)> {
        let mut flows: Vec<(Route, &Datagrams)> = self.0.iter().map(|(route, flow)| (*route, flow)).collect();
        // By time next: the order is the same with other addresses.
        flows.sort_by_key(|(_, flow)| (core::cmp::Reverse(flow.ip_bytes), flow.first));
        flows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scan of many ports does not displace the flow that fills the link.
    #[test]
    fn a_scan_does_not_displace_a_large_flow() {
        let mut flows = DatagramFlows::default();
        let [from, to] = [1, 2].map(|last| Address::v4([10, 0, 0, last]));
        let packet = |port: u16, ip_bytes: u32| Packet {
            source: from,
            destination: to,
            hop_limit: 64,
            dscp: 0,
            ecn: 0,
            identification: None,
            ip_bytes,
            wire_bytes: ip_bytes + 14,
            transport: Transport::Udp(UdpHeader {
                source_port: 1,
                destination_port: port,
                payload_bytes: ip_bytes - 28,
                payload: &[],
            }),
        };
        for number in 0..10_000_u16 {
            flows.add(&packet(5001, 1400), i64::from(number) * 1_000_000);
            flows.add(&packet(10_000 + number, 60), i64::from(number) * 1_000_000);
        }
        let all = flows.by_size();
        assert!(all.len() <= FLOWS);
        assert_eq!((all[0].0[1].1, all[0].1.packets), (5001, 10_000));
    }
}
