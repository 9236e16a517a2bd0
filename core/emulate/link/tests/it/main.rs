//! Tests of links: exact times, conservation, late hosts, multiple hops.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod bottleneck;
mod closed;
mod common;
mod golden;
mod impairment;
mod kinds;
mod late;
mod line;
mod rate_trace_bytes;
mod serializer;
mod shaped;
mod trace;
