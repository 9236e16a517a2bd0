//! Links: serialisation at a rate, propagation, impairments. A [`Bottleneck`] is a queue discipline and then a link; a
//! [`Line`] is any number of them in a row, both ways.
//!
//! Everything happens at its own time, not when the host looks: a host that wakes late and calls `advance(now)` gets
//! the departures, and the queue discipline sees the dequeue times, that it would have had by waking on the nanosecond.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod bottleneck;
mod delay;
mod impairment;
mod line;
mod serializer;

pub use bottleneck::{Bottleneck, BottleneckParams, Event, Observer};
pub use delay::DelayLine;
pub use impairment::{Fate, Impairment, ImpairmentParams};
pub use line::{Direction, Line, Place, Router, Verdict};
pub use serializer::Serializer;
