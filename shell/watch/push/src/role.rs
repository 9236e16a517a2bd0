//! What a series of the history is called elsewhere.
use fathom_watch_metrics::HostGauge;
use fathom_watch_plan::Plan;
use fathom_watch_samples::Unit;
use fathom_watch_store::SeriesKey;
use std::collections::BTreeMap;

/// Group and host of each target and probe of a plan, which the history does not keep.
#[derive(Clone, Default, Debug)]
pub struct Names {
    this_host: String,
    targets: BTreeMap<(String, String), (String, String)>,
}

/// What a series is told as.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Role<'k> {
    /// Delays of a target: a histogram and counters.
    Target,
    /// Something of this host.
    Host(HostGauge<'k>),
}

impl Names {
    /// Those of a plan. `this_host` is the target under which this host's own state is kept.
    #[must_use]
    pub fn of(plan: &Plan, this_host: &str) -> Names {
        let each = plan.targets.iter().flat_map(|target| {
            let names = (target.group.clone(), target.host.clone());
            target.series().into_iter().map(move |probe| ((target.name.clone(), probe), names.clone()))
        });
        Names { this_host: this_host.to_owned(), targets: each.collect() }
    }
    /// Group and host; `None` for a series that is in the plan no more.
    pub(crate) fn get(&self, key: &SeriesKey) -> Option<&(String, String)> {
        self.targets.get(&(key.target.clone(), key.probe.clone()))
    }
    pub(crate) fn is_this_host(&self, key: &SeriesKey) -> bool {
        key.target == self.this_host
    }
    /// `None` for what has no name elsewhere.
    pub(crate) fn role<'k>(&self, key: &'k SeriesKey) -> Option<Role<'k>> {
        if self.is_this_host(key) {
            return HostGauge::of(&key.probe).map(Role::Host);
        }
        (key.unit == Unit::Seconds).then_some(Role::Target)
    }
}
