//! Where on the path packets wait.
use alloc::format;
use alloc::string::String;
use fathom_run::{LocationProblem, Place, QueueLocation, UnknownLocation};
use fathom_text::{milliseconds, percent};
use fathom_units::Direction;

/// The place of a queue.
pub(crate) fn known(location: &QueueLocation, direction: Option<Direction>) -> String {
    let hop = |number: u8, address: &Option<String>, end: &str| match address {
        Some(address) => format!("{address} (hop {number})"),
        None => String::from(end),
    };
    format!(
        "The queue is {}: +{} (median) between {} and {}{} (probability {}).",
        place(location.place, direction),
        milliseconds(location.delay_s),
        hop(location.near_hop, &location.near_address, "this computer"),
        hop(location.far_hop, &location.far_address, "the server"),
        match direction {
            Some(Direction::Up) => ", upload",
            Some(Direction::Down) => ", download",
            None => "",
        },
        percent(location.probability_ratio),
    )
}

fn place(place: Option<Place>, direction: Option<Direction>) -> &'static str {
    match (place, direction) {
        (Some(Place::ThisComputer), _) => "in this computer",
        (Some(Place::Wifi), _) => "in your Wi-Fi",
        (Some(Place::LocalNetwork), _) => "in your local network",
        (Some(Place::AccessLine), Some(Direction::Up)) => "in your router's upload",
        (Some(Place::AccessLine), Some(Direction::Down)) => "in your provider's download",
        (Some(Place::AccessLine), None) => "on your line",
        (Some(Place::Internet), _) => "beyond your line",
        (None, _) => "between two hops",
    }
}

/// Why the place of a queue is unknown.
pub(crate) fn unknown(unknown: &UnknownLocation) -> String {
    let reason = match unknown.reason {
        LocationProblem::SilentHops => "the hops do not answer probes",
        LocationProblem::PathChanged => "the path changed",
        LocationProblem::Inconsistent => "the delays of the hops contradict each other",
    };
    format!("The place of the queue cannot be determined: {reason}.")
}
