//! The answers about a fleet for a terminal.
mod buffers;
mod changes;
mod site;
mod sites;
mod together;
mod trend;

pub use buffers::{BuffersScreen, buffers_screen, buffers_summary};
pub use changes::{changes_screen, changes_summary};
pub use site::{SiteScreen, site_screen};
pub use sites::{FleetScreen, fleet_screen};
pub use together::together_screen;
pub use trend::{trend_screen, trend_summary};

use crate::Detail;
use crate::screen::{BODY, Screen};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_layout::Table;
use fathom_text::{milliseconds, thousands};
use fathom_units::WallTime;

/// Rows of a table without `-v`.
const ROWS: usize = 20;
/// Rows of a table with `-v`: more are held in memory, and nobody reads them.
const MANY_ROWS: usize = 100_000;
const NANOS_PER_SECOND: f64 = 1e9;

/// Rows of a table.
fn rows(detail: Detail) -> usize {
    if detail == Detail::Verbose { MANY_ROWS } else { ROWS }
}

/// The lines of a table, and how many rows are hidden.
fn table_lines(table: &Table, hidden: usize, screen: Screen) -> Vec<String> {
    let indent = " ".repeat(BODY);
    let lines = table.lines(screen.columns.saturating_sub(BODY), screen.style);
    let mut lines: Vec<String> = lines.into_iter().map(|line| format!("{indent}{line}")).collect();
    if hidden > 0 {
        let remedy = if screen.style.detail == Detail::Verbose { "--only" } else { "-v" };
        lines.push(format!("{indent}{} more: {remedy}", thousands(hidden as f64)));
    }
    lines
}

/// A lag, or a dash without one.
fn lag(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_string(), milliseconds)
}

/// A time in seconds since 1970, to the minute in UTC.
fn minute(at_s: f64) -> String {
    let text = WallTime((at_s * NANOS_PER_SECOND) as u64).to_string();
    text.get(..16).unwrap_or_default().replace('T', " ")
}
