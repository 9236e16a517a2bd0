//! Maps series of the history to exported metrics.
use fathom_run::is_local_host;
use fathom_watch_metrics::{HostGauge, TestGauge};
use fathom_watch_plan::{Plan, is_of_test};
use fathom_watch_samples::Unit;
use fathom_watch_store::SeriesKey;
use std::collections::BTreeMap;

/// Group and host of each target and probe of a plan; the history does not store them.
#[derive(Clone, Default, Debug)]
pub struct Names {
    this_host: String,
    targets: BTreeMap<(String, String), (String, String)>,
}

/// How a series is exported.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Role<'k> {
    /// Delays of a target: a histogram and counters.
    Target,
    /// A gauge of a test.
    Test(TestGauge),
    /// A gauge of this host.
    Host(HostGauge<'k>),
}

impl Names {
    /// The names of a plan. `this_host` is the target name of this host's own series.
    #[must_use]
    pub fn of(plan: &Plan, this_host: &str) -> Names {
        let hides = plan.hides_local_addresses();
        let each = plan.targets.iter().flat_map(|target| {
            // An empty label is none.
            let host = if hides && is_local_host(&target.host) { String::new() } else { target.host.clone() };
            let names = (target.group.clone(), host);
            target.series().into_iter().map(move |probe| ((target.name.clone(), probe), names.clone()))
        });
        Names { this_host: this_host.to_owned(), targets: each.collect() }
    }
    /// Group and host; `None` for a series that left the plan.
    pub(crate) fn get(&self, key: &SeriesKey) -> Option<&(String, String)> {
        self.targets.get(&(key.target.clone(), key.probe.clone()))
    }
    pub(crate) fn is_this_host(&self, key: &SeriesKey) -> bool {
        key.target == self.this_host
    }
    /// `None` for series that are not exported.
    pub(crate) fn role<'k>(&self, key: &'k SeriesKey) -> Option<Role<'k>> {
        if self.is_this_host(key) {
            return HostGauge::of(&key.probe).map(Role::Host);
        }
        if is_of_test(&key.probe) {
            return TestGauge::of(&key.probe).map(Role::Test);
        }
        (key.unit == Unit::Seconds).then_some(Role::Target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_devices_do_not_leave_a_site() {
        let targets =
            "[[target]]\nname = 'nas'\nhost = '192.168.1.5'\n[[target]]\nname = 'far'\nhost = '192.0.2.1'\n";
        let host = |site: &str, target: &str| {
            let plan = fathom_watch_plan::parse(&format!("{site}{targets}"), "watch.toml").unwrap();
            let key = SeriesKey { target: target.into(), probe: "icmp".into(), unit: Unit::Seconds };
            Names::of(&plan, "this host").get(&key).unwrap().1.clone()
        };
        let site = "[site]\nname = 'a'\n";
        let allowed = "[site]\nname = 'a'\nlocal_addresses = true\n";
        assert_eq!((host(site, "nas").as_str(), host(site, "far").as_str()), ("", "192.0.2.1"));
        assert_eq!(host(allowed, "nas"), "192.168.1.5");
        assert_eq!(host("", "nas"), "192.168.1.5", "no fleet");
    }
}
