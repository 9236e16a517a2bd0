//! Tests of simulated switches with a known truth, in virtual time.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod switch;
mod tests;
