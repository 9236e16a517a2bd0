//! Compares what an engine has with what it acknowledged: every sample of every series, with its
//! time and value; of a replay, those of some regions, of a recording, those of all agents.
use crate::plan::{Plan, Point};
use crate::recording::{Recording, Value, read_all, read_points};
use crate::site::{REGIONS, Site, region};
use crate::{Failure, Words};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;
use ureq::Agent;

const QUERY_LIMIT: Duration = Duration::from_secs(300);
const MAX_ANSWER_BYTES: u64 = 1 << 30;
/// Number of differences that are shown.
const EXAMPLES: usize = 5;

type Labels = BTreeMap<String, String>;
/// Times in ms and values, by series.
type Answer = BTreeMap<Labels, Vec<(i64, Json)>>;

/// Counts of what was compared.
#[derive(Default)]
struct Found {
    sites: u64,
    series: u64,
    samples: u64,
    missing: u64,
    /// The first and the last time of those.
    missing_ms: Option<(i64, i64)>,
    /// Several at one time.
    duplicate: u64,
    /// At a time that was not sent.
    extra: u64,
    different: u64,
    unknown_series: u64,
    examples: Vec<String>,
}

impl Found {
    fn example(&mut self, text: impl FnOnce() -> String) {
        if self.examples.len() < EXAMPLES {
            self.examples.push(text());
        }
    }
    /// Counts the series that are left of an answer.
    fn not_sent(&mut self, left: &Answer) {
        self.unknown_series += left.len() as u64;
        if let Some(labels) = left.keys().next() {
            self.example(|| format!("not sent: {labels:?}"));
        }
    }
}

/// An engine to ask.
struct Engine {
    agent: Agent,
    url: String,
    /// Relative error of a value.
    tolerance: f64,
}

/// Compares everything, and returns the counts.
pub(crate) fn check(words: &Words) -> Result<Json, Failure> {
    let folder = Path::new(words.text("recordings")?);
    let engine = Engine {
        agent: Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(QUERY_LIMIT))
            .proxy(None)
            .build()
            .into(),
        url: format!("{}/api/v1/query", words.text("engine")?),
        tolerance: words.number("tolerance", 0.0)?,
    };
    let mut found = Found::default();
    match words.text("ledger") {
        Ok(ledger) => engine.replay(folder, Path::new(ledger), words, &mut found)?,
        Err(_) => engine.recorded(folder, &mut found)?,
    }
    let (from, to) = found.missing_ms.unzip();
    Ok(json!({
        "sites": found.sites, "series": found.series, "samples": found.samples, "missing": found.missing,
        "missing_from_ms": from, "missing_to_ms": to, "duplicate": found.duplicate, "extra": found.extra,
        "different": found.different, "unknown_series": found.unknown_series, "examples": found.examples,
    }))
}

impl Engine {
    /// What was recorded, from the first to the last point.
    fn recorded(&self, folder: &Path, found: &mut Found) -> Result<(), Failure> {
        for (site, all) in read_points(folder)? {
            let times = || all.values().flat_map(BTreeMap::keys).copied();
            let (from, to) = times().min().zip(times().max()).ok_or("no point")?;
            let mut answer = self.ask(&format!("{{site=\"{site}\"}}"), (from, to + 1_000))?;
            found.sites += 1;
            for (labels, points) in &all {
                let sent = points.iter().map(|(at_ms, value)| Point { at_ms: *at_ms, value, factor: 1.0 });
                let labels: Labels = labels.iter().cloned().collect();
                self.compare(&labels, &sent.collect::<Vec<_>>(), answer.remove(&labels), found);
            }
            found.not_sent(&answer);
        }
        Ok(())
    }
    /// What was replayed, in the regions that are wanted.
    fn replay(&self, folder: &Path, ledger: &Path, words: &Words, found: &mut Found) -> Result<(), Failure> {
        let recordings = read_all(folder)?;
        let plan = Plan::of_json(&serde_json::from_slice(&fs::read(ledger)?)?)?;
        let wanted = words.number("regions", REGIONS)?.min(REGIONS);
        let first = words.number("first_region", 0)?;
        let mut by_region: BTreeMap<String, Vec<(u64, Site)>> = BTreeMap::new();
        for number in plan.sites.0..plan.sites.1 {
            let site = Site::of(plan.seed, number);
            let place = site.label("region").unwrap_or_default().to_owned();
            by_region.entry(place).or_default().push((number, site));
        }
        for number in 0..wanted {
            let name = region((first + number) % REGIONS);
            if let Some(sites) = by_region.get(&name) {
                self.region(&name, sites, (&plan, &recordings), found)?;
            }
        }
        Ok(())
    }
    fn region(
        &self,
        place: &str,
        sites: &[(u64, Site)],
        (plan, recordings): (&Plan, &[Recording]),
        found: &mut Found,
    ) -> Result<(), Failure> {
        let kinds = if plan.tests { "test" } else { "rtt|probes|duplicate|reordered|host" };
        let end_ms = plan.begin_ms + plan.rounds as i64 * plan.step_ms + 1_000;
        let selector = format!("{{region=\"{place}\",__name__=~\"fathom_({kinds})_.+\"}}");
        let mut answer = self.ask(&selector, (plan.begin_ms, end_ms))?;
        for (number, site) in sites {
            found.sites += 1;
            let mut sent: BTreeMap<Labels, Vec<Point<'_>>> = BTreeMap::new();
            for round in 0..plan.rounds {
                for (series, point) in plan.points((*number, site), round, recordings)? {
                    let labels = series
                        .labels
                        .iter()
                        .map(|(name, value)| (name.clone(), site.label(name).unwrap_or(value).to_owned()));
                    sent.entry(labels.collect()).or_default().push(point);
                }
            }
            for (labels, points) in sent {
                self.compare(&labels, &points, answer.remove(&labels), found);
            }
        }
        found.not_sent(&answer);
        Ok(())
    }
    /// All samples of a selector in a time, by series.
    fn ask(&self, selector: &str, (from_ms, end_ms): (i64, i64)) -> Result<Answer, Failure> {
        let query = format!("{selector}[{}s]", (end_ms - from_ms) / 1_000 + 2);
        let time = format!("{}.{:03}", end_ms / 1_000, end_ms % 1_000);
        let mut answer =
            self.agent.post(&self.url).send_form([("query", query.as_str()), ("time", &time)])?;
        let bytes = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec()?;
        let json: Json = serde_json::from_slice(&bytes)?;
        let all = json["data"]["result"].as_array().ok_or_else(|| format!("{query}: {json:.300}"))?;
        let mut by_series = Answer::new();
        for one in all {
            let labels = one["metric"].as_object().into_iter().flatten();
            let labels =
                labels.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().into()));
            let points = ["values", "histograms"].iter().filter_map(|kind| one[kind].as_array()).flatten();
            let points = points.map(|pair| {
                let at_ms = (pair[0].as_f64().unwrap_or(0.0) * 1e3).round() as i64;
                (at_ms, pair[1].clone())
            });
            // Two series with the same labels are one here: their common samples are duplicates.
            by_series.entry(labels.collect()).or_default().extend(points);
        }
        Ok(by_series)
    }
    fn compare(&self, labels: &Labels, sent: &[Point<'_>], has: Option<Vec<(i64, Json)>>, found: &mut Found) {
        found.series += 1;
        found.samples += sent.len() as u64;
        let mut by_time: BTreeMap<i64, Json> = BTreeMap::new();
        for (at_ms, value) in has.unwrap_or_default() {
            if by_time.insert(at_ms, value).is_some() {
                found.duplicate += 1;
                found.example(|| format!("twice at {at_ms}: {labels:?}"));
            }
        }
        for point in sent {
            let at_ms = point.at_ms;
            match by_time.remove(&at_ms) {
                None => {
                    found.missing += 1;
                    let (from, to) = found.missing_ms.unwrap_or((at_ms, at_ms));
                    found.missing_ms = Some((from.min(at_ms), to.max(at_ms)));
                    found.example(|| format!("missing at {at_ms}: {labels:?}"));
                }
                Some(value) if self.is_same(point, &value) => {}
                Some(value) => {
                    found.different += 1;
                    found.example(|| format!("{value} instead of {:?} at {at_ms}: {labels:?}", point.value));
                }
            }
        }
        found.extra += by_time.len() as u64;
        if let Some(at_ms) = by_time.keys().next() {
            found.example(|| format!("not sent: {at_ms}: {labels:?}"));
        }
    }
    fn is_same(&self, point: &Point<'_>, has: &Json) -> bool {
        let number =
            |json: &Json| json.as_str().and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
        let is_near = |expected: f64, got: f64| (expected - got).abs() <= self.tolerance * expected.abs();
        match point.value {
            Value::Number(value) => is_near(value * point.factor, number(has)),
            Value::Histogram(sent, _) => {
                let buckets = has["buckets"].as_array().into_iter().flatten();
                let counts: Vec<f64> = buckets.map(|bucket| number(&bucket[3])).collect();
                is_near(sent.sum, number(&has["sum"]))
                    && number(&has["count"]) == sent.count as f64
                    && counts.iter().copied().eq(sent.counts().into_iter().map(|count| count as f64))
            }
        }
    }
}
