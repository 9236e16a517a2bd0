//! Sites that slowed down together.
use super::{ROWS, minute};
use crate::screen::{Screen, block};
use crate::{Detail, Style};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_fleet_view::{SlowTimes, Together};
use fathom_layout::{clean, finish};
use fathom_prose::together_verdict;
use fathom_text::{counted, thousands};

/// Names of sites of one time without `-v`.
const NAMES: usize = 6;

/// Each time, what the sites share, and their names; the newest comes first.
pub fn together_screen(of: &SlowTimes, columns: u16, style: Style) -> String {
    let all = &of.times;
    let screen = Screen::new(columns, style);
    let mut lines = screen.verdict(&together_verdict(of.known, of.slow()));
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    let is_verbose = style.detail == Detail::Verbose;
    let rows = if is_verbose { usize::MAX } else { ROWS };
    let names = if is_verbose { usize::MAX } else { NAMES };
    let mut body: Vec<String> =
        all.iter().rev().take(rows).flat_map(|one| screen.indented(&row(one, names), 2)).collect();
    if all.len() > rows {
        body.extend(screen.indented(&format!("{} more: -v", thousands((all.len() - rows) as f64)), 2));
    }
    lines.extend(block(body));
    finish(&lines, style)
}

fn row(found: &Together, most: usize) -> String {
    let total = found.sites.len() + found.unaffected;
    let mut names: Vec<String> = found.sites.iter().take(most).map(|name| clean(name)).collect();
    if found.sites.len() > most {
        names.push("...".into());
    }
    format!(
        "{} to {}, {} {}: {} of {} ({})",
        minute(found.span_s.0),
        minute(found.span_s.1).get(11..).unwrap_or_default(),
        clean(&found.shared.kind),
        clean(&found.shared.value),
        thousands(found.sites.len() as f64),
        counted(total as u64, "site", "sites"),
        names.join(", ")
    )
}
