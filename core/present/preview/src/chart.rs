//! Latency over time, in the colors of the phases.
use crate::DIM;
use crate::canvas::{Canvas, Color};
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_run::{PhaseKind, Run, SeriesKey};

/// Width of a column in pixels: the largest latency of its time.
const COLUMN: f32 = 4.0;
/// The axis ends at this value or above.
const LEAST_S: f64 = 0.02;

const fn color(phase: Option<PhaseKind>) -> Color {
    match phase {
        Some(PhaseKind::Idle) => [0x2b, 0x8a, 0x5b],
        Some(PhaseKind::Down) => [0x1f, 0x77, 0xc9],
        Some(PhaseKind::Up) => [0xd9, 0x77, 0x06],
        Some(PhaseKind::Both) => [0x7c, 0x4d, 0xbd],
        _ => [0x8a, 0x92, 0x9e],
    }
}

/// Draws the latency of a run. Nothing, if it has none.
pub(crate) fn draw(
    canvas: &mut Canvas,
    run: &Run,
    diagnosis: &Diagnosis,
    (left, top): (f32, f32),
    (width, height): (f32, f32),
) {
    let key = |metric| SeriesKey { metric, direction: None, flow: None, scope: None };
    let Some(series) = diagnosis.latency_source.and_then(|metric| run.series(&key(metric))) else { return };
    let points: Vec<(u64, f64)> =
        series.iter().filter_map(|one| Some((one.at.as_nanos(), one.value.observed()?))).collect();
    let Some((end, _)) = points.last().copied() else { return };
    let highest_s = points.iter().map(|(_, value)| *value).fold(LEAST_S, f64::max);
    let largest = columns(&points, end, (width / COLUMN) as usize);
    let phase_at = |at: u64| run.phases.iter().find(|phase| (phase.start_ns..phase.end_ns).contains(&at));
    for (n, value) in largest.iter().enumerate() {
        let at = ((n as f64 + 0.5) / largest.len() as f64 * end as f64) as u64;
        let tall = ((value / highest_s) as f32 * height).max(2.0);
        let place = (left + n as f32 * COLUMN, top + height - tall);
        canvas.fill(place, (COLUMN, tall), color(phase_at(at).map(|phase| phase.kind)));
    }
    canvas.fill((left, top + height), (width, 2.0), DIM);
    let label = alloc::format!("latency, up to {}", fathom_text::delay(highest_s));
    canvas.text(&label, (left, top - 10.0), 24.0, DIM);
}

/// The largest value in each of `count` parts of the time until `end`; that of the part before,
/// where there is none.
fn columns(points: &[(u64, f64)], end: u64, count: usize) -> Vec<f64> {
    let mut largest = alloc::vec![None::<f64>; count];
    for (at, value) in points {
        let place = (*at as f64 / (end + 1) as f64 * count as f64) as usize;
        if let Some(column) = largest.get_mut(place) {
            *column = Some(column.map_or(*value, |other| other.max(*value)));
        }
    }
    let mut before = 0.0;
    let filled = largest.into_iter().map(|value| {
        before = value.unwrap_or(before);
        before
    });
    filled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_show_the_largest_value() {
        let points = [(0, 0.1), (10, 0.3), (12, 0.2), (70, 0.5), (99, 0.4)];
        assert_eq!(columns(&points, 99, 4), [0.3, 0.3, 0.5, 0.4]);
        assert_eq!(columns(&points[..1], 0, 2), [0.1, 0.1]);
    }
}
