//! Tests of the queue disciplines: handwritten timelines, properties, a second implementation, and
//! regression tests for bugs found in other programs.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod cake;
mod cake_acks;
mod cake_oracle;
mod closed_forms;
mod common;
mod docs;
mod fairness;
mod golden;
mod htb;
mod mistakes;
mod oracle;
mod oracle_aqm;
mod oracle_fair;
mod properties;
mod shapers;
mod spec;
mod spec_shared;
mod switch;
