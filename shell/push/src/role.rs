//! What a series of the history is called elsewhere.
use fathom_exposition::Family;
use fathom_history::Unit;
use fathom_store::history::SeriesKey;
use fathom_watch::Plan;
use std::collections::BTreeMap;

/// Group and host of each target and probe of a plan, which the history does not keep.
#[derive(Clone, Default, Debug)]
pub struct Names {
    this_host: String,
    targets: BTreeMap<(String, String), (String, String)>,
}

/// What a series is told as.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Role {
    /// Delays of a target: a histogram and counters.
    Target,
    /// Something of this host: a gauge with one label.
    Host { family: &'static Family, label: (&'static str, String), take: Take },
}

/// What stands for many levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Take {
    Mean,
    Most,
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
    pub(crate) fn role(&self, key: &SeriesKey) -> Option<Role> {
        if !self.is_this_host(key) {
            return (key.unit == Unit::Seconds).then_some(Role::Target);
        }
        if let Some(thread) = key.probe.strip_prefix("lateness of ") {
            let label = ("thread", thread.to_owned());
            return Some(Role::Host { family: &Family::LATENESS, label, take: Take::Most });
        }
        let (interface, part) = key.probe.rsplit_once(' ')?;
        let (family, take) = match part {
            "received" => (&Family::RECEIVED, Take::Mean),
            "sent" => (&Family::SENT, Take::Mean),
            "backlog" => (&Family::BACKLOG, Take::Most),
            _ => return None,
        };
        Some(Role::Host { family, label: ("interface", interface.to_owned()), take })
    }
}
