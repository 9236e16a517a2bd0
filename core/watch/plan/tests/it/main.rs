//! The plan and its alert rules, from outside.
mod alert_rules;
mod corpus;
mod now;
mod plan;
mod push;
mod watch_bytes;
