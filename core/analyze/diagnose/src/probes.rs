//! Statistics of each kind of probe.
use crate::latency::{answered, losses};
use crate::view::SOURCES;
use crate::{PhaseProbes, ProbeStatistics};
use alloc::vec::Vec;
use fathom_run::{Metric, Phase, Run, Series, Span, Value, delay_variation_s, interarrival_jitter_s};

/// Statistics of all round-trip and one-way delays of the run, in the order of preference.
pub(crate) fn statistics(run: &Run) -> Vec<ProbeStatistics> {
    use Metric::{
        GatewayRtt, Http3Foreign, Http3Loaded, HttpLoaded, OneWayDelay, QuicHandshake, UdpBackgroundRtt,
        UdpExpeditedRtt,
    };
    let of_classes = [UdpBackgroundRtt, UdpExpeditedRtt];
    let others = [QuicHandshake, Http3Foreign, HttpLoaded, Http3Loaded, GatewayRtt, OneWayDelay];
    let metrics = SOURCES.into_iter().chain(of_classes).chain(others);
    let of = |metric| run.series.iter().filter(move |series| series.key.metric == metric);
    let measured = |series: &&Series| series.key.scope.is_none() && series.key.flow.is_none();
    metrics
        .flat_map(of)
        .filter(measured)
        .filter(|series| !series.at_ns.is_empty())
        .map(|s| one(run, s))
        .collect()
}

fn one(run: &Run, series: &Series) -> ProbeStatistics {
    ProbeStatistics {
        metric: series.key.metric,
        direction: series.key.direction,
        duplicates: series.duplicates,
        reordered: series.reordered,
        phases: run.phases.iter().map(|phase| within(series, phase)).collect(),
    }
}

fn within(series: &Series, phase: &Phase) -> PhaseProbes {
    let span = Span::of(phase);
    let (lost, known) = losses(series, span);
    PhaseProbes {
        kind: phase.kind,
        sent: series.within(phase).count(),
        loss_ratio: (known > 0).then(|| lost as f64 / known as f64),
        delay: answered(series, span),
        jitter_s: match series.key.metric {
            Metric::OneWayDelay => interarrival_jitter_s(series, phase),
            _ => mean_difference(series, phase),
        },
        delay_variation_s: delay_variation_s(series, phase),
    }
}

/// Mean difference of the delays of consecutive round trips, which some kinds of probe measure too
/// seldom for RFC 3550. A difference across a lost probe is left out.
fn mean_difference(series: &Series, phase: &Phase) -> Option<f64> {
    let delays: Vec<Value> = series.within(phase).map(|observation| observation.value).collect();
    let differences = delays.windows(2).filter_map(|pair| match pair {
        [Value::Observed(first), Value::Observed(second)] => Some((second - first).abs()),
        _ => None,
    });
    let (sum, count) =
        differences.fold((0.0, 0_u32), |(sum, count), difference| (sum + difference, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
