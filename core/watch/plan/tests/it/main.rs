//! The plan, the schedule and the books, from outside.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod alert_rules;
mod book;
mod corpus;
mod now;
mod plan;
mod push;
mod schedule;
mod watch_bytes;
