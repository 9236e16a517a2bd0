//! State shared by all request handlers.
use crate::hub::Hub;
use crate::now::{Live, TestResult};
use crate::overview::OverviewCache;
use crate::past::Pool;
use crate::range::Range;
use fathom_watch_plan::{OwnTrouble, TargetNow};
use fathom_web::Refusal;
use hyper::StatusCode;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Semaphore;

/// State shared by all request handlers.
pub(crate) struct App {
    pub(crate) live: Arc<dyn Live>,
    pub(crate) past: Arc<Pool>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) cache: Arc<Mutex<OverviewCache>>,
    /// Held by the thread that reads result files.
    pub(crate) files: Arc<Semaphore>,
}

impl App {
    /// Speed tests that were made in a range.
    pub(crate) async fn results(&self, range: Range) -> Result<Vec<TestResult>, Refusal> {
        let walls = range.walls();
        self.read_file(move |live| live.results(walls.start, walls.end)).await
    }

    /// Runs a query that reads result files, one at a time: the other threads stay free.
    pub(crate) async fn read_file<T: Send + 'static>(
        &self,
        query: impl FnOnce(&dyn Live) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        // The semaphore is never closed.
        let place = Arc::clone(&self.files).acquire_owned().await.map_err(|_| broken())?;
        let live = Arc::clone(&self.live);
        let task = tokio::task::spawn_blocking(move || {
            let _place = place;
            query(live.as_ref())
        });
        task.await.map_err(|_| broken())
    }

    /// The current state of the targets.
    pub(crate) async fn targets(&self) -> Result<Vec<TargetNow>, Refusal> {
        self.now().await.map(|(targets, _)| targets)
    }

    /// The current state of the targets, and problems of the program itself.
    pub(crate) async fn now(&self) -> Result<(Vec<TargetNow>, Vec<OwnTrouble>), Refusal> {
        let live = Arc::clone(&self.live);
        let now = move || (live.targets(), live.own().troubles);
        tokio::task::spawn_blocking(now).await.map_err(|_| broken())
    }
}

/// Nanoseconds since 1970.
pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn broken() -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: try again")
}
