//! Questions to what an operator knows about the sites of a fleet: an interface of all sources, and
//! the one that asks an engine with the HTTP API of Prometheus (Prometheus, VictoriaMetrics,
//! Thanos, Cortex, Mimir and others).
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod answer;
mod engine;
mod error;
pub mod evidence;
mod source;
mod stream;

pub use engine::{Engine, EngineConfig};
pub use error::QueryError;
pub use source::{ResultFile, SLOW_S, Sharing, Source, Span, add_router, groups_of};
