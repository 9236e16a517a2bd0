//! The arithmetic of queues: a [`Question`] of buffer, rate, delay, flows and overload, and its [`Answer`].
//!
//! ```text
//! delay  = buffer x 8 / rate                       a full queue in front of a link
//! buffer = rate x round trip / 8 / sqrt(flows)     what TCP needs to keep the link busy
//! growth = (arriving - rate) / rate                seconds of delay a second
//! fill   = delay / growth
//! ```
//!
//! Sources: the first is that of the seeds in [`CASES`]; the second is V. Jacobson, "Modified TCP Congestion Avoidance Algorithm",
//! 1990 (one flow), and Appenzeller, Keslassy, McKeown, "Sizing Router Buffers", SIGCOMM 2004 (many).
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
