//! A survey as a page without external resources.
use crate::survey::place;
use crate::survey_screen::{numbers, survey_headline};
use crate::words::what;
use crate::{Record, Survey};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_report::look::{self, escape};

/// The page. `title` is the name of the list, `version` that of the program.
pub fn page(survey: &Survey<'_>, title: &str, version: &str) -> String {
    let tone = match (survey.tested(), survey.problems.is_empty()) {
        (0, _) => "fair",
        (_, true) => "good",
        (_, false) => "bad",
    };
    let body = format!(
        "<header><b>Fathom</b><span>{}</span>\
         <button id=\"theme\" type=\"button\" hidden>Dark</button></header>\
         <section class=\"card hero {tone}\"><h1>{}</h1><p class=\"where\">{}</p></section>\
         <h2>Hosts</h2><div class=\"card scroll\"><table>{}</table></div>{}{}\
         <footer><p>Fathom {}</p></footer>",
        escape(title),
        escape(&survey_headline(survey)),
        times(survey.records()),
        numbers(survey).iter().map(|(name, value)| cells("td", &[name, value])).collect::<String>(),
        networks(survey),
        hosts(survey),
        escape(version),
    );
    look::page(title, &body)
}

/// First and last test.
fn times(records: &[Record]) -> String {
    let first = records.iter().map(|record| record.started.as_str()).min().unwrap_or_default();
    let last = records.iter().map(|record| record.ended.as_str()).max().unwrap_or_default();
    escape(&format!("{first} to {last}"))
}

fn cells(tag: &str, texts: &[&str]) -> String {
    let cells: String =
        texts.iter().map(|text| format!("<{tag} class=\"words\">{}</{tag}>", escape(text))).collect();
    format!("<tr>{cells}</tr>")
}

fn networks(survey: &Survey<'_>) -> String {
    let row = |n: &crate::Network| cells("td", &[&n.place, &n.what, &n.hosts.to_string()]);
    let rows: String = survey.networks.iter().map(row).collect();
    table("Where ECN does not survive", &["where", "what happens", "hosts"], &rows)
}

fn hosts(survey: &Survey<'_>) -> String {
    let rows: String = survey
        .problems
        .iter()
        .map(|(record, problem)| {
            let rank = record.rank.map_or_else(String::new, |rank| rank.to_string());
            let address = record.address.as_deref().unwrap_or_default();
            cells("td", &[&rank, &record.host, address, &what(&problem.finding), &place(problem)])
        })
        .collect();
    let heads = ["rank", "host", "address", "what happens", "where"];
    table("Hosts behind these places", &heads, &rows)
}

fn table(title: &str, heads: &[&str], rows: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<h2>{title}</h2><div class=\"card scroll\"><table><thead>{}</thead><tbody>{rows}</tbody></table></div>",
        cells("th", heads)
    )
}
