//! Tests of the engine on real sockets: loopback and the test's own namespaces.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod connections;
mod far;
mod hops;
mod icmp;
mod line;
mod memory;
mod permission;
mod reload;
mod tls;
mod udp;
