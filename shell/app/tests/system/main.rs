//! Tests of the use cases, called as by a program that embeds them.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod minimal_watch;
