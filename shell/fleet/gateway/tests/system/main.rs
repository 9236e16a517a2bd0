//! Agents, a gateway and an engine on real sockets.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod client;
mod enrollment;
mod forwarding;
mod hostile;
mod identity;
mod killed;
mod limits;
mod objects;
mod receiver;
mod setup;
mod shared;
