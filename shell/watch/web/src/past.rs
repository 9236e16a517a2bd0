//! What the page shows of the past, and who reads it: never the thread that serves.
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
    /// Its number in this history.
    pub id: u32,
    /// The target's name.
    pub target: String,
    /// How it is asked.
    pub probe: String,
    /// What its values are.
    pub unit: Unit,
}

/// Something that happened at a time.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// When it began.
    pub at: WallTime,
    /// When it ended.
    pub until: Option<WallTime>,
    /// Of which series; `None` of the host or all.
    pub series: Option<u32>,
    /// What kind it is, in a word.
    pub kind: String,
    /// What happened, in words.
    pub text: String,
    /// Its size.
    pub value: Option<f64>,
}

/// A reader of the history. An error is one line for a person.
pub trait Past: Send {
    /// All series.
    fn series(&mut self) -> Result<Vec<Series>, String>;
    /// At most `count` columns that cover a range.
    fn columns(&mut self, series: u32, span: Range<WallTime>, count: usize) -> Result<Vec<Column>, String>;
    /// The same of many series.
    fn overview(
        &mut self,
        all: &[u32],
        span: Range<WallTime>,
        count: usize,
    ) -> Result<Vec<Vec<Column>>, String>;
    /// Every sample of a range, in the order of time.
    fn samples(&mut self, series: u32, span: Range<WallTime>) -> Result<Vec<Stored>, String>;
    /// What happened in a range.
    fn events(&mut self, span: Range<WallTime>) -> Result<Vec<Event>, String>;
}

/// Opens a reader.
pub type OpenPast = dyn Fn() -> Result<Box<dyn Past>, String> + Send + Sync;

/// Queries at a time: more would only wait for the same disk and CPUs.
pub(crate) const MAX_READERS: usize = 3;

/// Readers that are kept open, each used by one thread at a time.
pub(crate) struct Pool {
    open: Box<OpenPast>,
    idle: Mutex<Vec<Box<dyn Past>>>,
    places: Semaphore,
}

impl Pool {
    pub(crate) fn new(open: Box<OpenPast>) -> Self {
        Pool { open, idle: Mutex::default(), places: Semaphore::new(MAX_READERS) }
    }

    /// Runs a query on a thread of its own, when there is one.
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

    /// Runs a query on this thread. A reader that failed is not kept: the next is opened anew.
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
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the query was broken off: try again")
}

/// The history could not be read.
pub(crate) fn unread(why: String) -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, format!("the history cannot be read: {why}"))
}
