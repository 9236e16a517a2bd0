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
mod bbr3;
mod control;
mod copa;
mod cubic;
mod dctcp;
mod fraction;
mod hystart;
mod hystart_plus_plus;
mod ledbat;
mod ledbat_plus_plus;
mod plugin;
mod prague;
mod receiver;
mod reno;
mod segment;
mod sender;
mod vegas;
mod westwood;

pub use any_control::{AnyControl, ControlConfig, ControlKind, UnknownControl};
pub use bbr::{Bbr, BbrMode};
pub use bbr3::{Bbr3, Bbr3Mode};
pub use control::{AckEvent, Cause, Control, RateSample, Recovery, Window, WindowEvent};
pub use copa::Copa;
pub use cubic::{Cubic, Friendliness};
pub use dctcp::Dctcp;
pub use hystart::SlowStartExit;
pub use ledbat::Ledbat;
pub use ledbat_plus_plus::LedbatPlusPlus;
pub use plugin::{BoxedControl, ControlPlugin, ControlPluginParams};
pub use prague::Prague;
pub use receiver::{Receiver, ReceiverConfig};
pub use reno::Reno;
pub use segment::{Ack, Data, SackRange};
pub use sender::{Sender, SenderConfig};
pub use vegas::Vegas;
pub use westwood::Westwood;
