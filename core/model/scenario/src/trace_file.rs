//! Lookup of traces: built-in ones and files.
use crate::error::ScenarioError;
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;
use fathom_link::Trace;
use toml::Spanned;

/// Reads a file relative to the scenario, or returns the reason why it cannot.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<String, String>;

macro_rules! builtin_traces {
    ($($name:literal),*) => {
        /// Names of the built-in traces.
        pub const TRACE_NAMES: &[&str] = &[$($name),*];
        fn builtin_trace(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../../../../scenarios/traces/", $name, ".trace"))),)*
                _ => None,
            }
        }
    };
}
builtin_traces!(
    "codel-nomadic",
    "l4s-step-1mbit",
    "l4s-step-25mbit",
    "lte-outage",
    "lte-outages",
    "mahimahi-12mbit",
    "rfc7928-capacity",
    "umts-outages"
);

/// An error in the scenario or in a trace.
pub(crate) enum Refusal {
    Here(Range<usize>, String),
    InTrace(ScenarioError),
}

/// File access for a scenario without a folder.
pub(crate) fn no_files(_: &str) -> Result<String, String> {
    Err("the scenario is not a file, so it cannot refer to other files".to_string())
}

/// Loads the trace `name`: a built-in one or, with a dot in its name, a file.
pub(crate) fn trace(name: &Spanned<String>, files: Files<'_>) -> Result<Trace, Refusal> {
    let (span, name) = (name.span(), name.get_ref().as_str());
    let refuse = |what: String| Refusal::Here(span.clone(), format!("trace: \"{name}\": {what}"));
    let text = match builtin_trace(name) {
        Some(text) => text.to_string(),
        None if !name.contains('.') => {
            let known = TRACE_NAMES.join(", ");
            return Err(refuse(format!(
                "unknown built-in trace (known: {known}; the name of a file contains a dot, such as \"lte.trace\")"
            )));
        }
        None if name.starts_with('/') || name.contains('\\') || name.split('/').any(|part| part == "..") => {
            return Err(refuse(
                "expected a file in the folder of the scenario, such as \"lte.trace\"".to_string(),
            ));
        }
        None => files(name).map_err(refuse)?,
    };
    text.parse().map_err(|error: fathom_link::TraceError| {
        Refusal::InTrace(ScenarioError { file: name.to_string(), line: error.line, what: error.what })
    })
}
