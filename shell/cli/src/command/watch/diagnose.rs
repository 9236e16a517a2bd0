//! `fathom watch diagnose`: patterns in months of history.
use crate::args::{WatchDiagnoseArgs, period};
use crate::failure::{Exit, Outcome};
use crate::terminal::{self, Console};
use fathom_app::watch::{diagnose, findings_document};
use fathom_prose::certainty_name;
use fathom_run::Finding;
use fathom_units::WallTime;
use std::fmt::Write;

pub(crate) fn run(args: &WatchDiagnoseArgs, console: Console) -> Outcome {
    let period = period(args.since, None);
    let found = diagnose(&args.history.source(), period)?;
    terminal::print(&if args.json {
        format!("{:#}\n", findings_document(&found, period))
    } else if console.is_quiet() && !found.is_empty() {
        found.iter().map(|one| fathom_prose::finding(one, None) + "\n").collect()
    } else {
        listed(&found, period.from)
    })?;
    Ok(Exit::Healthy)
}

/// Findings with their evidence, for a terminal.
fn listed(found: &[Finding], since: WallTime) -> String {
    if found.is_empty() {
        return format!("no pattern since {since} beyond what chance explains\n");
    }
    let mut text = String::new();
    for finding in found {
        // Writing to a String cannot fail.
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
