//! `fathom watch diagnose`: what months of the history say.
use super::store::{store, usual_store};
use crate::args::WatchDiagnoseArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::watch::Source;
use fathom_diagnose::MonthsFinding;
use fathom_os::clock::{utc_offset_s, wall_now};
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
    let text = if args.json { format!("{:#}\n", findings_json(&found)) } else { told(&found, range.0) };
    terminal::print(&text)?;
    Ok(Exit::Healthy)
}

fn told(found: &[MonthsFinding], since: fathom_units::WallTime) -> String {
    if found.is_empty() {
        return format!("nothing since {since} that chance does not explain\n");
    }
    let mut text = String::new();
    for finding in found {
        // A String takes everything.
        let _ = writeln!(text, "{} ({}): {}", finding.target, finding.probe, finding.text);
        let confidence = format!("{:?}", finding.confidence).to_lowercase();
        let _ = writeln!(text, "  confidence: {confidence}");
        for evidence in &finding.evidence {
            let _ = writeln!(text, "  {}: {}", evidence.name, figure(evidence.value, evidence.unit));
        }
        let _ = writeln!(text, "  refuted by: {}", finding.refuted_by);
        for stretch in &finding.stretches {
            let _ = writeln!(text, "  seen: {} to {}", stretch.from, stretch.to);
        }
    }
    text
}

fn figure(value: f64, unit: &str) -> String {
    match unit {
        "s" => format!("{:.1} ms", value * 1e3),
        "ratio" if value > 0.0 && value < 1e-4 => format!("{value:.0e}"),
        "ratio" => format!("{:.2} %", value * 100.0),
        unit => format!("{value:.0} {unit}"),
    }
}
