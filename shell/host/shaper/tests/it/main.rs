//! Shapers on interfaces of namespaces that the tests make. They need root, `ip` and `tc`: what was is compared by what `tc` shows.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod conflicts;
mod corpus;
mod entry;
mod failures;
mod flows;
mod life;
mod rates;
mod state_bytes;
mod world;
