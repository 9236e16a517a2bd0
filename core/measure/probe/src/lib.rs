//! Probe and load protocols without I/O: bookkeeping and schedules of probes, messages, clock
//! offset, and the end of phases.
//!
//! Used by `fathom test`, `fathom watch`, the autorate controller and the simulator.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod book;
mod budget;
mod clock;
mod codepoints;
mod course;
mod delivered;
pub mod dns;
mod echo;
mod flow_probe;
mod highest_rate;
mod hop_codec;
mod hops;
mod icmp_error;
mod icmp_timestamp;
mod one_way;
mod phase;
mod ping;
mod plan;
pub mod protocol;
mod responses;
mod return_hops;
mod schedule;
mod series;
pub mod session;
mod stamp;
mod train;
mod watch;

pub use book::{Book, LossPolicy, Probe, RETENTION, Reply, ReplyKind};
pub use budget::ProbeBudget;
pub use clock::{ClockFit, ClockSamples, ClockTracker, FourStamps};
pub use codepoints::{codepoint_series, probe_codepoints};
pub use course::{Course, Step};
pub use echo::{ECHO_BYTES, ECHO_HEADER_BYTES, ECHO_MIN_PAYLOAD_BYTES, EchoCodec, EchoPayload, IcmpVersion};
pub use flow_probe::{FlowProbes, Ports};
pub use highest_rate::HighestRate;
pub use hop_codec::{HOP_REQUEST_BYTES, HopCodec, HopReply};
pub use hops::{HopProbe, HopRates, HopStatus, Hops};
pub use icmp_error::IcmpError;
pub use icmp_timestamp::{TIMESTAMP_BYTES, TimestampCodec, TimestampReply};
pub use one_way::{Arrivals, UdpAnswer, UdpRecord, one_way_observations, one_way_series, one_way_values};
pub use phase::{Baseline, PhaseControl};
pub use ping::{PingEnd, PingTally};
pub use plan::{PhasePlan, ProbeKind, ProbeSpec, RRUL_CLASSES};
pub use responses::{Progress, ResponseError, Responses};
pub use return_hops::{Download, ReturnHops, ReturnPath};
pub use schedule::{Due, LatePolicy, Pace, Schedule, tick};
pub use series::{ProbeSeries, SeriesReply};
pub use stamp::StampConverter;
pub use train::{TRAIN_PROBES, Train};
pub use watch::{CpuReading, CpuShare, SelfWatch};
