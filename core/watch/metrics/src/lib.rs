//! Metrics that a watch exports: the families, the text of `/metrics`, the encodings of Prometheus
//! remote-write 1.0 and 2.0 and of OTLP, and what receivers reply.
//!
//! The history's buckets are those of Prometheus' native histograms of schema 5 and, with numbers
//! lower by one, those of OTLP's exponential histograms of scale 5. So exported counts are exact,
//! bucket for bucket.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod backoff;
mod classic;
mod family;
mod host;
mod line;
mod line_test;
mod message;
mod native;
mod otlp;
mod probe_lines;
mod reply;
mod text;
mod wire_format;
mod write1;
mod write2;

pub use backoff::Backoff;
pub use classic::{EDGES, Edge, Part};
pub use family::{Family, Kind};
pub use host::{HostGauge, Take};
pub use line::{Line, Point, Value};
pub use line_test::TestGauge;
pub use message::Message;
pub use native::{SCHEMA, Spans};
pub use otlp::Otlp;
pub use probe_lines::each_probe_line;
pub use reply::{Partial, partial_success};
pub use text::{Exposed, Metric, MetricValue, OPENMETRICS_TYPE, exposition};
pub use wire_format::{Reply, Response, WireFormat};
pub use write1::Write1;
pub use write2::Write2;

/// A request that is built series by series.
pub trait Request {
    /// Adds the points of one series.
    fn add(&mut self, line: &Line<'_>);
    /// Approximate size in bytes before compression.
    fn len(&self) -> usize;
    /// Number of points.
    fn points(&self) -> u64;
    /// Whether the request is empty.
    fn is_empty(&self) -> bool {
        self.points() == 0
    }
    /// Returns the encoded request and resets it.
    fn take(&mut self) -> alloc::vec::Vec<u8>;
}
