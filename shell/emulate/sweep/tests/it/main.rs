//! Sweeps: cells, rows, resumption.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod axis;
mod sweep;
