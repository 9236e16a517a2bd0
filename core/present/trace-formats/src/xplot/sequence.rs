//! The time-sequence graph, of the data of one end.
use super::plot::{Colour, Heading, Plot};
use super::{Passing, Titled};
use fathom_flow::{Ack, Segment, SegmentKind};

/// Duplicate ACKs after which a sender sends again (RFC 5681 section 3.2): the third is marked.
const THIRD: u32 = 3;

/// Data upward, its ACKs as a staircase under it and the window as one above it.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    plot: Plot,
    /// After the last byte that was sent.
    next: u64,
    /// The last ACK: when it passed, what it acknowledged, and the edge of the window.
    last: Option<(i64, u64, u64)>,
    duplicates: u32,
}

impl Sequence {
    pub(super) fn new(titled: &Titled) -> Self {
        let title = format_args!("{titled} (time sequence graph)");
        let heading = Heading { title, label: "sequence number", kind: "double" };
        Sequence { plot: Plot::new(titled.file("_tsg.xpl"), &heading), next: 0, last: None, duplicates: 0 }
    }
    pub(super) const fn plot(&mut self) -> &mut Plot {
        &mut self.plot
    }
    pub(super) fn into_plot(self) -> Plot {
        self.plot
    }
    /// A packet of this end without data.
    pub(super) fn empty(&mut self, at: i64) {
        self.plot.colour(Colour::White);
        self.plot.mark("darrow", at, self.next);
        self.plot.mark("uarrow", at, self.next);
    }
    /// RST of this end.
    pub(super) fn reset(&mut self, at: i64) {
        self.plot.colour(Colour::Magenta);
        self.plot.text('a', at, self.next, "RST_OUT");
    }
    /// RST of the other end.
    pub(super) fn reset_by_other(&mut self, at: i64) {
        self.plot.colour(Colour::Magenta);
        let acknowledged = self.last.map_or(0, |(_, acknowledged, _)| acknowledged);
        self.plot.text('a', at, acknowledged, "RST_IN");
    }
    pub(super) fn segment(&mut self, segment: &Segment, passing: Passing) {
        let (at, stop) = (segment.times.at, segment.stop);
        self.next = self.next.max(stop);
        let (colour, letter) = look(segment.kind);
        if let Some((side, letter)) = letter
            && !passing.is_syn()
            && !passing.is_fin()
        {
            self.plot.colour(colour);
            self.plot.text(side, at, stop, letter);
        }
        let is_again = matches!(segment.kind, SegmentKind::Retransmission(_));
        if passing.is_syn() {
            self.syn(segment, is_again);
        } else if passing.is_fin() {
            self.fin(segment, is_again);
        } else {
            self.data(
                segment,
                if is_again || segment.kind == SegmentKind::Duplicate { colour } else { Colour::White },
                passing,
            );
        }
        self.congestion(segment, passing);
    }
    fn syn(&mut self, segment: &Segment, is_again: bool) {
        let (at, start) = (segment.times.at, segment.start);
        self.plot.colour(if is_again { Colour::Red } else { Colour::Orange });
        self.plot.mark("diamond", at, start);
        self.plot.text('a', at, start + 1, if is_again { "R SYN" } else { "SYN" });
        self.plot.mark("uarrow", at, start + 1);
        self.plot.join((at, start), (at, start + 1));
    }
    fn fin(&mut self, segment: &Segment, is_again: bool) {
        let (at, start, stop) = (segment.times.at, segment.start, segment.stop);
        let last = stop.saturating_sub(1);
        if last > start {
            self.plot.colour(Colour::White);
            self.plot.mark("darrow", at, start);
            self.plot.join((at, start), (at, last));
        }
        self.plot.colour(if is_again { Colour::Red } else { Colour::Orange });
        if last <= start {
            self.plot.mark("darrow", at, last);
        }
        self.plot.join((at, last), (at, stop));
        self.plot.mark("box", at, stop);
        self.plot.text('a', at, stop, if is_again { "R FIN" } else { "FIN" });
    }
    fn data(&mut self, segment: &Segment, colour: Colour, passing: Passing) {
        let (at, start, stop) = (segment.times.at, segment.start, segment.stop);
        if passing.is_push() {
            self.plot.colour(Colour::White);
            self.plot.mark("diamond", at, stop);
            self.plot.mark("dot", at, stop);
        }
        self.plot.colour(colour);
        self.plot.mark("darrow", at, start);
        if !passing.is_push() {
            self.plot.mark("uarrow", at, stop);
        }
        self.plot.join((at, start), (at, stop));
    }
    fn congestion(&mut self, segment: &Segment, passing: Passing) {
        let text = match (passing.is_reduced(), segment.ecn == CE) {
            (true, true) => "CWR CE",
            (true, false) => "CWR",
            (false, true) => "CE",
            (false, false) => return,
        };
        self.plot.colour(Colour::Yellow);
        self.plot.mark("diamond", segment.times.at, segment.start);
        self.plot.text('a', segment.times.at, segment.start, text);
    }
    /// An ACK of the other end.
    pub(super) fn ack(&mut self, ack: &Ack<'_>, passing: Passing) {
        let (at, acknowledged) = (ack.times.at, ack.acknowledgement);
        let edge = acknowledged + ack.window_bytes;
        self.duplicates = if ack.is_duplicate { self.duplicates + 1 } else { 0 };
        if ack.window_bytes == 0 {
            self.plot.colour(Colour::Magenta);
            self.plot.text('a', at, edge, "Z");
        }
        if let Some((before, last, last_edge)) = self.last {
            self.plot.colour(Colour::Green);
            self.step((before, last), (at, acknowledged), "dtick");
            if self.duplicates == THIRD {
                self.plot.text('a', at, acknowledged, "3");
            }
            if ack.echoes_congestion && !passing.is_syn() {
                self.plot.colour(Colour::Yellow);
                self.plot.mark("diamond", at, acknowledged);
            }
            self.plot.colour(Colour::Yellow);
            self.step((before, last_edge), (at, edge), "utick");
        }
        self.selective(ack);
        self.last = Some((at, acknowledged, edge));
    }
    /// Along, then up; or a tick where it did not move.
    fn step(&mut self, from: (i64, u64), to: (i64, u64), tick: &str) {
        self.plot.join(from, (to.0, from.1));
        if from.1 == to.1 {
            self.plot.mark(tick, to.0, to.1);
        } else {
            self.plot.join((to.0, from.1), to);
        }
    }
    fn selective(&mut self, ack: &Ack<'_>) {
        let at = ack.times.at;
        let Some(top) = ack.blocks.iter().map(|(_, stop)| *stop).max() else { return };
        self.plot.colour(Colour::Purple);
        for ((start, stop), number) in ack.blocks.iter().zip(1..) {
            self.plot.join((at, start), (at, stop));
            self.plot.mark("htick", at, start);
            self.plot.mark("htick", at, stop);
            if ack.blocks.len() > 1 {
                self.plot.text('r', at, stop, number);
            }
        }
        self.plot.text('a', at, top, "S");
    }
}

/// The ECN bits of a packet that met congestion (RFC 3168 section 5).
const CE: u8 = 3;

/// Color of a segment, and a letter with its place.
const fn look(kind: SegmentKind) -> (Colour, Option<(char, &'static str)>) {
    match kind {
        SegmentKind::New | SegmentKind::KeepAlive => (Colour::White, None),
        SegmentKind::Retransmission(_) => (Colour::Red, Some(('a', "R"))),
        SegmentKind::Reordered => (Colour::Pink, Some(('a', "O"))),
        SegmentKind::Duplicate => (Colour::Blue, Some(('a', "HD"))),
        SegmentKind::WindowProbe => (Colour::Orange, Some(('b', "P"))),
    }
}
