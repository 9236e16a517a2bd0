//! What each site uses.
use fathom_fleet_admission::{Limits, SiteName, Usage};
use fathom_web::Refusal;
use hyper::StatusCode;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests of one site at the same time, so that a stolen key cannot occupy the gateway.
const MAX_WRITES: usize = 4;
const MAX_UPLOADS: usize = 2;
const RETRY_S: u64 = 5;

/// One site.
pub(crate) struct Used {
    usage: Mutex<Usage>,
    writes: Arc<Semaphore>,
    uploads: Arc<Semaphore>,
}

impl Used {
    pub(crate) fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(crate) fn begin_write(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        permit(&self.writes)
    }
    pub(crate) fn begin_upload(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        permit(&self.uploads)
    }
}

fn permit(of: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Refusal> {
    Arc::clone(of).try_acquire_owned().map_err(|_| Refusal {
        retry_after_s: Some(RETRY_S),
        ..Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests")
    })
}

/// All sites that sent something within a day.
pub(crate) struct Sites {
    limits: Limits,
    all: Mutex<BTreeMap<SiteName, Arc<Used>>>,
}

impl Sites {
    pub(crate) fn new(limits: Limits) -> Sites {
        Sites { limits, all: Mutex::default() }
    }
    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }
    pub(crate) fn of(&self, site: &SiteName, now_ms: u64) -> Arc<Used> {
        let mut all = self.lock();
        if let Some(used) = all.get(site) {
            return Arc::clone(used);
        }
        let used = Arc::new(Used {
            usage: Mutex::new(Usage::new(&self.limits, now_ms)),
            writes: Arc::new(Semaphore::new(MAX_WRITES)),
            uploads: Arc::new(Semaphore::new(MAX_UPLOADS)),
        });
        all.insert(site.clone(), Arc::clone(&used));
        used
    }
    /// Forgets sites that are silent for a day.
    pub(crate) fn forget_idle(&self, now_ms: u64) {
        self.lock().retain(|_, used| Arc::strong_count(used) > 1 || !used.usage().is_idle(now_ms));
    }
    fn lock(&self) -> MutexGuard<'_, BTreeMap<SiteName, Arc<Used>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
