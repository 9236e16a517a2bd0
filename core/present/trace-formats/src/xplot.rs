//! Graphs for xplot, named and drawn as tcptrace does it.
mod plot;
mod sequence;
mod series;

use crate::files::Files;
use crate::name::{Endpoint, file_of};
use crate::per_flow::PerFlow;
use alloc::string::String;
use core::fmt;
use fathom_capture::Address;
use fathom_flow::{Ack, End, FlowId, Header, RoundTrip, RttMethod, RttValidity, Segment, Sink, Times};
use plot::Plot;
use sequence::Sequence;
use series::{Outstanding, Rtt, Throughput};

/// Which graphs are drawn of each direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Graphs {
    /// Data, ACKs and window over time: `a2b_tsg.xpl`.
    pub sequence: bool,
    /// Round trips: `a2b_rtt.xpl`.
    pub rtt: bool,
    /// Outstanding data and window: `a2b_owin.xpl`.
    pub outstanding: bool,
    /// Throughput: `a2b_tput.xpl`.
    pub throughput: bool,
}

impl Graphs {
    /// All of them.
    pub const ALL: Graphs = Graphs { sequence: true, rtt: true, outstanding: true, throughput: true };
}

/// Draws graphs as `tcptrace -S -R -N -T` does, of all flows or of those chosen.
///
/// Deliberately other than tcptrace: sequence numbers are counted from the SYN (as with its `-zy`)
/// and go on past 2^32; round trips have microseconds, where its graph has whole milliseconds, and
/// also come from SACK; outstanding data excludes data that SACK reports as received; red `R` is a
/// retransmission also where its original was lost before the capture point, and pink `O` only what
/// the network put behind later data. Graphs of segment sizes (`ssize`) and time lines (`tline`)
/// are not drawn. Expect about nine times the size of the capture's headers.
#[derive(Debug)]
pub struct Xplot<F, C> {
    files: F,
    choose: C,
    graphs: Graphs,
    flows: PerFlow<Flow>,
    result: fmt::Result,
}

/// A direction, its name and its beginning.
pub(crate) struct Titled {
    flow: FlowId,
    end: End,
    ends: [(Address, u16); 2],
    opened: i64,
}

impl Titled {
    fn file(&self, suffix: &str) -> String {
        file_of(self.flow, self.end, suffix)
    }
}

impl fmt::Display for Titled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = self.ends;
        let (from, to) = if self.end == End::A { (a, b) } else { (b, a) };
        write!(f, "{}_==>_{}", Endpoint(from), Endpoint(to))
    }
}

/// The flags of the packet that passes (RFC 9293 section 3.1).
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Passing(u16);

impl Passing {
    const fn is_fin(self) -> bool {
        self.0 & 1 != 0
    }
    const fn is_syn(self) -> bool {
        self.0 & 2 != 0
    }
    const fn is_reset(self) -> bool {
        self.0 & 4 != 0
    }
    const fn is_push(self) -> bool {
        self.0 & 8 != 0
    }
    /// CWR (RFC 3168 section 6.1.2).
    const fn is_reduced(self) -> bool {
        self.0 & 128 != 0 && !self.is_syn()
    }
}

#[derive(Debug)]
struct Flow {
    sides: [Side; 2],
    passing: Passing,
    data_bytes: u32,
}

/// The graphs of one end's data.
#[derive(Debug)]
struct Side {
    sequence: Option<Sequence>,
    rtt: Option<Rtt>,
    outstanding: Option<Outstanding>,
    throughput: Option<Throughput>,
}

impl Side {
    fn new(titled: &Titled, graphs: Graphs) -> Self {
        Side {
            sequence: graphs.sequence.then(|| Sequence::new(titled)),
            rtt: graphs.rtt.then(|| Rtt::new(titled)),
            outstanding: graphs.outstanding.then(|| Outstanding::new(titled)),
            throughput: graphs.throughput.then(|| Throughput::new(titled)),
        }
    }
    fn segment(&mut self, segment: &Segment, passing: Passing, data_bytes: u32) {
        if let Some(sequence) = &mut self.sequence {
            sequence.segment(segment, passing);
        }
        if let Some(outstanding) = self.outstanding.as_mut().filter(|_| !passing.is_syn()) {
            outstanding.segment(segment);
        }
        if let Some(throughput) = self.throughput.as_mut().filter(|_| data_bytes > 0) {
            throughput.segment(segment.times.at, data_bytes.into());
        }
    }
    fn plots(&mut self) -> [Option<&mut Plot>; 4] {
        [
            self.sequence.as_mut().map(Sequence::plot),
            self.rtt.as_mut().map(|graph| &mut graph.plot),
            self.outstanding.as_mut().map(|graph| &mut graph.plot),
            self.throughput.as_mut().map(|graph| &mut graph.plot),
        ]
    }
    fn pass(&mut self, files: &mut impl Files) -> fmt::Result {
        self.plots().into_iter().flatten().try_for_each(|plot| plot.pass(files))
    }
    fn finish(self, files: &mut impl Files) -> fmt::Result {
        let plots = [
            self.sequence.map(Sequence::into_plot),
            self.rtt.map(|graph| graph.plot),
            self.outstanding.map(|graph| graph.plot),
            self.throughput.map(|graph| graph.plot),
        ];
        plots.into_iter().flatten().try_for_each(|plot| plot.finish(files))
    }
}

impl<F: Files, C: FnMut(FlowId, [(Address, u16); 2]) -> bool> Xplot<F, C> {
    /// Draws into `files` the graphs of the flows for which `choose` is true.
    pub const fn new(graphs: Graphs, files: F, choose: C) -> Self {
        Xplot { files, choose, graphs, flows: PerFlow::new(), result: Ok(()) }
    }
    /// Completes all graphs.
    ///
    /// # Errors
    /// The first that there was; nothing was written after it.
    pub fn finish(mut self) -> Result<F, fmt::Error> {
        self.result?;
        for flow in self.flows.drain() {
            flow.sides.into_iter().try_for_each(|side| side.finish(&mut self.files))?;
        }
        Ok(self.files)
    }
    /// Draws into the graphs of one end's data.
    fn draw(&mut self, flow: FlowId, end: End, draw: impl FnOnce(&mut Side, Passing, u32)) {
        let Some(flow) = self.flows.get(flow).filter(|_| self.result.is_ok()) else { return };
        let (passing, data_bytes) = (flow.passing, flow.data_bytes);
        if let Some(side) = flow.sides.get_mut(end as usize) {
            draw(side, passing, data_bytes);
            self.result = side.pass(&mut self.files);
        }
    }
    fn sequence(&mut self, flow: FlowId, end: End, draw: impl FnOnce(&mut Sequence)) {
        self.draw(flow, end, |side, _, _| {
            if let Some(graph) = &mut side.sequence {
                draw(graph);
            }
        });
    }
}

impl<F: Files, C: FnMut(FlowId, [(Address, u16); 2]) -> bool> Sink for Xplot<F, C> {
    fn opened(&mut self, flow: FlowId, ends: [(Address, u16); 2], times: Times) {
        if (self.choose)(flow, ends) {
            let side = |end| Side::new(&Titled { flow, end, ends, opened: times.at }, self.graphs);
            let sides = [side(End::A), side(End::B)];
            self.flows.add(flow, Flow { sides, passing: Passing::default(), data_bytes: 0 });
        }
    }
    fn packet(&mut self, flow: FlowId, header: &Header) {
        let Header { times, end, payload_bytes, flags, .. } = *header;
        let passing = Passing(flags);
        if let Some(flow) = self.flows.get(flow) {
            (flow.passing, flow.data_bytes) = (passing, payload_bytes);
        }
        if passing.is_reset() {
            self.sequence(flow, end, |graph| graph.reset(times.at));
            self.sequence(flow, end.other(), |graph| graph.reset_by_other(times.at));
        } else if payload_bytes == 0 && !passing.is_syn() && !passing.is_fin() {
            self.sequence(flow, end, |graph| graph.empty(times.at));
        }
    }
    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        self.draw(flow, segment.end, |side, passing, data_bytes| side.segment(segment, passing, data_bytes));
    }
    fn ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
        let passing = self.flows.get(flow).map_or(Passing::default(), |flow| flow.passing);
        self.sequence(flow, ack.end.other(), |graph| graph.ack(ack, passing));
    }
    fn round_trip(&mut self, flow: FlowId, trip: &RoundTrip) {
        if trip.method != RttMethod::Timestamps && trip.validity == RttValidity::Clean {
            self.draw(flow, trip.end, |side, _, _| {
                side.rtt.iter_mut().for_each(|graph| graph.round_trip(trip))
            });
        }
    }
    fn forgotten(&mut self, flow: FlowId) {
        self.flows.take(flow);
    }
}
