//! Finds flows that a NAT (RFC 3022) translated between two captures, by the content of their
//! packets.
//!
//! If a flow's addresses and ports do not occur in another capture, its packets are searched by
//! content. If they are found under another name, they are given the name used in the earliest
//! capture.
use crate::capture::Capture;
use crate::fingerprint::{Flow, PacketMark, Proof};
use crate::pairing::{Entry, unique_matches};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// Number of matching TCP packets that identify a flow behind a one-sided NAT.
const STRONG_BESIDE_AN_END: u32 = 1;
/// The same for packets with weak proof, which start alike in many flows.
const WEAK_BESIDE_AN_END: u32 = 2;
/// Matching TCP packets that identify a flow if both ends changed (two NATs, or a rewritten copy).
const STRONG_ALONE: u32 = 4;

/// Name of a flow in an earlier capture: ends and hosts of packets from the smaller end.
#[derive(Clone, Copy, Debug)]
struct Name {
    ends: [u32; 2],
    pair: u32,
}

impl Name {
    fn give(self, mark: &mut PacketMark) {
        let is_back = mark.ends[0] > mark.ends[1];
        let [lesser, other] = self.ends;
        mark.ends = if is_back { [other, lesser] } else { [lesser, other] };
        mark.pair = self.pair ^ u32::from(is_back);
    }
}

/// Flows of one capture that were renamed, with their original names.
#[derive(Clone, Debug, Default)]
pub(crate) struct NatNames {
    names: BTreeMap<Flow, Name>,
    pub(crate) was: BTreeMap<Flow, Flow>,
}

#[derive(Clone, Copy, Debug)]
struct Match {
    packets: u32,
    name: Name,
    proof: Proof,
    has_end_in_common: bool,
    keeps_identification: bool,
}

impl Match {
    /// Evidence from a packet in the earlier capture and in this one.
    fn of(earlier: &PacketMark, own: &PacketMark) -> Match {
        let is_back = own.ends[0] > own.ends[1];
        let [from, to] = earlier.ends;
        Match {
            packets: 1,
            name: Name {
                ends: if is_back { [to, from] } else { [from, to] },
                pair: earlier.pair ^ u32::from(is_back),
            },
            proof: own.proof(),
            has_end_in_common: from == own.ends[0] || to == own.ends[1],
            keeps_identification: earlier.identification == own.identification,
        }
    }
    fn and(&mut self, other: &Match) {
        self.packets += other.packets;
        self.keeps_identification &= other.keeps_identification;
    }
    const fn is_enough(&self) -> bool {
        let least = match (self.proof, self.has_end_in_common) {
            (Proof::Strong, true) => STRONG_BESIDE_AN_END,
            (Proof::Strong, false) => STRONG_ALONE,
            (Proof::Weak, true) => WEAK_BESIDE_AN_END,
            (Proof::Weak, false) | (Proof::None, _) => return false,
        };
        self.packets >= least
    }
}

/// Gives each flow the same name in all captures; returns the renamed ones of each.
pub(crate) fn unify(captures: &mut [Capture]) -> Vec<NatNames> {
    let flows: Vec<Vec<Flow>> = captures.iter().map(|capture| flows(&capture.marks)).collect();
    let mut all: Vec<NatNames> = Vec::new();
    let mut unidentified = BTreeSet::new();
    for number in 0..captures.len() {
        let (before, rest) = captures.split_at_mut(number);
        let (Some(own), Some(own_flows)) = (rest.first_mut(), flows.get(number)) else { break };
        let mut renamed = NatNames::default();
        let mut known: BTreeSet<Flow> = BTreeSet::new();
        for ((earlier, its_flows), its_names) in before.iter().zip(&flows).zip(&all) {
            // A flow with the same name in both captures takes over its new name.
            for flow in own_flows.iter().filter(|flow| its_flows.binary_search(flow).is_ok()) {
                if known.insert(*flow)
                    && let Some(name) = its_names.names.get(flow)
                {
                    renamed.names.insert(*flow, *name);
                }
            }
            if known.len() == own_flows.len() {
                continue;
            }
            let theirs = entries(&earlier.marks, |flow| own_flows.binary_search(&flow).is_err());
            let ours = entries(&own.marks, |flow| !known.contains(&flow));
            for (flow, found) in matches(&earlier.marks, &theirs, &own.marks, &ours) {
                known.insert(flow);
                renamed.names.insert(flow, found.name);
                if !found.keeps_identification {
                    unidentified.insert(united(found.name.ends));
                }
            }
        }
        renamed.apply(&mut own.marks);
        all.push(renamed);
    }
    forget_identification(captures, &unidentified);
    all
}

impl NatNames {
    fn apply(&mut self, marks: &mut [PacketMark]) {
        if self.names.is_empty() {
            return;
        }
        for mark in marks {
            let was = mark.flow();
            if let Some(name) = self.names.get(&was) {
                name.give(mark);
                self.was.insert(mark.flow(), was);
            }
        }
    }
}

const fn united([a, b]: [u32; 2]) -> Flow {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    (low as u64) << 32 | high as u64
}

fn flows(marks: &[PacketMark]) -> Vec<Flow> {
    let mut flows: Vec<Flow> = marks.iter().map(PacketMark::flow).collect();
    flows.dedup();
    flows.sort_unstable();
    flows.dedup();
    flows
}

/// Content hashes of the packets of selected flows, sorted.
fn entries(marks: &[PacketMark], is_wanted: impl Fn(Flow) -> bool) -> Vec<Entry> {
    let mut last = None;
    let mut of_flow = |flow: Flow| match last {
        // Packets arrive in trains, so the last result is cached.
        Some((before, wanted)) if before == flow => wanted,
        _ => {
            let wanted = is_wanted(flow);
            last = Some((flow, wanted));
            wanted
        }
    };
    let wanted =
        marks.iter().zip(0..).filter(|(mark, _)| mark.proof() != Proof::None && of_flow(mark.flow()));
    let mut entries: Vec<Entry> = wanted.map(|(mark, place)| (mark.content, place)).collect();
    entries.sort_unstable();
    entries
}

/// Flows of this capture with their names in the earlier one, if they are identified unambiguously.
fn matches(
    earlier: &[PacketMark],
    theirs: &[Entry],
    own: &[PacketMark],
    ours: &[Entry],
) -> BTreeMap<Flow, Match> {
    let mut votes = BTreeMap::<(Flow, Flow), Match>::new();
    for (from, to) in unique_matches(theirs, ours) {
        if let (Some(before), Some(after)) = (earlier.get(from as usize), own.get(to as usize)) {
            let found = Match::of(before, after);
            votes
                .entry((after.flow(), before.flow()))
                .and_modify(|of_flow| of_flow.and(&found))
                .or_insert(found);
        }
    }
    let mut best = BTreeMap::<Flow, Match>::new();
    for ((flow, _), found) in votes.into_iter().filter(|(_, found)| found.is_enough()) {
        let most = best.entry(flow).or_insert(found);
        if found.packets > most.packets {
            *most = found;
        }
    }
    best
}

/// Clears the identification of these flows, because a NAT may have assigned its own.
fn forget_identification(captures: &mut [Capture], flows: &BTreeSet<Flow>) {
    if flows.is_empty() {
        return;
    }
    let marks = captures.iter_mut().flat_map(|capture| capture.marks.iter_mut());
    marks.filter(|mark| flows.contains(&mark.flow())).for_each(|mark| mark.identification = 0);
}
