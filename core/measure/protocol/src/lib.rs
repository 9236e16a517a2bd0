//! Protocols of other test servers, without I/O.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod crusader;
pub mod http3;
pub mod iperf3;
pub mod irtt;
pub mod measurement_lab;
pub mod netperf;
pub mod network_quality;
pub mod speed_test;
pub mod stamp;
