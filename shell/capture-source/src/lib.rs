//! Opens sources of packets: capture files (compressed or not), standard input, and interfaces.
//! Memory use is bounded, whatever the size.

mod ahead;
mod error;
mod input;
mod input_end;
#[cfg_attr(not(target_os = "linux"), path = "no_live.rs")]
mod live;
mod packing;
mod source;

pub use error::{InterfaceError, ReadFault, SourceError};
pub use input::FrameSource;
pub use input_end::InputEnd;
pub use live::Live;
