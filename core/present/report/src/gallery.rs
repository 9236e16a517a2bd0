//! Scenarios with the claims of their sources and the simulated results: as a table, and as one
//! page with a picture of each.
use crate::Style;
use crate::svg::{CHART_STYLE, Extent, PALETTE, escape, goodput_chart, latency_chart};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_layout::{Ink, clean, wrap};
use fathom_run::Run;
use fathom_text::{bytes, milliseconds, percent, rate, seconds};

/// Times from here on are in seconds.
const LONG_S: f64 = 10.0;

/// One statement and its outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimRow {
    /// The statement.
    pub says: String,
    /// The figure as its source has it.
    pub published: String,
    /// Least and most expected here, in `unit`.
    pub expected: [f64; 2],
    /// What came out; `None` if the run has no such observation.
    pub got: Option<f64>,
    /// Unit of both.
    pub unit: &'static str,
    /// Why what is expected is not what was published.
    pub note: Option<String>,
}

impl ClaimRow {
    /// What came out is as expected.
    pub fn holds(&self) -> bool {
        self.got.is_some_and(|got| (self.expected[0]..=self.expected[1]).contains(&got))
    }
    /// With the unit said once, where both have the same.
    fn expected_text(&self) -> String {
        let in_seconds = self.unit == "s" && self.expected[1] >= LONG_S;
        let text = |value| if in_seconds { seconds(value) } else { value_text(value, self.unit) };
        let [least, most] = self.expected.map(text);
        match (least.split_once(' '), most.split_once(' ')) {
            _ if least == most => least,
            (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {most}"),
            _ => format!("{least} to {most}"),
        }
    }
    fn got_text(&self) -> String {
        self.got.map_or_else(|| "nothing".to_string(), |got| value_text(got, self.unit))
    }
}

/// A scenario that was run.
pub struct Exhibit<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it shows.
    pub about: &'a str,
    /// Where its numbers come from.
    pub source: &'a str,
    /// What [`exhibit_charts`] makes of its run; nothing for one of arithmetic alone.
    pub charts: &'a str,
    /// Its claims.
    pub claims: &'a [ClaimRow],
}

/// A number with its unit, for a person.
fn value_text(value: f64, unit: &str) -> String {
    match unit {
        "s" if value.abs() >= LONG_S => seconds(value),
        "s" => milliseconds(value),
        "bit/s" => rate(value),
        "bytes" => bytes(value),
        "ratio" => percent(value),
        "1" => format!("{value:.0}"),
        unit => format!("{} {unit}", libm::round(value * 100.0) / 100.0),
    }
}

/// The claims of a scenario, for the terminal: a line each, and its note below.
pub fn claims(rows: &[ClaimRow], columns: u16, style: Style) -> String {
    let columns = usize::from(columns);
    let mut text = String::new();
    for row in rows {
        let (mark, ink) = if row.holds() {
            (style.pick("✓", "ok"), Ink::Good)
        } else {
            (style.pick("✗", "NO"), Ink::Bad)
        };
        let line = format!(
            "{}: {}, here {} (expected {})",
            clean(&row.says),
            clean(&row.published),
            row.got_text(),
            row.expected_text()
        );
        for (at, part) in wrap(&line, columns.saturating_sub(5), 0).iter().enumerate() {
            let lead = if at == 0 { style.ink(ink, &format!("  {mark:<2}")) } else { "    ".to_string() };
            text += &format!("{lead} {part}\n");
        }
        for part in row.note.iter().flat_map(|note| wrap(&clean(note), columns.saturating_sub(9), 0)) {
            text += &style.ink(Ink::Dim, &format!("         {part}"));
            text.push('\n');
        }
    }
    text
}

/// How many claims of a scenario hold, and those that do not.
pub fn claims_in_short(rows: &[ClaimRow], columns: u16, style: Style) -> String {
    let failed: Vec<ClaimRow> = rows.iter().filter(|row| !row.holds()).cloned().collect();
    let held = rows.len() - failed.len();
    let text = format!("Published numbers: {held} of {} reproduced. All of them: -v\n", rows.len());
    text + &claims(&failed, columns, style)
}

/// One page with every exhibit: its claims, its picture.
pub fn gallery(exhibits: &[Exhibit<'_>]) -> String {
    let all = exhibits.iter().flat_map(|exhibit| exhibit.claims);
    let (count, held) = all.fold((0, 0), |(n, held), row| (n + 1, held + usize::from(row.holds())));
    let scenarios = exhibits.len();
    let items: String = exhibits.iter().map(exhibit_card).collect();
    let contents: String = exhibits.iter().map(contents_line).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Gallery – Fathom</title>\
         <style>{PALETTE}{}{CHART_STYLE}{}</style></head><body><main class=\"wide\">\
         <header><b>Fathom</b><span>gallery</span><button id=\"theme\" type=\"button\" hidden>Dark</button></header>\
         <section class=\"card\"><h1>{held} of {count} claims come out, in {scenarios} scenarios</h1>\
         <nav>{contents}</nav></section><div class=\"exhibits\">{items}</div></main><script>{}</script></body></html>\n",
        include_str!("html/page.css"),
        include_str!("html/gallery.css"),
        include_str!("html/theme.js"),
    )
}

fn contents_line(exhibit: &Exhibit<'_>) -> String {
    let name = escape(exhibit.name);
    let class = if exhibit.claims.iter().all(ClaimRow::holds) { "good" } else { "bad" };
    format!("<a class=\"chip {class}\" href=\"#{name}\">{name}</a> ")
}

/// The charts of an exhibit, so that its run need not be kept.
pub fn exhibit_charts(run: &Run, diagnosis: &Diagnosis) -> String {
    let extent = Extent::of(run, diagnosis);
    let drawn = [latency_chart(run, diagnosis, &extent), goodput_chart(run, &extent)];
    drawn.into_iter().flatten().collect()
}

fn exhibit_card(exhibit: &Exhibit<'_>) -> String {
    let (name, about, source) = (escape(exhibit.name), escape(exhibit.about), escape(exhibit.source));
    let pictures = exhibit.charts;
    let rows: String = exhibit.claims.iter().map(claim_row).collect();
    let table = format!(
        "<div class=\"scroll\"><table><tr><th class=\"words\">claim</th><th class=\"words\">published</th><th>expected here</th><th>got</th></tr>{rows}</table></div>"
    );
    format!(
        "<article class=\"card exhibit\" id=\"{name}\"><h2>{name}</h2><h1>{about}</h1><p class=\"where\">{source}</p>\
         {pictures}{}</article>",
        if exhibit.claims.is_empty() { String::new() } else { table }
    )
}

fn claim_row(row: &ClaimRow) -> String {
    let class = if row.holds() { "good" } else { "bad" };
    let note = row.note.as_ref();
    format!(
        "<tr{}><td class=\"words\">{}</td><td class=\"words\">{}</td><td>{}</td><td class=\"{class}\">{}</td></tr>{}",
        if note.is_some() { " class=\"noted\"" } else { "" },
        escape(&row.says),
        escape(&row.published),
        row.expected_text(),
        row.got_text(),
        note.map_or_else(String::new, |note| {
            format!("<tr class=\"note\"><td colspan=\"4\">{}</td></tr>", escape(note))
        })
    )
}
