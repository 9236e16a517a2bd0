//! A shaper as the configuration of another router or program.
//!
//! [`export`] checks that a [`Platform`] can shape a [`Line`], rounds the rates down to its unit,
//! and writes its configuration. Comments in it state the units, what of a packet is counted, the
//! limits, and how to apply, undo and verify it. Each platform is a row of `platform.rs` and a file
//! in `write/`; the sources of its limits are there.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod comment;
mod name;
mod platform;
mod refusal;
mod shaper;
mod write;

pub use platform::{Platform, QueueKind};
pub use refusal::Refusal;

use alloc::string::String;
use fathom_shape::Framing;
use fathom_units::{Duration, PerDirection, Rate};

/// A line and the shaper that it needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Interface of the router to the line, with its name there.
    pub wan: String,
    /// Its interface to the local network, where platforms without a queue for ingress shape the
    /// download.
    pub lan: Option<String>,
    /// Rates; `None` leaves a direction unshaped.
    pub rates: PerDirection<Option<Rate>>,
    /// How the line counts packets.
    pub framing: Framing,
    /// Round-trip time of the paths, if it exceeds the 100 ms that queues assume.
    pub round_trip: Option<Duration>,
    /// The queue; `None` for the best that the platform has.
    pub queue: Option<QueueKind>,
}

/// A configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// The configuration with its comments.
    pub text: String,
    /// The rates in it. They are lower than those of the line where the platform's unit is coarse,
    /// or where it cannot count the line's overhead.
    pub rates: PerDirection<Option<Rate>>,
}

/// Writes the configuration of `platform` that shapes `line`.
///
/// # Errors
/// What the platform cannot do.
pub fn export(platform: Platform, line: &Line) -> Result<Export, Refusal> {
    let shaper = shaper::Shaper::new(platform, line)?;
    let text = write::text(&shaper);
    let rates = PerDirection { up: shaper.up, down: shaper.down };
    Ok(Export { text, rates })
}
