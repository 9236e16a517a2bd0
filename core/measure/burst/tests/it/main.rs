//! Bursts through the queue disciplines of the emulation.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod common;
mod echo;
mod limits;
mod marks;
mod rules;
mod series;
