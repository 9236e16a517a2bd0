//! A page for a provider's support: when, where, what was excluded, and how to see it without this
//! program. It is to be printed, so it has nothing that needs a screen.
use crate::html::{figures, footer, header, hero, hop_tables, page, why, with_units};
use crate::svg::{Extent, escape, latency_chart};
use alloc::format;
use alloc::string::String;
use fathom_diagnose::Diagnosis;
use fathom_run::{Fact, Run};
use fathom_text::seconds;

/// Without the button, and in the full width of the paper.
const PRINT_STYLE: &str =
    "@media print{header button{display:none}main{max-width:none;padding:0}.card{break-inside:avoid}}";

/// The page of a bloated line; `None` if the result shows none.
pub fn provider_page(run: &Run, diagnosis: &Diagnosis) -> Option<String> {
    let evidence = fathom_prose::evidence_for_provider(run, diagnosis)?;
    let pair = (run, diagnosis);
    let chart = latency_chart(run, diagnosis, &Extent::of(run, diagnosis));
    let chart = chart.map_or_else(String::new, |chart| format!("<div class=\"card\">{chart}</div>"));
    let body = [
        header(&[pair]),
        hero(&pair),
        figures(&pair),
        conditions(run),
        why(run, diagnosis),
        format!("<h2>Latency over time</h2>{chart}"),
        hop_tables(&[pair]),
        list("Excluded", "ul", &evidence.excluded),
        list("How to see it without Fathom", "ol", &evidence.steps),
        list("What would help", "ul", &evidence.requests),
        footer(&[pair]),
    ];
    Some(page(&run.title, PRINT_STYLE, &body.concat()))
}

/// When, for how long, between which addresses.
fn conditions(run: &Run) -> String {
    let last_ns = run.phases.last().map_or(0, |phase| phase.end_ns);
    let fact = |fact| run.facts.get(&fact).cloned();
    let rows = [
        ("measured (UTC)", Some(run.started.clone())),
        ("duration", Some(seconds(last_ns as f64 / 1e9))),
        ("customer's address", fact(Fact::SeenAs)),
        ("server", fact(Fact::Server)),
        ("server's address", fact(Fact::Address)),
        ("program", Some(format!("Fathom {} on {}", run.tool_version, run.host.kernel))),
    ];
    let row = |(name, value): (&str, Option<String>)| {
        Some(format!("<tr><td>{name}</td><td class=\"words\">{}</td></tr>", escape(&value?)))
    };
    let rows: String = rows.into_iter().filter_map(row).collect();
    format!("<h2>When and where</h2><div class=\"card scroll\"><table>{rows}</table></div>")
}

fn list(heading: &str, tag: &str, sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let items: String =
        sentences.iter().map(|text| format!("<li>{}</li>", with_units(&escape(text)))).collect();
    format!("<h2>{heading}</h2><div class=\"card why\"><{tag}>{items}</{tag}></div>")
}
