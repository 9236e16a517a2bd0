//! Flows of a capture to one self-contained interactive page: time and sequence, round trips,
//! outstanding data, queues and rates under one cursor.
//!
//! A [`Recorder`] is a [`Sink`](fathom_flow::Sink) that keeps what the page shows of chosen flows.
//! The caller adds what was inferred ([`Curve`], [`Level`]) and says it in [`Words`]; the page
//! loads nothing from anywhere. Which flows are worth a picture is known after a first pass, so
//! there is a second one for them.
//!
//! ```
//! use fathom_trace_page::{Curve, Level, Limits, Panel, Recorder, Scope, Tone, Words};
//! use fathom_flow::FlowId;
//!
//! let upload = FlowId(0);
//! let begin = 1_700_000_000_000_000_000;
//! let mut recorder = Recorder::new(&[upload], Limits::default(), Some(begin));
//! // Here a tracer tells `recorder` of each packet.
//! recorder.add_curve(Curve {
//!     name: "ahead, upload".into(),
//!     panel: Panel::QueueDelay,
//!     scope: Scope::Flow(upload),
//!     points: vec![(begin, 0.0), (begin + 1_000_000_000, 0.83)],
//! });
//! recorder.add_level(Level { name: "base".into(), panel: Panel::RoundTrip, scope: Scope::All, value: 0.0103 });
//! let words = Words { title: "up.pcap", headline: "One upload filled a buffer.", tone: Tone::Bad, ..Words::default() };
//! let page = recorder.finish(&words);
//! assert!(page.starts_with("<!doctype html>"));
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod captured;
mod curve;
mod page;
mod probes;
mod recorder;
mod row;
mod sack_ranges;
mod thin;
mod track;
mod write;

pub use captured::page;
pub use curve::{Curve, Level, Panel, Scope, Unit};
pub use page::{Finding, SCRIPTS, Tone, Words};
pub use recorder::{Limits, PICTURES, Recorder};
