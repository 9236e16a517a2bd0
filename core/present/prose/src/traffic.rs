//! Traffic during a test that is not its own.
use crate::instrument::capitalized;
use crate::phase::while_doing;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use fathom_run::{LocalTraffic, OtherTraffic, PhaseKind, Process, Reason, TrafficSource};
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

/// What used the line before the load.
pub(crate) fn before_load(reason: &Reason) -> String {
    match reason {
        Reason::OtherTraffic { increase_p50_s, increase_p90_s, source } => format!(
            "{} added {} (median), {} (p90)",
            self::source(source.as_ref()),
            milliseconds(*increase_p50_s),
            milliseconds(*increase_p90_s)
        ),
        Reason::LineInUse { program, direction, bits_per_second } => {
            let program = program.as_deref().unwrap_or("another program");
            format!("{program} {} {}", verb(*direction), rate(*bits_per_second))
        }
        _ => String::new(),
    }
}

/// Whose traffic it is, in the middle of a sentence.
fn source(source: Option<&TrafficSource>) -> Cow<'_, str> {
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
    let direction = direction.unwrap_or(Direction::Up);
    let (verb, preposition) = (verb(direction), if direction == Direction::Up { "to" } else { "from" });
    let when = if traffic.phase == PhaseKind::Idle { "before the load" } else { while_doing(traffic.phase) };
    format!("{who} {verb} {} {preposition} {} {when}.", rate(traffic.bits_per_second), traffic.remote)
}

/// What a program did to have traffic in a direction.
const fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "sent",
        Direction::Down => "received",
    }
}
