//! Requests, answers and the flow hash, through the public interface.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod corpus;
mod flow_hash;
mod golden;
mod rebuild;
mod round_trip;
mod samples;
mod tc_bytes;
