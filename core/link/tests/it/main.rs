//! Tests of links: exact times, conservation, late hosts, lines of hops.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod bottleneck;
mod common;
mod impairment;
mod late;
mod line;
mod serializer;
mod shaped;
