//! Graphs of numbers over time: round trips, outstanding data, throughput.
use super::Titled;
use super::plot::{Colour, Heading, Plot};
use crate::number::MS;
use core::fmt::Display;
use fathom_flow::{RoundTrip, Segment};

/// Points joined by lines, with a name at the first of these.
#[derive(Clone, Copy, Debug)]
struct Line {
    name: &'static str,
    colour: Colour,
    last: Option<(i64, f64)>,
    is_named: bool,
    decimals: usize,
}

impl Line {
    const fn new(name: &'static str, colour: Colour, decimals: usize) -> Self {
        Line { name, colour, last: None, is_named: false, decimals }
    }
    fn extend(&mut self, plot: &mut Plot, at: i64, value: f64) {
        let decimals = self.decimals;
        let shown = |y: f64| Shown { value: y, decimals };
        plot.colour(self.colour);
        plot.mark("dot", at, shown(value));
        if let Some((before, last)) = self.last {
            plot.join((at, shown(value)), (before, shown(last)));
            if !self.is_named {
                self.is_named = true;
                plot.text('l', before.midpoint(at), shown(f64::midpoint(value, last)), self.name);
            }
        }
        self.last = Some((at, value));
    }
}

struct Shown {
    value: f64,
    decimals: usize,
}

impl Display for Shown {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:.*}", self.decimals, self.value)
    }
}

/// Round trips in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    pub(super) plot: Plot,
    line: Line,
}

impl Rtt {
    pub(super) fn new(titled: &Titled) -> Self {
        let title = format_args!("{titled} (rtt samples)");
        let heading = Heading { title, label: "rtt (ms)", kind: "double" };
        Rtt { plot: Plot::new(titled.file("_rtt.xpl"), &heading), line: Line::new("rtt", Colour::Red, 3) }
    }
    pub(super) fn round_trip(&mut self, trip: &RoundTrip) {
        let took = trip.times.at.saturating_sub(trip.sent_at) as f64 / MS;
        self.line.extend(&mut self.plot, trip.times.at, took);
    }
}

/// Outstanding data, its means over segments and over time, and the other end's window.
#[derive(Clone, Debug)]
pub(super) struct Outstanding {
    pub(super) plot: Plot,
    owin: Line,
    rwin: Line,
    mean: Line,
    weighted: Line,
    count: u64,
    sum: u64,
    since: Option<i64>,
    /// Bytes times ns.
    area: f64,
    last: (i64, u64),
}

impl Outstanding {
    pub(super) fn new(titled: &Titled) -> Self {
        let title = format_args!("{titled} (outstanding data)");
        let heading = Heading { title, label: "Outstanding Data (bytes)", kind: "signed" };
        Outstanding {
            plot: Plot::new(titled.file("_owin.xpl"), &heading),
            owin: Line::new("owin", Colour::Red, 0),
            rwin: Line::new("rwin", Colour::Yellow, 0),
            mean: Line::new("avg owin", Colour::Blue, 0),
            weighted: Line::new("wavg owin", Colour::Green, 0),
            count: 0,
            sum: 0,
            since: None,
            area: 0.0,
            last: (0, 0),
        }
    }
    pub(super) fn segment(&mut self, segment: &Segment) {
        let (at, bytes) = (segment.times.at, segment.outstanding_bytes);
        let since = *self.since.get_or_insert(at);
        if self.count > 0 {
            self.area += at.saturating_sub(self.last.0) as f64 * self.last.1 as f64;
        }
        self.count += 1;
        self.sum += bytes;
        self.last = (at, bytes);
        self.owin.extend(&mut self.plot, at, bytes as f64);
        if let Some(window) = segment.window_bytes {
            self.rwin.extend(&mut self.plot, at, window as f64);
        }
        self.mean.extend(&mut self.plot, at, self.sum as f64 / self.count as f64);
        if at > since {
            self.weighted.extend(&mut self.plot, at, self.area / at.saturating_sub(since) as f64);
        }
    }
}

/// Segments over which a rate is taken, as tcptrace's default.
const GROUP: u32 = 10;

/// Bytes per second: of each segment, of groups of ten, and since the flow began.
#[derive(Clone, Debug)]
pub(super) struct Throughput {
    pub(super) plot: Plot,
    group: Line,
    mean: Line,
    opened: i64,
    /// When the group began, its segments and bytes.
    began: i64,
    segments: u32,
    bytes: u64,
    last: Option<i64>,
    all_bytes: u64,
}

/// Time between packets stamped alike, ns, so that no rate is infinite.
const MIN_GAP_NS: i64 = 1_000;

impl Throughput {
    pub(super) fn new(titled: &Titled) -> Self {
        let title = format_args!("{titled} (throughput)");
        let heading = Heading { title, label: "thruput (bytes/sec)", kind: "signed" };
        Throughput {
            plot: Plot::new(titled.file("_tput.xpl"), &heading),
            group: Line::new("inst. tput", Colour::Red, 0),
            mean: Line::new("avg. tput", Colour::Blue, 0),
            opened: titled.opened,
            began: titled.opened,
            segments: 0,
            bytes: 0,
            last: None,
            all_bytes: 0,
        }
    }
    pub(super) fn segment(&mut self, at: i64, bytes: u64) {
        let per_second =
            |sum: u64, since: i64| sum as f64 * 1e9 / at.saturating_sub(since).max(MIN_GAP_NS) as f64;
        self.all_bytes += bytes;
        if let Some(last) = self.last.replace(at) {
            self.plot.colour(Colour::Yellow);
            self.plot.mark("dot", at, per_second(bytes, last) as u64);
        }
        self.segments += 1;
        self.bytes += bytes;
        if self.segments == GROUP {
            self.group.extend(&mut self.plot, at, per_second(self.bytes, self.began));
            self.mean.extend(&mut self.plot, at, per_second(self.all_bytes, self.opened));
            (self.began, self.segments, self.bytes) = (at, 0, 0);
        }
    }
}
