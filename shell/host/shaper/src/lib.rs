//! Applies a shaper to an interface and rolls it back, whatever happens in between.
//!
//! ```text
//!  Transaction::begin    look, choose, plan, rehearse the undoing     nothing is changed
//!              ::apply   state on disk, then a watchdog, then the steps
//!   (the caller verifies)                                             the watchdog waits
//!              ::commit  it stays               ::roll_back  it goes
//! ```
//! The process may be killed at any point, the interface may vanish: the watchdog, a process of its own, restores it. If the watchdog is
//! killed too, the next fix or [`undo`] does so from the state on disk.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ability;
mod boot;
pub mod conflicts;
mod error;
mod kernel;
mod look;
mod plan;
mod rehearse;
mod restore;
mod shaper;
mod snapshot;
mod state;
mod transaction;
mod watchdog;

pub use ability::Abilities;
pub use boot::{Boot, System};
pub use error::{ApplyError, Cause, short};
pub use kernel::Kernel;
pub use look::{Look, look, shaper_counters};
pub use plan::{Plan, ShapeRequest, Side, Step};
pub use restore::{Restored, restore};
pub use shaper::{Framing, Shaper, ShaperKind};
pub use snapshot::Snapshot;
pub use state::{Phase, Place, State, SystemInstance};
pub use transaction::{Pace, Transaction, Undone, about, undo};
pub use watchdog::{WatchdogEnd, run_watchdog};
