//! `fathom trace` and `fathom sim` for a browser: a WebAssembly module whose host is
//! `ui/src/site/engine.ts`.
pub mod host;
mod sim;
mod trace;

pub use sim::sim;
pub use trace::{SecondPass, Trace};

use serde::Serialize;

/// A result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Output {
    /// JSON: `docs/schema/result.schema.json`.
    pub document: String,
    /// HTML.
    pub page: String,
}

/// A document has numbers and text only, which JSON can hold.
fn json(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}
