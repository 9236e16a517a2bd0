//! Links: serialization, propagation, impairments. A [`Bottleneck`] is a queue discipline followed
//! by a link; a [`Line`] is a bidirectional path of any number of them.
//!
//! [`TransmitterParams`] selects what takes packets from the queue: a fixed rate, a [`Trace`], a
//! [boosted](BoostParams) rate, a [mobile](CellularParams) or an [802.11](WifiParams) link.
//!
//! Events happen at their own times, not when the host polls. If a host wakes late and calls
//! `advance(now)`, departures and dequeues have the same times as if it had woken at each event.
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
