//! Requests and responses of protocols other than TCP, used as probes of the path.
use crate::bins::{Bin, Grid};
use crate::delay_curve::DelayPoint;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::{Probe, ProbeKind, RttValidity};

/// Maximum number of tracks: a resolver queries more servers than matter to one queue.
const TRACKS: usize = 4096;
/// Maximum number of bins of each track.
const BINS: usize = 512;

/// Probes of one kind from one address to another.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    grid: Grid<1>,
    pub(crate) min_ns: f64,
    pub(crate) unanswered: u64,
}

/// Responses within a short interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers {
    pub(crate) at_ns: f64,
    pub(crate) count: u64,
    pub(crate) mean_ns: f64,
    pub(crate) max_ns: f64,
}

impl Track {
    fn new() -> Self {
        Track { grid: Grid::new(), min_ns: f64::INFINITY, unanswered: 0 }
    }
    /// Records a probe and returns its response time in ns.
    fn add(&mut self, probe: &Probe, origin: i64) -> Option<f64> {
        let Some(answered) = probe.answered else {
            self.unanswered += 1;
            return None;
        };
        let took = (answered.at - probe.asked.at) as f64;
        self.min_ns = self.min_ns.min(took);
        self.grid.turn_to(answered.at - origin, BINS);
        self.grid.add(0, took);
        Some(took)
    }
    pub(crate) fn answers(&self) -> impl Iterator<Item = Answers> {
        self.grid.bins(0).iter().map(|bin: &Bin| Answers {
            at_ns: self.grid.middle_ns(bin),
            count: bin.count.into(),
            mean_ns: bin.mean(),
            max_ns: bin.max.into(),
        })
    }
}

impl Track {
    /// Response times over time.
    pub(crate) fn curve(&self) -> impl Iterator<Item = DelayPoint> {
        self.grid.bins(0).iter().map(|bin: &Bin| DelayPoint {
            at_ns: self.grid.middle_ns(bin),
            min_ns: bin.min.into(),
            mean_ns: bin.mean(),
            max_ns: bin.max.into(),
        })
    }
}

/// Client and server, and the kind of probe.
pub(crate) type Route = ([Address; 2], ProbeKind);

#[derive(Clone, Default, Debug)]
pub(crate) struct Probes {
    tracks: BTreeMap<Route, Track>,
    /// Turns of QUIC's spin bit. A turn may include a pause of the sender, so they are used only
    /// for lack of other probes.
    spins: BTreeMap<Route, Track>,
}

impl Probes {
    /// Records a probe and returns its response time in ns if it is unambiguous.
    pub(crate) fn add(&mut self, probe: &Probe, origin: i64) -> Option<f64> {
        let route = (probe.ends.map(|end| end.0), probe.kind);
        if probe.kind == ProbeKind::QuicSpin {
            return self.add_spin(route, probe, origin);
        }
        if probe.validity == RttValidity::Ambiguous
            || (self.tracks.len() >= TRACKS && !self.tracks.contains_key(&route))
        {
            return None;
        }
        self.tracks.entry(route).or_insert_with(Track::new).add(probe, origin)
    }
    /// Records a turn of the spin bit. It returns nothing, because it is no round trip of the path.
    fn add_spin(&mut self, route: Route, probe: &Probe, origin: i64) -> Option<f64> {
        if self.spins.len() < TRACKS || self.spins.contains_key(&route) {
            self.spins.entry(route).or_insert_with(Track::new).add(probe, origin);
        }
        None
    }
    pub(crate) fn close(&mut self) {
        let all = self.tracks.values_mut().chain(self.spins.values_mut());
        all.for_each(|track| track.grid.close());
    }
    /// All tracks, those of the spin bit last.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Route, &Track)> {
        self.tracks.iter().chain(&self.spins)
    }
    /// Tracks of probes to or from `far`.
    pub(crate) fn towards(&self, far: Address) -> Vec<(&Route, &Track)> {
        self.tracks.iter().filter(|(route, _)| route.0[1] == far).collect()
    }
}
