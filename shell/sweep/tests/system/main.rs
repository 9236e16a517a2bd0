//! Tests of sweeps.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod folder;
mod table;
