//! The current series of a watch.
use crate::live::LiveState;
use crate::report::SeriesSlot;
use fathom_watch_plan::TargetNow;
use fathom_watch_samples::Unit;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The target name of this host's own series.
pub const THIS_HOST: &str = "this host";

/// A series that the plan defines.
#[derive(Clone, Debug)]
pub(crate) struct PlannedSeries {
    pub(crate) slot: SeriesSlot,
    pub(crate) target: String,
    pub(crate) probe: String,
    pub(crate) unit: Unit,
    /// Its displayed state; `None` for series that belong to no target.
    pub(crate) now: Option<TargetNow>,
}

/// The series by slot: written by the thread that reads the plan, read by the history writer.
#[derive(Clone, Default, Debug)]
pub(crate) struct Register {
    series: Arc<Mutex<BTreeMap<SeriesSlot, PlannedSeries>>>,
}

impl Register {
    pub(crate) fn open(&self, opening: PlannedSeries) {
        self.lock().insert(opening.slot, opening);
    }
    pub(crate) fn close(&self, slot: SeriesSlot, live: &LiveState) {
        self.lock().remove(&slot);
        live.lock().close(slot);
    }
    pub(crate) fn address(&self, slot: SeriesSlot, address: IpAddr, live: &LiveState) {
        if let Some(now) = self.lock().get_mut(&slot).and_then(|o| o.now.as_mut()) {
            now.address = Some(address);
        }
        live.lock().address(slot, address);
    }
    pub(crate) fn get(&self, slot: SeriesSlot) -> Option<PlannedSeries> {
        self.lock().get(&slot).cloned()
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<SeriesSlot, PlannedSeries>> {
        self.series.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
