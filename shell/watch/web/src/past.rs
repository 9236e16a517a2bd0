//! Historical data, which is never read by the serving thread.
use crate::guard::lock;
use crate::reply::Refusal;
use fathom_units::WallTime;
use fathom_watch_samples::{Column, Stored, Unit};
use hyper::StatusCode;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// A series of the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Series {
    /// Number of the series in this history.
    pub id: u32,
    /// The target's name.
    pub target: String,
    /// The probe.
    pub probe: String,
    /// The unit of the values.
    pub unit: Unit,
}

/// An event.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Start time.
    pub at: WallTime,
    /// End time.
    pub until: Option<WallTime>,
    /// The series; `None` for the host or all series.
    pub series: Option<u32>,
    /// The kind, in one word.
    pub kind: String,
    /// Description.
    pub text: String,
    /// Its size.
    pub value: Option<f64>,
}

/// A reader of the history. Errors are one line for people.
pub trait Past: Send {
    /// All series.
    fn series(&mut self) -> Result<Vec<Series>, String>;
    /// At most `count` columns of a period.
    fn columns(&mut self, series: u32, span: Range<WallTime>, count: usize) -> Result<Vec<Column>, String>;
    /// Columns of many series.
    fn overview(
        &mut self,
        all: &[u32],
        span: Range<WallTime>,
        count: usize,
    ) -> Result<Vec<Vec<Column>>, String>;
    /// Every sample of a period, in order of time.
    fn samples(&mut self, series: u32, span: Range<WallTime>) -> Result<Vec<Stored>, String>;
    /// Events of a period.
    fn events(&mut self, span: Range<WallTime>) -> Result<Vec<Event>, String>;
}

/// Opens a reader.
pub type OpenPast = dyn Fn() -> Result<Box<dyn Past>, String> + Send + Sync;

/// Maximum concurrent queries: more would only wait for the same disk and CPUs.
pub(crate) const MAX_READERS: usize = 3;

/// Pool of open readers, each used by one thread at a time.
pub(crate) struct Pool {
    open: Box<OpenPast>,
    idle: Mutex<Vec<Box<dyn Past>>>,
    places: Semaphore,
}

impl Pool {
    pub(crate) fn new(open: Box<OpenPast>) -> Self {
        Pool { open, idle: Mutex::default(), places: Semaphore::new(MAX_READERS) }
    }

    /// Runs a query on a thread of the pool when one is available.
    pub(crate) async fn ask<T, F>(self: &Arc<Self>, query: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Past) -> Result<T, Refusal> + Send + 'static,
    {
        // The semaphore is never closed.
        let place = self.places.acquire().await.map_err(|_| gone())?;
        let pool = Arc::clone(self);
        let answer = tokio::task::spawn_blocking(move || pool.run(query)).await;
        drop(place);
        answer.unwrap_or_else(|_| Err(gone()))
    }

    /// Runs a query on this thread. After a failure the reader is dropped and a new one is opened
    /// next time.
    pub(crate) fn run<T>(
        &self,
        query: impl FnOnce(&mut dyn Past) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let reader = lock(&self.idle).pop();
        let mut reader = match reader {
            Some(reader) => reader,
            None => (self.open)().map_err(unread)?,
        };
        let answer = query(reader.as_mut());
        if !matches!(&answer, Err(refusal) if refusal.status.is_server_error()) {
            lock(&self.idle).push(reader);
        }
        answer
    }
}

fn gone() -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the query was aborted: try again")
}

/// The error for a history that could not be read.
pub(crate) fn unread(why: String) -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, format!("the history cannot be read: {why}"))
}
