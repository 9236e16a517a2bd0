//! A scenario in virtual time: event queue, clock, workloads, and the `Run` that they make.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
