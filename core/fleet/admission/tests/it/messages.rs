//! Requests of remote-write as specified, written and read by `prost`.
use fathom_units::Rng;
use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Request1 {
    #[prost(message, repeated, tag = "1")]
    pub(crate) timeseries: Vec<Series1>,
}
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Series1 {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) exemplars: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) histograms: Vec<Histogram>,
}
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Label {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Sample {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    #[prost(int64, tag = "2")]
    pub(crate) timestamp: i64,
    #[prost(int64, tag = "3")]
    pub(crate) start_timestamp: i64,
}
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Histogram {
    #[prost(uint64, tag = "1")]
    pub(crate) count_int: u64,
    #[prost(double, tag = "3")]
    pub(crate) sum: f64,
    #[prost(sint32, tag = "4")]
    pub(crate) schema: i32,
    #[prost(message, repeated, tag = "11")]
    pub(crate) positive_spans: Vec<Span>,
    #[prost(sint64, repeated, tag = "12")]
    pub(crate) positive_deltas: Vec<i64>,
    #[prost(int64, tag = "15")]
    pub(crate) timestamp: i64,
    #[prost(int64, tag = "17")]
    pub(crate) start_timestamp: i64,
}
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Span {
    #[prost(sint32, tag = "1")]
    pub(crate) offset: i32,
    #[prost(uint32, tag = "2")]
    pub(crate) length: u32,
}
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Request2 {
    #[prost(string, repeated, tag = "4")]
    pub(crate) symbols: Vec<String>,
    #[prost(message, repeated, tag = "5")]
    pub(crate) timeseries: Vec<Series2>,
}
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Series2 {
    #[prost(uint32, repeated, tag = "1")]
    pub(crate) labels_refs: Vec<u32>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) histograms: Vec<Histogram>,
    #[prost(message, optional, tag = "5")]
    pub(crate) metadata: Option<Metadata>,
}
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Metadata {
    #[prost(int32, tag = "1")]
    pub(crate) kind: i32,
    #[prost(uint32, tag = "3")]
    pub(crate) help_ref: u32,
    #[prost(uint32, tag = "4")]
    pub(crate) unit_ref: u32,
}

pub(crate) type Pairs = Vec<(String, String)>;

/// A series as both versions have it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plain {
    pub(crate) labels: Pairs,
    pub(crate) samples: Vec<Sample>,
    pub(crate) histograms: Vec<Histogram>,
}

/// Labels in their order.
pub(crate) fn pairs(given: &[(&str, &str)]) -> Pairs {
    let mut all: Pairs = given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    all.sort_unstable();
    all
}

/// A series with one sample.
pub(crate) fn plain(given: &[(&str, &str)], at_ms: i64) -> Plain {
    let sample = Sample { value: 1.5, timestamp: at_ms, start_timestamp: 0 };
    Plain { labels: pairs(given), samples: vec![sample], histograms: Vec::new() }
}

pub(crate) fn version1(all: &[Plain]) -> Vec<u8> {
    let timeseries = all.iter().map(|one| Series1 {
        labels: one
            .labels
            .iter()
            .map(|(name, value)| Label { name: name.clone(), value: value.clone() })
            .collect(),
        samples: one.samples.iter().map(|sample| Sample { start_timestamp: 0, ..*sample }).collect(),
        exemplars: Vec::new(),
        histograms: one
            .histograms
            .iter()
            .map(|histogram| Histogram { start_timestamp: 0, ..histogram.clone() })
            .collect(),
    });
    Request1 { timeseries: timeseries.collect() }.encode_to_vec()
}

pub(crate) fn version2(all: &[Plain]) -> Vec<u8> {
    let mut symbols = vec![String::new()];
    let mut number = |text: &String| {
        let at = symbols.iter().position(|one| one == text).unwrap_or_else(|| {
            symbols.push(text.clone());
            symbols.len() - 1
        });
        at as u32
    };
    let mut timeseries = Vec::new();
    for one in all {
        let labels_refs = one.labels.iter().flat_map(|(name, value)| [number(name), number(value)]).collect();
        let (samples, histograms) = (one.samples.clone(), one.histograms.clone());
        let metadata = Some(Metadata { kind: 2, help_ref: 0, unit_ref: 0 });
        timeseries.push(Series2 { labels_refs, samples, histograms, metadata });
    }
    Request2 { symbols, timeseries }.encode_to_vec()
}

/// A random valid series of a site.
pub(crate) fn random(rng: &mut Rng) -> Plain {
    let name =
        ["fathom_probes_total", "fathom_rtt_seconds", "fathom_host_backlog_bytes"][rng.below(3) as usize];
    let target = format!("t{}", rng.below(5));
    let mut labels =
        vec![("__name__", name), ("site", "berlin"), ("plan", "büro \"50\""), ("target", &target)];
    if rng.chance(0.5) {
        labels.push(("probe", "icmp"));
    }
    let mut at = || 1_700_000_000_000 + rng.below(1_000_000) as i64;
    let sample = |ms: i64| Sample { value: ms as f64, timestamp: ms, start_timestamp: ms - 7 };
    let (first, second, third) = (at(), at(), at());
    let samples: Vec<Sample> = [first, second].map(sample).into_iter().take(rng.below(3) as usize).collect();
    let count = 1 + rng.below(40);
    let histogram = Histogram {
        count_int: count,
        sum: 0.5,
        schema: 5,
        positive_spans: vec![Span { offset: -9, length: 1 }, Span { offset: 3, length: count as u32 }],
        positive_deltas: (0..=count as i64).collect(),
        timestamp: third,
        start_timestamp: 0,
    };
    let has_histogram = samples.is_empty() || rng.chance(0.3);
    Plain {
        labels: pairs(&labels),
        samples,
        histograms: has_histogram.then_some(histogram).into_iter().collect(),
    }
}

/// What `prost` reads of a request.
pub(crate) fn read1(body: &[u8]) -> Option<Vec<Plain>> {
    let one = |series: Series1| Plain {
        labels: series.labels.into_iter().map(|label| (label.name, label.value)).collect(),
        samples: series.samples,
        histograms: series.histograms,
    };
    Some(Request1::decode(body).ok()?.timeseries.into_iter().map(one).collect())
}

pub(crate) fn read2(body: &[u8]) -> Option<Vec<Plain>> {
    let Request2 { symbols, timeseries } = Request2::decode(body).ok()?;
    let text = |at: &u32| symbols.get(*at as usize).cloned();
    let one = |series: Series2| {
        let pair = |refs: &[u32]| Some((text(refs.first()?)?, text(refs.last()?)?));
        let labels: Option<Pairs> = series.labels_refs.chunks_exact(2).map(pair).collect();
        Some(Plain { labels: labels?, samples: series.samples, histograms: series.histograms })
    };
    timeseries.into_iter().map(one).collect()
}
