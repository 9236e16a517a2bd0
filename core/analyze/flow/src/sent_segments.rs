//! Unacknowledged segments, and the holes between them.
use crate::Times;
use crate::search::partition_near;
use alloc::collections::{BTreeMap, VecDeque};

/// A segment as first captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    pub(crate) start: u64,
    pub(crate) times: Times,
    pub(crate) len: u32,
    /// TSval, or 0.
    pub(crate) stamp: u32,
    /// IPv4 identification, or 0 if it has no meaning (RFC 6864).
    pub(crate) identification: u16,
    pub(crate) is_repeated: bool,
    /// It filled a hole: the segment after it was captured first.
    pub(crate) is_late: bool,
}

impl SentSegment {
    pub(crate) const fn stop(&self) -> u64 {
        self.start + self.len as u64
    }
}

/// Bytes that were not captured, although later bytes were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub(crate) stop: u64,
    /// Capture time of the segment after it.
    pub(crate) opened: Times,
    /// TSval of the segment after it, or 0.
    pub(crate) stamp: u32,
    /// IPv4 identification of the segment after it, or 0.
    pub(crate) identification: u16,
}

/// Segments removed by an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckedSegments {
    /// The segment that ends at the acknowledgment number.
    pub(crate) last: Option<SentSegment>,
    pub(crate) segments: u32,
    /// Some of them were retransmitted or filled a hole.
    pub(crate) has_repairs: bool,
    /// Capture time of the last one that filled a hole.
    pub(crate) late_at: Option<i64>,
    /// Acknowledged bytes that were not captured.
    pub(crate) unseen: u64,
}

/// Segments in the order of sequence numbers, which is almost always the order of transmission,
/// without a size limit. Those that filled a hole are stored separately, so that filling thousands
/// of holes moves no entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentSegments {
    line: VecDeque<SentSegment>,
    late: BTreeMap<u64, SentSegment>,
    holes: BTreeMap<u64, Hole>,
    /// Indices of the last lookups, by [`Walk`].
    walked: [usize; 2],
}

/// Purpose of a lookup. Each usually proceeds from one segment to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Walk {
    /// Selective acknowledgment.
    Sack,
    /// Retransmission.
    Retransmission,
}

impl SentSegments {
    pub(crate) fn len(&self) -> usize {
        self.line.len() + self.late.len() + self.holes.len()
    }
    pub(crate) fn push(&mut self, sent: SentSegment) {
        self.line.push_back(sent);
    }
    /// Opens a hole from `start` to the segment that revealed it.
    pub(crate) fn open(&mut self, start: u64, hole: Hole) {
        self.holes.insert(start, hole);
    }
    /// The first hole in `start..stop`, and its first byte in that range.
    pub(crate) fn hole(&self, start: u64, stop: u64) -> Option<(u64, Hole)> {
        if self.holes.is_empty() || start >= stop {
            return None;
        }
        if let Some((_, hole)) = self.holes.range(..=start).next_back().filter(|(_, hole)| hole.stop > start)
        {
            return Some((start, *hole));
        }
        self.holes.range(start..stop).next().map(|(at, hole)| (*at, *hole))
    }
    /// Adds a segment that is at least partly in holes. Returns the number of bytes filled.
    pub(crate) fn fill(&mut self, sent: SentSegment) -> u64 {
        let mut filled = 0;
        while let Some((at, hole)) = self.hole(sent.start, sent.stop()) {
            let stop = hole.stop.min(sent.stop());
            filled += stop - at;
            self.cut(at, stop, hole);
            self.late.insert(at, SentSegment { start: at, len: (stop - at) as u32, is_late: true, ..sent });
        }
        filled
    }
    /// Removes `at..stop` from its hole; parts may remain on both sides.
    fn cut(&mut self, at: u64, stop: u64, hole: Hole) {
        if let Some((start, before)) = self.holes.range_mut(..=at).next_back() {
            let start = *start;
            before.stop = at;
            if start == at {
                self.holes.remove(&at);
            }
        }
        if stop < hole.stop {
            self.holes.insert(stop, hole);
        }
    }
    pub(crate) fn at(&mut self, byte: u64, walk: Walk) -> Option<&SentSegment> {
        let late =
            self.late.range(..=byte).next_back().map(|(_, sent)| sent).filter(|sent| sent.stop() > byte);
        if late.is_some() {
            return late;
        }
        let place = index(&self.line, &mut self.walked, byte, walk);
        self.line.get(place).filter(|sent| sent.start <= byte)
    }
    pub(crate) fn ending(&mut self, stop: u64) -> Option<&SentSegment> {
        self.at(stop.checked_sub(1)?, Walk::Sack).filter(|sent| sent.stop() == stop)
    }
    /// Marks the segments in `start..stop` as retransmitted.
    pub(crate) fn repeat(&mut self, start: u64, stop: u64) {
        if start >= stop {
            return;
        }
        let first = index(&self.line, &mut self.walked, start, Walk::Retransmission);
        for sent in self.line.range_mut(first..).take_while(|sent| sent.start < stop) {
            sent.is_repeated = true;
        }
        let before = self.late.range_mut(..start).next_back().map(|(_, sent)| sent);
        if let Some(sent) = before.filter(|sent| sent.stop() > start) {
            sent.is_repeated = true;
        }
        self.late.range_mut(start..stop).for_each(|(_, sent)| sent.is_repeated = true);
    }
    /// Removes all segments before `ack`.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, ack: u64) -> AckedSegments {
        let mut acked = AckedSegments::default();
        while let Some(first) = self.line.front().filter(|first| first.stop() <= ack) {
            acked.add(first, ack);
            self.line.pop_front();
        }
        self.walked = self.walked.map(|place| place.saturating_sub(acked.segments as usize));
        if !self.late.is_empty() {
            self.acknowledge_late(ack, &mut acked);
        }
        if !self.holes.is_empty() {
            acked.unseen = self.acknowledge_holes(ack);
        }
        acked
    }
    fn acknowledge_late(&mut self, ack: u64, acked: &mut AckedSegments) {
        while let Some(first) = self.late.first_entry().filter(|first| first.get().stop() <= ack) {
            let sent = first.remove();
            acked.late_at = acked.late_at.max(Some(sent.times.at));
            acked.add(&sent, ack);
        }
    }
    /// Removes holes below `ack`. Returns their number of bytes.
    fn acknowledge_holes(&mut self, ack: u64) -> u64 {
        let mut unseen = 0;
        while let Some(first) = self.holes.first_entry().filter(|first| *first.key() < ack) {
            let (start, hole) = first.remove_entry();
            unseen += hole.stop.min(ack) - start;
            if hole.stop > ack {
                self.holes.insert(ack, hole);
            }
        }
        unseen
    }
    pub(crate) fn hole_bytes(&self) -> u64 {
        self.holes.iter().map(|(start, hole)| hole.stop - start).sum()
    }
    /// Removes the lowest segment and the holes below its end; returns that end and their bytes.
    pub(crate) fn forget_oldest(&mut self) -> Option<(u64, u64)> {
        let line = self.line.front().map(SentSegment::stop);
        let late = self.late.first_key_value().map(|(_, sent)| sent.stop());
        let stop = line.into_iter().chain(late).min()?;
        Some((stop, self.acknowledge(stop).unseen))
    }
}

/// Index of the first segment that ends after this byte.
fn index(line: &VecDeque<SentSegment>, walked: &mut [usize; 2], byte: u64, walk: Walk) -> usize {
    let walked = &mut walked[walk as usize];
    let holds = |at: &usize| line.get(*at).is_some_and(|sent| sent.start <= byte && sent.stop() > byte);
    let near = [*walked, *walked + 1];
    *walked = near.into_iter().find(holds).unwrap_or_else(|| search(line, byte));
    *walked
}

/// Index of the first segment that ends after this byte, without a starting point.
fn search(line: &VecDeque<SentSegment>, byte: u64) -> usize {
    let (Some(first), Some(last)) = (line.front(), line.back()) else { return 0 };
    // Most segments have the same size. Half a byte is added so that the first byte of a segment is
    // not attributed to the previous one.
    let share = (byte.saturating_sub(first.start) as f64 + 0.5) / (last.stop() - first.start) as f64;
    let guess = (share * line.len() as f64) as usize;
    let is_before = |at: usize| line.get(at).is_some_and(|sent| sent.stop() <= byte);
    partition_near(guess, line.len(), is_before)
}

impl AckedSegments {
    fn add(&mut self, sent: &SentSegment, ack: u64) {
        self.segments += 1;
        self.has_repairs |= sent.is_repeated || sent.is_late;
        if sent.stop() == ack {
            self.last = Some(*sent);
        }
    }
}
