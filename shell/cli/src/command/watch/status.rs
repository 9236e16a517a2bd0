//! `fathom watch status`: the last minute of each target.
use super::HistoryWords;
use crate::args::WatchStatusArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console, warn};
use fathom_app::watch::{Status, behind, status};
use fathom_report::{RecentStatus, recent_screen};

pub(crate) fn run(args: &WatchStatusArgs, console: Console) -> Outcome {
    let status = status(&args.history.source())?;
    let text = if args.json {
        format!("{:#}\n", status.document())
    } else {
        let (style, columns) = console.stdout_form();
        let words = HistoryWords::new(&args.history);
        let end = status.history_end.map(|end| end.to_string());
        let shown = RecentStatus {
            series: &status.series(),
            history_end: end.as_deref(),
            exports: &exports(&status),
            origin: words.origin(),
        };
        recent_screen(&shown, columns, style)
    };
    terminal::print(&text)?;
    status.faults.iter().for_each(|fault| warn(&format!("fathom watch: {fault}")));
    Ok(Exit::Healthy)
}

/// Each destination, and until when the history was sent to it.
fn exports(status: &Status) -> Vec<String> {
    let line = |push: &fathom_app::watch::Progress| match &push.sent_until {
        Ok(until) => format!("{}: sent until {until}, {} behind", push.name, behind(*until)),
        Err(why) => format!("{}: {why}", push.name),
    };
    status.pushes.iter().map(line).collect()
}
