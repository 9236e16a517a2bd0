//! Places of connections to the web server.
use crate::shares::{Held, NoPlace, Prefix, Shares, place_to_free};
use crate::stats::Refusal;
use crate::sync::lock;
use fathom_units::{Duration, Time};
use portable_atomic::AtomicU64;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A connection without a request for this long may be closed for another.
const IDLE_GRACE: Duration = Duration::from_secs(1);
/// The same before its first request, which on a bloated link may take several round trips of
/// seconds.
const FIRST_GRACE: Duration = Duration::from_secs(15);

/// All places.
pub(super) struct Places(Mutex<Open>);

struct Open {
    shares: Shares,
    held: HashMap<u64, Holder>,
    /// Number of the next place; never reused, because a closed connection is dropped later.
    next: u64,
}

struct Holder {
    client: IpAddr,
    since: Time,
    activity: Arc<Activity>,
    close: Arc<Notify>,
}

/// What a connection does.
#[derive(Default)]
pub(super) struct Activity {
    /// When it last made progress, in nanoseconds.
    progress: AtomicU64,
    /// Requests in progress.
    requests: AtomicU32,
    /// Whether there was one.
    has_begun: AtomicBool,
}

/// A request in progress, until it is dropped.
pub(super) struct Running(Arc<Activity>);

impl Activity {
    pub(super) fn set_progress(&self, now: Time) {
        self.progress.store(now.as_nanos(), Relaxed);
    }
    pub(super) fn since_progress(&self, now: Time) -> Duration {
        now.saturating_since(Time::from_nanos(self.progress.load(Relaxed)))
    }
    pub(super) fn run(self: &Arc<Self>) -> Running {
        self.requests.fetch_add(1, Relaxed);
        self.has_begun.store(true, Relaxed);
        Running(Arc::clone(self))
    }
    /// Whether no request is in progress.
    pub(super) fn is_alone(&self) -> bool {
        self.requests.load(Relaxed) == 0
    }
    fn is_idle(&self, now: Time) -> bool {
        let grace = if self.has_begun.load(Relaxed) { IDLE_GRACE } else { FIRST_GRACE };
        self.requests.load(Relaxed) == 0 && self.since_progress(now) > grace
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Relaxed);
    }
}

/// The place of a connection, until it is dropped.
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    /// Notified when the connection must close.
    pub(super) close: Arc<Notify>,
}

impl Places {
    pub(super) fn new(most: u32) -> Places {
        Places(Mutex::new(Open { shares: Shares::new(most), held: HashMap::new(), next: 0 }))
    }
    /// A place for a connection of `client`. If there is none, another connection may be closed:
    /// then its client is returned, too.
    pub(super) fn take(
        self: &Arc<Self>,
        client: IpAddr,
        activity: &Arc<Activity>,
        now: Time,
    ) -> Result<(Place, Option<IpAddr>), Refusal> {
        let mut open = lock(&self.0);
        let replaced = match open.shares.check(client) {
            Ok(()) => None,
            Err(NoPlace::Share(prefix, _)) => {
                Some(open.replace_idle(prefix, now).ok_or(Refusal::ConnectionShare)?)
            }
            Err(NoPlace::Full) => Some(open.replace(client, now).ok_or(Refusal::Connections)?),
        };
        let (number, close) = (open.next, Arc::new(Notify::new()));
        open.next += 1;
        open.shares.take(client);
        let holder = Holder { client, since: now, activity: Arc::clone(activity), close: Arc::clone(&close) };
        open.held.insert(number, holder);
        Ok((Place { places: Arc::clone(self), number, close }, replaced))
    }
}

impl Open {
    /// Frees a place for `client`, if one may be freed; returns whose it was.
    fn replace(&mut self, client: IpAddr, now: Time) -> Option<IpAddr> {
        let held = self.held.iter().map(|(number, holder)| Held {
            key: *number,
            of_network: self.shares.of_network(holder.client),
            is_idle: holder.activity.is_idle(now),
            is_due: false,
            since: holder.since.as_nanos(),
        });
        self.free(place_to_free(held, self.shares.of_network(client))?)
    }
    /// Frees the place of the oldest idle connection of a host or network. Clients of
    /// networkQuality open connections faster than they close them.
    fn replace_idle(&mut self, prefix: Prefix, now: Time) -> Option<IpAddr> {
        let is_within = |client| [Prefix::host(client), Prefix::network(client)].contains(&prefix);
        let own =
            self.held.iter().filter(|(_, holder)| is_within(holder.client) && holder.activity.is_idle(now));
        let number = own.min_by_key(|(_, holder)| holder.since).map(|(number, _)| *number)?;
        self.free(number)
    }
    fn free(&mut self, number: u64) -> Option<IpAddr> {
        let holder = self.held.remove(&number)?;
        self.shares.release(holder.client);
        holder.close.notify_one();
        Some(holder.client)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = lock(&self.places.0);
        if let Some(holder) = open.held.remove(&self.number) {
            open.shares.release(holder.client);
        }
    }
}
