//! Capture files and packets, built byte by byte, complete, truncated and damaged.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod anonymize;
mod build;
mod corpus;
mod dissect;
mod dissect_bytes;
mod format_bytes;
mod links;
mod pcap;
mod pcapng;
mod quality;
