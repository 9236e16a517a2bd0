//! SmokePing's configuration to one of ours, and its databases to samples.
//!
//! Nothing is dropped in silence: what has no counterpart is a [`Note`] with its file and line. What is written is held against
//! [`fathom_watch_plan::parse`] target by target, so that a whole configuration does not fail for one odd host.
mod alert;
mod convert;
mod line;
mod probe;
mod round;
mod target;
mod text;
mod tree;

pub use convert::{Imported, ImportedTarget, import};
pub use line::{Mistake, Note, Place};
pub use round::{Rounds, rounds};
