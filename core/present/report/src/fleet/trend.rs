//! How lags develop.
use super::{ROWS, lag, minute, table_lines};
use crate::screen::{Screen, block};
use crate::{Detail, Style};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_fleet_view::Trend;
use fathom_layout::{Table, clean, clip, finish};
use fathom_prose::{Verdict, trend_verdict};

/// Widest name of a column.
const NAME_COLUMNS: usize = 14;

/// The verdict about the trend of all sites.
pub fn trend_summary(trends: &[Trend], limit_s: f64) -> Verdict {
    let points = trends.first().map(|trend| trend.points.as_slice()).unwrap_or_default();
    let ends = points.first().zip(points.last()).map(|(first, last)| (first.lag_p50_s, last.lag_p50_s));
    trend_verdict(ends, limit_s)
}

/// The median lag of each step and value of a label; the newest step comes first. `all` is the
/// trend of all sites.
pub fn trend_screen(
    all: &[Trend],
    by: Option<(&str, &[Trend])>,
    limit_s: f64,
    columns: u16,
    style: Style,
) -> String {
    let screen = Screen::new(columns, style);
    let mut lines = screen.verdict(&trend_summary(all, limit_s));
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    let shown: Vec<(String, &Trend)> = (all.iter().map(|trend| ("all".to_string(), trend)))
        .chain(by.iter().flat_map(|(_, trends)| trends.iter().map(|trend| (name(&trend.value), trend))))
        .collect();
    let steps: BTreeSet<u64> =
        shown.iter().flat_map(|(_, trend)| trend.points.iter().map(|point| point.at_s as u64)).collect();
    let rows = if style.detail == Detail::Verbose { usize::MAX } else { ROWS };
    let mut table = Table::new();
    let heads: Vec<&str> =
        ["until", "sites"].into_iter().chain(shown.iter().map(|(name, _)| name.as_str())).collect();
    table.head(&heads);
    for step in steps.iter().rev().take(rows) {
        let at = |trend: &Trend| trend.points.iter().find(|point| point.at_s as u64 == *step).copied();
        let sites = all.first().and_then(at).map_or(0, |point| point.sites);
        let values = shown.iter().map(|(_, trend)| lag(at(trend).map(|point| point.lag_p50_s)));
        table.row(
            [minute(*step as f64), sites.to_string()].into_iter().chain(values).map(|cell| (cell, None)),
        );
    }
    if !steps.is_empty() {
        lines.extend(block(table_lines(&table, steps.len().saturating_sub(rows), screen)));
    }
    finish(&lines, style)
}

fn name(value: &str) -> String {
    if value.is_empty() { "-".to_string() } else { clip(&clean(value), NAME_COLUMNS) }
}
