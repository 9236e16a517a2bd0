//! Converts SmokePing's configuration and its databases.
//!
//! Nothing is dropped silently: settings without a counterpart become a [`Note`] with file and
//! line. Each target is checked with [`fathom_watch_plan::parse`] on its own, so that one unusual
//! host does not fail the whole configuration.
mod alert;
mod convert;
mod line;
mod probe;
mod round;
mod target;
mod text;
mod tree;

pub use convert::{Imported, ImportedTarget, import};
pub use line::{MAX_BYTES, Mistake, Note, Place};
pub use round::{Rounds, rounds};
