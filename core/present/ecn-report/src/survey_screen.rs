//! A survey for a terminal.
use crate::survey::place;
use crate::words::what;
use crate::{Outcome, Survey};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_layout::{Detail, Ink, Style, cells, clean, clip, left, right, wrap};
use fathom_text::{counted, percent, thousands};

/// Rows of a table, unless all are asked for.
const ROWS: usize = 8;

/// One line about all hosts.
pub fn survey_headline(survey: &Survey<'_>) -> String {
    let (tested, problems) = (survey.tested(), survey.problems.len() as u64);
    let hosts = counted(tested, "host", "hosts");
    let found = match (tested, problems) {
        (0, _) => "No host accepted a connection: nothing is known about ECN.".into(),
        (_, 0) => format!("ECN survives on the paths to all hosts that accepted a connection: {tested}."),
        (_, 1) => format!("ECN does not survive on the path to 1 of {hosts}."),
        _ => format!("ECN does not survive on the paths to {} of {hosts}.", thousands(problems as f64)),
    };
    match survey.remaining {
        0 => found,
        1 => format!("{found} 1 host is not tested yet."),
        several => format!("{found} {} hosts are not tested yet.", thousands(several as f64)),
    }
}

/// How many hosts keep and use ECN.
pub(crate) fn numbers(survey: &Survey<'_>) -> Vec<(&'static str, String)> {
    let tested = survey.tested();
    let part =
        |count: u64| format!("{} ({})", thousands(count as f64), percent(count as f64 / tested as f64));
    let mut rows: Vec<(&'static str, String)> = Vec::new();
    let hosts = survey.records().len() as u64 + survey.remaining;
    rows.push(("Hosts", thousands(hosts as f64)));
    rows.push(("Accepted a connection", thousands(tested as f64)));
    if tested > 0 {
        rows.extend([
            ("Agree to ECN (RFC 3168)", part(survey.count(|record| record.classic_agreed == Some(true)))),
            ("Agree to AccECN (RFC 9768)", part(survey.count(|record| record.accurate_agreed == Some(true)))),
            ("Packets with ECN are blocked", part(survey.with(Outcome::Blocked))),
            ("ECN is cleared or changed", part(survey.with(Outcome::Altered))),
        ]);
    }
    let others = [
        ("Did not answer", Outcome::NoAnswer),
        ("Port closed", Outcome::PortClosed),
        ("Same address as another host", Outcome::Duplicate),
        ("Name without an IPv4 address", Outcome::Unresolved),
        ("Could not be sent to", Outcome::NotSent),
    ];
    let others = others.map(|(name, outcome)| (name, survey.with(outcome)));
    rows.extend(
        others.into_iter().filter(|(_, count)| *count > 0).map(|(name, c)| (name, thousands(c as f64))),
    );
    rows
}

/// The headline, the numbers, and where and for which hosts ECN does not survive.
pub fn survey_screen(survey: &Survey<'_>, columns: u16, style: Style) -> String {
    let columns = usize::from(columns);
    let mut lines = wrap(&survey_headline(survey), columns, 0);
    if style.detail == Detail::Quiet {
        return lines.join("\n") + "\n";
    }
    lines.push(String::new());
    let numbers = numbers(survey);
    let width = numbers.iter().map(|(name, _)| cells(name)).max().unwrap_or(0);
    lines.extend(numbers.iter().map(|(name, value)| format!("  {}  {value}", left(name, width))));
    let networks = survey.networks.iter().map(|network| {
        let text = format!("{}, {}", network.what, network.place);
        (network.hosts.to_string(), String::new(), text)
    });
    lines.extend(table("Where", ("hosts", "", "what, where"), networks.collect(), (columns, style)));
    let hosts = survey.problems.iter().map(|(record, problem)| {
        let rank = record.rank.map_or_else(String::new, |rank| rank.to_string());
        (rank, record.host.clone(), format!("{}, {}", what(&problem.finding), place(problem)))
    });
    lines.extend(table("Hosts", ("rank", "host", "what, where"), hosts.collect(), (columns, style)));
    lines.join("\n") + "\n"
}

/// A table of a number, a name and a text, which is wrapped. Columns without a cell are left out.
fn table(
    title: &str,
    heads: (&str, &str, &str),
    rows: Vec<(String, String, String)>,
    (columns, style): (usize, Style),
) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let shown = if style.detail == Detail::Verbose { rows.len() } else { rows.len().min(ROWS) };
    let numbers = column(heads.0, rows.iter().map(|row| &row.0).take(shown), columns, right);
    let names = column(heads.1, rows.iter().map(|row| &row.1).take(shown), columns / 3, left);
    let texts = rows.iter().take(shown).map(|row| clean(&row.2));
    let texts = core::iter::once(heads.2.to_string()).chain(texts);
    let mut lines = Vec::from([String::new(), style.ink(Ink::Bold, title)]);
    for (at, text) in texts.enumerate() {
        let start = format!("  {}{}", numbers[at], names[at]);
        let indent = cells(&start);
        let mut parts = wrap(&text, columns.saturating_sub(indent).max(20), 0).into_iter();
        let line = start + &parts.next().unwrap_or_default();
        lines.push(if at == 0 { style.ink(Ink::Dim, &line) } else { line });
        lines.extend(parts.map(|part| format!("{:indent$}{part}", "")));
    }
    if shown < rows.len() {
        let more = format!("{} more: see --csv and --page.", rows.len() - shown);
        lines.push(format!("  {}", style.ink(Ink::Dim, &more)));
    }
    lines
}

/// A heading and cells of the same width, with the space after them; nothing if all are empty.
fn column<'t>(
    head: &str,
    texts: impl Iterator<Item = &'t String>,
    most: usize,
    align: fn(&str, usize) -> String,
) -> Vec<String> {
    let texts: Vec<String> = texts.map(|text| clip(&clean(text), most)).collect();
    let is_empty = texts.iter().all(String::is_empty);
    let all: Vec<String> = core::iter::once(head.to_string()).chain(texts).collect();
    let width = all.iter().map(|text| cells(text)).max().unwrap_or(0);
    all.iter().map(|text| if is_empty { String::new() } else { align(text, width) + "  " }).collect()
}
