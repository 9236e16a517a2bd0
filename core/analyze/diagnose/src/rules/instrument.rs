//! Effects of the measurement itself on the result; only unusual ones are reported.
use crate::health::latest;
use crate::view::View;
use alloc::vec::Vec;
use fathom_run::{Certainty, Conclusion, CpuCause, Fact, Finding, InstrumentEffect, Metric, Phase};

/// Minimum lateness to report, in seconds.
const LATE_S: f64 = 0.001;
/// Below this ratio of responses with kernel timestamps, delays include the program's own wake-ups.
const FEW_KERNEL_TIMESTAMPS: f64 = 0.9;
/// Shares of CPU time that are reported.
const BUSY: f64 = 0.95;
const STEAL: f64 = 0.02;
/// Minimum step of the wall clock to report, in seconds.
const CLOCK_STEP_S: f64 = 0.001;

pub(super) fn findings(view: &View<'_>) -> Vec<Finding> {
    let rules = [partial, lateness, cpu, timestamps, clock_steps, not_sent];
    rules.iter().filter_map(|rule| rule(view)).collect()
}

fn effect(effect: InstrumentEffect) -> Finding {
    Finding::new(Conclusion::Instrument(effect), None, Certainty::Certain)
}

fn partial(view: &View<'_>) -> Option<Finding> {
    view.run.partial.clone().map(|why| effect(InstrumentEffect::Incomplete { why }))
}

fn lateness(view: &View<'_>) -> Option<Finding> {
    let (part, lateness_p95_s) = latest(view).filter(|(_, late)| *late > LATE_S)?;
    Some(effect(InstrumentEffect::Late { part, lateness_p95_s }))
}

fn cpu(view: &View<'_>) -> Option<Finding> {
    let median = |metric, phase: &Phase| view.values(metric, phase).percentile(0.5).map(|m| m.value);
    let largest = |metric| {
        let loaded = view.run.phases.iter().filter(|p| p.kind.is_loaded());
        loaded.filter_map(|p| median(metric, p)).max_by(f64::total_cmp)
    };
    let busy = largest(Metric::CpuBusy).filter(|b| *b > BUSY).map(|ratio| (CpuCause::Busy, ratio));
    let steal = || largest(Metric::CpuSteal).filter(|s| *s > STEAL).map(|ratio| (CpuCause::Stolen, ratio));
    let (cause, cpu_ratio) = busy.or_else(steal)?;
    Some(effect(InstrumentEffect::LackOfCpu { cause, cpu_ratio }))
}

fn timestamps(view: &View<'_>) -> Option<Finding> {
    let kernel_timestamp_ratio = view.run.instrument.kernel_timestamp_ratio;
    // Only UDP and ICMP probes have kernel timestamps. Those of other tools are unknown.
    let stamped = matches!(view.source?.key.metric, Metric::UdpRtt | Metric::IcmpRtt)
        && !view.run.facts.contains_key(&Fact::Tool);
    (stamped && kernel_timestamp_ratio < FEW_KERNEL_TIMESTAMPS)
        .then(|| effect(InstrumentEffect::FewKernelTimestamps { kernel_timestamp_ratio }))
}

fn clock_steps(view: &View<'_>) -> Option<Finding> {
    let steps = &view.run.instrument.clock_steps_s;
    let largest_s =
        steps.iter().copied().map(libm::fabs).max_by(f64::total_cmp).filter(|s| *s > CLOCK_STEP_S)?;
    Some(effect(InstrumentEffect::ClockStepped { largest_s }))
}

fn not_sent(view: &View<'_>) -> Option<Finding> {
    let source = view.source?;
    let not_sent_packets: u64 = source.not_sent.values().map(|n| u64::from(*n)).sum();
    let why = source.not_sent.iter().max_by_key(|(_, n)| **n)?.0.clone();
    let due_packets = not_sent_packets + source.values.len() as u64;
    (not_sent_packets > 0)
        .then(|| effect(InstrumentEffect::ProbesNotSent { not_sent_packets, due_packets, why }))
}
