//! Healthy, bloated, or not to be told.
use crate::rules::bound::unmet;
use crate::rules::while_doing;
use crate::view::{Rise, View, is_loaded};
use crate::{Health, PhaseSummary};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Metric, NOT_RUN_IN_TIME};
use fathom_stats::DelayHistogram;
use fathom_text::{milliseconds, percent};

/// Median increase from which a line is called bloated: where DSLReports' grade C begins.
pub(crate) const BLOATED_P50_S: f64 = 0.060;
/// 90th percentile of the increase from which a line is called bloated whatever its median: one moment in ten is then
/// beyond what a first-person game (100 ms) or a call (ITU-T G.114: 150 ms one way) bears.
pub(crate) const BLOATED_P90_S: f64 = 0.200;

/// Lateness that never explains anything: a well-behaved timer wakes within it.
const LATENESS_FLOOR_S: f64 = 0.001;
/// Share of an increase that lateness must exceed to explain it.
const EXPLAINED_SHARE: f64 = 0.5;
/// All CPUs busy, but for the rounding of `/proc/stat`.
const CPU_BUSY: f64 = 0.95;
/// Time that the hypervisor took away.
const CPU_STEAL: f64 = 0.10;
/// Largest increase that a busy CPU makes up by itself: three times the worst that other programs reported on an
/// unshaped path with both CPUs saturated (32 ms).
const CPU_EXPLAINS_S: f64 = 0.100;

/// Share of the probes that the program may leave out for want of CPU: with more, a queue of a few samples goes unseen.
const MOSTLY_PROBED: f64 = 0.1;

/// Loss of probes from which a phase tells nothing of latency.
pub(crate) const MOSTLY_LOST: f64 = 0.5;

/// A judgement with its reason.
pub(crate) enum State {
    Healthy,
    Bloated,
    /// What the instrument did.
    Invalid(String),
    /// What is missing.
    Inconclusive(String),
}

impl State {
    pub(crate) fn health(&self) -> Health {
        match self {
            State::Healthy => Health::Healthy,
            State::Bloated => Health::Bloated,
            State::Invalid(_) => Health::Invalid,
            State::Inconclusive(_) => Health::Inconclusive,
        }
    }
}

/// A rise that makes a line bloated.
pub(crate) fn is_bloated(rise: &Rise<'_>) -> bool {
    rise.p50() >= BLOATED_P50_S || rise.p90() >= BLOATED_P90_S
}

/// Bloated if one phase is, and the instrument does not explain every phase that is. Healthy if none is, and the
/// instrument had the time to load the line and to probe it.
pub(crate) fn judge(view: &View<'_>) -> State {
    if let Some(missing) = missing(view) {
        return State::Inconclusive(missing);
    }
    let bloated: Vec<Rise<'_>> = view.rises().filter(is_bloated).collect();
    if bloated.is_empty() {
        let spoilt = || unprobed(view).or_else(|| view.rises().find_map(|rise| unloaded(view, &rise)));
        return match broken(view) {
            Some(reason) => State::Inconclusive(reason),
            None => spoilt().map_or(State::Healthy, State::Invalid),
        };
    }
    let explained: Option<Vec<String>> = bloated.iter().map(|rise| explained(view, rise)).collect();
    match explained {
        Some(reasons) => State::Invalid(reasons.into_iter().next().unwrap_or_default()),
        None => State::Bloated,
    }
}

/// The phase with load in which most probes were lost, if there is one.
fn broken(view: &View<'_>) -> Option<String> {
    let loss = |p: &PhaseSummary| p.loss_ratio.unwrap_or(0.0);
    let loaded = view.phases.iter().filter(|p| is_loaded(p.kind));
    let worst = loaded.max_by(|a, b| loss(a).total_cmp(&loss(b))).filter(|p| loss(p) >= MOSTLY_LOST)?;
    let (share, when) = (percent(loss(worst)), while_doing(worst.kind));
    Some(format!("{share} of the probes were lost {when}; the connection broke"))
}

fn missing(view: &View<'_>) -> Option<String> {
    if view.source.is_none() {
        return Some("no kind of probe was answered for most of the idle time".into());
    }
    if view.idle().is_none() {
        return Some("latency without load was not measured".into());
    }
    if view.rises().next().is_none() {
        return broken(view).or(Some("the line was not loaded while latency was measured".into()));
    }
    view.rises().all(|rise| !delivered(&rise)).then(|| "the load delivered nothing".into())
}

/// The load moved something, in either direction, or nothing is known of it.
fn delivered(rise: &Rise<'_>) -> bool {
    rise.phase.load.as_ref().is_none_or(|l| l.delivered_up_bytes > 0 || l.delivered_down_bytes > 0)
}

/// How the instrument alone could have made `rise`, if it could.
///
/// The claim is what made the phase bloated: its median increase, or, if only the tail did, that of the 90th percentile.
fn explained(view: &View<'_>, rise: &Rise<'_>) -> Option<String> {
    let claim = if rise.p50() >= BLOATED_P50_S { rise.p50() } else { rise.p90() };
    lateness_explains(view, claim).or_else(|| cpu_explains(view, rise, claim))
}

fn lateness_explains(view: &View<'_>, claim: f64) -> Option<String> {
    let (name, late) = latest(view)?;
    (late > LATENESS_FLOOR_S.max(EXPLAINED_SHARE * claim)).then(|| {
        format!(
            "{name} was late by {} or more one time in twenty, against a rise of {}",
            milliseconds(late),
            milliseconds(claim)
        )
    })
}

/// The instrument's part with the largest 95th percentile of lateness, in seconds.
pub(crate) fn latest(view: &View<'_>) -> Option<(&'static str, f64)> {
    let instrument = &view.run.instrument;
    let p95 = |h: &DelayHistogram| h.percentile(0.95).map(|d| d.as_secs_f64());
    let parts = [
        ("the probe timer", p95(&instrument.timer_lateness)),
        ("the sending of probes", p95(&instrument.send_lateness)),
        ("the emulated line", instrument.line_lateness.as_ref().and_then(p95)),
    ];
    let known = parts.into_iter().filter_map(|(name, late)| Some((name, late?)));
    known.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// This machine, not the line, limited the load of a phase: its CPUs had no time left, and no queue was met. One that was
/// would have dropped and delayed. (One that marks instead is called unmet here: kernels ask for marks only when told.)
fn unloaded(view: &View<'_>, rise: &Rise<'_>) -> Option<String> {
    let (what, share) = cpu_limit(view, rise).filter(|_| unmet(view, rise))?;
    let (share, when) = (percent(share), while_doing(rise.phase.kind));
    Some(format!("{what} for {share} of the time {when}, so this machine, not the line, limited the load"))
}

/// The program did not get the CPU for so many probes that it may have missed what they should have seen.
fn unprobed(view: &View<'_>) -> Option<String> {
    let source = view.source?;
    let missed = f64::from(source.not_sent.get(NOT_RUN_IN_TIME).copied().unwrap_or(0));
    let share = missed / (missed + source.values.len() as f64);
    (share > MOSTLY_PROBED).then(|| {
        format!("this program did not get the CPU in time for {} of the probes that were due", percent(share))
    })
}

fn cpu_explains(view: &View<'_>, rise: &Rise<'_>, claim: f64) -> Option<String> {
    let (what, share) = cpu_limit(view, rise).filter(|_| claim < CPU_EXPLAINS_S)?;
    let (share, claim) = (percent(share), milliseconds(claim));
    Some(format!("{what} for {share} of the time, which can make up a rise of {claim}"))
}

/// What left the program without CPU in a phase, and for which share of the time (median).
fn cpu_limit(view: &View<'_>, rise: &Rise<'_>) -> Option<(&'static str, f64)> {
    let limits = [
        (Metric::CpuBusy, CPU_BUSY, "the CPUs were busy"),
        (Metric::CpuSteal, CPU_STEAL, "the hypervisor gave the CPUs to others"),
    ];
    limits.into_iter().find_map(|(metric, limit, what)| {
        let share = view.values(metric, rise.phase).percentile(0.5)?.value;
        (share > limit).then_some((what, share))
    })
}
