//! `fathom watch diagnose`: patterns in months of history.
use super::HistoryWords;
use crate::args::{WatchDiagnoseArgs, period};
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console};
use fathom_report::{Patterns, patterns_screen};
use fathom_run::Finding;
use fathom_units::WallTime;
use fathom_watch_app::diagnose;

pub(crate) fn run(args: &WatchDiagnoseArgs, console: Console) -> Outcome {
    let search = diagnose(&args.history.source(), period(args.since, None))?;
    if args.json {
        terminal::print(&format!("{:#}\n", search.document()))?;
        return Ok(Exit::Healthy);
    }
    let (style, columns) = console.stdout_form();
    let words = HistoryWords::new(&args.history);
    let seen: Vec<Vec<String>> = search.found.iter().map(seen).collect();
    let patterns = Patterns { found: &search.found, days: search.days, seen: &seen, origin: words.origin() };
    terminal::print(&patterns_screen(&patterns, columns, style))?;
    Ok(Exit::Healthy)
}

/// When a finding was seen.
fn seen(finding: &Finding) -> Vec<String> {
    let span = |span: &fathom_run::Span| format!("{} to {}", WallTime(span.start_ns), WallTime(span.end_ns));
    finding.spans.iter().map(span).collect()
}
