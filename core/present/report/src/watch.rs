//! The last minute of a watch, and patterns of its history, for a terminal.
use crate::screen::{BODY, ROWS, Screen, block, level_ink, section};
use crate::{Detail, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::RecentSeries;
use fathom_layout::{Table, clean, clip, finish, left};
use fathom_prose::{HistoryOrigin, Level, is_judged, kind_name, recent_level, variation};
use fathom_run::Finding;
use fathom_text::{milliseconds, percent, thousands};

/// Rows of the table that are shown in any case.
const LEAST_SERIES: usize = 5;
/// What `-v` shows is not shown without it.
const VERBOSE: &str = "-v";
/// Headings of the table. Narrow terminals show the first ones.
const HEADINGS: [&str; 7] = ["target", "loss", "median", "p95", "max", "base", "sent"];

/// The last minute of a watch.
#[derive(Clone, Copy)]
pub struct RecentStatus<'a> {
    /// Each series, the worst first.
    pub series: &'a [RecentSeries],
    /// Time of the newest sample, if there is one.
    pub history_end: Option<&'a str>,
    /// A line for each scheduled test.
    pub tests: &'a [String],
    /// A line for each destination to which the history is sent.
    pub exports: &'a [String],
    /// Location of the history.
    pub origin: HistoryOrigin<'a>,
}

/// The last minute of a watch: the verdict, a row for each series, reasons, and what to do.
pub fn recent_screen(status: &RecentStatus<'_>, columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let series = status.series;
    let mut lines = screen.verdict(&fathom_prose::recent_verdict(series, status.history_end));
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    let actions = screen.actions(&fathom_prose::recent_actions(series, status.origin));
    let actions = section(screen, "What to do", actions);
    let indented = |all: &[String]| all.iter().flat_map(|line| screen.indented(&clean(line), 2)).collect();
    let tests = section(screen, "Tests", indented(status.tests));
    let exports = [tests, section(screen, "Export", indented(status.exports))].concat();
    let taken = lines.len() + exports.len() + actions.len();
    let reasons = fathom_prose::recent_reasons(series);
    let is_verbose = style.detail == Detail::Verbose;
    // Heading, empty lines, and two reasons.
    let rows = ROWS.saturating_sub(taken + 3 + if reasons.is_empty() { 0 } else { 6 });
    let table = table(series, if is_verbose { usize::MAX } else { rows.max(LEAST_SERIES) }, screen);
    lines.extend(block(table));
    let rest = ROWS.saturating_sub(lines.len() + exports.len() + actions.len() + 2);
    lines.extend(section(screen, "Why", screen.reasons(&reasons, None, rest, VERBOSE)));
    lines.extend(exports);
    lines.extend(actions);
    finish(&lines, style)
}

/// At most `rows` series, each with its level in front of it. Series that are not judged need
/// details.
fn table(series: &[RecentSeries], rows: usize, screen: Screen) -> Vec<String> {
    let judged = series.iter().take_while(|one| is_judged(one)).count();
    let available = if rows == usize::MAX { series.len() } else { judged };
    if series.is_empty() {
        return Vec::new();
    }
    let room = screen.columns.saturating_sub(BODY);
    let mut table = Table::new();
    table.head(&HEADINGS);
    let shown = if available > rows { rows.saturating_sub(1).max(1) } else { available };
    for one in series.iter().take(shown) {
        table.row(cells_of(one, room / 3).map(|cell| (cell, None)));
    }
    let levels = series.iter().take(shown).map(|one| Some(recent_level(one)));
    let gutter = core::iter::once(None).chain(levels);
    let line = |(level, text): (Option<Level>, String)| match level {
        None => " ".repeat(BODY) + &text,
        Some(Level::NoResult) => left("-", BODY) + &text,
        Some(level) => {
            let word = level.word();
            screen.style.ink(level_ink(level), word) + &" ".repeat(BODY.saturating_sub(word.len())) + &text
        }
    };
    let mut lines: Vec<String> = gutter.zip(table.lines(room, screen.style)).map(line).collect();
    let hidden = series.len() - shown;
    if hidden > 0 {
        let is_good = series.iter().skip(shown).all(|one| recent_level(one) == Level::Good);
        let which = match (shown < judged, is_good) {
            (false, _) => "other series",
            (true, true) => "more, all good",
            (true, false) => "more",
        };
        lines.push(format!("{}{hidden} {which}: {VERBOSE}", " ".repeat(BODY)));
    }
    lines
}

fn cells_of(series: &RecentSeries, widest_name: usize) -> [String; 7] {
    let name = clip(&clean(&format!("{} {}", series.target, series.probe)), widest_name.max(12));
    let delay = |of: Option<f64>| of.map_or_else(|| "-".to_string(), milliseconds);
    let variation = variation(series);
    let loss = match series.sent_packets {
        0 => "failed".to_string(),
        sent => percent(series.lost_packets as f64 / sent as f64),
    };
    [
        name,
        loss,
        delay(variation.map(|of| of.p50_s)),
        delay(variation.map(|of| of.p95_s)),
        delay(variation.map(|of| of.max_s)),
        delay(series.base_p5_s),
        thousands(series.sent_packets as f64),
    ]
}

/// Patterns in a history.
#[derive(Clone, Copy)]
pub struct Patterns<'a> {
    /// The findings, the most certain first.
    pub found: &'a [Finding],
    /// Days of history that were searched.
    pub days: u64,
    /// When each finding was seen: a line for each of its spans.
    pub seen: &'a [Vec<String>],
    /// Location of the history.
    pub origin: HistoryOrigin<'a>,
}

/// Patterns in months of a watch: the verdict, its numbers, all findings, and what to do.
pub fn patterns_screen(patterns: &Patterns<'_>, columns: u16, style: Style) -> String {
    let screen = Screen::new(columns, style);
    let (found, days) = (patterns.found, patterns.days);
    let mut lines = screen.verdict(&fathom_prose::pattern_verdict(found, days));
    if style.detail == Detail::Quiet {
        return finish(&lines, style);
    }
    if days > 0 {
        lines.extend(block(screen.numbers(&fathom_prose::pattern_numbers(found, days))));
    }
    let actions = screen.actions(&fathom_prose::pattern_actions(found, patterns.origin));
    let actions = section(screen, "What to do", actions);
    let reasons = fathom_prose::pattern_reasons(found);
    let rest = ROWS.saturating_sub(lines.len() + actions.len() + 2);
    lines.extend(section(screen, "Why", screen.reasons(&reasons, None, rest, VERBOSE)));
    lines.extend(actions);
    if style.detail == Detail::Verbose {
        lines.extend(section(screen, "Evidence", evidence(patterns, screen)));
    }
    finish(&lines, style)
}

/// The values of each finding, what would refute it, and when it was seen.
fn evidence(patterns: &Patterns<'_>, screen: Screen) -> Vec<String> {
    let of = |(number, finding): (usize, &Finding)| {
        let figures = fathom_prose::figures(finding).into_iter();
        let figures = figures.map(|row| format!("{}: {}", row.name, row.value));
        let refuted = fathom_prose::refuted_by(finding).map(|text| format!("refuted by: {text}"));
        let seen = patterns.seen.get(number - 1).into_iter().flatten();
        let seen = seen.map(|span| format!("seen: {span}"));
        let first = screen.heading(&format!("{number:>3}. {}", kind_name(finding.kind())));
        let texts: Vec<String> = figures.chain(refuted).chain(seen).collect();
        let rest: Vec<String> = texts.iter().flat_map(|text| screen.indented(&clean(text), BODY)).collect();
        core::iter::once(first).chain(rest)
    };
    (1..).zip(patterns.found).flat_map(of).collect()
}
