//! From the packets of a capture to flows, round trips, losses and queues.
//!
//! One pass, in bounded memory: a [`Sink`] is told what happens as it happens; what is kept grows with flows and with what is
//! not yet acknowledged, not with the capture.
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
mod half;
mod header;
mod limit;
mod missed;
mod one_sided;
mod option;
mod part;
pub mod path;
mod probe;
pub mod queue;
mod quic;
mod recent;
mod repair;
mod result;
mod rtt;
mod search;
mod seen;
mod segment;
mod selective;
mod sequence;
mod stamped;
mod summary;
mod table;
mod totals;
mod tracer;

pub use connection::Close;
pub use event::{
    Ack, Cause, End, FlowId, Karn, Kind, Lost, Method, Probe, ProbeKind, Proof, RoundTrip, Segment, Sink,
    Spurious, Times,
};
pub use header::Header;
pub use missed::missed_data;
pub use one_sided::missing_directions;
pub use option::Offer;
pub use part::{Followed, PARTS, Part, Parts};
pub use probe::{ProbeTotals, ProbesTotals};
pub use result::{hops, leg_name, run};
pub use rtt::{Moments, Tally};
pub use summary::{EcnMode, FlowSummary, Flows, Totalled};
pub use totals::{Causes, EcnTotals, Range, RoundTrips, Shares, Totals};
pub use tracer::{Bounds, Tracer};
