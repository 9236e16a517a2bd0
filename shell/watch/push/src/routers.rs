//! The routers on the paths to targets, which the history does not store.
use crate::feed::NANOS_PER_MILLI;
use fathom_units::WallTime;
use fathom_watch_plan::RouterNow;
use fathom_watch_store::SeriesKey;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The routers that are known now and may leave this host.
pub type Routers = Arc<dyn Fn() -> Vec<RouterNow> + Send + Sync>;

/// The router of a series.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Router {
    pub(crate) address: String,
    /// Since when this is the address of the hop, in milliseconds since 1970-01-01 UTC. Earlier
    /// points may have had another router, so they have none: after an outage, half an hour or days
    /// are sent at once, and the path may have changed since.
    pub(crate) since_ms: u64,
}

/// The routers at one moment, by target and probe.
#[derive(Clone, Default, Debug)]
pub(crate) struct KnownRouters(BTreeMap<(String, String), Router>);

impl KnownRouters {
    pub(crate) fn at(now: WallTime, all: Vec<RouterNow>) -> KnownRouters {
        let one = |RouterNow { target, probe, address, known_for }: RouterNow| {
            let since_ms = now.0.saturating_sub(known_for.as_nanos()).div_ceil(NANOS_PER_MILLI);
            ((target, probe), Router { address: address.to_string(), since_ms })
        };
        KnownRouters(all.into_iter().map(one).collect())
    }
    pub(crate) fn get(&self, key: &SeriesKey) -> Option<&Router> {
        self.0.get(&(key.target.clone(), key.probe.clone()))
    }
}
