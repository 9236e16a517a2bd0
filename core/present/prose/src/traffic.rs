//! Traffic during a test that is not its own.
use crate::instrument::capitalized;
use crate::phase::while_doing;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use fathom_run::{LocalTraffic, OtherTraffic, PhaseKind, Process, TrafficSource};
use fathom_text::{milliseconds, rate};
use fathom_units::Direction;

pub(crate) fn other(traffic: &OtherTraffic, direction: Option<Direction>) -> String {
    let place = match direction {
        Some(Direction::Up) => " on the uplink",
        Some(Direction::Down) => " on the downlink",
        None => "",
    };
    let who = match &traffic.source {
        // The name of a program stays as it is.
        Some(TrafficSource::Program { name }) => name.clone(),
        others => capitalized(&source(others.as_ref())),
    };
    format!("{who} fills a queue{place}: +{} (median).", milliseconds(traffic.p50_s - traffic.min_s))
}

/// Whose traffic it is, in the middle of a sentence.
pub(crate) fn source(source: Option<&TrafficSource>) -> Cow<'_, str> {
    match source {
        Some(TrafficSource::Program { name }) => Cow::Borrowed(name),
        Some(TrafficSource::OtherDevices) => "traffic of other devices".into(),
        None => "other traffic".into(),
    }
}

pub(crate) fn local(traffic: &LocalTraffic, direction: Option<Direction>) -> String {
    let who = match &traffic.process {
        Some(Process { id, name }) => format!("{name} (process {id})"),
        None => "Another program".into(),
    };
    let (verb, preposition) = match direction {
        Some(Direction::Down) => ("received", "from"),
        _ => ("sent", "to"),
    };
    let when = if traffic.phase == PhaseKind::Idle { "before the load" } else { while_doing(traffic.phase) };
    format!("{who} {verb} {} {preposition} {} {when}.", rate(traffic.bits_per_second), traffic.remote)
}
