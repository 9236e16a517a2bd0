//! Opens what holds packets: capture files, compressed or not, standard input, and interfaces. In bounded memory, whatever the size.

mod ahead;
mod ending;
mod error;
mod live;
mod packing;
mod source;
mod tap;

pub use ending::Ending;
pub use error::{TapError, Trouble};
pub use live::Live;
pub use tap::Tap;
