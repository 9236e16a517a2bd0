//! The last minute of a watch: which targets answer, and how fast.
use crate::action::Action;
use crate::verdict::{Level, Verdict};
use crate::why::Reason;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use fathom_diagnose::RecentSeries;
use fathom_run::{Certainty, Conclusion, LatencyVariation, ProbeLoss, threshold};
use fathom_text::{milliseconds, percent, thousands};

/// A headline names this many targets.
const NAMED: usize = 3;
/// The target name of this host's own series.
const THIS_HOST: &str = "this host";

/// Location of a history, as flags of a command. Each is quoted for a shell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HistoryOrigin<'a> {
    /// The configuration.
    pub config: Option<&'a str>,
    /// The directory.
    pub store: Option<&'a str>,
}

impl HistoryOrigin<'_> {
    /// The flags of `fathom report --watch`.
    fn flags(self) -> String {
        match (self.config, self.store) {
            (Some(config), _) => format!(" --config {config}"),
            (None, Some(store)) => format!(" --store {store}"),
            (None, None) => String::new(),
        }
    }
    /// The command that shows a target since `since`.
    pub(crate) fn report(self, target: &str, since: &str) -> String {
        format!("fathom report --watch {}{} --since {since}", shell_word(target), self.flags())
    }
}

/// A name as a shell reads it.
fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    let plain = !name.is_empty() && name.chars().all(is_plain);
    if plain { name.to_string() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

fn loss(series: &RecentSeries) -> Option<&ProbeLoss> {
    series.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::ProbeLoss(loss) => Some(loss),
        _ => None,
    })
}

/// How the latency of a series varied; `None` without a response.
pub fn variation(series: &RecentSeries) -> Option<&LatencyVariation> {
    series.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::LatencyVariation(variation) => Some(variation),
        _ => None,
    })
}

fn is_silent(series: &RecentSeries) -> bool {
    loss(series).is_some_and(|loss| loss.lost_packets == loss.sent_packets)
}

fn is_slow(series: &RecentSeries) -> bool {
    let exceeds =
        |of: &LatencyVariation| threshold::is_bloated(of.p50_s - of.base_p5_s, of.p90_s - of.base_p5_s);
    variation(series).is_some_and(exceeds)
}

/// Nothing but failures to send, as for a name that does not resolve.
const fn is_unsent(series: &RecentSeries) -> bool {
    series.sent_packets == 0 && series.failed_packets > 0
}

/// Whether a series shows a problem of its target. Routers on the path answer when they have time,
/// parts of a connection are in the whole, and delays of this host are none of a target.
pub fn is_judged(series: &RecentSeries) -> bool {
    let parts = [" connect", " handshake", " answer"];
    let is_part = parts.iter().any(|part| series.probe.ends_with(part));
    series.target != THIS_HOST && !series.probe.starts_with("hop ") && !is_part
}

/// What people notice of a series.
pub fn recent_level(series: &RecentSeries) -> Level {
    let is_certain = series.findings.iter().all(|finding| finding.certainty == Certainty::Certain);
    if !is_judged(series) {
        Level::Good
    } else if is_silent(series) {
        if is_certain { Level::Bad } else { Level::Fair }
    } else if loss(series).is_some() || is_slow(series) {
        Level::Fair
    } else if is_unsent(series) || variation(series).is_none() {
        Level::NoResult
    } else {
        Level::Good
    }
}

/// Place in the list: the worst first, then by name.
fn rank(series: &RecentSeries) -> (u8, bool) {
    let level = match recent_level(series) {
        Level::Bad | Level::AtLeastBad => 0,
        Level::Fair => 1,
        Level::NoResult => 2,
        Level::Good => 3,
    };
    (level, !is_judged(series))
}

/// Order of series: the worst first, then by name.
pub fn compare_recent(a: &RecentSeries, b: &RecentSeries) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| (&a.target, &a.probe).cmp(&(&b.target, &b.probe)))
}

/// Names of targets, each once: `nas, printer and 2 more`.
fn names(all: &[&RecentSeries]) -> (usize, String) {
    let mut names: Vec<&str> = Vec::new();
    for series in all {
        if !names.contains(&series.target.as_str()) {
            names.push(&series.target);
        }
    }
    let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (names.len(), shown + &more)
}

/// The verdict of the last minute. `history_end` is the time of the newest probe, if there is one.
pub fn recent_verdict(all: &[RecentSeries], history_end: Option<&str>) -> Verdict {
    let verdict = |level, headline, consequence| Verdict { level, headline, consequence };
    if all.is_empty() {
        let end = match history_end {
            Some(at) => format!("The history ends at {at}."),
            None => "The history is empty.".to_string(),
        };
        return verdict(Level::NoResult, "No target was probed in the last minute.".to_string(), Some(end));
    }
    let of = |is_it: fn(&RecentSeries) -> bool| -> Vec<&RecentSeries> {
        all.iter().filter(|series| is_judged(series) && is_it(series)).collect()
    };
    let judged = of(|_| true);
    let (count, all_names) = names(&judged);
    let (silent, unsent) = (of(is_silent), of(is_unsent));
    let fair = of(|series| recent_level(series) == Level::Fair);
    let fails =
        (!unsent.is_empty()).then(|| of_targets(&unsent, count, "cannot be probed", "cannot be probed"));
    if !silent.is_empty() {
        let is_certain = silent.iter().any(|series| recent_level(series) == Level::Bad);
        let level = if is_certain { Level::Bad } else { Level::Fair };
        return verdict(level, of_targets(&silent, count, "does not answer", "do not answer"), fails);
    }
    if let [one] = fair.as_slice() {
        return verdict(Level::Fair, trouble(one), fails);
    }
    if !fair.is_empty() {
        let headline = of_targets(&fair, count, "loses packets or is slow", "lose packets or are slow");
        return verdict(Level::Fair, headline, fails);
    }
    if let Some(fails) = fails {
        let level = if unsent.len() == judged.len() { Level::NoResult } else { Level::Fair };
        return verdict(level, fails, None);
    }
    if judged.iter().all(|series| variation(series).is_none()) {
        return verdict(Level::NoResult, "No target answered in the last minute.".to_string(), None);
    }
    let headline = match count {
        1 => format!("{all_names} answers without loss or raised latency."),
        n => format!("All {n} targets answer without loss or raised latency."),
    };
    verdict(Level::Good, headline, None)
}

/// `2 of 5 targets do not answer: nas, printer.`
fn of_targets(some: &[&RecentSeries], count: usize, one: &str, several: &str) -> String {
    match names(some) {
        (1, name) if count == 1 => format!("{name} {one}."),
        (1, name) => format!("1 of {count} targets {one}: {name}."),
        (n, names) => format!("{n} of {count} targets {several}: {names}."),
    }
}

/// What is wrong with a series that answers.
fn trouble(series: &RecentSeries) -> String {
    let name = &series.target;
    match (loss(series), variation(series)) {
        (Some(loss), _) => {
            let ratio = loss.lost_packets as f64 / loss.sent_packets.max(1) as f64;
            format!("{name} loses packets: {} of the probes in the last minute.", percent(ratio))
        }
        (None, Some(of)) => format!(
            "{name} is slow: latency is {} (median), {} above its base.",
            milliseconds(of.p50_s),
            milliseconds(of.p50_s - of.base_p5_s)
        ),
        (None, None) => format!("{name} did not answer."),
    }
}

/// Why the verdict is not good: an entry for each series with a problem, the worst first.
pub fn recent_reasons(all: &[RecentSeries]) -> Vec<Reason> {
    all.iter().filter(|series| recent_level(series) != Level::Good).map(reason).collect()
}

fn reason(series: &RecentSeries) -> Reason {
    let name = format!("{} ({})", series.target, series.probe);
    let text = match (loss(series), variation(series)) {
        _ if is_unsent(series) => {
            format!(
                "{name}: all {} probes failed: no address, no route, or refused.",
                thousands(series.failed_packets as f64)
            )
        }
        (Some(_), _) if is_silent(series) => match series.lost_packets {
            1 => format!("{name}: the only probe of the last minute was lost."),
            n => format!("{name}: all {} probes of the last minute were lost.", thousands(n as f64)),
        },
        (Some(loss), _) => format!(
            "{name}: {} of {} probes were lost.",
            thousands(loss.lost_packets as f64),
            thousands(loss.sent_packets as f64)
        ),
        (None, Some(of)) => format!(
            "{name}: latency is {} (median), {} (p90), against {} without a queue (p5 of the last day). A queue is full, \
             or the path changed.",
            milliseconds(of.p50_s),
            milliseconds(of.p90_s),
            milliseconds(of.base_p5_s)
        ),
        (None, None) => format!("{name}: no probe was due or answered in the last minute."),
    };
    let certainty = series.findings.iter().map(|found| found.certainty).min().unwrap_or(Certainty::Certain);
    Reason { text, certainty, findings: series.findings.clone() }
}

/// What to do about the last minute.
pub fn recent_actions(all: &[RecentSeries], origin: HistoryOrigin<'_>) -> Vec<Action> {
    let action = |text: &str, command| Action { text: text.to_string(), command: Some(command) };
    let Some(worst) = all.first() else {
        let config = origin.config.unwrap_or("watch.toml");
        return Vec::from([action("Start the watch:", format!("fathom watch {config}"))]);
    };
    match recent_level(worst) {
        Level::Good => Vec::new(),
        Level::NoResult if is_unsent(worst) => {
            let config = origin.config.unwrap_or("watch.toml");
            Vec::from([action("Check the configuration:", format!("fathom watch check {config}"))])
        }
        _ => Vec::from([
            action("See when it began:", origin.report(&worst.target, "24h")),
            action("Find what recurs:", patterns_command(origin)),
        ]),
    }
}

fn patterns_command(origin: HistoryOrigin<'_>) -> String {
    match (origin.config, origin.store) {
        (Some(config), _) => format!("fathom watch diagnose {config}"),
        (None, Some(store)) => format!("fathom watch diagnose --store {store}"),
        (None, None) => "fathom watch diagnose".to_string(),
    }
}
