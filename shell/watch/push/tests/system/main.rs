//! From a history to receivers: real ones, and simulated ones that fail.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod dashboards;
mod hops;
mod minimal;
mod past;
mod real;
mod receiver;
mod refusals;
mod simulated;
