//! From the packets of a capture to flows, round trips, losses and queues.
//!
//! One pass, in bounded memory: a [`Sink`] is told what happens as it happens; what is kept grows with flows and with what is
//! not yet acknowledged, not with the capture.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod event;

pub use event::{Ack, Cause, End, FlowId, Karn, Kind, Lost, Method, RoundTrip, Segment, Sink, Times};
