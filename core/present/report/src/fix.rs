//! A fix as a part of its JSON document and as a table. The document is described by
//! `docs/schema/result.schema.json`.
use crate::document::{Phase, phase};
use crate::screen::Screen;
use crate::{Detail, Style};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::{Diagnosis, PhaseSummary};
use fathom_layout::{Ink, finish};
use fathom_prose::lag;
use fathom_run::{Conclusion, PhaseKind};
use fathom_shape::fix::{Outcome, Report};
use fathom_shape::knee::Trial;
use fathom_text::{milliseconds, percent, rate};
use fathom_units::{Direction, PerDirection, Rate};
use serde::Serialize;
use serde_json::Value as Json;

/// What a command of `fathom fix` did, or found. What does not apply is left out.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct FixData {
    /// The interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<FixOutcome>,
    /// The plan with its commands and undo commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Json>,
    /// What passed each shaper while it was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<PerDirection<Option<Json>>>,
    /// Bytes of each packet beyond IP, where measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_bytes: Option<u16>,
    /// The search of each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searches: Option<PerDirection<Search>>,
    /// Phases of the test without a shaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<Phase>>,
    /// Phases of the test through the last shaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<Phase>>,
    /// Last status of `--auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<Json>,
    /// The configuration of another platform, of `--export`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub export: Option<ExportData>,
    /// Each interface with a fix, of `--status` and `--undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<Vec<Json>>,
}

/// A shaper as the configuration of another platform.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ExportData {
    /// The platform.
    pub platform: &'static str,
    /// The rates in it.
    pub rates_bits_per_second: PerDirection<Option<u64>>,
    /// The configuration with its comments.
    pub configuration: String,
}

/// How a fix ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FixOutcome {
    /// The line has no bufferbloat.
    NotNeeded,
    /// The shaper passed all checks, and stays.
    Verified,
    /// The shaper did not pass all checks, and was rolled back.
    NotVerified,
    /// Nothing was changed, as requested.
    Planned,
    /// The shaper stays, without checks.
    Committed,
    /// The shaper was on for a time, and was rolled back.
    RolledBack,
}

impl From<Outcome> for FixOutcome {
    fn from(outcome: Outcome) -> FixOutcome {
        match outcome {
            Outcome::NotNeeded => FixOutcome::NotNeeded,
            Outcome::Verified => FixOutcome::Verified,
            Outcome::NotVerified => FixOutcome::NotVerified,
            Outcome::Planned => FixOutcome::Planned,
        }
    }
}

/// The search of a direction.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct Search {
    /// Highest rate without a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee_bits_per_second: Option<u64>,
    /// Lowest rate with a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_from_bits_per_second: Option<u64>,
    /// The line's rate varies.
    pub is_varying: bool,
    /// Duration of the search.
    pub search_s: f64,
    /// Its trials, in order.
    pub trials: Vec<SearchTrial>,
}

/// A trial of a search.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SearchTrial {
    /// The shaper's rate.
    pub offered_bits_per_second: u64,
    /// What left the shaper.
    pub delivered_bits_per_second: u64,
    /// Median delay above idle.
    pub delay_s: f64,
    /// That is more than the shaper itself would leave.
    pub is_delayed: bool,
    /// It may be chance.
    pub is_marginal: bool,
    /// The load filled the shaper.
    pub is_demanded: bool,
}

/// The searches of a fix.
pub fn searches(report: &Report) -> PerDirection<Search> {
    PerDirection::from_fn(|direction| {
        let knee = report.knees[direction];
        Search {
            knee_bits_per_second: knee.map(|knee| knee.rate.as_bits_per_second()),
            queue_from_bits_per_second: knee.and_then(|knee| knee.above).map(Rate::as_bits_per_second),
            is_varying: knee.is_some_and(|knee| knee.is_varying),
            search_s: report.search_time[direction].as_secs_f64(),
            trials: report.trials[direction].iter().map(trial).collect(),
        }
    })
}

fn trial(trial: &Trial) -> SearchTrial {
    SearchTrial {
        offered_bits_per_second: trial.offered.as_bits_per_second(),
        delivered_bits_per_second: trial.delivered.as_bits_per_second(),
        delay_s: trial.delay.as_secs_f64(),
        is_delayed: trial.is_delayed,
        is_marginal: trial.is_marginal,
        is_demanded: trial.is_demanded,
    }
}

/// Phases of a test, as [`FixData::before`] and [`FixData::after`] have them.
pub fn phases(diagnosis: &Diagnosis) -> Vec<Phase> {
    diagnosis.phases.iter().map(phase).collect()
}

/// The end of a fix with a search: how it ended, what changed, and the latency and goodput of each
/// load.
pub fn fix_screen(
    headline: &str,
    outcome: Outcome,
    before: &Diagnosis,
    after: Option<&Diagnosis>,
    (style, columns): (Style, u16),
) -> String {
    let screen = Screen::new(columns, style);
    let (word, ink) = match outcome {
        Outcome::Verified => ("FIXED", Ink::Good),
        Outcome::NotNeeded => ("GOOD", Ink::Good),
        Outcome::NotVerified => ("NOT FIXED", Ink::Bad),
        Outcome::Planned => ("PLAN", Ink::Fair),
    };
    let after = after.filter(|_| outcome == Outcome::Verified);
    let changed = after.map(|after| lags(before, after)).filter(|text| !text.is_empty());
    let mut lines = screen.head(word, ink, headline, changed.as_deref());
    if let Some(after) = after.filter(|_| style.detail != Detail::Quiet) {
        lines.push(String::new());
        lines.extend(fix_table(before, after).lines().map(ToString::to_string));
    }
    finish(&lines, style)
}

/// Lag when busy before and after: `Lag when busy: upload +966 ms to +8 ms.`
fn lags(before: &Diagnosis, after: &Diagnosis) -> String {
    let of = |diagnosis: &Diagnosis, phase| {
        diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
            Conclusion::Bufferbloat(increase) | Conclusion::LowLatency(increase)
                if increase.phase == phase =>
            {
                Some(lag(increase.lag_s()))
            }
            _ => None,
        })
    };
    let phases = [(PhaseKind::Up, "upload"), (PhaseKind::Down, "download")];
    let changes = phases
        .into_iter()
        .filter_map(|(phase, name)| Some(format!("{name} {} to {}", of(before, phase)?, of(after, phase)?)));
    let changes: Vec<String> = changes.collect();
    if changes.is_empty() { String::new() } else { format!("Lag when busy: {}.", changes.join(", ")) }
}

/// The line without a shaper: a row for each phase of its test.
pub fn fix_baseline(diagnosis: &Diagnosis) -> String {
    let rows: Vec<String> = diagnosis.phases.iter().filter_map(baseline_row).collect();
    rows.join("\n")
}

fn baseline_row(phase: &PhaseSummary) -> Option<String> {
    let median = milliseconds(phase.latency?.p50.value);
    let rise = phase.increase_p50_s.map(|rise| format!(", {} above idle", milliseconds(rise.value)));
    let goodput = |direction| Some(format!(", {} {direction}", rate(goodput_of(phase, direction)?)));
    let goodputs: String = Direction::BOTH.into_iter().filter_map(goodput).collect();
    Some(format!("  {:<5} {median}{}{goodputs}", phase.kind.name(), rise.unwrap_or_default()))
}

const fn goodput_of(phase: &PhaseSummary, direction: Direction) -> Option<f64> {
    match direction {
        Direction::Up => phase.goodput_up_bits_per_second,
        Direction::Down => phase.goodput_down_bits_per_second,
    }
}

/// Latency and goodput before and after, a row for each load.
fn fix_table(before: &Diagnosis, after: &Diagnosis) -> String {
    let mut text = format!("{:<8}{:>12}{:>12}    goodput\n", "median", "before", "after");
    for now in &after.phases {
        let earlier = before.phase(now.kind);
        let median = |of: Option<&PhaseSummary>| {
            of.and_then(|phase| phase.latency).map_or_else(|| "-".to_string(), |l| milliseconds(l.p50.value))
        };
        let (was, is, goodputs) = (median(earlier), median(Some(now)), goodputs(earlier, now));
        text += &format!("{:<8}{was:>12}{is:>12}    {goodputs}\n", now.kind.name());
    }
    text
}

fn goodputs(before: Option<&PhaseSummary>, after: &PhaseSummary) -> String {
    let direction = match after.kind {
        PhaseKind::Up => Direction::Up,
        PhaseKind::Down => Direction::Down,
        _ => return String::new(),
    };
    let of = |phase| goodput_of(phase, direction);
    match (before.and_then(of), of(after)) {
        (Some(before), Some(after)) => {
            format!("{} to {} ({})", rate(before), rate(after), percent(after / before))
        }
        _ => String::new(),
    }
}
