//! Tests over real sockets on loopback: against our server, and against servers that misbehave.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod against_server;
mod misbehaving;
mod reflect;
mod support;
