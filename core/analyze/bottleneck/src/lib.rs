//! Infers the queues on a captured path: location, rate, buffer, queue management, the flows that
//! filled them and the ones delayed.
//!
//! [`QueueWatch`] is a sink. It records extremes and sums over time, with some kilobytes for a
//! short flow and some hundred for a long one, and infers the queues at the end. Every result has
//! an error; what cannot be determined is reported with the reason.
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
mod datagrams;
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
mod probed;
mod probes;
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
pub use fathom_capacity::RateSpan;
pub use period::{Oscillation, OscillationCause};
pub use placement::Placement;
pub use probed::{ArrivalRate, DatagramFlow, DatagramLoad, ProbedQueue};
pub use report::{
    BaseRtt, Bottleneck, BottleneckRate, FlowSeries, Leg, LegDelay, Location, NoLeg, NoLocation, NoRate,
    QueueReport, Queues, RateMethod, Reference, SentSeries, Spread, StandingDelay,
};
pub use shares::{DelayedFlow, FlowShare, LateProbes, ShortFlows};
pub use watch::QueueWatch;
