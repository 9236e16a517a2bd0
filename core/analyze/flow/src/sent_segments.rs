//! Segments that passed and are not acknowledged, and the holes between them.
use crate::Times;
use crate::search::partition_near;
use alloc::collections::{BTreeMap, VecDeque};

/// A segment, as it passed first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    pub(crate) start: u64,
    pub(crate) times: Times,
    pub(crate) len: u32,
    /// Its TSval, or 0.
    pub(crate) stamp: u32,
    /// Its identification in IPv4, or 0, which tells nothing (RFC 6864).
    pub(crate) identification: u16,
    /// Bytes of it passed again.
    pub(crate) is_repeated: bool,
    /// It filled a hole: what is behind it passed before it.
    pub(crate) is_late: bool,
}

impl SentSegment {
    pub(crate) const fn stop(&self) -> u64 {
        self.start + self.len as u64
    }
}

/// Bytes that did not pass, though bytes behind them did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub(crate) stop: u64,
    /// When the segment behind it passed.
    pub(crate) opened: Times,
    /// Its TSval, or 0.
    pub(crate) stamp: u32,
    /// Its identification in IPv4, or 0.
    pub(crate) identification: u16,
}

/// What an ACK took off the list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckedSegments {
    /// The segment that ends where the ACK does.
    pub(crate) last: Option<SentSegment>,
    /// Segments acknowledged.
    pub(crate) segments: u32,
    /// Some of them passed again, or late.
    pub(crate) has_repairs: bool,
    /// When the last of those that filled a hole passed.
    pub(crate) late_at: Option<i64>,
    /// Bytes acknowledged that never passed here.
    pub(crate) unseen: u64,
}

/// The list, without a limit of its own: in order of sequence, as almost all is sent so; what filled a hole apart from it, so that
/// nothing moves when thousands of holes are filled.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentSegments {
    line: VecDeque<SentSegment>,
    late: BTreeMap<u64, SentSegment>,
    holes: BTreeMap<u64, Hole>,
    /// Places in the line that were asked for last, by [`Walk`].
    walked: [usize; 2],
}

/// For what a segment is looked for: either goes from one to the next, mostly.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Walk {
    /// As SACK tells of it.
    Sack,
    /// As it is sent again.
    Retransmission,
}

impl SentSegments {
    /// Segments and holes listed.
    pub(crate) fn len(&self) -> usize {
        self.line.len() + self.late.len() + self.holes.len()
    }
    /// A segment behind all others.
    pub(crate) fn push(&mut self, sent: SentSegment) {
        self.line.push_back(sent);
    }
    /// Bytes from `start` on did not pass, as the segment behind them shows.
    pub(crate) fn open(&mut self, start: u64, hole: Hole) {
        self.holes.insert(start, hole);
    }
    /// The hole that holds the first byte of `start..stop` which is in a hole, and that byte.
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
    /// A segment passed whose bytes are, in part at least, in holes. Gives how many.
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
    /// Takes `at..stop` out of its hole, of which a part may remain on either side.
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
    /// The segment that holds this byte.
    pub(crate) fn at(&mut self, byte: u64, walk: Walk) -> Option<&SentSegment> {
        let late =
            self.late.range(..=byte).next_back().map(|(_, sent)| sent).filter(|sent| sent.stop() > byte);
        if late.is_some() {
            return late;
        }
        let place = index(&self.line, &mut self.walked, byte, walk);
        self.line.get(place).filter(|sent| sent.start <= byte)
    }
    /// The segment that ends at `stop`.
    pub(crate) fn ending(&mut self, stop: u64) -> Option<&SentSegment> {
        self.at(stop.checked_sub(1)?, Walk::Sack).filter(|sent| sent.stop() == stop)
    }
    /// Bytes of `start..stop` passed again: as many segments are looked at as the packet's bytes held.
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
    /// All before `ack` has arrived.
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
    /// Bytes in holes below `ack`, which are holes no longer.
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
    /// Bytes in holes.
    pub(crate) fn hole_bytes(&self) -> u64 {
        self.holes.iter().map(|(start, hole)| hole.stop - start).sum()
    }
    /// Forgets the lowest segment, and holes below its end. Gives that end, and the bytes in those holes.
    pub(crate) fn forget_oldest(&mut self) -> Option<(u64, u64)> {
        let line = self.line.front().map(SentSegment::stop);
        let late = self.late.first_key_value().map(|(_, sent)| sent.stop());
        let stop = line.into_iter().chain(late).min()?;
        Some((stop, self.acknowledge(stop).unseen))
    }
}

/// Place in the line of the first segment that ends behind this byte.
fn index(line: &VecDeque<SentSegment>, walked: &mut [usize; 2], byte: u64, walk: Walk) -> usize {
    let walked = &mut walked[walk as usize];
    let holds = |at: &usize| line.get(*at).is_some_and(|sent| sent.start <= byte && sent.stop() > byte);
    let near = [*walked, *walked + 1];
    *walked = near.into_iter().find(holds).unwrap_or_else(|| search(line, byte));
    *walked
}

/// The same, without a place to begin at.
fn search(line: &VecDeque<SentSegment>, byte: u64) -> usize {
    let (Some(first), Some(last)) = (line.front(), line.back()) else { return 0 };
    // Nearly all are as long as the others; half a byte more, so that the first of a segment is not told to be of the one before.
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
