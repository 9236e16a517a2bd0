//! `fathom watch status`: the last minute, from the history, whoever writes it, and how far it was sent to others.
use super::store::{store, usual_store};
use crate::args::WatchStatusArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::watch::{Source, push_progress};
use fathom_os::clock::wall_now;
use fathom_units::{Duration, WallTime};
use fathom_watch_push::Progress;
use fathom_watch_samples::{Column, Sample, Unit};
use fathom_watch_store::{HistoryReader, SeriesId, SeriesKey};
use serde_json::{Value, json};
use std::fmt::Write;

/// The history is some seconds behind what was measured.
const BEHIND: Duration = Duration::from_secs(15);
const WINDOW: Duration = Duration::from_secs(60);

struct Line {
    key: SeriesKey,
    minute: Column,
    newest: Option<Sample>,
}

pub(crate) fn run(args: &WatchStatusArgs) -> Outcome {
    let plan = args.config.clone().map(|path| Source::File(path).read()).transpose()?;
    let dir = match &plan {
        Some(plan) => store(None, plan)?,
        None => args.store.clone().map_or_else(usual_store, Ok)?,
    };
    let mut reader = HistoryReader::open(&dir).map_err(|e| {
        Failure::environment(format_args!(
            "{e}\n  try: --store DIR, or the configuration that is being watched"
        ))
    })?;
    let lines = read(&mut reader).map_err(Failure::environment)?;
    let pushes = push_progress(plan.as_ref(), &dir);
    let text = if args.json { json(&lines, &pushes) } else { table(&lines) + &pushes_table(&pushes) };
    terminal::print(&text)?;
    reader.faults().iter().for_each(|fault| terminal::note(&format!("fathom watch: {fault}")));
    Ok(Exit::Healthy)
}

fn read(reader: &mut HistoryReader) -> Result<Vec<Line>, fathom_watch_store::HistoryError> {
    let now = wall_now();
    let newest_end = newest_of_all(reader, now)?;
    let from = WallTime(newest_end.0.saturating_sub(WINDOW.as_nanos()));
    let mut lines = Vec::new();
    for (id, key) in reader.series()? {
        if key.unit != Unit::Seconds {
            continue;
        }
        let column = reader.columns(id, from, WallTime(newest_end.0 + 1_000_000), 1)?.pop();
        let newest = reader.newest(id)?;
        // A series of a target that is no longer watched has nothing to show.
        if let Some(minute) = column.filter(|column| column.tally.sent + column.tally.failed > 0) {
            lines.push(Line { key, minute, newest });
        }
    }
    lines.sort_by(|a, b| (&a.key.target, &a.key.probe).cmp(&(&b.key.target, &b.key.probe)));
    Ok(lines)
}

/// Where the last minute ends: now, or where the history does if it is only a little behind.
fn newest_of_all(
    reader: &mut HistoryReader,
    now: WallTime,
) -> Result<WallTime, fathom_watch_store::HistoryError> {
    let ids: Vec<SeriesId> = reader.series()?.into_iter().map(|(id, _)| id).collect();
    let mut newest = WallTime(0);
    for id in ids {
        newest = newest.max(reader.newest(id)?.map_or(newest, |sample| sample.at));
    }
    let is_fresh = now.0.saturating_sub(newest.0) <= BEHIND.as_nanos();
    Ok(if is_fresh { newest } else { now })
}

fn json(lines: &[Line], pushes: &[Progress]) -> String {
    let line = |line: &Line| {
        let tally = &line.minute.tally;
        json!({
            "target": line.key.target,
            "probe": line.key.probe,
            "from": line.minute.from.to_string(),
            "to": line.minute.to.to_string(),
            "sent": tally.sent,
            "answered": tally.answered,
            "late": tally.late,
            "lost": tally.lost,
            "failed": tally.failed,
            "duplicates": tally.duplicates,
            "reordered": tally.reordered,
            "loss_ratio": tally.loss_ratio(),
            "median_s": line.minute.sketch.quantile(0.5),
            "p95_s": line.minute.sketch.quantile(0.95),
            "max_s": line.minute.sketch.max(),
            "newest_at": line.newest.map(|s| s.at.to_string()),
        })
    };
    let push = |push: &Progress| match &push.sent_until {
        Ok(until) => {
            json!({ "name": push.name, "sent_until": until.to_string(), "behind_s": behind(*until).as_secs_f64() })
        }
        Err(why) => json!({ "name": push.name, "problem": why }),
    };
    let (targets, pushes): (Vec<Value>, Vec<Value>) =
        (lines.iter().map(line).collect(), pushes.iter().map(push).collect());
    format!("{:#}\n", json!({ "targets": targets, "pushes": pushes }))
}

/// Whole seconds: what is sent waits for its outcomes anyway.
fn behind(until: WallTime) -> Duration {
    Duration::from_secs(wall_now().0.saturating_sub(until.0) / 1_000_000_000)
}

/// Nothing for a history that is not sent.
fn pushes_table(pushes: &[Progress]) -> String {
    let Some(name) = pushes.iter().map(|push| push.name.chars().count()).max() else { return String::new() };
    let name = name.max(4);
    let mut text = format!("\n{:name$}  {:24}  behind\n", "push", "sent until");
    for push in pushes {
        let words = match &push.sent_until {
            Ok(until) => format!("{until}  {}", behind(*until)),
            Err(why) => why.clone(),
        };
        // A String takes everything.
        let _ = writeln!(text, "{:name$}  {words}", push.name);
    }
    text
}

fn table(lines: &[Line]) -> String {
    if lines.is_empty() {
        return "nothing was measured in the last minute\n".to_owned();
    }
    let wide = |of: fn(&Line) -> usize, least: usize| lines.iter().map(of).max().unwrap_or(0).max(least);
    let target = wide(|l| l.key.target.chars().count(), 6);
    let probe = wide(|l| l.key.probe.chars().count(), 5);
    let mut text = format!(
        "{:target$}  {:probe$}  {:>5} {:>6} {:>5} {:>10} {:>10} {:>10}\n",
        "target", "probe", "sent", "loss", "late", "median", "p95", "max"
    );
    for line in lines {
        let (tally, sketch) = (&line.minute.tally, &line.minute.sketch);
        let seconds =
            |s: Option<f64>| s.map_or_else(|| "-".to_owned(), |s| short(Duration::from_secs_f64(s)));
        let loss =
            tally.loss_ratio().map_or_else(|| "failed".to_owned(), |share| format!("{:.1}%", share * 100.0));
        // A String takes everything.
        let _ = writeln!(
            text,
            "{:target$}  {:probe$}  {:>5} {loss:>6} {:>5} {:>10} {:>10} {:>10}",
            line.key.target,
            line.key.probe,
            tally.sent,
            tally.late,
            seconds(sketch.quantile(0.5)),
            seconds(sketch.quantile(0.95)),
            seconds(sketch.max()),
        );
    }
    text
}

/// Three digits: the history knows no more.
fn short(time: Duration) -> String {
    let (value, unit) = match time.as_nanos() {
        n @ 0..1_000_000 => (n as f64 / 1e3, "us"),
        n @ 1_000_000..1_000_000_000 => (n as f64 / 1e6, "ms"),
        n => (n as f64 / 1e9, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$}{unit}")
}
