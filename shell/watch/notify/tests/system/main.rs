//! Receivers that work and receivers that fail.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod far;
mod queue;
mod transports;
