//! Which queue, where, how large, who filled it, who waited in it, and what manages it.
//!
//! [`QueueWatch`] is a sink: it keeps extremes and sums over time, a few kilobytes for a flow with few packets and some hundreds
//! for one of many, and infers from them at the end. Every figure has its error; what cannot be known is refused with the reason.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod aqm;
mod bins;
mod buffer;
mod clock;
mod codel_law;
mod cross_traffic;
mod delay_curve;
mod episodes;
mod finish;
mod flow;
mod group;
mod hull;
mod inspect;
mod losses;
mod period;
mod placement;
mod probes;
mod rate;
mod recent_round_trips;
mod report;
mod series;
mod shared_bottleneck;
mod shares;
mod ticks;
mod watch;

pub use aqm::{Fingerprint, Isolation, Management};
pub use buffer::Buffer;
pub use clock::{Clock, NoClock};
pub use delay_curve::DelayPoint;
pub use episodes::Episode;
pub use period::{Oscillation, OscillationCause};
pub use placement::Placement;
pub use rate::RateSpan;
pub use report::{
    BaseRtt, Bottleneck, BottleneckRate, FlowSeries, Leg, LegDelay, Location, NoLeg, NoLocation, NoRate,
    QueueReport, Queues, RateMethod, Reference, SentSeries, Spread, StandingDelay,
};
pub use shares::{DelayedFlow, FlowShare, LateProbes, ShortFlows};
pub use watch::QueueWatch;
