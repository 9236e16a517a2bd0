//! What months of a watch show.
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::{
    BaseChange, Conclusion, DayGroup, Finding, LinkUse, OwnLoad, RecurringDelay, RecurringHours,
    RecurringLoss,
};
use fathom_text::{milliseconds, percent};
use fathom_units::{Date, Direction};

const WEEKDAYS: [&str; 7] =
    ["Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `Every evening from 19:00 to 23:00`.
fn hours(hours: &RecurringHours) -> String {
    let (from, to) = (hours.from_hour, hours.to_hour);
    let parts = [(0, 8, "night"), (5, 12, "morning"), (12, 18, "afternoon"), (17, 24, "evening")];
    let part =
        parts.iter().find(|(low, high, _)| from >= *low && to <= *high).map_or("day", |(.., part)| part);
    let days = match hours.days {
        DayGroup::All => format!("Every {part}"),
        DayGroup::Working => "On working days".to_string(),
        DayGroup::Weekend => "On weekends".to_string(),
        DayGroup::Weekday(one) => {
            format!("On {}", WEEKDAYS.get(one as usize).unwrap_or(&"this day of the week"))
        }
    };
    format!("{days} from {from}:00 to {to}:00")
}

/// A day since 1970-01-01 as `3 March 2026`.
pub(crate) fn date(days: u64) -> String {
    let Date { year, month, day } = Date::from_days(days);
    format!("{day} {} {year}", MONTHS.get((month - 1) as usize).unwrap_or(&""))
}

pub(crate) fn recurring_delay(delay: &RecurringDelay) -> String {
    let place = match delay.own_link {
        LinkUse::Idle => "Your own link is idle then, so the queue is at your provider or beyond.",
        LinkUse::Busy => "Your own link is busy then, which may be the cause.",
        LinkUse::Unknown => "Your own traffic was not recorded, so the queue cannot be located.",
    };
    let when = hours(&delay.hours);
    format!("{when}, latency is {} higher (median) than otherwise. {place}", milliseconds(delay.excess_s))
}

pub(crate) fn recurring_loss(loss: &RecurringLoss) -> String {
    format!("{}, {} of the probes are lost.", hours(&loss.hours), percent(loss.loss_ratio))
}

pub(crate) fn own_load(load: &OwnLoad, direction: Option<Direction>) -> String {
    let often = if load.slow_per_day >= 1.5 {
        format!("{:.0} times a day", load.slow_per_day)
    } else {
        format!("{:.0} times a week", (load.slow_per_day * 7.0).max(1.0))
    };
    let (what, place) = match direction {
        Some(Direction::Down) => ("Your own downloads", "at your provider"),
        _ => ("Your own uploads", "in your modem or router"),
    };
    format!("{what} add {} of latency {often}. The queue is {place}.", milliseconds(load.delay_s))
}

pub(crate) fn base_change(change: &BaseChange) -> String {
    let why = if change.path_changed { ". The path changed at about that time" } else { "" };
    let longer = if change.change_s > 0.0 { "higher" } else { "lower" };
    let by = milliseconds(if change.change_s < 0.0 { -change.change_s } else { change.change_s });
    format!("Since {}, the base latency is {by} {longer}{why}.", date(change.since_day))
}

/// What would refute a finding of a history; `None` for other kinds.
pub fn refuted_by(finding: &Finding) -> Option<&'static str> {
    match &finding.conclusion {
        Conclusion::RecurringDelay(_) => {
            Some("other hours that are as slow on most days, or a second target on the same path that is not")
        }
        Conclusion::RecurringLoss(_) => {
            Some("as much loss in other hours, or a second target on the same path without loss")
        }
        Conclusion::OwnLoad(_) => Some("a full link without delay, or as much delay while the link is idle"),
        Conclusion::BaseChange(_) => Some("later days with the earlier base latency"),
        _ => None,
    }
}
