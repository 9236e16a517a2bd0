//! Follows the flows in a capture: segments, round-trip times, losses and retransmissions of TCP;
//! DNS, ping and QUIC.
//!
//! It takes one pass in bounded memory. A [`Sink`] receives events as they occur. Memory grows with
//! the number of flows and with unacknowledged data, not with the size of the capture.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod ack;
mod batch;
mod cause;
mod connection;
mod count;
mod event;
mod flag;
mod follower;
mod half_connection;
mod header;
mod limit;
mod missed;
mod one_sided;
mod option;
mod pending_timestamps;
mod probe;
mod probe_totals;
mod quic;
mod recent_packets;
mod repair;
mod rtt;
mod sack_scoreboard;
mod search;
mod segment;
mod sent_segments;
mod sequence;
mod shard;
mod summary;
mod table;
mod totals;
mod tracer;

pub use connection::Close;
pub use event::{
    Ack, End, FlowId, Lost, Probe, RetransmissionCause, RoundTrip, RttMethod, RttValidity, Segment,
    SegmentKind, Sink, Spurious, SpuriousProof, Times,
};
pub use fathom_run::ProbeKind;
pub use header::Header;
pub use missed::missed_data;
pub use one_sided::{missing_directions, missing_end};
pub use option::Offer;
pub use probe_totals::{ProbeTotals, ProbesTotals};
pub use rtt::{Moments, Tally};
pub use search::partition_near;
pub use shard::{Followed, SHARDS, Shard, Shards};
pub use summary::{EcnMode, FlowSummary, Flows, Totalled};
pub use totals::{Causes, EcnTotals, Range, RttTotals, Shares, Totals};
pub use tracer::{BatchedTracer, Bounds, Tracer};
