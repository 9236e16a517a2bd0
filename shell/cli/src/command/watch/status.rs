//! `fathom watch status`: the last minute of each target.
use super::HistoryWords;
use crate::args::WatchStatusArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console, warn};
use fathom_report::{RecentStatus, recent_screen};
use fathom_text::{counted, milliseconds, rate};
use fathom_watch_app::{ArchiveProgress, Sent, Status, TestStatus, behind, status};

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
            tests: &tests(&status),
            exports: &exports(&status),
            origin: words.origin(),
        };
        recent_screen(&shown, columns, style)
    };
    terminal::print(&text)?;
    status.faults.iter().for_each(|fault| warn(&format!("fathom watch: {fault}")));
    Ok(Exit::Healthy)
}

/// Each scheduled test: its age and result. First, which one loaded the line in the last minute.
fn tests(status: &Status) -> Vec<String> {
    let during = status
        .tested
        .as_ref()
        .map(|name| format!("\"{name}\" loads the line: above is the minute before it"));
    during.into_iter().chain(status.tests.iter().map(test)).collect()
}

fn test(test: &TestStatus) -> String {
    let both = |what: &str, text: fn(f64) -> String| {
        let one = |direction: &str| {
            let probe = format!("{what} {direction}");
            let value = test.values.iter().find(|(known, _)| *known == probe)?.1;
            Some(format!("{} {direction}", text(value)))
        };
        let parts: Vec<String> = ["up", "down"].into_iter().filter_map(one).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    };
    let lag = both("lag", |seconds| format!("+{}", milliseconds(seconds)));
    let parts: Vec<String> = lag.into_iter().chain(both("rate", rate)).collect();
    let result = if parts.is_empty() { "no result".to_owned() } else { parts.join("; ") };
    format!("{}: {result}; {} ago", test.name, behind(test.at))
}

/// Each destination, and until when the history was sent to it.
fn exports(status: &Status) -> Vec<String> {
    let line = |push: &fathom_watch_app::Progress| match &push.sent_until {
        Ok(until) => format!("{}: sent until {until}, {} behind", push.name, behind(*until)),
        Err(why) => format!("{}: {why}", push.name),
    };
    let archive = |one: &ArchiveProgress| match &one.sent {
        Ok(Sent { until: Some(until), objects, .. }) => {
            format!("{}: sent until {until}, {}", one.name, counted(*objects, "object", "objects"))
        }
        Ok(_) => format!("{}: nothing was sent yet", one.name),
        Err(why) => format!("{}: {why}", one.name),
    };
    status.pushes.iter().map(line).chain(status.archives.iter().map(archive)).collect()
}
