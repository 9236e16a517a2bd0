//! One site.
use super::{ROWS, lag, minute, table_lines};
use crate::screen::{Screen, block, section};
use crate::{Detail, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_fleet_view::{Site, SiteTests, TestValues};
use fathom_layout::{Table, clean, finish};
use fathom_prose::site_verdict;
use fathom_text::{milliseconds, rate};

/// One site in a period.
#[derive(Clone, Copy)]
pub struct SiteScreen<'a> {
    /// The site and its medians.
    pub site: &'a Site,
    /// Its tests.
    pub tests: &'a SiteTests,
    /// The name and the verdict of each result, in order of time.
    pub results: &'a [(String, String)],
    /// Lag from which it is bloated, in seconds.
    pub limit_s: f64,
}

/// A site: its labels, its tests and its results, each the newest first.
pub fn site_screen(of: &SiteScreen<'_>, columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let mut lines = screen.verdict(&site_verdict(&clean(&of.site.name), of.site.lag_s(), of.limit_s));
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    let labels: Vec<String> =
        of.site.labels.iter().map(|(name, value)| format!("{} {}", clean(name), clean(value))).collect();
    if !labels.is_empty() {
        lines.extend(block(screen.indented(&labels.join(", "), crate::screen::BODY)));
    }
    let rows = if style.detail == Detail::Verbose { usize::MAX } else { ROWS };
    let mut table = Table::new();
    table.head(&["test", "lag up", "lag down", "idle", "up", "down"]);
    for (at_ms, test) in of.tests.iter().rev().take(rows) {
        table.row(cells(at_ms, test).map(|cell| (cell, None)));
    }
    if !of.tests.is_empty() {
        lines.extend(block(table_lines(&table, of.tests.len().saturating_sub(rows), screen)));
    }
    let result = |(name, verdict): &(String, String)| {
        screen.indented(&format!("{}: {}", clean(name), clean(verdict)), 2)
    };
    lines.extend(section(screen, "Results", of.results.iter().rev().take(rows).flat_map(result).collect()));
    finish(&lines, style)
}

fn cells(at_ms: u64, test: &TestValues) -> [String; 6] {
    let (up, down) = (&test.lines.up, &test.lines.down);
    let speed = |bits: Option<f64>| bits.map_or_else(|| "-".to_string(), rate);
    let idle = test.idle_s.map_or_else(|| "-".to_string(), milliseconds);
    let speeds = [speed(up.rate_bits_per_second), speed(down.rate_bits_per_second)];
    let [fast_up, fast_down] = speeds;
    [minute(at_ms as f64 / 1e3), lag(up.lag_s), lag(down.lag_s), idle, fast_up, fast_down]
}
