//! Receivers that work, and such as do not.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod far;
mod queue;
mod transports;
