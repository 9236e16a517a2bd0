//! The sites of a fleet for a terminal.
use super::{ROWS, rows, table_lines};
use crate::screen::{BODY, Screen, block, section};
use crate::{Detail, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_fleet_view::{Fleet, Group, Site};
use fathom_layout::{Table, clean, clip, finish};
use fathom_prose::fleet_verdict;
use fathom_text::{counted, milliseconds, percent, rate, thousands};

const HEADINGS: [&str; 7] = ["site", "lag up", "lag down", "idle", "up", "down", "tests"];

/// The sites of a fleet.
#[derive(Clone, Copy)]
pub struct FleetScreen<'a> {
    /// The sites and their values.
    pub fleet: &'a Fleet,
    /// The label by which sites are grouped, and its groups; `None` without one.
    pub groups: Option<(&'a str, &'a [Group])>,
    /// Sites that differ from those with the same label.
    pub outliers: &'a [&'a Site],
    /// Lag from which a site is bloated, in seconds.
    pub limit_s: f64,
}

/// The sites by lag, their groups, and sites that differ.
pub fn fleet_screen(of: &FleetScreen<'_>, columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let ranked = of.fleet.by_lag();
    let bloated = ranked.iter().filter(|site| site.lag_s().is_some_and(|lag| lag >= of.limit_s)).count();
    let mut lines = screen.verdict(&fleet_verdict(ranked.len(), bloated));
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    let rows = rows(style.detail);
    lines.extend(block(sites(&ranked, rows, screen)));
    if let Some((label, groups)) = of.groups {
        let rows = groups.iter().take(rows).map(group).collect();
        lines.extend(section(screen, &format!("By {}", clean(label)), rows));
        let unusual = of.outliers.iter().take(ROWS).map(|site| outlier(site, label)).collect();
        lines.extend(section(screen, "Unlike the others", unusual));
    }
    finish(&lines, style)
}

fn sites(ranked: &[&Site], rows: usize, screen: Screen) -> Vec<String> {
    if ranked.is_empty() {
        return Vec::new();
    }
    let room = screen.columns.saturating_sub(BODY);
    let mut table = Table::new();
    table.head(&HEADINGS);
    for site in ranked.iter().take(rows) {
        table.row(cells(site, room / 3).map(|cell| (cell, None)));
    }
    table_lines(&table, ranked.len().saturating_sub(rows), screen)
}

fn cells(site: &Site, widest: usize) -> [String; 7] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
    let (up, down) = (&site.lines.up, &site.lines.down);
    [
        clip(&clean(&site.name), widest.max(12)),
        or_dash(up.lag_s.map(milliseconds)),
        or_dash(down.lag_s.map(milliseconds)),
        or_dash(site.idle_s.map(milliseconds)),
        or_dash(up.rate_bits_per_second.map(rate)),
        or_dash(down.rate_bits_per_second.map(rate)),
        thousands(site.tests as f64),
    ]
}

fn group(group: &Group) -> String {
    let name = if group.value.is_empty() { "-".to_string() } else { clean(&group.value) };
    format!(
        "  {name}: {}, median {}, p90 {}, {} bloated",
        counted(group.sites as u64, "site", "sites"),
        milliseconds(group.lag_p50_s),
        milliseconds(group.lag_p90_s),
        percent(group.bloated_ratio)
    )
}

fn outlier(site: &Site, label: &str) -> String {
    let value = site.labels.get(label).map_or("-", String::as_str);
    format!(
        "  {} ({}): {}",
        clean(&site.name),
        clean(value),
        site.lag_s().map(milliseconds).unwrap_or_default()
    )
}
