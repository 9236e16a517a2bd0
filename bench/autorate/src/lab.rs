//! Runs each law with a real shaper and real TCP on the same lines, one after the other in real
//! time.
mod bed;
mod dealer;
mod drive;
mod judge;
mod schedule;
mod track;

use crate::line::Kind;
use crate::score::HEAD;
use crate::who::Who;
use bed::{Bed, Came, Failed};
use std::path::Path;
use track::Track;

/// Argument that starts this program as the watchdog of its shapers.
pub(crate) const WATCHDOG: &str = "watchdog";
const KINDS: [Kind; 3] = [Kind::Lte, Kind::Starlink, Kind::Docsis];

/// Prints the table.
pub(crate) fn print(is_round_trip: bool) {
    let asked = if is_round_trip { "round-trip times only" } else { "one-way delays" };
    println!("Lab, {} s per law and line, {asked}\n{HEAD}", schedule::LENGTH);
    for track in KINDS.map(Track::new) {
        for who in Who::ALL {
            let came = run(&track, who, is_round_trip);
            println!("{}", came.score(&track).row(track.name, who.name()));
        }
    }
}

/// Prints each second of one run.
pub(crate) fn print_seconds(line: &str, law: &str) {
    let kind = KINDS.into_iter().find(|kind| kind.facts().name == line);
    let who = Who::ALL.into_iter().find(|who| who.name() == law);
    let (Some(kind), Some(who)) = (kind, who) else { panic!("unknown line {line} or law {law}") };
    let track = Track::new(kind);
    let came = run(&track, who, false);
    came.print(&track);
    println!("{HEAD}\n{}", came.score(&track).row(track.name, who.name()));
}

fn run(track: &Track, who: Who, is_round_trip: bool) -> Came {
    let came = Bed::new(track).and_then(|bed| bed.run(who, is_round_trip));
    came.unwrap_or_else(|error: Failed| panic!("{} on {}: {error}", who.name(), track.name))
}

/// Waits until the run ends, and restores the interface if the process dies.
pub(crate) fn watchdog(folder: &str) {
    if let Err(error) = fathom_shaper::run_watchdog(&bed::place(Path::new(folder))) {
        panic!("{error}");
    }
}
