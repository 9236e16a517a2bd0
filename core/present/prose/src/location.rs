//! Where on the path packets wait.
use alloc::format;
use alloc::string::String;
use fathom_run::{LocationProblem, Place, QueueLocation, UnknownLocation};
use fathom_text::{milliseconds, percent};
use fathom_units::Direction;

/// The place of a queue.
pub(crate) fn known(location: &QueueLocation, direction: Option<Direction>) -> String {
    let hop = |number: u8, name: Option<&String>, system: Option<u32>, end: &str| match (name, system) {
        (Some(name), Some(system)) => format!("{name} (hop {number}, AS{system})"),
        (Some(name), None) => format!("{name} (hop {number})"),
        (None, _) => String::from(end),
    };
    let near = location.near_name.as_ref().or(location.near_address.as_ref());
    let far = location.far_name.as_ref().or(location.far_address.as_ref());
    format!(
        "{}, between {} and {}: +{} (median), probability {}.",
        place(location.place, direction),
        hop(location.near_hop, near, location.near_as_number, "this computer"),
        hop(location.far_hop, far, location.far_as_number, "the server"),
        milliseconds(location.delay_s),
        percent(location.probability_ratio),
    )
}

fn place(place: Option<Place>, direction: Option<Direction>) -> String {
    let place = match (place, direction) {
        (Some(Place::AccessLine), Some(Direction::Up)) => {
            return "The queue is in your router's upload".into();
        }
        (Some(Place::AccessLine), Some(Direction::Down)) => {
            return "The queue is in your provider's download".into();
        }
        (Some(Place::AccessLine), None) => " is on your line",
        (Some(Place::ThisComputer), _) => " is in this computer",
        (Some(Place::Wifi), _) => " is in your Wi-Fi",
        (Some(Place::LocalNetwork), _) => " is in your local network",
        (Some(Place::Internet), _) => " is beyond your line",
        (None, _) => " is on the path",
    };
    let queue = match direction {
        Some(Direction::Up) => "upload queue",
        Some(Direction::Down) => "download queue",
        None => "queue",
    };
    format!("The {queue}{place}")
}

/// Why the place of a queue is unknown.
pub(crate) fn unknown(unknown: &UnknownLocation) -> String {
    let reason = match unknown.reason {
        LocationProblem::SilentHops => "the hops answered too rarely",
        LocationProblem::PathChanged => "the path changed",
        LocationProblem::Inconsistent => "the delays of the hops contradict each other",
    };
    format!("The place of the queue is unknown: {reason}.")
}
