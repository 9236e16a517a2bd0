//! Which queue, where, how large, who filled it, who waited in it, and what manages it.
//!
//! [`QueueWatch`] is a sink: it keeps extremes and sums over time, a few kilobytes for a flow with few packets and some hundreds
//! for one of many, and infers from them at the end. Every figure has its error; what cannot be known is refused with the reason.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod aqm;
mod beside;
mod bins;
mod blame;
mod buffer;
mod clock;
mod curve;
mod episodes;
mod finish;
mod flow;
mod group;
mod hull;
mod inspect;
mod joint;
mod law;
mod losses;
mod period;
mod probes;
mod rate;
mod recent;
mod report;
mod series;
mod ticks;
mod watch;

pub use aqm::{Fingerprint, Isolation, Management};
pub use blame::{LateProbes, Share, ShortFlows, Victim};
pub use buffer::Buffer;
pub use clock::{Clock, NoClock};
pub use curve::DelayPoint;
pub use episodes::Episode;
pub use period::{Cause as SwingCause, Oscillation};
pub use rate::RateSpan;
pub use report::{
    Bottleneck, BottleneckRate, Leg, LegDelay, Location, NoLeg, NoLocation, NoRate, QueueReport, Queues,
    RateMethod, Reference, RoundTrips,
};
pub use series::{FlowSeries, SentSeries, Spread};
pub use watch::QueueWatch;
