//! Serialisation, propagation, impairments: Bottleneck = Qdisc + Link
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
