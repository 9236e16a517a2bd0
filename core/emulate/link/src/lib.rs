//! Links: serialisation at a rate, propagation, impairments. A [`Bottleneck`] is a queue discipline and then a link; a
//! [`Line`] is any number of them in a row, both ways.
//!
//! Links differ in what takes packets from the queue, see [`TransmitterParams`]: at a fixed rate, as a [`Trace`] says,
//! with a [boost](BoostParams), as [mobile](CellularParams) or [802.11](WifiParams) radio does.
//!
//! Everything happens at its own time, not when the host looks: a host that wakes late and calls `advance(now)` gets
//! the departures, and the queue discipline sees the dequeue times, that it would have had by waking on the nanosecond.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod boost;
mod bottleneck;
mod cellular;
mod delay;
mod event;
mod exit;
mod hop;
mod impairment;
mod line;
mod medium;
mod router;
mod serializer;
mod trace;
mod transmitter;
pub mod wifi;

pub use boost::BoostParams;
pub use bottleneck::{Bottleneck, BottleneckParams};
pub use cellular::{CellularParams, CellularRate, OutageParams};
pub use delay::DelayLine;
pub use event::{Event, Observer};
pub use hop::HopParams;
pub use impairment::{BurstParams, Impairment, ImpairmentDraw, ImpairmentParams};
pub use line::Line;
pub use router::{LinePosition, Router, Verdict};
pub use serializer::Serializer;
pub use trace::{OpportunityTrace, RateTrace, Trace, TraceError};
pub use transmitter::TransmitterParams;
pub use wifi::{AggregateLimits, WifiParams};
