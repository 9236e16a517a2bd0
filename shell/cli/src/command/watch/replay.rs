//! `fathom watch alerts`: the rules over the history that there is.
//!
//! Each outcome counts from the moment at which its probe was sent: a loss a timeout earlier than it was known.
use super::store::store;
use crate::args::WatchAlertsArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::watch::{Source, past};
use fathom_os::clock::wall_now;
use fathom_units::{Duration, WallTime};
use fathom_watch_alert::{Change, Link, Rule, Transition, Watcher};
use fathom_watch_engine::THIS_HOST;
use fathom_watch_plan::Plan;
use fathom_watch_samples::{Sample, Unit};
use fathom_watch_store::{HistoryError, HistoryReader, SeriesId, SeriesKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

const SECOND: u64 = 1_000_000_000;
/// So much of the history is in memory at once.
const PIECE: u64 = 3_600 * SECOND;
/// Windows fill before what is asked for begins.
const BEFORE: u64 = 2 * PIECE;

/// From when an alert was raised to when it was not.
struct Row {
    raised: Transition,
    cleared: Option<Transition>,
    /// It was held down.
    is_flapping: bool,
}

pub(crate) fn run(args: &WatchAlertsArgs) -> Outcome {
    let source = Source::File(args.config.clone());
    let plan = source.read()?;
    let rules = chosen(&source, &plan, &args.alert)?;
    let dir = store(args.store.as_deref(), &plan)?;
    let now = wall_now();
    let (from, to) = (args.since.before(now), args.until.map_or(now, |until| until.before(now)));
    if from >= to {
        return Err(Failure::input(format_args!("--since {from} is not before --until {to}")));
    }
    let reader = HistoryReader::open(&dir).map_err(|e| {
        Failure::environment(format_args!("{e}\n  try: --store DIR, or the configuration that was watched"))
    })?;
    let mut replay = Replay::new(reader, &plan, &rules).map_err(Failure::environment)?;
    let rows = replay.run(from, to).map_err(Failure::environment)?;
    terminal::print(&if args.json { json(&rows) } else { table(&rows, &rules, (from, to)) })?;
    replay
        .reader
        .faults()
        .iter()
        .for_each(|fault| terminal::note(&format!("fathom watch: left out: {fault}")));
    Ok(Exit::Healthy)
}

fn chosen(source: &Source, plan: &Plan, names: &[String]) -> Result<Vec<Rule>, Failure> {
    let known: Vec<&str> = plan.alerts.iter().map(|rule| rule.name.as_str()).collect();
    if known.is_empty() {
        return Err(Failure::input(format_args!("{source}: there is no [[alert]]")));
    }
    if let Some(strange) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let known = known.join(", ");
        return Err(Failure::input(format_args!(
            "{source}: there is no alert \"{strange}\" (known: {known})"
        )));
    }
    let is_chosen = |rule: &&Rule| names.is_empty() || names.contains(&rule.name);
    Ok(plan.alerts.iter().filter(is_chosen).cloned().collect())
}

struct Replay {
    reader: HistoryReader,
    watcher: Watcher,
    /// The series of targets, under their numbers in the history.
    series: Vec<SeriesId>,
    links: Vec<(SeriesId, Link)>,
    /// The first router of the path that a router belongs to.
    heads: BTreeMap<u32, u32>,
}

/// Something that the watcher is told.
enum Fed {
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
    fn run(&mut self, from: WallTime, to: WallTime) -> Result<Vec<Row>, HistoryError> {
        let (mut rows, mut begin) = (Vec::new(), from.0.saturating_sub(BEFORE) / SECOND * SECOND);
        while begin < to.0 {
            let end = (begin + PIECE).min(to.0);
            let told = self.piece(begin, end)?;
            told.into_iter().for_each(|one| note(&mut rows, one));
            begin = end;
        }
        // What was over before is no answer to the question.
        rows.retain(|row: &Row| row.cleared.as_ref().is_none_or(|cleared| cleared.at >= from));
        Ok(rows)
    }
    fn piece(&mut self, begin: u64, end: u64) -> Result<Vec<Transition>, HistoryError> {
        let fed = self.fed(WallTime(begin), WallTime(end))?;
        let mut fed = fed.into_iter().peekable();
        let mut told = Vec::new();
        for second in begin / SECOND..end.div_ceil(SECOND) {
            let now = WallTime((second + 1) * SECOND);
            while let Some((at, one)) = fed.next_if(|(at, _)| *at < now) {
                self.feed(at, one);
            }
            for request in self.watcher.history_requests(now) {
                let past =
                    past(&mut self.reader, SeriesId(request.series), request.percentile, request.hour)?;
                self.watcher.learn(request, past);
            }
            told.extend(self.watcher.tick(now));
        }
        Ok(told)
    }
    fn feed(&mut self, at: WallTime, one: Fed) {
        match one {
            Fed::Sample(series, sample) => self.watcher.sample(series, sample),
            Fed::Level(link, value) => self.watcher.throughput(at, link, value),
            Fed::Path(series, text) => self.watcher.path_changed(series, at, &text),
        }
    }
    fn fed(&mut self, from: WallTime, to: WallTime) -> Result<Vec<(WallTime, Fed)>, HistoryError> {
        let mut all = Vec::new();
        for id in self.series.clone() {
            let samples = self.reader.samples(id, from, to)?;
            all.extend(samples.into_iter().map(|sample| (sample.at, Fed::Sample(id.0, sample))));
        }
        for (id, link) in self.links.clone() {
            let levels = self.reader.levels(id, from, to)?.into_iter();
            all.extend(levels.filter_map(|level| Some((level.at, Fed::Level(link, level.value?)))));
        }
        for (_, event) in self.reader.events(from, to)? {
            let series = event.series.filter(|_| event.kind == "path" && event.at >= from);
            let head = series.and_then(|id| self.heads.get(&id.0)).copied();
            all.extend(head.map(|head| (event.at, Fed::Path(head, event.text))));
        }
        all.sort_by_key(|(at, _)| *at);
        Ok(all)
    }
}

fn note(rows: &mut Vec<Row>, one: Transition) {
    let same = |row: &&mut Row| {
        row.cleared.is_none() && row.raised.series == one.series && row.raised.alert == one.alert
    };
    match (one.change, rows.iter_mut().rev().find(same)) {
        (Change::Cleared, Some(row)) => row.cleared = Some(one),
        (Change::Flapping, Some(row)) => row.is_flapping = true,
        (Change::Raised | Change::Flapping, None) => {
            let is_flapping = one.change == Change::Flapping;
            rows.push(Row { raised: one, cleared: None, is_flapping });
        }
        _ => {}
    }
}

fn json(rows: &[Row]) -> String {
    let row = |row: &Row| {
        let raised = &row.raised;
        json!({
            "alert": raised.alert, "type": raised.condition, "target": raised.target, "probe": raised.probe,
            "raised_at": raised.at.to_string(),
            "cleared_at": row.cleared.as_ref().map(|cleared| cleared.at.to_string()),
            "flapping": row.is_flapping, "evidence": raised.evidence.text, "to": raised.to,
        })
    };
    format!("{:#}\n", Value::Array(rows.iter().map(row).collect()))
}

fn table(rows: &[Row], rules: &[Rule], (from, to): (WallTime, WallTime)) -> String {
    let wide = |of: fn(&Row) -> &str, least: usize| {
        rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0).max(least)
    };
    let alert = wide(|r| &r.raised.alert, 5);
    let target = wide(|r| &r.raised.target, 6);
    let probe = wide(|r| &r.raised.probe, 5);
    let mut text = format!(
        "{:20}  {:>9}  {:alert$}  {:target$}  {:probe$}  evidence\n",
        "raised (UTC)", "lasted", "alert", "target", "probe"
    );
    for row in rows {
        let one = &row.raised;
        let lasted = row.cleared.as_ref().map_or_else(|| "not over".to_owned(), |c| length(one.at, c.at));
        let held = if row.is_flapping { "flapping: " } else { "" };
        // A String takes everything.
        let _ = writeln!(
            text,
            "{:20}  {lasted:>9}  {:alert$}  {:target$}  {:probe$}  {held}{}",
            second(one.at),
            one.alert,
            one.target,
            one.probe,
            one.evidence.text
        );
    }
    let times = |rule: &Rule| {
        let count = rows.iter().filter(|row| row.raised.alert == rule.name).count();
        format!("{} {count} times", rule.name)
    };
    let all: Vec<String> = rules.iter().map(times).collect();
    let _ = writeln!(text, "from {} to {}: {}", second(from), second(to), all.join(", "));
    text
}

/// Without what is smaller than a second.
fn second(at: WallTime) -> String {
    let text = at.to_string();
    text.split_once('.').map_or(text.clone(), |(whole, _)| format!("{whole}Z"))
}

fn length(from: WallTime, to: WallTime) -> String {
    let seconds = Duration::from_nanos(to.0.saturating_sub(from.0)).as_nanos() / SECOND;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}min{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}min", seconds / 3_600, seconds / 60 % 60),
    }
}
