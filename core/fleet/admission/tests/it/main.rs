//! Requests, admission and the registry, next to oracles that know less and are slower.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod admission;
mod messages;
mod registry;
mod write_bytes;
mod written;
