//! Tests of ECN over simulated paths, packet by packet, in virtual time.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod both;
mod host_only;
mod net;
mod packets;
mod paths;
