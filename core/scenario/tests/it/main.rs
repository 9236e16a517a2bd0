//! Tests of scenario files: refusals, built-in lines, the fuzz corpus.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod builtin;
#[expect(unreachable_pub, reason = "the fuzz targets are public in their own crate")]
mod corpus;
mod refusals;
