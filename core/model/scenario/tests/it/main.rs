//! Tests of scenario files: errors, built-in lines, the fuzz corpus.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod axis;
mod builtin;
mod claim;
mod corpus;
mod links;
mod qdisc_spec_bytes;
mod refusals;
mod scenario_bytes;
mod settings;
mod timetable;
mod units_bytes;
mod workload;
