//! TOML values.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
/// A text in quotes.
pub(super) use fathom_watch_plan::toml_string as quoted;

/// A single string or an array of strings.
pub(super) fn list(texts: &[String]) -> String {
    match texts {
        [one] => quoted(one),
        many => format!("[{}]", many.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", ")),
    }
}

/// A duration in the largest unit that needs no fraction.
pub(super) fn time(ms: u64) -> String {
    if ms.is_multiple_of(1_000) { format!("\"{}s\"", ms / 1_000) } else { format!("\"{ms}ms\"") }
}

/// Text as a comment after `#`: one line of printable characters.
pub(super) fn comment(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Seconds, possibly with a fraction, as whole milliseconds.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let seconds = text.trim().parse::<f64>().ok().filter(|s| (0.0..1e7).contains(s))?;
    Some((seconds * 1_000.0 + 0.5) as u64)
}
