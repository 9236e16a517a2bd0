//! Requests and responses of protocols other than TCP, used as probes of the path.
use crate::bins::{Bin, Grid};
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
    pub(crate) fn answers(&self) -> impl Iterator<Item = Answers> {
        self.grid.bins(0).iter().map(|bin: &Bin| Answers {
            at_ns: self.grid.middle_ns(bin),
            count: bin.count.into(),
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
}

impl Probes {
    /// Records a probe and returns its response time in ns if it is unambiguous.
    pub(crate) fn add(&mut self, probe: &Probe, origin: i64) -> Option<f64> {
        let route = (probe.ends.map(|end| end.0), probe.kind);
        if probe.validity == RttValidity::Ambiguous
            || (self.tracks.len() >= TRACKS && !self.tracks.contains_key(&route))
        {
            return None;
        }
        let new = || Track { grid: Grid::new(), min_ns: f64::INFINITY, unanswered: 0 };
        let track = self.tracks.entry(route).or_insert_with(new);
        let Some(answered) = probe.answered else {
            track.unanswered += 1;
            return None;
        };
        let took = (answered.at - probe.asked.at) as f64;
        track.min_ns = track.min_ns.min(took);
        track.grid.turn_to(answered.at - origin, BINS);
        track.grid.add(0, took);
        Some(took)
    }
    pub(crate) fn close(&mut self) {
        self.tracks.values_mut().for_each(|track| track.grid.close());
    }
    /// Tracks of probes to or from `far`.
    pub(crate) fn towards(&self, far: Address) -> Vec<(&Route, &Track)> {
        self.tracks.iter().filter(|(route, _)| route.0[1] == far).collect()
    }
}
