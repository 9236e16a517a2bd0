//! Random paths whose truth is known, and how often each claim of the diagnosis is right. See
//! `docs/score.md`.
mod args;
mod claims;
mod command;
mod comparison;
mod diagram;
mod draw;
mod explain;
mod json;
mod kernel;
mod measure;
#[cfg(test)]
mod sample;
mod score;
mod scores;
mod tally;
mod truth;

pub use args::MAX_PATHS;
pub use command::main;
pub use scores::{Judgment, Scores};
