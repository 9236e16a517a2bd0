//! Buffer arithmetic: from a [`Question`] about buffer, rate, delay, flows and overload to its
//! [`Answer`].
//!
//! ```text
//! delay  = buffer x 8 / rate                       a full queue in front of a link
//! buffer = rate x round trip / 8 / sqrt(flows)     buffer that keeps the link busy with TCP
//! growth = (arriving - rate) / rate                seconds of delay per second
//! fill   = delay / growth
//! ```
//!
//! Sources: the first formula is that of the texts in [`CASES`]. The second is V. Jacobson,
//! "Modified TCP Congestion Avoidance Algorithm", 1990 (one flow), and Appenzeller, Keslassy,
//! McKeown, "Sizing Router Buffers", SIGCOMM 2004 (many flows).
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod answer;
mod cases;
mod error;
mod line;
mod question;
mod words;

pub use answer::{Answer, Growth, Needs, Unknown};
pub use cases::{CASES, Case, Seed};
pub use error::SizeError;
pub use line::Framing;
pub use question::{Buffer, Question};
pub use words::joined;
