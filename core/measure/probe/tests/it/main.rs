//! Tests of bookkeeping, schedules and the protocol through their public interface.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod book;
mod highest_rate;
mod hops;
mod protocol;
mod protocol_bytes;
mod schedule;
mod session;
