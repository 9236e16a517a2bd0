//! The page around the picture.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fathom_report::look::{STYLE, THEME_SCRIPT, escape};

/// Draws the picture; made from `ui/` by `npm run build`, and committed so that building this needs
/// no Node.
const SCRIPT: &str = include_str!("../../../../ui/dist/trace.js");

/// The scripts of a page.
pub const SCRIPTS: [&str; 2] = [THEME_SCRIPT, SCRIPT];

/// How good it is, as a color.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// Healthy.
    Good,
    /// Could be better, or could not be determined.
    #[default]
    Fair,
    /// Not healthy.
    Bad,
}

/// What was found, with its evidence.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    /// What kind it is, in a word or two.
    pub name: String,
    /// How sure it is, in a word.
    pub confidence: String,
    /// The finding, in a sentence.
    pub text: String,
    /// Names and values.
    pub evidence: Vec<(String, String)>,
    /// Frames to look at: each is a button that shows it.
    pub frames: Vec<u64>,
    /// What it could be instead, and what would refute it.
    pub alternatives: Vec<String>,
}

/// The words of a page. All of them are text: what looks like HTML is shown as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words<'a> {
    /// Names the capture.
    pub title: &'a str,
    /// What was run, and when.
    pub command: &'a str,
    /// The verdict in a word.
    pub level: &'a str,
    /// The color of the verdict.
    pub tone: Tone,
    /// The verdict in a sentence.
    pub headline: &'a str,
    /// The verdict's further sentences.
    pub sentences: &'a [String],
    /// Names and values of the most important numbers.
    pub numbers: &'a [(String, String)],
    /// What to do, and the command that does it or nothing.
    pub actions: &'a [(String, String)],
    /// What was found.
    pub findings: &'a [Finding],
    /// Names and values of the capture and its quality.
    pub facts: &'a [(String, String)],
    /// Fathom's version.
    pub version: &'a str,
}

/// The whole page around `data`.
pub(crate) fn page(words: &Words<'_>, data: &[u8]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{} – Fathom</title>\
         <style>{STYLE}</style></head><body><main class=\"wide\">{}{}\
         <section id=\"trace\" aria-label=\"Time lines of the capture\"><noscript>The picture needs JavaScript; \
         the words do not.</noscript></section>{}{}{}</main>\
         <script type=\"text/plain\" id=\"trace-data\">",
        escape(words.title),
        header(words),
        hero(words),
        findings(words),
        facts(words),
        footer(words),
    );
    STANDARD.encode_string(data, &mut page);
    page += &format!("</script><script>{THEME_SCRIPT}</script><script>{SCRIPT}</script></body></html>\n");
    page
}

fn header(words: &Words<'_>) -> String {
    format!(
        "<header><b>Fathom</b><span>{}</span><button id=\"theme\" type=\"button\" hidden>Dark</button></header>",
        escape(words.command)
    )
}

fn hero(words: &Words<'_>) -> String {
    let class = match words.tone {
        Tone::Good => "good",
        Tone::Fair => "fair",
        Tone::Bad => "bad",
    };
    let sentences: String = words.sentences.iter().map(|s| format!("<p>{}</p>", escape(s))).collect();
    let number = |(name, value): &(String, String)| {
        format!("<div class=\"card number\"><h2>{}</h2><p>{}</p></div>", escape(name), escape(value))
    };
    let numbers: String = words.numbers.iter().map(number).collect();
    format!(
        "<section class=\"card hero {class}\"><p class=\"where\" dir=\"auto\">{}</p><p class=\"level\">{}</p><h1>{}</h1>{sentences}</section>\
         <div class=\"numbers\">{numbers}</div>{}",
        escape(words.title),
        escape(words.level),
        escape(words.headline),
        actions(words)
    )
}

fn actions(words: &Words<'_>) -> String {
    let action = |(text, command): &(String, String)| {
        let command =
            if command.is_empty() { String::new() } else { format!("<pre>{}</pre>", escape(command)) };
        format!("<p>{}</p>{command}", escape(text))
    };
    match words.actions {
        [] => String::new(),
        all => format!(
            "<h2>What to do</h2><div class=\"card actions\">{}</div>",
            all.iter().map(action).collect::<String>()
        ),
    }
}

fn findings(words: &Words<'_>) -> String {
    if words.findings.is_empty() {
        return String::new();
    }
    let cards: String = words.findings.iter().map(finding).collect();
    format!("<h2>All findings and their evidence</h2>{cards}")
}

fn finding(finding: &Finding) -> String {
    let chip = |text: &str| match text {
        "" => String::new(),
        _ => format!("<span class=\"chip\">{}</span>", escape(text)),
    };
    let frames: String = finding
        .frames
        .iter()
        .map(|n| format!(" <button type=\"button\" class=\"frame\" data-frame=\"{n}\">frame {n}</button>"))
        .collect();
    let rows = table_rows(&finding.evidence);
    let evidence = if rows.is_empty() { rows } else { format!("<table>{rows}</table>") };
    let others: String = finding.alternatives.iter().map(|a| format!("<li>{}</li>", escape(a))).collect();
    let others = if others.is_empty() { others } else { format!("It could also be:<ul>{others}</ul>") };
    let details = match evidence.is_empty() && others.is_empty() {
        true => String::new(),
        false => format!("<details><summary>evidence</summary>{evidence}{others}</details>"),
    };
    let chips = chip(&finding.name) + &chip(&finding.confidence);
    format!("<div class=\"card finding\"><p>{chips}{}{frames}</p>{details}</div>", escape(&finding.text))
}

fn table_rows(pairs: &[(String, String)]) -> String {
    let row = |(name, value): &(String, String)| {
        format!("<tr><td>{}</td><td class=\"words\">{}</td></tr>", escape(name), escape(value))
    };
    pairs.iter().map(row).collect()
}

fn facts(words: &Words<'_>) -> String {
    if words.facts.is_empty() {
        return String::new();
    }
    format!("<h2>The capture</h2><div class=\"card scroll\"><table>{}</table></div>", table_rows(words.facts))
}

fn footer(words: &Words<'_>) -> String {
    format!(
        "<footer>Times are of the capture's clock, from its first frame; sequence numbers are relative to the first. A round trip is \
         from the capture point to the other end and back; it is ambiguous where it is not known which transmission was answered \
         (Karn and Partridge 1987). Outstanding data is what is sent and neither acknowledged nor selectively acknowledged. Losses \
         less than 2 s apart are one episode, which is shaded. Crosses among the round trips are answers to pings, DNS queries and QUIC \
         handshakes. The bandwidth-delay product (BDP) is what is on its way where no queue is: the link's rate times the base round trip. \
         Rates are of payload, but that of the link is of IP packets. Made by Fathom {}.</footer>",
        escape(words.version)
    )
}
