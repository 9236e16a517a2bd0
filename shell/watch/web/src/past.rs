//! Historical data, which is never read by the serving thread.
use fathom_units::WallTime;
use fathom_watch_samples::{Column, Stored, Unit};
use fathom_web::{Refusal, lock};
use hyper::StatusCode;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

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
    /// A lower bound, from `from` on, of the time of the next sample; `None` if there is none.
    fn next(&mut self, series: u32, from: WallTime) -> Result<Option<WallTime>, String>;
    /// Events of a period.
    fn events(&mut self, span: Range<WallTime>) -> Result<Vec<Event>, String>;
    /// Ends the following reads with an error once `stop` is set.
    fn stop_when(&mut self, stop: Arc<AtomicBool>);
}

/// Opens a reader.
pub type OpenPast = dyn Fn() -> Result<Box<dyn Past>, String> + Send + Sync;

/// Maximum concurrent queries: more would only wait for the same disk and CPUs.
pub(crate) const MAX_READERS: usize = 3;
/// Maximum time that a query waits for others.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Maximum duration of a query. The widest plot of a year takes less than a second.
const MAX_QUERY: Duration = Duration::from_secs(60);

/// Pool of open readers, each used by one thread at a time.
pub(crate) struct Pool {
    open: Box<OpenPast>,
    idle: Mutex<Vec<Box<dyn Past>>>,
    places: Arc<Semaphore>,
}

/// Ends a query when nobody waits for it any more.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

impl Pool {
    pub(crate) fn new(open: Box<OpenPast>) -> Self {
        Pool { open, idle: Mutex::default(), places: Arc::new(Semaphore::new(MAX_READERS)) }
    }

    /// Runs a query on a thread of the pool when one is available. If the result is dropped, as
    /// when the client disconnects, the query ends.
    pub(crate) async fn ask<T, F>(self: &Arc<Self>, query: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Past) -> Result<T, Refusal> + Send + 'static,
    {
        self.ask_parallel(|past, _| query(past)).await
    }

    /// As [`Pool::ask`], for a query that runs parts of itself on other threads.
    pub(crate) async fn ask_parallel<T, F>(self: &Arc<Self>, query: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Past, &Readers<'_>) -> Result<T, Refusal> + Send + 'static,
    {
        let waited = timeout(MAX_WAIT, Arc::clone(&self.places).acquire_owned()).await;
        // The semaphore is never closed.
        let place = waited.map_err(|_| busy())?.map_err(|_| gone())?;
        let (pool, stop) = (Arc::clone(self), StopOnDrop::default());
        let stopped = Arc::clone(&stop.0);
        let task = tokio::task::spawn_blocking(move || {
            // The place is free when the thread is, even if nobody waits for it any more.
            let _place = place;
            let readers = Readers { pool: &pool, stop: &stopped };
            readers.run(|past| query(past, &readers))
        });
        let done = timeout(MAX_QUERY, task).await.map_err(|_| long())?;
        done.unwrap_or_else(|_| Err(gone()))
    }
}

/// The readers of one query.
pub(crate) struct Readers<'a> {
    pool: &'a Pool,
    /// Ends the query when it is set.
    stop: &'a Arc<AtomicBool>,
}

impl Readers<'_> {
    /// Reads on this thread. After a failure the reader is dropped and a new one is opened next
    /// time.
    pub(crate) fn run<T>(
        &self,
        query: impl FnOnce(&mut dyn Past) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let reader = lock(&self.pool.idle).pop();
        let mut reader = match reader {
            Some(reader) => reader,
            None => (self.pool.open)().map_err(unread)?,
        };
        reader.stop_when(Arc::clone(self.stop));
        let answer = query(reader.as_mut());
        if !matches!(&answer, Err(refusal) if refusal.status.is_server_error()) {
            lock(&self.pool.idle).push(reader);
        }
        answer
    }
}

fn busy() -> Refusal {
    let text = format!("other queries took longer than {} s: try again", MAX_WAIT.as_secs());
    Refusal::later(text, MAX_WAIT.as_secs())
}

fn long() -> Refusal {
    let text = format!("the query took longer than {} s: try a shorter range", MAX_QUERY.as_secs());
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text)
}

fn gone() -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the query was aborted: try again")
}

/// The error for a history that could not be read.
pub(crate) fn unread(why: String) -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, format!("the history cannot be read: {why}"))
}
