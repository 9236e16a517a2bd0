//! Tests of this crate on real sockets.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod hostile;
mod http3;

mod crusader;
mod iperf3;
mod measurement_lab;
mod netperf;
mod own_server;
mod ping;
mod speed_tests;
mod stand_in;
mod udp;
