//! Counts and the queue, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod outbox;
mod periods;
