//! Selects the phase of the headline, and the advice.
use crate::Health;
use crate::health::is_bloated;
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{Finding, FindingKind, PhaseKind, Remedy};
use fathom_units::Direction;

/// The phase of the headline: the one with the highest 90th percentile. Phases with one loaded
/// direction take precedence if one of them is bloated, because they are easier to understand and
/// to fix. The median of a short phase is diluted by the fill time of the queue, and the maximum
/// may be an accident.
pub(crate) fn worst<'v>(view: &'v View<'_>) -> Option<Rise<'v>> {
    let highest = |a: &Rise<'_>, b: &Rise<'_>| a.loaded.p90.value.total_cmp(&b.loaded.p90.value);
    let one_way = view.rises().filter(|r| r.phase.kind != PhaseKind::Both && is_bloated(r)).max_by(highest);
    one_way.or_else(|| view.rises().max_by(highest))
}

/// Remedies of the whole run: those of its bloated directions, or a shaper with an unknown rate.
pub(crate) fn advice(health: Health, findings: &[Finding]) -> Vec<Remedy> {
    match health {
        Health::Healthy | Health::Inconclusive => Vec::new(),
        Health::Invalid => Vec::from([Remedy::UseQuietMachine]),
        Health::Bloated => {
            let is_bloated =
                |f: &&Finding| matches!(f.kind(), FindingKind::Bufferbloat | FindingKind::MeasuredBuffer);
            let bloated = findings.iter().filter(is_bloated);
            let mut shapers: Vec<Remedy> = bloated.flat_map(|f| f.remedies.iter().cloned()).collect();
            shapers.sort_by_key(|remedy| remedy.direction().map(Direction::index));
            if shapers.is_empty() { Vec::from([Remedy::shape_at_unknown_rate(None)]) } else { shapers }
        }
    }
}
