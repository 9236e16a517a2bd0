//! Replays the alert rules of a configuration over the history.
//!
//! Each outcome counts from the time its probe was sent: a loss is one timeout earlier than it was
//! noticed.
use crate::notification::past;
use crate::{Period, Source, directory};
use fathom_app::AppError;
use fathom_diagnose::Diagnosis;
use fathom_report::{CommandDocument, command_document};
use fathom_text::counted;
use fathom_units::WallTime;
use fathom_watch_alert::{Change, Link, Rule, Transition, Watcher};
use fathom_watch_engine::THIS_HOST;
use fathom_watch_plan::Plan;
use fathom_watch_samples::{Sample, Unit};
use fathom_watch_store::{HistoryError, HistoryReader, SeriesId, SeriesKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

const SECOND: u64 = 1_000_000_000;
/// Part of the history that is in memory at once, ns.
const PIECE: u64 = 3_600 * SECOND;
/// Time before the period in which the windows fill, ns.
const BEFORE: u64 = 2 * PIECE;

/// A request to replay alert rules over a part of a history.
#[derive(Clone, Debug)]
pub struct ReplayRequest {
    /// Configuration with the rules.
    pub source: Source,
    /// Names of alerts. If empty, all alerts.
    pub alerts: Vec<String>,
    /// Directory of the history, if not that of the configuration.
    pub store: Option<PathBuf>,
    /// The period.
    pub period: Period,
}

/// An alert that would have been raised.
#[derive(Clone, Debug)]
pub struct ReplayedAlert {
    /// The start.
    pub raised: Transition,
    /// The end, if it was cleared.
    pub cleared: Option<Transition>,
    /// Whether flapping detection suppressed it.
    pub is_flapping: bool,
}

/// The result of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Alerts in the order in which they were raised.
    pub alerts: Vec<ReplayedAlert>,
    /// Names of the rules.
    pub rules: Vec<String>,
    /// Parts of the history that were left out because they cannot be read.
    pub faults: Vec<String>,
}

/// Evaluates the rules over a period of the history.
///
/// # Errors
/// If the configuration or the history cannot be read, an alert is unknown, or the period is empty.
pub fn replay(request: &ReplayRequest) -> Result<Replayed, AppError> {
    let plan = request.source.read()?;
    let rules = chosen(&request.source, &plan, &request.alerts)?;
    let period = request.period.check()?;
    let reader = HistoryReader::open(&directory(request.store.as_deref(), Some(&plan))?);
    let mut replay =
        reader.and_then(|reader| Replay::new(reader, &plan, &rules)).map_err(AppError::history)?;
    let alerts = replay.run(period).map_err(AppError::history)?;
    let rules = rules.into_iter().map(|rule| rule.name).collect();
    Ok(Replayed { alerts, rules, faults: replay.reader.faults() })
}

fn chosen(source: &Source, plan: &Plan, names: &[String]) -> Result<Vec<Rule>, AppError> {
    let known: Vec<&str> = plan.alerts.iter().map(|rule| rule.name.as_str()).collect();
    if known.is_empty() {
        return Err(AppError::WatchPlan(format!("{source}: there is no [[alert]]")));
    }
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(AppError::no_such("alert", unknown, &known));
    }
    let is_chosen = |rule: &&Rule| names.is_empty() || names.contains(&rule.name);
    Ok(plan.alerts.iter().filter(is_chosen).cloned().collect())
}

struct Replay {
    reader: HistoryReader,
    watcher: Watcher,
    /// The series of targets, with their numbers in the history.
    series: Vec<SeriesId>,
    links: Vec<(SeriesId, Link)>,
    /// The first router of the path to which a router belongs.
    heads: BTreeMap<u32, u32>,
}

/// An input of the alert evaluation.
enum Input {
    Sample(u32, Sample),
    Level(Link, f64),
    Path(u32, String),
}

impl Replay {
    fn new(mut reader: HistoryReader, plan: &Plan, rules: &[Rule]) -> Result<Replay, HistoryError> {
        let known: BTreeMap<SeriesKey, SeriesId> =
            reader.series()?.into_iter().map(|(id, key)| (key, id)).collect();
        let id = |target: &str, probe: &str| {
            let key = SeriesKey { target: target.to_owned(), probe: probe.to_owned(), unit: Unit::Seconds };
            known.get(&key).copied()
        };
        let mut watcher = Watcher::new(rules);
        let (mut series, mut heads) = (Vec::new(), BTreeMap::new());
        for target in &plan.targets {
            let mut head = None;
            for info in target.series_info() {
                let Some(found) = id(&info.target, &info.probe) else { continue };
                head = if info.path.is_some() { Some(found.0) } else { head };
                heads.insert(found.0, head.unwrap_or(found.0));
                let is_judged = rules.iter().any(|rule| {
                    info.path.is_some()
                        || rule.scope.has(&info.target, &info.group, &info.probe, info.is_main)
                });
                if is_judged {
                    watcher.open(found.0, info);
                    series.push(found);
                }
            }
        }
        let links = known.iter().filter(|(key, _)| key.target == THIS_HOST).filter_map(|(key, number)| {
            let (_, direction) = key.probe.rsplit_once(' ')?;
            let link = [("received", Link::Received), ("sent", Link::Sent)]
                .into_iter()
                .find(|(w, _)| *w == direction);
            link.map(|(_, link)| (*number, link))
        });
        let links = links.collect();
        Ok(Replay { reader, watcher, series, links, heads })
    }
    fn run(&mut self, Period { from, to }: Period) -> Result<Vec<ReplayedAlert>, HistoryError> {
        let (mut rows, mut begin) = (Vec::new(), from.0.saturating_sub(BEFORE) / SECOND * SECOND);
        while begin < to.0 {
            let end = (begin + PIECE).min(to.0);
            self.piece(begin, end)?.into_iter().for_each(|one| note(&mut rows, one));
            begin = end;
        }
        // Alerts that ended before the period are not part of the result.
        rows.retain(|row: &ReplayedAlert| row.cleared.as_ref().is_none_or(|cleared| cleared.at >= from));
        Ok(rows)
    }
    fn piece(&mut self, begin: u64, end: u64) -> Result<Vec<Transition>, HistoryError> {
        let inputs = self.inputs(WallTime(begin), WallTime(end))?;
        let mut inputs = inputs.into_iter().peekable();
        let mut transitions = Vec::new();
        for second in begin / SECOND..end.div_ceil(SECOND) {
            let now = WallTime((second + 1) * SECOND);
            while let Some((at, one)) = inputs.next_if(|(at, _)| *at < now) {
                self.feed(at, one);
            }
            for request in self.watcher.history_requests(now) {
                let past =
                    past(&mut self.reader, SeriesId(request.series), request.percentile, request.hour)?;
                self.watcher.learn(request, past);
            }
            transitions.extend(self.watcher.tick(now));
        }
        Ok(transitions)
    }
    fn feed(&mut self, at: WallTime, one: Input) {
        match one {
            Input::Sample(series, sample) => self.watcher.sample(series, sample),
            Input::Level(link, value) => self.watcher.throughput(at, link, value),
            Input::Path(series, text) => self.watcher.path_changed(series, at, &text),
        }
    }
    fn inputs(&mut self, from: WallTime, to: WallTime) -> Result<Vec<(WallTime, Input)>, HistoryError> {
        let mut all = Vec::new();
        for id in self.series.clone() {
            let samples = self.reader.samples(id, from, to)?;
            all.extend(samples.into_iter().map(|sample| (sample.at, Input::Sample(id.0, sample))));
        }
        for (id, link) in self.links.clone() {
            let levels = self.reader.levels(id, from, to)?.into_iter();
            all.extend(levels.filter_map(|level| Some((level.at, Input::Level(link, level.value?)))));
        }
        for (_, event) in self.reader.events(from, to)? {
            let series = event.series.filter(|_| event.kind == "path" && event.at >= from);
            let head = series.and_then(|id| self.heads.get(&id.0)).copied();
            all.extend(head.map(|head| (event.at, Input::Path(head, event.text))));
        }
        all.sort_by_key(|(at, _)| *at);
        Ok(all)
    }
}

fn note(rows: &mut Vec<ReplayedAlert>, one: Transition) {
    let same = |row: &&mut ReplayedAlert| {
        row.cleared.is_none() && row.raised.series == one.series && row.raised.alert == one.alert
    };
    match (one.change, rows.iter_mut().rev().find(same)) {
        (Change::Cleared, Some(row)) => row.cleared = Some(one),
        (Change::Flapping, Some(row)) => row.is_flapping = true,
        (Change::Raised | Change::Flapping, None) => {
            let is_flapping = one.change == Change::Flapping;
            rows.push(ReplayedAlert { raised: one, cleared: None, is_flapping });
        }
        _ => {}
    }
}

impl Replayed {
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        let row = |row: &ReplayedAlert| {
            let raised = &row.raised;
            json!({
                "alert": raised.alert, "type": raised.condition, "target": raised.target, "probe": raised.probe,
                "raised_at": raised.at.to_string(),
                "cleared_at": row.cleared.as_ref().map(|cleared| cleared.at.to_string()),
                "flapping": row.is_flapping, "evidence": raised.evidence.text, "to": raised.to,
            })
        };
        let alerts = counted(self.alerts.len() as u64, "alert", "alerts");
        let headline = format!("{alerts} would have been raised");
        let rows: Vec<Value> = self.alerts.iter().map(row).collect();
        command_document("watch alerts", headline, &Diagnosis::default(), ("alerts", rows))
    }
}
