//! What agents sent: a folder with the bodies of their requests.
use crate::Failure;
use crate::message::{Histogram, WriteRequest};
use prost::Message;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Points of a series are this far apart, as in a push with the default interval.
pub(crate) const SLOT_MS: i64 = 60_000;

/// The value of a point.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Number(f64),
    /// With its bytes, without the time.
    Histogram(Box<Histogram>, Vec<u8>),
}

/// A series of an agent.
pub(crate) struct Series {
    pub(crate) labels: Vec<(String, String)>,
    /// By slot. A slot has at most one point: the last.
    pub(crate) points: BTreeMap<i64, Value>,
    /// A result of tests, which is replayed apart.
    pub(crate) is_of_test: bool,
}

/// What one agent sent.
pub(crate) struct Recording {
    pub(crate) series: Vec<Series>,
    /// The first and the last slot of the counters.
    pub(crate) slots: (i64, i64),
}

/// The points of series, by labels and time in ms.
pub(crate) type Points = BTreeMap<Vec<(String, String)>, BTreeMap<i64, Value>>;

/// What the agents sent, by site.
pub(crate) fn read_points(folder: &Path) -> Result<BTreeMap<String, Points>, Failure> {
    let mut sites: BTreeMap<String, Points> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let body = snap::raw::Decoder::new().decompress_vec(&fs::read(entry?.path())?)?;
        let request = WriteRequest::decode(body.as_slice())?;
        for series in request.series {
            let labels: Vec<_> = series.labels.into_iter().map(|label| (label.name, label.value)).collect();
            let site = labels.iter().find(|(name, _)| name == "site").ok_or("no site")?.1.clone();
            let points = sites.entry(site).or_default().entry(labels).or_default();
            for sample in series.samples {
                // A stale marker is no value.
                if !sample.value.is_nan() {
                    points.insert(sample.at_ms, Value::Number(sample.value));
                }
            }
            for histogram in series.histograms {
                let without_time = Histogram { at_ms: 0, ..histogram.clone() }.encode_to_vec();
                points.insert(histogram.at_ms, Value::Histogram(Box::new(histogram), without_time));
            }
        }
    }
    if sites.is_empty() { Err(format!("{} is empty", folder.display()).into()) } else { Ok(sites) }
}

/// Reads the recordings of all agents, in the order of their sites.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Recording>, Failure> {
    read_points(folder)?.into_iter().map(|(site, all)| recording(&site, all)).collect()
}

fn recording(site: &str, all: Points) -> Result<Recording, Failure> {
    let series: Vec<Series> = all
        .into_iter()
        .map(|(labels, points)| {
            let is_of_test =
                labels.iter().any(|(name, value)| name == "__name__" && value.starts_with("fathom_test_"));
            let points = points.into_iter().map(|(at_ms, value)| (at_ms.div_euclid(SLOT_MS), value));
            Series { labels, points: points.collect(), is_of_test }
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    let counters = series.iter().filter(|one| !one.is_of_test && !one.is_of_host());
    let slots: BTreeSet<i64> = counters.flat_map(|one| one.points.keys().copied()).collect();
    let slots = slots.first().zip(slots.last()).ok_or_else(|| format!("{site}: no counter"))?;
    Ok(Recording { slots: (*slots.0, *slots.1), series })
}

impl Series {
    /// Whether it is a gauge of the agent's own host.
    fn is_of_host(&self) -> bool {
        self.labels.iter().any(|(name, value)| name == "__name__" && value.starts_with("fathom_host_"))
    }
    /// The value in a slot. Gauges of the host exist only while the agent ran: they are repeated.
    pub(crate) fn at(&self, slot: i64) -> Option<&Value> {
        let nth = |n: usize| self.points.values().nth(n);
        if self.is_of_host() {
            return nth(usize::try_from(slot).ok()? % self.points.len());
        }
        self.points.get(&slot)
    }
    /// The result of the `n`-th test.
    pub(crate) fn test(&self, n: u64) -> Option<&Value> {
        self.points.values().nth(usize::try_from(n).ok()? % self.points.len())
    }
}

/// How much the recordings have.
pub(crate) fn describe(folder: &Path) -> Result<Json, Failure> {
    let all = read_all(folder)?;
    let of_tests = |is: bool| {
        let counts = all.iter().map(|one| one.series.iter().filter(|series| series.is_of_test == is).count());
        (counts.clone().min(), counts.max())
    };
    let slots = all.iter().map(|one| one.slots.1 - one.slots.0 + 1);
    let tests = all.iter().flat_map(|one| &one.series).filter(|series| series.is_of_test);
    Ok(json!({
        "sites": all.len(), "series": of_tests(false), "series_of_tests": of_tests(true),
        "slots": slots.min(), "tests": tests.map(|series| series.points.len()).min(),
    }))
}
