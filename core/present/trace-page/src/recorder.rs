//! Listens to what happens in chosen flows.
use crate::curve::{Curve, Level, Scope, end_code};
use crate::page::{Words, page};
use crate::probes::Probes;
use crate::track::{Table, Track};
use crate::write::Writer;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::{Ack, End, FlowId, Header, Lost, Probe, RoundTrip, Segment, Sink, Spurious, Times};

/// Default number of flows of a page: the largest.
pub const PICTURES: usize = 8;

/// How much a page may hold. Rare events are kept beyond it, each of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Ordinary segments of all flows together; as many ACKs and as many round trips. Above this,
    /// the flow with the most of them is thinned: each two in a row become the range that both
    /// cover.
    pub rows: usize,
}

impl Default for Limits {
    /// Two million: about 40 bytes of memory each while recording, and a page of at most 70 MB,
    /// which a browser opens in seconds.
    fn default() -> Self {
        Limits { rows: 2_000_000 }
    }
}

/// RST, of the low byte of TCP's flags (RFC 9293 section 3.1).
const RST: u16 = 4;

#[derive(Debug)]
struct Flow {
    ends: [(Address, u16); 2],
    /// What A sent, and what B sent.
    tracks: [Track; 2],
}

/// Records what a page shows of the selected flows.
#[derive(Debug)]
pub struct Recorder {
    limits: Limits,
    flows: BTreeMap<FlowId, Flow>,
    curves: Vec<Curve>,
    levels: Vec<Level>,
    probes: Probes,
    rows: [usize; 3],
    origin: Option<i64>,
    latest: u64,
    /// Packets of a clock that stepped back, which are shown where it was before; and the last of
    /// them.
    steps_back: u64,
    step_frame: u64,
    /// Frame of the last RST.
    reset_frame: u64,
}

/// The unspecified address, until a flow's own is known.
const NO_ENDPOINT: (Address, u16) = (Address::v4([0; 4]), 0);

impl Recorder {
    /// A recorder of these flows. The page begins at `origin`, in nanoseconds of the capture's
    /// clock (the first frame of the file, so that times are those of Wireshark), or else at what
    /// it hears first.
    pub fn new(flows: &[FlowId], limits: Limits, origin: Option<i64>) -> Self {
        let empty = |id: &FlowId| {
            (*id, Flow { ends: [NO_ENDPOINT; 2], tracks: [Track::default(), Track::default()] })
        };
        Recorder {
            limits,
            flows: flows.iter().map(empty).collect(),
            curves: Vec::new(),
            levels: Vec::new(),
            probes: Probes::default(),
            rows: [0; 3],
            origin,
            latest: 0,
            steps_back: 0,
            step_frame: 0,
            reset_frame: 0,
        }
    }
    /// Adds a line to a panel; one of a flow that is not watched is left out.
    pub fn add_curve(&mut self, curve: Curve) {
        if self.watches(curve.scope) {
            self.curves.push(curve);
        }
    }
    /// Adds a level to a panel; one of a flow that is not watched is left out.
    pub fn add_level(&mut self, level: Level) {
        if self.watches(level.scope) {
            self.levels.push(level);
        }
    }
    fn watches(&self, scope: Scope) -> bool {
        match scope {
            Scope::All => true,
            Scope::Flow(flow) | Scope::Track(flow, _) => self.flows.contains_key(&flow),
        }
    }
    /// The page: one HTML file that loads nothing from anywhere.
    pub fn finish(mut self, words: &Words<'_>) -> String {
        for track in self.flows.values_mut().flat_map(|flow| &mut flow.tracks) {
            track.settle();
        }
        page(words, &self.data())
    }
    /// The page's data: in step with `ui/src/data.ts`.
    fn data(&self) -> Vec<u8> {
        let mut to = Writer::default();
        let origin = self.origin.unwrap_or(0);
        to.signed(origin.div_euclid(1_000_000_000));
        to.number(origin.rem_euclid(1_000_000_000) as u64);
        to.number(self.latest);
        to.number(self.steps_back);
        let mut tracks: Vec<_> = self.flows.iter().flat_map(|(id, flow)| both(*id, flow)).collect();
        tracks.retain(|(_, _, _, track)| track.has_segments());
        tracks.sort_by_key(|(_, _, _, track)| core::cmp::Reverse(track.bytes()));
        to.number(tracks.len() as u64);
        for (id, end, name, track) in tracks {
            to.text(&name);
            to.number(u64::from(id.0));
            to.number(end_code(end));
            track.write(&mut to);
        }
        to.number(self.curves.len() as u64);
        self.curves.iter().for_each(|curve| curve.write(origin, &mut to));
        to.number(self.levels.len() as u64);
        self.levels.iter().for_each(|level| level.write(&mut to));
        self.probes.write(&mut to);
        to.into_bytes()
    }
    /// Nanoseconds since the origin of what passes now; never less than before.
    fn now(&mut self, times: Times) -> u64 {
        let origin = *self.origin.get_or_insert(times.at);
        let since = u64::try_from(times.at.saturating_sub(origin)).unwrap_or(0);
        if since < self.latest && times.frame != self.step_frame {
            self.steps_back += 1;
            self.step_frame = times.frame;
        }
        self.latest = self.latest.max(since);
        self.latest
    }
    fn track(&mut self, flow: FlowId, end: End) -> Option<&mut Track> {
        let [a, b] = &mut self.flows.get_mut(&flow)?.tracks;
        Some(if end == End::A { a } else { b })
    }
    /// Hands the track and the time to `record`, which returns whether there is another row.
    fn record(
        &mut self,
        place: (FlowId, End),
        times: Times,
        table: Table,
        record: impl FnOnce(&mut Track, u64) -> bool,
    ) {
        if !self.flows.contains_key(&place.0) {
            return;
        }
        let now = self.now(times);
        let more = self.track(place.0, place.1).is_some_and(|track| record(track, now));
        if more {
            self.count(table);
        }
    }
    /// One row more in a table of this kind; where that is too many, the largest is thinned.
    fn count(&mut self, table: Table) {
        let limit = self.limits.rows;
        let Some(rows) = self.rows.get_mut(table as usize) else { return };
        *rows += 1;
        if *rows <= limit {
            return;
        }
        let tracks = self.flows.values_mut().flat_map(|flow| &mut flow.tracks);
        if let Some(largest) = tracks.max_by_key(|track| track.rows(table)) {
            let before = largest.rows(table);
            largest.halve(table);
            *rows -= before - largest.rows(table);
        }
    }
}

/// The two tracks of a flow, with their names.
fn both(id: FlowId, flow: &Flow) -> [(FlowId, End, String, &Track); 2] {
    let [a, b] = flow.ends.map(|(address, port)| match address.ip() {
        core::net::IpAddr::V4(ip) => format!("{ip}:{port}"),
        core::net::IpAddr::V6(ip) => format!("[{ip}]:{port}"),
    });
    let [from_a, from_b] = &flow.tracks;
    [(id, End::A, format!("{a} → {b}"), from_a), (id, End::B, format!("{b} → {a}"), from_b)]
}

impl Sink for Recorder {
    fn opened(&mut self, flow: FlowId, ends: [(Address, u16); 2], _times: Times) {
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.ends = ends;
        }
    }
    fn packet(&mut self, flow: FlowId, header: &Header) {
        if header.flags & RST == 0 || !self.flows.contains_key(&flow) {
            return;
        }
        let times = header.times;
        self.reset_frame = times.frame;
        let now = self.now(times);
        // It ends both directions.
        for track in self.flows.get_mut(&flow).into_iter().flat_map(|flow| &mut flow.tracks) {
            track.reset(now, times.frame);
        }
    }
    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        let record = |track: &mut Track, now| track.segment(now, segment);
        self.record((flow, segment.end), segment.times, Table::Segments, record);
    }
    fn ack(&mut self, flow: FlowId, ack: &Ack<'_>) {
        let is_reset = self.reset_frame == ack.times.frame;
        let record = |track: &mut Track, now| track.ack(now, ack, is_reset);
        self.record((flow, ack.end.other()), ack.times, Table::Acks, record);
    }
    fn round_trip(&mut self, flow: FlowId, trip: &RoundTrip) {
        let record = |track: &mut Track, now| track.round_trip(now, trip);
        self.record((flow, trip.end), trip.times, Table::Trips, record);
    }
    fn lost(&mut self, flow: FlowId, lost: &Lost) {
        let origin = self.origin.unwrap_or(lost.repair.at);
        let at = lost.original.unwrap_or(lost.repair).at;
        let since = u64::try_from(at.saturating_sub(origin)).unwrap_or(0).min(self.latest);
        if let Some(track) = self.track(flow, lost.end) {
            track.lost(since, lost);
        }
    }
    fn probe(&mut self, probe: &Probe) {
        let origin = *self.origin.get_or_insert(probe.asked.at);
        self.probes.add(probe, origin);
    }
    fn spurious(&mut self, flow: FlowId, spurious: &Spurious) {
        if let Some(track) = self.track(flow, spurious.end) {
            track.spurious(spurious);
        }
    }
}
