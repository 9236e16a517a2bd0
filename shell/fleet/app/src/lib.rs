//! The use cases of a fleet: the gateway to which its agents send, and questions about its sites.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod gateway;
pub mod page;
pub mod question;
