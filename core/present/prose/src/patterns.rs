//! Patterns in months of a watch: verdict, numbers, findings and what to do.
use crate::action::Action;
use crate::numbers::{Number, Value};
use crate::recent::HistoryOrigin;
use crate::verdict::{Level, Verdict, lag};
use crate::why::Reason;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::MIN_DAYS;
use fathom_run::{Conclusion, Finding, FindingKind, HistorySeries, LinkUse, RecurringDelay, RecurringHours};
use fathom_text::{milliseconds, percent, thousands};

/// The series of a finding of a history.
fn series(finding: &Finding) -> Option<&HistorySeries> {
    match &finding.conclusion {
        Conclusion::RecurringDelay(delay) => Some(&delay.of),
        Conclusion::RecurringLoss(loss) => Some(&loss.of),
        Conclusion::OwnLoad(load) => Some(&load.of),
        Conclusion::BaseChange(change) => Some(&change.of),
        _ => None,
    }
}

/// The finding of the headline: bloat that this site causes, because it can be fixed; otherwise the
/// first.
fn headline(found: &[Finding]) -> Option<&Finding> {
    found.iter().find(|finding| finding.kind() == FindingKind::OwnLoad).or(found.first())
}

/// The verdict of the patterns in `days` days of history.
pub fn pattern_verdict(found: &[Finding], days: u64) -> Verdict {
    let verdict = |level, headline| Verdict { level, headline, consequence: None };
    match headline(found) {
        Some(first) => {
            let is_bloat = first.kind() == FindingKind::OwnLoad;
            verdict(if is_bloat { Level::Bad } else { Level::Fair }, crate::finding(first, None))
        }
        None if days == 0 => verdict(Level::NoResult, "The history has no whole day yet.".to_string()),
        None if days < MIN_DAYS as u64 => {
            let length = if days == 1 { "1 day".to_string() } else { format!("{days} days") };
            let headline = format!("The history is too short: {length}. Patterns need at least {MIN_DAYS}.");
            verdict(Level::NoResult, headline)
        }
        None => {
            let headline =
                format!("No pattern in {} days that chance does not explain.", thousands(days as f64));
            let more = "No delay or loss recurs at certain hours, this site's traffic fills no buffer, and the base latency did \
                        not change.";
            Verdict { level: Level::Good, headline, consequence: Some(more.to_string()) }
        }
    }
}

const fn value(text: String, of: &'static str) -> Value {
    Value { text, of, grade: None }
}

/// The numbers of the first finding, and how much was searched.
pub fn pattern_numbers(found: &[Finding], days: u64) -> Vec<Number> {
    let first = headline(found).map(|first| numbers_of(&first.conclusion));
    let first = first.map(|(label, values)| Number { label, values });
    let days = value(thousands(days as f64), if days == 1 { "day" } else { "days" });
    let history = Number { label: "History", values: Vec::from([days]) };
    first.into_iter().chain([history]).filter(|number| !number.values.is_empty()).collect()
}

fn numbers_of(conclusion: &Conclusion) -> (&'static str, Vec<Value>) {
    let on_days = |hours: &RecurringHours| value(format!("{} of {}", hours.hit_days, hours.all_days), "days");
    match conclusion {
        Conclusion::RecurringDelay(delay) => {
            ("Added delay", Vec::from([value(milliseconds(delay.excess_s), "median"), on_days(&delay.hours)]))
        }
        Conclusion::RecurringLoss(loss) => {
            ("Loss", Vec::from([value(percent(loss.loss_ratio), "of the probes"), on_days(&loss.hours)]))
        }
        Conclusion::OwnLoad(load) => (
            "Lag when busy",
            Vec::from([
                value(lag(load.delay_s), "busy"),
                value(lag(load.idle_delay_s), "idle"),
                value(format!("{} of {}", load.slow_count, load.full_count), "times"),
            ]),
        ),
        Conclusion::BaseChange(change) => (
            "Base latency",
            Vec::from([
                value(milliseconds(change.before_s), "before"),
                value(milliseconds(change.after_s), "after"),
            ]),
        ),
        _ => ("", Vec::new()),
    }
}

/// The findings with their targets. The first one is that of the headline, so its entry gives the
/// evidence.
pub fn pattern_reasons(found: &[Finding]) -> Vec<Reason> {
    let first = headline(found);
    let others = found.iter().filter(|finding| !first.is_some_and(|first| core::ptr::eq(first, *finding)));
    let reason = |(number, finding): (usize, &Finding)| {
        let name = series(finding).map_or_else(String::new, |of| format!("{} ({}): ", of.target, of.probe));
        let evidence = evidence(&finding.conclusion).filter(|_| number == 0);
        let text = evidence.unwrap_or_else(|| crate::finding(finding, None));
        let findings = Vec::from([finding.clone()]);
        Reason { text: name + &text, certainty: finding.certainty, findings }
    };
    first.into_iter().chain(others).enumerate().map(reason).collect()
}

fn evidence(conclusion: &Conclusion) -> Option<String> {
    let recurs = |hours: &RecurringHours| {
        let elsewhere = if hours.elsewhere_ratio > 0.0 {
            format!("but in only {} of the other hours", percent(hours.elsewhere_ratio))
        } else {
            "and never in other hours".to_string()
        };
        format!("on {} of {} days in these hours, {elsewhere}.", hours.hit_days, hours.all_days)
    };
    match conclusion {
        Conclusion::RecurringDelay(delay) => Some(recurs(&delay.hours)),
        Conclusion::RecurringLoss(loss) => Some(recurs(&loss.hours)),
        Conclusion::OwnLoad(load) => Some(format!(
            "the link was full {} times, and latency rose {} times. While the link was idle, latency rose by {}.",
            load.full_count,
            load.slow_count,
            milliseconds(load.idle_delay_s)
        )),
        Conclusion::BaseChange(change) => Some(format!(
            "all {} days after the change differ from all {} days before it.",
            change.each_side_days, change.each_side_days
        )),
        _ => None,
    }
}

/// What to do about patterns.
pub fn pattern_actions(found: &[Finding], origin: HistoryOrigin<'_>) -> Vec<Action> {
    let action = |text: &str, command| Action { text: text.to_string(), command };
    let mut all = Vec::new();
    if found.iter().any(|finding| finding.kind() == FindingKind::OwnLoad) {
        all.push(action("Measure the line, and how to shape it:", Some("fathom test SERVER".to_string())));
    }
    let is_beyond = |finding: &&Finding| match &finding.conclusion {
        Conclusion::RecurringDelay(RecurringDelay { own_link, .. }) => *own_link != LinkUse::Busy,
        Conclusion::RecurringLoss(_) | Conclusion::BaseChange(_) => true,
        _ => false,
    };
    let beyond = found.iter().find(is_beyond).and_then(series);
    all.extend(beyond.map(|of| {
        let page = origin.report(&of.target, "7d") + " -o page.html";
        action("A page for your provider:", Some(page))
    }));
    all
}
