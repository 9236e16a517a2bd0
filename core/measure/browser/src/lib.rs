//! A test of the line of a browser, without I/O.
//!
//! The server sends the probes, because it has precise timestamps and the phases: each probe says
//! what the page has to do ([`Probe`]), and the page answers at once with its own times ([`Echo`]).
//! [`BrowserTest`] follows the course of the test and makes the [`fathom_run::Run`], in which the
//! page is the host and the server is the far end.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod message;
mod test;

pub use message::{ECHO_BYTES, Echo, PROBE_BYTES, Probe, Stage};
pub use test::{About, BrowserTest, Settings, Transport};
