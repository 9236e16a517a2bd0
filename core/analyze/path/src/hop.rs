//! Analysis of a hop from one capture to the next.
use crate::between::CapturePair;
use crate::capture::Capture;
use crate::clock::Clock;
use crate::fingerprint::PacketMark;
use crate::known::Known;
use crate::pairing::{Partner, Partners};
use crate::report::{Delays, Hop, Loss, Remark};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use fathom_stats::percentile_of_sorted;

/// Maximum number of losses that are listed; all are counted.
const MAX_LOSSES: usize = 1 << 16;

pub(crate) fn all(known: &Known<'_>, direction: usize) -> Vec<Hop> {
    let order = known.order.captures.get(direction).map_or(&[][..], Vec::as_slice);
    let hop = |place: usize| One::new(known, order, place, direction)?.measure();
    (0..order.len().saturating_sub(1)).filter_map(hop).collect()
}

struct One<'a> {
    known: &'a Known<'a>,
    order: &'a [usize],
    place: usize,
    direction: usize,
    from: usize,
    to: usize,
    first: &'a Capture,
    second: &'a Capture,
    between: &'a CapturePair,
    there: Partners,
    clock: Clock,
}

/// Range of delays on the hop, by the corrected clocks.
#[derive(Clone, Copy)]
struct Range {
    min: f64,
    max: f64,
}

impl<'a> One<'a> {
    fn new(known: &'a Known<'a>, order: &'a [usize], place: usize, direction: usize) -> Option<Self> {
        let (from, to) = (*order.get(place)?, *order.get(place + 1)?);
        let (low, high) = (from.min(to), from.max(to));
        let clock = known.clock(low, high, &known.partners(low, high)?)?;
        Some(One {
            known,
            order,
            place,
            direction,
            from,
            to,
            first: known.captures.get(from)?,
            second: known.captures.get(to)?,
            between: known.table.get(&(low, high))?,
            there: known.partners(from, to)?,
            clock,
        })
    }
    /// Whether packets of these hosts travel in this direction and pass both captures.
    fn is_ours(&self, mark: &PacketMark) -> bool {
        self.known.order.direction(mark.hosts(), mark.sense()) == Some(self.direction)
            && self.between.of(mark.hosts()).matched[mark.sense()] > 0
    }
    /// Clock difference: second capture minus first.
    fn difference(&self, mark: &PacketMark) -> f64 {
        if self.clock.reference == self.from {
            self.clock.difference_ns(mark.at)
        } else {
            -self.clock.difference_ns(mark.at.saturating_sub(self.clock.offset_ns as i64))
        }
    }
    fn delay(&self, from: &PacketMark, to: &PacketMark) -> f64 {
        to.at.saturating_sub(from.at) as f64 - self.difference(from)
    }
    /// Packets identified unambiguously in both captures.
    fn certain(&self) -> impl Iterator<Item = (usize, &PacketMark, usize, &PacketMark)> {
        let marks = |(from, to)| Some((from, self.first.marks.get(from)?, to, self.second.marks.get(to)?));
        self.there.certain().filter_map(marks).filter(|(_, mark, ..)| self.is_ours(mark))
    }
    fn measure(&self) -> Option<Hop> {
        let mut delays: Vec<f64> = self.certain().map(|(_, from, _, to)| self.delay(from, to)).collect();
        delays.sort_unstable_by(f64::total_cmp);
        let range = Range { min: *delays.first()?, max: *delays.last()? };
        let mut hop = Hop {
            from: self.from,
            to: self.to,
            evidence: self.known.order.evidence(self.between, self.direction),
            clock: self.clock,
            matched: 0,
            lost: 0,
            lost_bytes: 0,
            losses: Vec::new(),
            uncaptured: 0,
            appeared: self.appeared(range),
            unjudged: 0,
            duplicated: self.duplicated(),
            reordered: self.reordered(),
            delays: Some(statistics(&delays)),
            remarks: self.remarks(),
            hop_limits: self.hop_limits(),
            translated_flows: self.translated_flows(),
        };
        drop(delays);
        self.outcomes(&mut hop, range);
        Some(hop)
    }
    /// Determines the fate of each packet of the first capture.
    fn outcomes(&self, hop: &mut Hop, range: Range) {
        let later = self.later();
        let (mut before, mut open) = (None, 0);
        for (place, mark) in self.first.marks.iter().enumerate().filter(|(_, mark)| self.is_ours(mark)) {
            match self.there.of(place) {
                Partner::At(to) => {
                    hop.matched += 1;
                    before = self.second.marks.get(to).map(|to| self.delay(mark, to) - range.min);
                    hop.losses.iter_mut().skip(open).for_each(|loss| loss.after_ns = before);
                    open = hop.losses.len();
                }
                Partner::Among(_) => hop.matched += 1,
                Partner::None if later.get(place).copied().unwrap_or(false) => hop.uncaptured += 1,
                Partner::None if !self.is_within(mark, range) => hop.unjudged += 1,
                Partner::None => lose(hop, mark, before),
            }
        }
    }
    /// Whether the second capture was running when this packet must have passed it.
    fn is_within(&self, mark: &PacketMark, range: Range) -> bool {
        let there = mark.at.saturating_add(self.difference(mark) as i64);
        there.saturating_add(range.min as i64) >= self.second.first
            && there.saturating_add(range.max as i64) <= self.second.last
    }
    /// For each packet of the first capture, whether any capture after the second contains it.
    fn later(&self) -> Vec<bool> {
        let mut later = vec![false; self.first.marks.len()];
        for capture in self.order.iter().skip(self.place + 2) {
            let Some(there) = self.known.partners(self.from, *capture) else { continue };
            later.iter_mut().enumerate().for_each(|(place, is_later)| *is_later |= there.has(place));
        }
        later
    }
    /// Number of packets missing from all earlier captures, although the first was running.
    fn appeared(&self, range: Range) -> u64 {
        let earlier = self.order.iter().take(self.place + 1);
        let found: Vec<Partners> =
            earlier.filter_map(|capture| self.known.partners(self.to, *capture)).collect();
        let was_captured = |mark: &PacketMark| {
            let here = mark.at.saturating_sub(self.difference(mark) as i64);
            here.saturating_sub(range.max as i64) >= self.first.first
                && here.saturating_sub(range.min as i64) <= self.first.last
        };
        let marks = self.second.marks.iter().enumerate();
        let ours = marks.filter(|(_, mark)| self.is_ours(mark) && was_captured(mark));
        ours.filter(|(place, _)| !found.iter().any(|found| found.has(*place))).count() as u64
    }
    fn duplicated(&self) -> u64 {
        let ours = |place: u32| self.first.marks.get(place as usize).is_some_and(|mark| self.is_ours(mark));
        self.there.extra.iter().filter(|(place, _)| ours(*place)).map(|(_, extra)| u64::from(*extra)).sum()
    }
    /// Number of packets that arrived after a later packet of their flow, in the order of arrival.
    fn reordered(&self) -> u64 {
        let Some(back) = self.known.partners(self.to, self.from) else { return 0 };
        let mut furthest = BTreeMap::<[u32; 2], usize>::new();
        let mut count = 0;
        for (_, from) in back.certain() {
            let Some(mark) = self.first.marks.get(from).filter(|mark| self.is_ours(mark)) else { continue };
            let furthest = furthest.entry(mark.ends).or_default();
            count += u64::from(from < *furthest);
            *furthest = from.max(*furthest);
        }
        count
    }
    fn remarks(&self) -> Vec<Remark> {
        let mut counts = BTreeMap::<(u8, u8), u64>::new();
        self.certain().for_each(|(_, from, _, to)| *counts.entry((from.class, to.class)).or_default() += 1);
        let split = |class: u8| (class >> 2, class & 3);
        let remark = |((from, to), packets)| Remark { from: split(from), to: split(to), packets };
        let mut remarks: Vec<Remark> = counts.into_iter().map(remark).collect();
        remarks.sort_by_key(|row| core::cmp::Reverse(row.packets));
        remarks
    }
    /// Number of flows with different names in the two files.
    fn translated_flows(&self) -> u64 {
        let called = |capture: usize| self.known.renamed.get(capture).map(|renamed| &renamed.was);
        let (Some(from), Some(to)) = (called(self.from), called(self.to)) else { return 0 };
        if from.is_empty() && to.is_empty() {
            return 0;
        }
        let flows = self.certain().map(|(_, mark, ..)| mark.flow());
        let translated = flows.filter(|flow| from.get(flow).unwrap_or(flow) != to.get(flow).unwrap_or(flow));
        translated.collect::<BTreeSet<_>>().len() as u64
    }
    fn hop_limits(&self) -> Vec<(i16, u64)> {
        let mut counts = BTreeMap::<i16, u64>::new();
        for (_, from, _, to) in self.certain() {
            *counts.entry(i16::from(from.hop_limit) - i16::from(to.hop_limit)).or_default() += 1;
        }
        let mut fell: Vec<(i16, u64)> = counts.into_iter().collect();
        fell.sort_by_key(|(_, packets)| core::cmp::Reverse(*packets));
        fell
    }
}

fn lose(hop: &mut Hop, mark: &PacketMark, before_ns: Option<f64>) {
    hop.lost += 1;
    hop.lost_bytes += u64::from(mark.ip_bytes);
    if hop.losses.len() < MAX_LOSSES {
        let (frame, at, ip_bytes) = (mark.frame, mark.at, mark.ip_bytes);
        hop.losses.push(Loss { frame, at, ip_bytes, before_ns, after_ns: None });
    }
}

/// Statistics of sorted, nonempty delays; percentiles by nearest rank.
fn statistics(delays: &[f64]) -> Delays {
    let min = delays.first().copied().unwrap_or(0.0);
    let above = |p: f64| percentile_of_sorted(delays, p).map_or(0.0, |delay| delay - min);
    Delays {
        count: delays.len() as u64,
        min_ns: min,
        p50_ns: above(0.5),
        p95_ns: above(0.95),
        p99_ns: above(0.99),
        max_ns: above(1.0),
    }
}
