//! Tests over loopback sockets, against our server and against misbehaving ones.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod against_server;
mod applications;
mod misbehaving;
mod monitor;
mod support;
