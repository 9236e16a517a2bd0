//! `fathom watch diagnose`: what months of the history say.
use super::store::{store, usual_store};
use crate::args::WatchDiagnoseArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::watch::Source;
use fathom_os::clock::{utc_offset_s, wall_now};
use fathom_prose::certainty_name;
use fathom_run::Finding;
use fathom_units::WallTime;
use fathom_watch_web::{find_in_months, findings_json, history, zone_of};
use std::fmt::Write;

pub(crate) fn run(args: &WatchDiagnoseArgs) -> Outcome {
    let dir = match &args.config {
        Some(path) => store(None, &Source::File(path.clone()).read()?)?,
        None => args.store.clone().map_or_else(usual_store, Ok)?,
    };
    let now = wall_now();
    let range = (args.since.before(now), now);
    if range.0 >= range.1 {
        return Err(Failure::input(format_args!("--since {} is not in the past", range.0)));
    }
    let unread = |why: String| {
        Failure::environment(format_args!(
            "{why}\n  try: --store DIR, or the configuration that is being watched"
        ))
    };
    let mut past = history(dir)().map_err(unread)?;
    let found = find_in_months(past.as_mut(), range, zone_of(range, utc_offset_s)).map_err(unread)?;
    let text = if args.json { format!("{:#}\n", findings_json(&found)) } else { listed(&found, range.0) };
    terminal::print(&text)?;
    Ok(Exit::Healthy)
}

/// Findings with what they rest on, for a terminal.
fn listed(found: &[Finding], since: WallTime) -> String {
    if found.is_empty() {
        return format!("no finding since {since} beyond what chance explains\n");
    }
    let mut text = String::new();
    for finding in found {
        // A String takes everything.
        let _ = writeln!(text, "{}", fathom_prose::finding(finding, None));
        let _ = writeln!(text, "  certainty: {}", certainty_name(finding.certainty));
        for row in fathom_prose::figures(finding) {
            let _ = writeln!(text, "  {}: {}", row.name, row.value);
        }
        if let Some(refuted_by) = fathom_prose::refuted_by(finding) {
            let _ = writeln!(text, "  refuted by: {refuted_by}");
        }
        for span in &finding.spans {
            let _ = writeln!(text, "  seen: {} to {}", WallTime(span.start_ns), WallTime(span.end_ns));
        }
    }
    text
}
