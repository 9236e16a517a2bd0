//! The plan and its alerts, from outside.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod alert_pattern;
mod alert_rules;
mod alert_timeline;
#[path = "../../../rrd/tests/it/encode.rs"]
#[allow(dead_code, reason = "the tests of the reader use all of it")]
mod encode;

mod corpus;
mod now;
mod plan;
mod push;
mod smokeping;
mod smokeping_bytes;
mod smokeping_rounds;
mod watch_bytes;
