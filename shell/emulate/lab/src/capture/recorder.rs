//! The part of capturing that runs in the line's thread: it copies headers and never blocks.
use super::block::{Block, Head};
use super::point::Point;
use super::writer::Writer;
use super::{CaptureOptions, CaptureReport, CapturedFile, Loss, LossReason};
use crate::LabError;
use crate::slice::{Buffer, Slice};
use fathom_link::LinePosition;
use fathom_os::clock::{Clock, wall_now};
use fathom_units::{Direction, Time, WallTime};
use fathom_wire::{MAX_HEADER_BYTES, Rewrite};
use std::ops::Range;

/// Packet counts of a point.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    packets: u64,
    missing: u64,
}

/// Adjacent segments with the same changes.
pub(crate) struct Seen<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) segments: Range<usize>,
    pub(crate) change: Rewrite,
}

/// Captures the packets of a line at all points.
#[derive(Debug)]
pub(crate) struct Recorder {
    hops: usize,
    snaplen: usize,
    super_packets: bool,
    /// Wall time at zero of the run's clock.
    origin: WallTime,
    /// The block being filled; `None` while the writer has all blocks.
    block: Option<Block>,
    writer: Writer,
    counts: Vec<Count>,
    losses: Vec<Loss>,
}

impl Recorder {
    /// Creates the files for a line of `hops`, with times of `clock`.
    pub(crate) fn start(options: &CaptureOptions, hops: usize, clock: Clock) -> Result<Self, LabError> {
        let names: Vec<_> = Point::all(hops).map(|point| point.file_name(hops)).collect();
        let origin = WallTime(wall_now().0 - clock.now().as_nanos());
        let writer = Writer::start(&options.directory, &names, origin)?;
        Ok(Recorder {
            hops,
            snaplen: options.snaplen as usize,
            super_packets: options.super_packets,
            origin,
            block: None,
            writer,
            counts: vec![Count::default(); names.len()],
            losses: Vec::new(),
        })
    }

    /// An end passed all of `buffer` to the line.
    pub(crate) fn enters(&mut self, direction: Direction, buffer: &Buffer, now: Time) {
        let seen = Seen { buffer, segments: 0..buffer.segments(), change: Rewrite::default() };
        let first = self.see(Point::source(direction, self.hops), &seen, now);
        buffer.set_frame(first);
    }
    /// The line passed `seen` to an end.
    pub(crate) fn leaves(&mut self, direction: Direction, seen: &Seen<'_>, now: Time) {
        self.see(Point::source(direction.reverse(), self.hops), seen, now);
    }
    /// A packet passed a point inside the line.
    pub(crate) fn passes(&mut self, point: Point, slice: &Slice, at: Time) {
        let segments = slice.segment()..slice.segment() + 1;
        self.see(point, &Seen { buffer: slice.buffer(), segments, change: slice.change() }, at);
    }
    /// A packet was lost at `position`.
    pub(crate) fn loses(&mut self, position: LinePosition, slice: &Slice, reason: LossReason, at: Time) {
        let frame = slice.buffer().frame().map(|first| match self.super_packets {
            true => first,
            false => first + slice.segment() as u64,
        });
        let LinePosition { hop, direction } = position;
        self.losses.push(Loss { at: self.origin_plus(at), hop, direction, reason, frame });
    }
    fn origin_plus(&self, at: Time) -> WallTime {
        WallTime(self.origin.0 + at.as_nanos())
    }

    /// Records all of `seen` or nothing. Returns the number of the first frame.
    fn see(&mut self, point: Point, seen: &Seen<'_>, at: Time) -> Option<u64> {
        let step = if self.super_packets { seen.segments.len() } else { 1 };
        let frames = seen.segments.len() / step.max(1);
        let payload = seen.buffer.packet().len().min(frames * self.snaplen);
        let has_room = self.make_room(frames * (Head::BYTES + MAX_HEADER_BYTES) + payload);
        let count = &mut self.counts[point.index()];
        if !has_room {
            count.missing += frames as u64;
            return None;
        }
        let first = count.packets + 1;
        count.packets += frames as u64;
        for start in seen.segments.clone().step_by(step) {
            self.store(point, seen, start..start + step, at);
        }
        Some(first)
    }
    fn make_room(&mut self, bytes: usize) -> bool {
        if let Some(full) = self.block.take_if(|block| !block.has_room(bytes)) {
            self.writer.write(full);
        }
        if self.block.is_none() {
            self.block = self.writer.empty();
        }
        self.block.is_some()
    }
    fn store(&mut self, point: Point, seen: &Seen<'_>, segments: Range<usize>, at: Time) {
        let mut header = [0; MAX_HEADER_BYTES];
        let run = seen.buffer.rewrite(segments, seen.change, &mut header);
        let header = &header[..run.header_len.min(self.snaplen)];
        let payload = &seen.buffer.packet()[run.payload.clone()];
        let stored = &payload[..payload.len().min(self.snaplen - header.len())];
        let head = Head {
            at_ns: at.as_nanos(),
            point: point.index() as u32,
            wire_bytes: (run.header_len + payload.len()) as u32,
            stored_bytes: (header.len() + stored.len()) as u32,
        };
        if let Some(block) = &mut self.block {
            block.push(head, header, stored);
        }
    }

    /// Writes what is left and reports the content of the files.
    pub(crate) fn finish(mut self) -> Result<CaptureReport, LabError> {
        if let Some(last) = self.block.take() {
            self.writer.write(last);
        }
        self.writer.finish()?;
        let files = Point::all(self.hops).zip(&self.counts).map(|(point, count)| CapturedFile {
            name: point.file_name(self.hops),
            place: point.place(self.hops),
            packets: count.packets,
            missing: count.missing,
        });
        Ok(CaptureReport { files: files.collect(), losses: self.losses })
    }
}
