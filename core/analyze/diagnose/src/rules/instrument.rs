//! What the instrument did to the result: only what is out of the ordinary.
use crate::health::latest;
use crate::view::{View, is_loaded};
use crate::{Confidence, Finding, FindingKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Metric, Phase};
use fathom_text::{milliseconds, percent};

/// Lateness that is told.
const LATE_S: f64 = 0.001;
/// Share of replies with kernel timestamps below which times include the program's own wake-ups.
const FEW_KERNEL_TIMESTAMPS: f64 = 0.9;
/// Shares of CPU time that are told.
const BUSY: f64 = 0.95;
const STEAL: f64 = 0.02;
/// Step of the wall clock that is told, in seconds.
const CLOCK_STEP_S: f64 = 0.001;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    let rules = [partial, lateness, cpu, timestamps, clock_steps, not_sent];
    rules.iter().filter_map(|rule| rule(view)).collect()
}

fn told(text: String) -> Finding {
    Finding::new(FindingKind::Instrument, None, Confidence::High, text)
}

fn partial(view: &View<'_>) -> Option<Finding> {
    view.run.partial.as_ref().map(|why| told(format!("The run is not whole: {why}.")))
}

fn lateness(view: &View<'_>) -> Option<Finding> {
    let (name, late) = latest(view).filter(|(_, late)| *late > LATE_S)?;
    let text = format!("One time in twenty {name} was late by {} or more.", milliseconds(late));
    Some(told(text).evidence("lateness, 95th percentile", late, "s"))
}

fn cpu(view: &View<'_>) -> Option<Finding> {
    let median = |metric, phase: &Phase| view.values(metric, phase).percentile(0.5).map(|m| m.value);
    let largest = |metric| {
        let loaded = view.run.phases.iter().filter(|p| is_loaded(p.kind));
        loaded.filter_map(|p| median(metric, p)).max_by(f64::total_cmp)
    };
    let busy = largest(Metric::CpuBusy).filter(|b| *b > BUSY);
    let steal = largest(Metric::CpuSteal).filter(|s| *s > STEAL);
    let text = match (busy, steal) {
        (Some(b), _) => format!(
            "The CPUs were busy for {} of the time under load: the load may have been limited by them.",
            percent(b)
        ),
        (None, Some(s)) => {
            format!("The hypervisor gave the CPUs to others for {} of the time under load.", percent(s))
        }
        (None, None) => return None,
    };
    Some(told(text).evidence_if("CPU busy, median", busy, "ratio").evidence_if(
        "CPU steal, median",
        steal,
        "ratio",
    ))
}

fn timestamps(view: &View<'_>) -> Option<Finding> {
    let ratio = view.run.instrument.kernel_timestamp_ratio;
    // Only UDP and ICMP probes have them.
    let stamped = matches!(view.source?.key.metric, Metric::UdpRtt | Metric::IcmpRtt);
    (stamped && ratio < FEW_KERNEL_TIMESTAMPS).then(|| {
        let text = format!(
            "Only {} of the replies carried a kernel timestamp: latencies include the program's own wake-ups.",
            percent(ratio)
        );
        told(text).evidence("replies with kernel timestamps", ratio, "ratio")
    })
}

fn clock_steps(view: &View<'_>) -> Option<Finding> {
    let steps = &view.run.instrument.clock_steps_s;
    let largest =
        steps.iter().copied().map(libm::fabs).max_by(f64::total_cmp).filter(|s| *s > CLOCK_STEP_S)?;
    let text = format!(
        "The wall clock was set during the run, by {} at most. Delays are on the monotonic clock and not affected.",
        milliseconds(largest)
    );
    Some(told(text).evidence("largest step", largest, "s"))
}

fn not_sent(view: &View<'_>) -> Option<Finding> {
    let source = view.source?;
    let missing: u64 = source.not_sent.values().map(|n| u64::from(*n)).sum();
    let reason = source.not_sent.iter().max_by_key(|(_, n)| **n)?.0;
    (missing > 0).then(|| {
        let due = missing + source.values.len() as u64;
        let text = format!("{missing} of {due} probes could not be sent when due, most often: {reason}.");
        told(text).evidence("probes not sent", missing as f64, "packets")
    })
}
