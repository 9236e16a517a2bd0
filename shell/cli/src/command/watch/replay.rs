//! `fathom watch alerts`: when the alerts would have been raised.
use crate::args::{WatchAlertsArgs, period};
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, warn};
use fathom_text::counted;
use fathom_units::{Duration, WallTime};
use fathom_watch_app::{Period, ReplayRequest, Replayed, ReplayedAlert, Source, replay};
use std::fmt::Write;

const SECOND: u64 = 1_000_000_000;

pub(crate) fn run(args: &WatchAlertsArgs) -> Outcome {
    let period = period(args.since, args.until);
    let replayed = replay(&ReplayRequest {
        source: Source::File(args.config.clone()),
        alerts: args.alert.clone(),
        store: args.store.clone(),
        period,
    })?;
    let text = if args.json { format!("{:#}\n", replayed.document()) } else { table(&replayed, period) };
    terminal::print(&text)?;
    replayed.faults.iter().for_each(|fault| warn(&format!("fathom watch: left out: {fault}")));
    Ok(Exit::Healthy)
}

fn table(replayed: &Replayed, Period { from, to }: Period) -> String {
    let rows = &replayed.alerts;
    let wide = |of: fn(&ReplayedAlert) -> &str, min: usize| {
        rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0).max(min)
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
        let lasted = row.cleared.as_ref().map_or_else(|| "ongoing".to_owned(), |c| length(one.at, c.at));
        let held = if row.is_flapping { "flapping: " } else { "" };
        // Writing to a String cannot fail.
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
    let times = |rule: &String| {
        let count = rows.iter().filter(|row| row.raised.alert == *rule).count();
        format!("{rule} {}", counted(count as u64, "time", "times"))
    };
    let all: Vec<String> = replayed.rules.iter().map(times).collect();
    let _ = writeln!(text, "from {} to {}: {}", second(from), second(to), all.join(", "));
    text
}

/// A time without fractions of a second.
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
