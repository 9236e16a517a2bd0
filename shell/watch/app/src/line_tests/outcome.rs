//! What of a result the history keeps.
use fathom_diagnose::Diagnosis;
use fathom_run::{Conclusion, Metric, PhaseKind, Run};
use fathom_units::{Bytes, Direction, Duration};
use fathom_watch_engine::TestValues;

/// The values of the series of a test.
pub(super) fn values(diagnosis: &Diagnosis) -> TestValues {
    let [up, down] = [PhaseKind::Up, PhaseKind::Down].map(|kind| lag(diagnosis, kind));
    let idle = diagnosis.phase(PhaseKind::Idle).and_then(|phase| Some(phase.latency?.p50.value));
    let delay = |seconds: Option<f64>| seconds.map(Duration::from_secs_f64);
    let rate_up = diagnosis.phase(PhaseKind::Up).and_then(|phase| phase.goodput_up_bits_per_second);
    let rate_down = diagnosis.phase(PhaseKind::Down).and_then(|phase| phase.goodput_down_bits_per_second);
    let [buffer_up, buffer_down] = [PhaseKind::Up, PhaseKind::Down].map(|kind| buffer(diagnosis, kind));
    TestValues {
        delays: [up.into_iter().chain(down).reduce(f64::max), up, down, idle].map(delay),
        levels: [rate_up, rate_down, buffer_up, buffer_down],
    }
}

/// The lag of a phase: see `lag_s` in docs/metrics.md.
fn lag(diagnosis: &Diagnosis, kind: PhaseKind) -> Option<f64> {
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::Bufferbloat(found) | Conclusion::LowLatency(found) if found.phase == kind => {
            Some(found.lag_s().max(0.0))
        }
        _ => None,
    })
}

fn buffer(diagnosis: &Diagnosis, kind: PhaseKind) -> Option<f64> {
    diagnosis.findings.iter().find_map(|finding| match &finding.conclusion {
        Conclusion::BufferSize(found) if found.phase == kind => Some(found.ip_bytes),
        _ => None,
    })
}

/// Payload of the loads of a run, both directions.
pub(super) fn payload(run: &Run) -> Bytes {
    let of = |direction| run.series.iter().filter(move |series| series.key.direction == Some(direction));
    let sum: f64 = [Direction::Up, Direction::Down]
        .into_iter()
        .flat_map(of)
        .filter(|series| series.key.metric == Metric::Goodput && series.key.flow.is_none())
        .map(|series| {
            // A value covers the time since the one before; the first, as much as the second.
            let first =
                series.at_ns.first().zip(series.at_ns.get(1)).map_or(0, |(a, b)| a.saturating_sub(b - a));
            let starts = std::iter::once(first).chain(series.at_ns.iter().copied());
            let lengths = series.at_ns.iter().zip(starts).map(|(end, start)| end.saturating_sub(start));
            lengths.zip(&series.values).map(|(ns, rate)| ns as f64 / 1e9 * rate / 8.0).sum::<f64>()
        })
        .sum();
    Bytes(sum as u64)
}
