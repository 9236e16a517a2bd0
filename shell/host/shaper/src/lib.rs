//! Puts a shaper on an interface and takes it off again, whatever happens in between.
//!
//! ```text
//!  Transaction::begin    look, choose, plan, rehearse the undoing     nothing is changed
//!              ::apply   state on disk, then a guard, then the steps
//!   (the caller proves)                                               the guard watches
//!              ::commit  it stays               ::roll_back  it goes
//! ```
//! The process may be killed at any point, the interface may vanish: the guard, a process of its own, puts back what was. Should he be
//! killed too, the next fix or [`undo`] does it from the state on disk.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ability;
mod boot;
pub mod defeat;
mod error;
mod guard;
mod kernel;
mod look;
mod plan;
mod rehearse;
mod restore;
mod rung;
mod snapshot;
mod state;
mod transaction;

pub use ability::Abilities;
pub use boot::{Boot, System};
pub use error::{ApplyError, Cause, short};
pub use guard::{Duty, stand_guard};
pub use kernel::Kernel;
pub use look::{Look, look, shaper_counters};
pub use plan::{Plan, Side, Step, Wish};
pub use restore::{Restored, restore};
pub use rung::{Framing, Rung, Shaper};
pub use snapshot::Snapshot;
pub use state::{Of, Phase, Place, State};
pub use transaction::{Pace, Transaction, Undone, about, undo};
