//! The table of a path: the delay of each hop in each phase.
use crate::terminal::clean;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_run::{Hop, Metric, PhaseKind, Run, Series, SeriesKey};
use fathom_stats::median;
use fathom_text::{milliseconds_bare, percent};

/// Headings of [`hop_rows`].
pub(crate) const HOP_HEADINGS: [&str; 8] = ["hop", "address", "replies", "idle", "down", "up", "both", "max"];
/// Their units.
pub(crate) const HOP_UNITS: [&str; 8] = ["", "", "", "ms", "ms", "ms", "ms", "ms"];
/// What the table of the path shows.
pub(crate) const HOP_LEGEND: &str = "path: median delays; replies: of a hop, to probes that expire there, which routers limit to one a second";

/// A row for each hop, and for the server.
pub(crate) fn hop_rows(run: &Run, diagnosis: &Diagnosis) -> Vec<[String; 8]> {
    let Some(path) = &run.path else { return Vec::new() };
    let mut rows: Vec<_> = path.hops.iter().map(|hop| hop_row(run, hop)).collect();
    if let Some((number, metric)) = path.server_hop.zip(diagnosis.latency_source) {
        let series: Vec<&Series> = run.series(&SeriesKey::of(metric)).into_iter().collect();
        rows.push(row(run, number, "server".to_string(), &series));
    }
    rows
}

fn hop_row(run: &Run, hop: &Hop) -> [String; 8] {
    let key = |metric| SeriesKey { scope: Some(hop.number.to_string()), ..SeriesKey::of(metric) };
    let both = [Metric::HopRtt, Metric::HopEcho].map(|metric| run.series(&key(metric)));
    let series: Vec<&Series> = both.into_iter().flatten().collect();
    row(run, hop.number, hop.address.clone(), &series)
}

/// The replies are those of the first series, the delays those of all.
fn row(run: &Run, number: u8, address: String, series: &[&Series]) -> [String; 8] {
    let dash = || String::from("-");
    let delays = |kind| {
        let phase = run.phases.iter().find(|phase| phase.kind == kind)?;
        median(series.iter().flat_map(|s| s.within(phase)).filter_map(|o| o.value.observed()))
    };
    let middle = |kind| delays(kind).map_or_else(dash, milliseconds_bare);
    let all = series.iter().flat_map(|s| s.iter()).filter_map(|o| o.value.observed());
    let replies = series.first().filter(|s| !s.values.is_empty()).map_or_else(dash, |s| {
        let (sent, lost) = (s.values.len() as f64, s.censored.len() as f64);
        percent(1.0 - lost / sent)
    });
    [
        number.to_string(),
        // Of a file that anyone may have written.
        clean(&address),
        replies,
        middle(PhaseKind::Idle),
        middle(PhaseKind::Down),
        middle(PhaseKind::Up),
        middle(PhaseKind::Both),
        all.max_by(f64::total_cmp).map_or_else(dash, milliseconds_bare),
    ]
}
