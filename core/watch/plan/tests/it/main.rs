//! Tests of the plan and its alert rules through the public API.
mod alert_rules;
mod corpus;
mod line_tests;
mod now;
mod plan;
mod push;
mod watch_bytes;
