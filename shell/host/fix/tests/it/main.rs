//! The closed loop over an emulated modem with real kernel TCP and a real shaper. Needs root.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod auto;
mod guard;
mod modem;
mod whole;
