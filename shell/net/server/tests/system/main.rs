//! Tests of the server over loopback sockets.
#![expect(clippy::result_large_err, reason = "the error of a test is read at once")]
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod attack;
mod client;
mod datagrams;
mod flows;
mod hops;
mod hostile;
mod http;
mod iperf3;
mod irtt;
mod limits;
mod objects;
mod page;
mod places;
mod sessions;
mod stamp;
mod udp;
mod web;
