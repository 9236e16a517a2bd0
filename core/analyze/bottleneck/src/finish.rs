//! Final inference, at the end of the capture.
use crate::datagrams::Route;
use crate::flow::Sampled;
use crate::group::{Filler, groups};
use crate::inspect::{OwnClocks, host_clocks, inspect, own_clocks};
use crate::probed::{DatagramFlow, ProbedQueue, probed_queue};
use crate::report::{Bottleneck, QueueReport, Queues};
use crate::series::of_flows;
use crate::shared_bottleneck::{Bystander, SharedBottleneck};
use crate::watch::{QueueWatch, Slot, in_order};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_capture::Address;

impl QueueWatch {
    /// Finishes the capture and returns the inferred queues.
    #[must_use]
    pub fn finish(mut self) -> Queues {
        self.close();
        let slots = self.slots.iter().flatten();
        let looked_into: Vec<(&Slot, &Sampled, OwnClocks)> = slots
            .filter_map(|slot| slot.sampled.as_deref().map(|own| (slot, own, own_clocks(own))))
            .collect();
        let clocks = host_clocks(looked_into.iter().map(|(slot, _, own)| (*slot, own)));
        let mut flows: Vec<QueueReport> = Vec::new();
        let mut sampled: Vec<&Sampled> = Vec::new();
        for (slot, own, own_clocks) in looked_into {
            if let Some(path) = self.path_list.get(slot.path as usize) {
                flows.push(inspect(slot, own, own_clocks, path, &clocks));
                sampled.push(own);
            }
        }
        let bottlenecks = self.bottlenecks(&flows, &sampled);
        for (number, (places, _)) in bottlenecks.iter().enumerate() {
            for place in places {
                if let Some(report) = flows.get_mut(*place) {
                    report.bottleneck = Some(number);
                }
            }
        }
        let bottlenecks: Vec<Bottleneck> =
            bottlenecks.into_iter().map(|(_, bottleneck)| bottleneck).collect();
        let series = of_flows(&flows, &sampled, &bottlenecks);
        let probed = self.probed(&flows, &bottlenecks);
        let datagrams = self.datagrams.by_size().into_iter().map(DatagramFlow::new).collect();
        Queues { origin_ns: self.origin.unwrap_or(0), flows, bottlenecks, series, probed, datagrams }
    }
    /// Queues seen by probes, except on the paths of TCP flows that fill a queue: their packets
    /// show more. For each path, the most reliable kind of probe is used.
    fn probed(&self, flows: &[QueueReport], bottlenecks: &[Bottleneck]) -> Vec<ProbedQueue> {
        let is_known = |ends: [Address; 2]| {
            let named = bottlenecks.iter().flat_map(|bottleneck| &bottleneck.flows);
            let reports = named.filter_map(|(flow, _)| flows.iter().find(|report| report.flow == *flow));
            let addresses = reports.flat_map(|report| report.ends.map(|end| end.0));
            let filled: Vec<Address> = addresses.collect();
            ends.iter().any(|end| filled.contains(end))
        };
        let mut probed: Vec<ProbedQueue> = Vec::new();
        for ((ends, kind), track) in self.probes.all().filter(|((ends, _), _)| !is_known(*ends)) {
            if probed.iter().any(|other| other.ends == *ends && other.kind < *kind) {
                continue;
            }
            let path = self.path_list.iter().find(|path| path.addresses == in_order(*ends));
            let least =
                path.map_or(f64::INFINITY, |path| path.min_ns[usize::from(path.addresses[0] != ends[1])]);
            probed.extend(probed_queue(*ends, *kind, track, track.min_ns.min(least), &self.datagrams));
        }
        probed.sort_by(|a, b| b.standing.p95_ns.total_cmp(&a.standing.p95_ns));
        // The same load is reported once, on the path where it delays packets most. Delays without
        // a captured load are reported only if there is no better explanation.
        let mut filled: Vec<Route> = Vec::new();
        probed.retain(|queue| match queue.loads.first().map(|load| load.ends) {
            Some(route) if filled.contains(&route) => false,
            Some(route) => {
                filled.push(route);
                true
            }
            None => true,
        });
        if !filled.is_empty() {
            probed.retain(|queue| !queue.loads.is_empty());
        }
        probed
    }
    /// All bottlenecks, each with the indices of the flows that fill it.
    fn bottlenecks(&self, flows: &[QueueReport], sampled: &[&Sampled]) -> Vec<(Vec<usize>, Bottleneck)> {
        let all = flows.iter().zip(sampled).enumerate();
        let fillers: Vec<Filler<'_>> =
            all.filter_map(|(place, (report, own))| Filler::new(place, report, own)).collect();
        let groups = groups(&fillers);
        let short = self.short_trips(&groups, &fillers);
        let one = |(group, trips): (Vec<usize>, Vec<(f64, f64)>)| {
            let members: Vec<&Filler<'_>> = group.iter().filter_map(|place| fillers.get(*place)).collect();
            let places: Vec<usize> = members.iter().map(|filler| filler.place).collect();
            let bystanders = bystanders(flows, sampled, &members);
            let (probes, cross_traffic) = (&self.probes, [&self.cross_traffic, &self.short]);
            let shared = SharedBottleneck {
                fillers: members,
                reports: flows,
                bystanders,
                probes,
                cross_traffic,
                short: trips,
            };
            shared.bottleneck().map(|bottleneck| (places, bottleneck))
        };
        groups.into_iter().zip(short).filter_map(one).collect()
    }
    /// For each group, the short flows on the paths of its flows: their start times, and the delay
    /// that the queue added to their first round trip, ns.
    fn short_trips(&self, groups: &[Vec<usize>], fillers: &[Filler<'_>]) -> Vec<Vec<(f64, f64)>> {
        let mut of_path: BTreeMap<[Address; 2], usize> = BTreeMap::new();
        for (number, group) in groups.iter().enumerate() {
            for filler in group.iter().filter_map(|place| fillers.get(*place)) {
                of_path.insert(in_order(filler.addresses), number);
            }
        }
        let mut short: Vec<Vec<(f64, f64)>> = groups.iter().map(|_| Vec::new()).collect();
        for slot in self.slots.iter().flatten().filter(|slot| slot.sampled.is_none()) {
            let number = of_path.get(&in_order([slot.ends[0].0, slot.ends[1].0]));
            let Some(added) = number.and_then(|number| short.get_mut(*number)) else { continue };
            let at_ns = (slot.first.at - self.origin.unwrap_or(0)) as f64;
            added.extend(self.added(slot).map(|added_ns| (at_ns, added_ns)));
        }
        short
    }
    /// First round-trip time above the minimum of the path, to the farther end.
    fn added(&self, slot: &Slot) -> Option<f64> {
        let path = self.path_list.get(slot.path as usize)?;
        let above = |end: usize| {
            let side = usize::from(path.addresses[0] != slot.ends[end].0);
            slot.first_trip[end].map(|took| took - path.min_ns[side])
        };
        [above(0), above(1)].into_iter().flatten().reduce(f64::max)
    }
}

/// Flows on the paths of `members` that are not members.
fn bystanders<'a>(
    flows: &'a [QueueReport],
    sampled: &[&'a Sampled],
    members: &[&Filler<'_>],
) -> Vec<Bystander<'a>> {
    let is_bystander = |place: usize, report: &QueueReport| {
        let addresses = in_order([report.ends[0].0, report.ends[1].0]);
        members.iter().all(|member| member.place != place)
            && members.iter().any(|member| in_order(member.addresses) == addresses)
    };
    let all = flows.iter().zip(sampled).enumerate();
    let bystanders = all.filter(|(place, (report, _))| is_bystander(*place, report));
    bystanders.map(|(_, (report, own))| Bystander { report, sampled: own }).collect()
}
