//! Answers questions about a fleet from files: those that watches archive (`[[archive]]`), or the
//! history of one watch. Nothing else has to run.
//!
//! Both have the same rows, windows of ten minutes. In them, a scheduled test is one value, since
//! tests are at least ten minutes apart. An archive has a file for each site and hour, so this
//! suits hundreds of sites; for more, an engine is faster
//! (`docs/adr/0029-parquet-without-a-query-engine.md`).
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answers;
mod archive;
mod columns;
mod history;
mod window;

pub use answers::Answers;
pub use archive::Archive;
pub use history::OwnHistory;
pub use window::{KnownSite, Window, Windows};
