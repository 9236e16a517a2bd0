//! The lines of a fleet in words.
use crate::{Level, Verdict};
use alloc::format;
use alloc::string::ToString;
use fathom_text::thousands;

/// The verdict about `sites` with a test, of which some are bloated.
pub fn fleet_verdict(sites: usize, bloated: usize) -> Verdict {
    let of = format!("{} of {} sites", thousands(bloated as f64), thousands(sites as f64));
    let headline = if bloated == 1 { format!("{of} is bloated.") } else { format!("{of} are bloated.") };
    let (level, headline) = match (sites, bloated) {
        (0, _) => (Level::NoResult, "No site was tested.".to_string()),
        (_, 0) => (Level::Good, headline),
        _ => (Level::Fair, headline),
    };
    Verdict { level, headline, consequence: None }
}
