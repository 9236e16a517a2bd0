//! Tests of alerts through the public API.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
mod pattern;
mod timeline;
