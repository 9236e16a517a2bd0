//! Tests of the run of a capture: real captures with ground truth, models, and malicious files.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
#[allow(dead_code, reason = "shared with other crates, which use other parts")]
#[path = "../../../flow/tests/it/capture.rs"]
mod capture;
mod hostile;
mod lab;
mod link_use;
mod one_sided;
#[allow(dead_code, reason = "shared with other crates, which use other parts")]
#[path = "../../../flow/tests/it/packets.rs"]
mod packets;
mod sender;
mod series;
mod shards;
mod trace_bytes;
mod udp;
