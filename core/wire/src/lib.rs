//! Views over IPv4, IPv6, TCP, UDP and ICMP bytes
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
