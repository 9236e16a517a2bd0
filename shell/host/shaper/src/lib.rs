//! Applies a shaper to an interface and rolls it back if anything fails.
//!
//! ```text
//!  Transaction::begin    look, choose, plan, rehearse the rollback    nothing is changed
//!              ::apply   write state, start a watchdog, apply steps
//!   (the caller verifies)                                             the watchdog waits
//!              ::commit  keep the shaper      ::roll_back  remove it
//! ```
//! The process may be killed at any point and the interface may vanish: the watchdog, a separate
//! process, restores the interface. If the watchdog is killed too, the next fix or [`undo`]
//! restores it from the state on disk.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ability;
mod boot;
pub mod conflicts;
mod error;
mod kernel;
mod limits;
mod look;
mod place;
mod plan;
mod rehearse;
mod restore;
mod shaper;
mod snapshot;
mod sqm;
mod state;
pub mod state_dir;
mod transaction;
mod watchdog;

pub use ability::Abilities;
pub use boot::{Boot, System};
pub use error::{ApplyError, Cause, short};
pub use fathom_shape::Framing;
pub use kernel::Kernel;
pub use limits::{shaper_rate, shaper_round_trip};
pub use look::{Look, look, shaper_counters};
pub use place::Place;
pub use plan::{Plan, ShapeRequest, Side, Step};
pub use restore::{Restored, restore};
pub use shaper::{Shaper, ShaperKind};
pub use snapshot::Snapshot;
pub use sqm::{SqmQueue, mark_replaced, sqm_queues};
pub use state::{OwnObjects, Phase, State, SystemInstance};
pub use transaction::{Pace, Transaction, Undone, about, undo};
pub use watchdog::{WatchdogEnd, run_watchdog};
