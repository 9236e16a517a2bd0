//! Tests of the rate controllers through their public interface.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod autorate_bytes;
mod autorate_line;
mod common;
mod corpus;
mod decisions;
mod fix;
mod properties;
mod saved;
