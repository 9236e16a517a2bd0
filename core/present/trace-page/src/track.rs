//! What one end of a flow sent, and what came back.
use crate::row::{
    AckRow, Event, EventRow, KIND_MASK, MARKED, SPURIOUS, SegmentRow, TRIP_TABLES, TripRow, kind_code,
    saturate, trip_table,
};
use crate::sack_ranges::SackRanges;
use crate::thin::Thinned;
use crate::write::Writer;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use fathom_flow::{Ack, Lost, RoundTrip, Segment, Spurious};

/// Congestion Experienced, as the ECN bits say it (RFC 3168 section 5).
const CONGESTION_EXPERIENCED: u8 = 3;
/// Losses farther apart are two episodes. A full buffer of any size that was measured (Gettys 2010:
/// 8 s of swing) drops again only after the sender's window grew back, and a recovery takes a round
/// trip, of rarely more than a second.
const EPISODE_GAP_NS: u64 = 2_000_000_000;

/// A table whose rows are counted against a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    Segments,
    Acks,
    Trips,
}

/// The sequence space of one end of a flow.
#[derive(Debug, Default)]
pub(crate) struct Track {
    segments: Thinned<SegmentRow>,
    acks: Thinned<AckRow>,
    trips: [Thinned<TripRow>; TRIP_TABLES],
    events: Vec<EventRow>,
    /// Frames of repairs that were needless.
    needless: BTreeSet<u32>,
    sack_ranges: SackRanges,
    echoes: bool,
    bytes: u64,
    delivered: u64,
}

impl Track {
    pub(crate) fn segment(&mut self, at: u64, segment: &Segment) -> bool {
        let bytes = segment.stop.saturating_sub(segment.start);
        self.bytes = self.bytes.saturating_add(bytes);
        let mark = if segment.ecn & 3 == CONGESTION_EXPERIENCED { MARKED } else { 0 };
        self.segments.push(SegmentRow {
            at,
            start: segment.start,
            bytes: saturate(bytes),
            frame: saturate(segment.times.frame),
            outstanding: saturate(segment.outstanding_bytes),
            kind: kind_code(segment.kind) | mark,
        })
    }
    /// An ACK of what this end sent; the window of a reset is not one.
    pub(crate) fn ack(&mut self, at: u64, ack: &Ack<'_>, is_reset: bool) -> bool {
        let frame = saturate(ack.times.frame);
        let mut event = |what| {
            let start = ack.acknowledgement;
            self.events.push(EventRow { at, frame, what, start, bytes: 0, repair_frame: 0 });
        };
        if ack.window_bytes == 0 && !is_reset {
            event(Event::ZeroWindow);
        }
        if ack.echoes_congestion && !self.echoes {
            event(Event::CongestionEcho);
        }
        self.echoes = ack.echoes_congestion;
        if self.sack_ranges.renege(ack.acknowledgement, ack.blocks) {
            event(Event::Reneging);
        }
        let newest = ack.blocks.iter().find(|(start, stop)| *start > ack.acknowledgement && stop > start);
        let block = newest.map_or((0, 0), |(start, stop)| (start - ack.acknowledgement, stop - start));
        self.delivered = self.delivered.saturating_add(ack.newly_bytes);
        self.acks.push(AckRow {
            at,
            acknowledgement: ack.acknowledgement,
            delivered: self.delivered,
            window: saturate(ack.window_bytes),
            frame,
            block: (saturate(block.0), saturate(block.1)),
        })
    }
    pub(crate) fn round_trip(&mut self, at: u64, trip: &RoundTrip) -> bool {
        let ns = u64::try_from(trip.times.at.saturating_sub(trip.sent_at)).unwrap_or(0);
        let table = self.trips.get_mut(trip_table(trip.method, trip.validity));
        table.is_some_and(|table| table.push(TripRow { at, low_ns: ns, high_ns: ns }))
    }
    /// A loss, at the time at which the original passed, or else its repair.
    pub(crate) fn lost(&mut self, at: u64, lost: &Lost) {
        let frame = lost.original.unwrap_or(lost.repair).frame;
        self.events.push(EventRow {
            at,
            frame: saturate(frame),
            what: Event::Loss,
            start: lost.start,
            bytes: saturate(lost.stop.saturating_sub(lost.start)),
            repair_frame: saturate(lost.repair.frame),
        });
    }
    pub(crate) fn spurious(&mut self, spurious: &Spurious) {
        self.needless.insert(saturate(spurious.repair.frame));
    }
    pub(crate) fn reset(&mut self, at: u64, frame: u64) {
        let frame = saturate(frame);
        self.events.push(EventRow { at, frame, what: Event::Reset, start: 0, bytes: 0, repair_frame: 0 });
    }
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
    pub(crate) fn has_segments(&self) -> bool {
        !self.segments.rows().is_empty()
    }
    /// Ordinary rows of a table.
    pub(crate) fn rows(&self, table: Table) -> usize {
        match table {
            Table::Segments => self.segments.ordinary(),
            Table::Acks => self.acks.ordinary(),
            Table::Trips => self.trips.iter().map(Thinned::ordinary).sum(),
        }
    }
    pub(crate) fn halve(&mut self, table: Table) {
        match table {
            Table::Segments => self.segments.halve(),
            Table::Acks => self.acks.halve(),
            Table::Trips => self.trips.iter_mut().for_each(Thinned::halve),
        }
    }
    /// Removes losses that proved to be none, and sorts by time.
    pub(crate) fn settle(&mut self) {
        let needless = &self.needless;
        self.events.retain(|m| m.what != Event::Loss || !needless.contains(&m.repair_frame));
        self.events.sort_by_key(|event| event.at);
        let is_repair = |row: &SegmentRow| (1..=5).contains(&(row.kind & KIND_MASK));
        for row in self.segments.rows_mut() {
            if is_repair(row) && needless.contains(&row.frame) {
                row.kind = row.kind & !KIND_MASK | SPURIOUS;
            }
        }
    }
    /// Begin, end and number of losses of each loss episode.
    fn episodes(&self) -> Vec<(u64, u64, u64)> {
        let mut episodes: Vec<(u64, u64, u64)> = Vec::new();
        for loss in self.events.iter().filter(|m| m.what == Event::Loss) {
            match episodes.last_mut().filter(|(_, end, _)| loss.at - *end < EPISODE_GAP_NS) {
                Some((_, end, count)) => (*end, *count) = (loss.at, *count + 1),
                None => episodes.push((loss.at, loss.at, 1)),
            }
        }
        episodes
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        to.number(self.bytes);
        self.write_segments(to);
        self.write_acks(to);
        self.trips.iter().for_each(|trips| write_trips(trips, to));
        let rows = &self.events;
        to.number(rows.len() as u64);
        to.differences(rows.iter().map(|r| r.at));
        to.differences(rows.iter().map(|r| u64::from(r.frame)));
        to.numbers(rows.iter().map(|r| r.what as u64));
        to.differences(rows.iter().map(|r| r.start));
        to.numbers(rows.iter().map(|r| u64::from(r.bytes)));
        to.differences(rows.iter().map(|r| u64::from(r.repair_frame)));
        let episodes = self.episodes();
        to.number(episodes.len() as u64);
        for (begin, end, losses) in episodes {
            [begin, end - begin, losses].into_iter().for_each(|value| to.number(value));
        }
    }
    fn write_segments(&self, to: &mut Writer) {
        let rows = self.segments.rows();
        to.number(rows.len() as u64);
        to.number(u64::from(self.segments.stride()));
        to.differences(rows.iter().map(|r| r.at));
        to.differences(rows.iter().map(|r| u64::from(r.frame)));
        to.numbers(rows.iter().map(|r| u64::from(r.kind)));
        // What is new begins where the one before stopped: a column of zeros.
        let mut stop = 0;
        for row in rows {
            to.signed(row.start.wrapping_sub(stop) as i64);
            stop = row.start + u64::from(row.bytes);
        }
        to.differences(rows.iter().map(|r| u64::from(r.bytes)));
        to.differences(rows.iter().map(|r| u64::from(r.outstanding)));
    }
    fn write_acks(&self, to: &mut Writer) {
        let rows = self.acks.rows();
        to.number(rows.len() as u64);
        to.number(u64::from(self.acks.stride()));
        to.differences(rows.iter().map(|r| r.at));
        to.differences(rows.iter().map(|r| u64::from(r.frame)));
        to.differences(rows.iter().map(|r| r.acknowledgement));
        to.differences(rows.iter().map(|r| r.delivered));
        to.differences(rows.iter().map(|r| u64::from(r.window)));
        to.numbers(rows.iter().map(|r| u64::from(r.block.0)));
        to.numbers(rows.iter().map(|r| u64::from(r.block.1)));
    }
}

fn write_trips(trips: &Thinned<TripRow>, to: &mut Writer) {
    let rows = trips.rows();
    to.number(rows.len() as u64);
    to.number(u64::from(trips.stride()));
    to.differences(rows.iter().map(|r| r.at));
    to.differences(rows.iter().map(|r| r.low_ns));
    to.numbers(rows.iter().map(|r| r.high_ns - r.low_ns));
}
