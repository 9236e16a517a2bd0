//! Opens what holds packets: capture files, compressed or not, and standard input. In bounded memory, whatever the size.

mod error;
mod packing;
mod source;
mod tap;

pub use error::{TapError, Trouble};
pub use tap::{Ending, Tap};
