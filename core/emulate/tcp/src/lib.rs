//! TCP for the simulator: a sender, a receiver, and congestion controls behind one trait.
//!
//! The model is Linux's TCP: windows in packets, SACK, RACK-TLP, PRR, undo. Sequence numbers are
//! 64-bit byte offsets from the start of the connection and do not wrap. Time is an argument.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod any_control;
mod bbr;
mod control;
mod cubic;
mod dctcp;
mod hystart;
mod ledbat;
mod plugin;
mod receiver;
mod reno;
mod segment;
mod sender;
mod vegas;

pub use any_control::{AnyControl, ControlConfig, ControlKind, UnknownControl};
pub use bbr::{Bbr, BbrMode};
pub use control::{AckEvent, Cause, Control, RateSample, Recovery, Window, WindowEvent};
pub use cubic::{Cubic, Friendliness};
pub use dctcp::Dctcp;
pub use hystart::SlowStartExit;
pub use ledbat::Ledbat;
pub use plugin::{BoxedControl, ControlPlugin, ControlPluginParams};
pub use receiver::{Receiver, ReceiverConfig};
pub use reno::Reno;
pub use segment::{Ack, Data, SackRange};
pub use sender::{Sender, SenderConfig};
pub use vegas::Vegas;
