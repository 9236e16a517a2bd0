//! Accounting of the load of a test: delivered bytes and the state of its senders become series of
//! a run.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod ledger;
mod observations;

pub use ledger::{Ledger, Sender};
pub use observations::{Observations, Observe};
