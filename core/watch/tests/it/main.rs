//! The plan, the schedule and the books, from outside.
mod book;
mod corpus;
mod now;
mod plan;
mod schedule;
mod watch_bytes;
