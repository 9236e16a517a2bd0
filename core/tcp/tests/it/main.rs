//! Tests of TCP: windows after each ACK, closed forms and published values.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod kinds;
mod path;
mod traces;
