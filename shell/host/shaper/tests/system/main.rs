//! Shapers on interfaces in test namespaces. The tests need root, `ip` and `tc`: they compare the
//! output of `tc` before and after.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod conflicts;
mod corpus;
mod entry;
mod failures;
mod flows;
mod life;
mod others;
mod rates;
mod sqm;
mod state_bytes;
mod world;
