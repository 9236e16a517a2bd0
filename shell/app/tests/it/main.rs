//! Use cases, as a program that embeds them calls them.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod sweep;
