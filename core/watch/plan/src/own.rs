//! The state of the program itself, for the page, `/metrics` and notifications.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::WallTime;

/// A problem of the program itself or its host, not of a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnTrouble {
    /// `history`: it cannot be written. `clock`: the clock of this host was set.
    pub kind: &'static str,
    /// Start of the problem.
    pub since: WallTime,
    /// Description.
    pub text: String,
}

impl OwnTrouble {
    /// All kinds.
    pub const KINDS: [&'static str; 2] = ["history", "clock"];
}

/// The state of the program itself.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct OwnState {
    /// Its current problems.
    pub troubles: Vec<OwnTrouble>,
    /// Samples that are only in memory.
    pub unsaved_samples: u64,
    /// Samples dropped since the start, because the history could not be written.
    pub dropped_samples: u64,
    /// Number of clock steps since the start.
    pub clock_steps: u64,
}
