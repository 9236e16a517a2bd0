//! The engine on real sockets: loopback, and namespaces of this test's own.
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
