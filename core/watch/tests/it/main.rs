//! The plan, the schedule and the books, from outside.
mod book;
mod now;
mod plan;
mod schedule;
