//! Questions and answers outside TCP, as probes of the path.
use crate::bins::{Bin, Grid};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::{Probe, ProbeKind, RttValidity};

/// Tracks kept: a capture of a resolver has more servers than can matter to one queue.
const TRACKS: usize = 4096;
/// Bins of each.
const BINS: usize = 512;

/// Probes of one kind from one address to another.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    grid: Grid<1>,
    pub(crate) min_ns: f64,
    pub(crate) unanswered: u64,
}

/// Answers that came within a short time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers {
    pub(crate) at_ns: f64,
    pub(crate) count: u64,
    /// What they took.
    pub(crate) mean_ns: f64,
    pub(crate) max_ns: f64,
}

impl Track {
    /// In the order of time.
    pub(crate) fn answers(&self) -> impl Iterator<Item = Answers> {
        self.grid.bins(0).iter().map(|bin: &Bin| Answers {
            at_ns: self.grid.middle_ns(bin),
            count: bin.count.into(),
            mean_ns: bin.mean(),
            max_ns: bin.max.into(),
        })
    }
}

/// Who asked, who was asked, and how.
pub(crate) type Route = ([Address; 2], ProbeKind);

/// All probes of a capture.
#[derive(Clone, Default, Debug)]
pub(crate) struct Probes {
    tracks: BTreeMap<Route, Track>,
}

impl Probes {
    /// Gives what an answer took, ns, if that is certain.
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
    /// Nothing more comes.
    pub(crate) fn close(&mut self) {
        self.tracks.values_mut().for_each(|track| track.grid.close());
    }
    /// Those between two addresses that were asked of `far`.
    pub(crate) fn towards(&self, far: Address) -> Vec<(&Route, &Track)> {
        self.tracks.iter().filter(|(route, _)| route.0[1] == far).collect()
    }
}
