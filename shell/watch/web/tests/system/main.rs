//! Tests of the page's server over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test says what failed by failing, and a check in the browser what it saw"
)]

mod api;
mod attack;
mod browser;
mod client;
mod hostile;
mod metrics;
mod synthetic;
