//! The plan, the schedule and the books, from outside.
mod alert_rules;
mod book;
mod corpus;
mod now;
mod plan;
mod push;
mod schedule;
mod watch_bytes;
