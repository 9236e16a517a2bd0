//! The rules, one file each: view to findings.
mod bloat;
pub(crate) mod bound;
pub(crate) mod buffer;
mod drain;
mod growth;
mod instrument;
mod loss;
mod management;
mod outage;
mod starvation;

use crate::view::{View, sample};
use alloc::vec::Vec;
use fathom_run::{Evidence, Finding, Phase, SeriesKey, Span, Statistic};

/// All findings, the weightiest first.
pub(crate) fn findings(view: &View<'_>) -> Vec<Finding> {
    let rules = [
        bloat::findings,
        outage::findings,
        buffer::findings,
        management::findings,
        growth::findings,
        starvation::findings,
        bound::findings,
        drain::findings,
        loss::findings,
        instrument::findings,
    ];
    rules.iter().flat_map(|rule| rule(view)).collect()
}

/// Findings of lost probes alone.
pub(crate) fn losses(view: &View<'_>) -> Vec<Finding> {
    loss::findings(view)
}

/// A statistic of one series in one phase, as evidence; `None` if it has no observation there.
pub(crate) fn evidence(
    view: &View<'_>,
    key: &SeriesKey,
    phase: &Phase,
    statistic: Statistic,
) -> Option<Evidence> {
    let all = sample(view.run, key, phase);
    let value = match statistic {
        Statistic::Percentile(p) => all.percentile(p)?.value,
        Statistic::Max => *all.observed().last()?,
        Statistic::Mean => all.mean_of_observed()?,
        Statistic::Count => all.summary()?.count as f64,
        Statistic::Lost => all.summary()?.censored_ratio(),
        _ => return None,
    };
    let span = Span { start_ns: phase.start_ns, end_ns: phase.end_ns };
    Some(Evidence { series: key.clone(), statistic, span, value })
}

/// As [`evidence`], of the working latency.
pub(crate) fn latency_evidence(view: &View<'_>, phase: &Phase, statistic: Statistic) -> Option<Evidence> {
    evidence(view, &view.source?.key, phase, statistic)
}
