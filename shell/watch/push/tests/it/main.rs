//! From a history to receivers: real ones, and such as do what real ones do on bad days.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod dashboards;
mod past;
mod real;
mod receiver;
mod refusals;
