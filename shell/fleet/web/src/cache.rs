//! Answers that were just given: the views of the page ask for the same sites and period.
use crate::request::Scope;
use fathom_fleet_view::Fleet;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fleets that are kept: a page needs two, before and after a change.
const KEPT: usize = 4;
/// Sites of all that are kept; the newest fleet is kept whatever its size. Each has some 300 bytes.
const MAX_SITES: usize = 2_000_000;
/// Age up to which an answer is used: tests are made every few hours.
const MAX_AGE: Duration = Duration::from_secs(300);

/// The fleets of recent questions.
#[derive(Default)]
pub(crate) struct Cache(VecDeque<(Scope, Instant, Arc<Fleet>)>);

impl Cache {
    /// A fleet that is not old.
    pub(crate) fn get(&self, scope: &Scope, now: Instant) -> Option<Arc<Fleet>> {
        let fresh = |at: &Instant| now.saturating_duration_since(*at) < MAX_AGE;
        let found = self.0.iter().find(|(known, at, _)| known == scope && fresh(at));
        found.map(|(.., fleet)| Arc::clone(fleet))
    }
    pub(crate) fn add(&mut self, scope: Scope, now: Instant, fleet: Arc<Fleet>) {
        self.0.retain(|(known, ..)| *known != scope);
        self.0.truncate(KEPT - 1);
        let mut room = MAX_SITES.saturating_sub(fleet.len());
        let fits = self.0.iter().take_while(|(.., kept)| {
            let left = room.checked_sub(kept.len());
            room = left.unwrap_or_default();
            left.is_some()
        });
        self.0.truncate(fits.count());
        self.0.push_front((scope, now, fleet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_fleet_query::Span;
    use fathom_fleet_view::{Selector, SiteLabels, SiteTests};
    use fathom_units::WallTime;

    fn scope(to: u64) -> Scope {
        Scope { of: Selector::all(), span: Span { from: WallTime(0), to: WallTime(to) } }
    }

    #[test]
    fn few_large_fleets_are_kept() {
        let fleet_of = |sites: usize| {
            let mut fleet = Fleet::default();
            let tests = SiteTests::default();
            let labels = SiteLabels::default();
            (0..sites).for_each(|site| fleet.add_site(tests.site(&site.to_string(), Arc::clone(&labels))));
            Arc::new(fleet)
        };
        let (third, small, start) = (fleet_of(MAX_SITES / 3), fleet_of(3), Instant::now());
        let kept = |sizes: &[&Arc<Fleet>]| {
            let mut cache = Cache::default();
            for (to, fleet) in (1..).zip(sizes) {
                cache.add(scope(to), start, Arc::clone(fleet));
            }
            (1..=sizes.len() as u64).filter(|to| cache.get(&scope(*to), start).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[&small, &third, &third, &third]), [2, 3, 4]);
        assert_eq!(kept(&[&third, &third, &small, &third]), [2, 3, 4]);
        assert_eq!(kept(&[&third, &third, &third]), [1, 2, 3]);
    }

    #[test]
    fn answers_are_kept_for_some_minutes() {
        let (mut cache, start) = (Cache::default(), Instant::now());
        for to in 1..=5 {
            cache.add(scope(to), start, Arc::default());
        }
        let has = |all: &Cache, to, at| all.get(&scope(to), at).is_some();
        assert_eq!([1, 2, 5].map(|to| has(&cache, to, start)), [false, true, true]);
        assert!(!has(&cache, 5, start + MAX_AGE));
        cache.add(scope(2), start + MAX_AGE, Arc::default());
        assert!(has(&cache, 2, start + MAX_AGE) && has(&cache, 3, start));
    }
}
