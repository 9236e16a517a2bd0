//! `fathom watch status`: the last minute of each target.
use crate::args::WatchStatusArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, warn};
use fathom_app::watch::{Status, TargetStatus, behind, status};
use fathom_units::Duration;
use std::fmt::Write;

pub(crate) fn run(args: &WatchStatusArgs) -> Outcome {
    let status = status(&args.history.source())?;
    let text = if args.json {
        format!("{:#}\n", status.document())
    } else {
        table(&status.targets) + &pushes_table(&status)
    };
    terminal::print(&text)?;
    status.faults.iter().for_each(|fault| warn(&format!("fathom watch: {fault}")));
    Ok(Exit::Healthy)
}

/// Table of the push destinations. Empty if there are none.
fn pushes_table(status: &Status) -> String {
    let pushes = &status.pushes;
    let Some(name) = pushes.iter().map(|push| push.name.chars().count()).max() else { return String::new() };
    let name = name.max(4);
    let mut text = format!("\n{:name$}  {:24}  behind\n", "push", "sent until");
    for push in pushes {
        let words = match &push.sent_until {
            Ok(until) => format!("{until}  {}", behind(*until)),
            Err(why) => why.clone(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:name$}  {words}", push.name);
    }
    text
}

fn table(lines: &[TargetStatus]) -> String {
    if lines.is_empty() {
        return "no measurements in the last minute\n".to_owned();
    }
    let wide = |of: fn(&TargetStatus) -> usize, min: usize| lines.iter().map(of).max().unwrap_or(0).max(min);
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
        // Writing to a String cannot fail.
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

/// Three digits: the history stores no more.
fn short(time: Duration) -> String {
    let (value, unit) = match time.as_nanos() {
        n @ 0..1_000_000 => (n as f64 / 1e3, "us"),
        n @ 1_000_000..1_000_000_000 => (n as f64 / 1e6, "ms"),
        n => (n as f64 / 1e9, "s"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$}{unit}")
}
