//! Judges whether a line is healthy, bloated, or cannot be judged.
use crate::rules::{self, bound};
use crate::sample::has_delivered;
use crate::view::{MOSTLY_LOST, Rise, View};
use crate::{Health, PhaseSummary};
use alloc::vec::Vec;
use fathom_run::{CpuCause, InstrumentPart, Metric, NotSent, PhaseKind, Reason, threshold};
use fathom_stats::DelayHistogram;

/// Lateness below this explains nothing: a good timer wakes within it.
const LATENESS_FLOOR_S: f64 = 0.001;
/// Lateness explains an increase if it exceeds this share of it.
const EXPLAINED_SHARE: f64 = 0.5;
/// All CPUs are busy, allowing for rounding in `/proc/stat`.
const CPU_BUSY: f64 = 0.95;
/// Share of steal time that counts as lack of CPU time.
const CPU_STEAL: f64 = 0.10;
/// Largest increase that busy CPUs can cause: three times the maximum that other programs reported
/// on an unshaped path with both CPUs saturated (32 ms).
const CPU_EXPLAINS_S: f64 = 0.100;

/// Maximum share of probes skipped for lack of CPU time; with more, a queue may be missed.
const MOSTLY_PROBED: f64 = 0.1;

pub(crate) struct Judgment {
    pub(crate) health: Health,
    /// Effect of the measurement for [`Health::Invalid`], missing data for
    /// [`Health::Inconclusive`].
    pub(crate) reason: Option<Reason>,
}

impl Judgment {
    const fn certain(health: Health) -> Self {
        Judgment { health, reason: None }
    }
    const fn invalid(reason: Reason) -> Self {
        Judgment { health: Health::Invalid, reason: Some(reason) }
    }
    const fn inconclusive(reason: Reason) -> Self {
        Judgment { health: Health::Inconclusive, reason: Some(reason) }
    }
}

/// Whether the latency increase makes the line bloated. The queue of others varies over time, so
/// only the median shows what the load adds to it.
pub(crate) fn is_bloated(rise: &Rise<'_>) -> bool {
    let p90_s = if rise.has_other_traffic { 0.0 } else { rise.p90() };
    threshold::is_bloated(rise.p50(), p90_s)
}

/// Whether packets waited for half as long as on a bloated line.
fn is_near(rise: &Rise<'_>) -> bool {
    threshold::is_bloated(2.0 * rise.p50(), 2.0 * rise.p90())
}

/// Bloated if a phase is, unless the measurement itself explains every bloated phase. Healthy if no
/// phase is bloated and there was enough CPU time to load and probe the line.
pub(crate) fn judge(view: &View<'_>) -> Judgment {
    if let Some(missing) = missing(view) {
        return Judgment::inconclusive(missing);
    }
    let bloated: Vec<Rise<'_>> = view.rises().filter(is_bloated).collect();
    if bloated.is_empty() {
        let spoilt = || unprobed(view).or_else(|| view.rises().find_map(|rise| unloaded(view, &rise)));
        let below = || {
            view.rises().any(|rise| bound::is_below_capacity(view, &rise)).then_some(Reason::BelowCapacity)
        };
        let by_end = || view.rises().find_map(|rise| bound::limited_by_an_end(view, &rise));
        let unknown = broken(view).or_else(|| lossy(view)).or_else(|| other_traffic(view));
        if let Some(reason) = unknown.or_else(below) {
            return Judgment::inconclusive(reason);
        }
        if let Some(reason) = spoilt() {
            return Judgment::invalid(reason);
        }
        return by_end().map_or(Judgment::certain(Health::Healthy), Judgment::inconclusive);
    }
    let explained: Option<Vec<Reason>> = bloated.iter().map(|rise| explained(view, rise)).collect();
    match explained.and_then(|reasons| reasons.into_iter().next()) {
        Some(reason) => Judgment::invalid(reason),
        None => Judgment::certain(Health::Bloated),
    }
}

/// Share of lost probes from which the answered ones do not represent the latency: an AQM that the
/// load does not obey drops those that would have waited longest.
const MANY_LOST: f64 = 0.2;
/// Share of lost probes from which the 90th percentile of all probes is unknown.
const LOST_OF_P90: f64 = 0.1;
/// Share of lost probes that leaves the verdict open even if the others did not wait: the link may
/// stall for seconds and drop all packets.
const VERY_MANY_LOST: f64 = 0.3;

/// A phase with load that lost many probes while the others waited, or very many.
fn lossy(view: &View<'_>) -> Option<Reason> {
    view.rises().find_map(|rise| {
        let least = match () {
            () if threshold::is_bloated(0.0, 2.0 * rise.p90()) => LOST_OF_P90,
            () if is_near(&rise) => MANY_LOST,
            () => VERY_MANY_LOST,
        };
        let loss_ratio = rise.summary.loss_ratio.filter(|loss| *loss >= least)?;
        Some(Reason::ConnectionBroken { phase: rise.phase.kind, loss_ratio })
    })
}

/// The phase with load in which most probes were lost, if there is one.
fn broken(view: &View<'_>) -> Option<Reason> {
    let loss = |p: &PhaseSummary| p.loss_ratio.unwrap_or(0.0);
    let loaded = view.phases.iter().filter(|p| p.kind.is_loaded());
    let worst = loaded.max_by(|a, b| loss(a).total_cmp(&loss(b))).filter(|p| loss(p) >= MOSTLY_LOST)?;
    Some(Reason::ConnectionBroken { phase: worst.kind, loss_ratio: loss(worst) })
}

/// A queue before the load, of the whole test or of a phase. What the load adds to it says nothing
/// about the line.
fn other_traffic(view: &View<'_>) -> Option<Reason> {
    let before_test = view.other_traffic.as_ref().map(|traffic| Reason::OtherTraffic {
        increase_p50_s: traffic.p50_s - traffic.min_s,
        increase_p90_s: traffic.p90_s - traffic.min_s,
        source: traffic.source.clone(),
    });
    let before_phase = || {
        let rise = view.rises_on_a_queue().find(is_near)?;
        Some(Reason::OtherTraffic { increase_p50_s: rise.p50(), increase_p90_s: rise.p90(), source: None })
    };
    before_test.or_else(before_phase).or_else(|| rules::line_in_use(view))
}

fn missing(view: &View<'_>) -> Option<Reason> {
    if view.source.is_none() {
        let is_probed = view.run.phase(PhaseKind::Idle).is_some();
        return Some(if is_probed { Reason::NoAnswers } else { Reason::NoIdleLatency });
    }
    if view.idle().is_none() {
        return Some(Reason::NoIdleLatency);
    }
    if view.rises().next().is_none() {
        return broken(view).or(Some(Reason::NotLoaded));
    }
    view.rises().all(|rise| !has_delivered(rise.phase)).then_some(Reason::NothingDelivered)
}

/// How the measurement itself could have caused `rise`, if it could.
///
/// Explains the increase that made the phase bloated: the median or, if only the tail exceeded its
/// threshold, the 90th percentile.
fn explained(view: &View<'_>, rise: &Rise<'_>) -> Option<Reason> {
    let claim = if rise.p50() >= threshold::BLOATED_P50_S { rise.p50() } else { rise.p90() };
    lateness_explains(view, claim).or_else(|| cpu_explains(view, rise, claim))
}

fn lateness_explains(view: &View<'_>, increase_s: f64) -> Option<Reason> {
    let (part, lateness_p95_s) = latest(view)?;
    (lateness_p95_s > LATENESS_FLOOR_S.max(EXPLAINED_SHARE * increase_s)).then_some(Reason::Late {
        part,
        lateness_p95_s,
        increase_s,
    })
}

/// The part of the measurement with the largest 95th percentile of lateness, in seconds.
pub(crate) fn latest(view: &View<'_>) -> Option<(InstrumentPart, f64)> {
    let instrument = &view.run.instrument;
    let p95 = |h: &DelayHistogram| h.percentile(0.95).map(|d| d.as_secs_f64());
    let parts = [
        (InstrumentPart::ProbeTimer, p95(&instrument.timer_lateness)),
        (InstrumentPart::ProbeSending, p95(&instrument.send_lateness)),
        (InstrumentPart::EmulatedLine, instrument.line_lateness.as_ref().and_then(p95)),
    ];
    let known = parts.into_iter().filter_map(|(part, late)| Some((part, late?)));
    known.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Whether this machine limited the load instead of the line: its CPUs had no time left, and there
/// was no queue, which would have dropped and delayed packets. (A queue that marks instead is not
/// recognized; kernels only use ECN if configured.)
fn unloaded(view: &View<'_>, rise: &Rise<'_>) -> Option<Reason> {
    let (cause, cpu_ratio) = cpu_limit(view, rise).filter(|_| view.met_no_queue(rise))?;
    Some(Reason::CpuLimited { cause, cpu_ratio, phase: rise.phase.kind })
}

/// Whether so many probes were skipped for lack of CPU time that a queue may have gone unnoticed.
fn unprobed(view: &View<'_>) -> Option<Reason> {
    let source = view.source?;
    let missed = f64::from(source.not_sent.get(&NotSent::NotRunInTime).copied().unwrap_or(0));
    let left_out_ratio = missed / (missed + source.values.len() as f64);
    (left_out_ratio > MOSTLY_PROBED).then_some(Reason::ProbesLeftOut { left_out_ratio })
}

fn cpu_explains(view: &View<'_>, rise: &Rise<'_>, increase_s: f64) -> Option<Reason> {
    let (cause, cpu_ratio) = cpu_limit(view, rise).filter(|_| increase_s < CPU_EXPLAINS_S)?;
    Some(Reason::CpuExplains { cause, cpu_ratio, increase_s })
}

/// The cause of a lack of CPU time in a phase, and the median share of the time.
fn cpu_limit(view: &View<'_>, rise: &Rise<'_>) -> Option<(CpuCause, f64)> {
    let limits =
        [(Metric::CpuBusy, CPU_BUSY, CpuCause::Busy), (Metric::CpuSteal, CPU_STEAL, CpuCause::Stolen)];
    limits.into_iter().find_map(|(metric, limit, cause)| {
        let share = view.values(metric, rise.phase).percentile(0.5)?.value;
        (share > limit).then_some((cause, share))
    })
}
