//! What a gateway reports.
use fathom_fleet_admission::SiteName;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Events that wait to be read; more are dropped.
const MAX_WAITING: usize = 1_024;
/// An event of a site is reported once in this time.
const EVERY_MS: u64 = 600_000;
/// Sites whose events are remembered.
const MAX_REPORTED: usize = 10_000;

/// Something that an operator should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// A site was enrolled.
    Enrolled(SiteName),
    /// A key was used that had been replaced: two machines have the identity of the site.
    Duplicate(SiteName),
    /// A request of a site was rejected, with the reason.
    Rejected(SiteName, String),
    /// The engine does not take requests, with the reason.
    EngineDown(String),
    /// The engine takes requests again.
    EngineUp,
    /// The registry cannot be read or written, with the reason.
    State(String),
    /// Objects cannot be stored, with the reason.
    Objects(String),
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventKind::Enrolled(site) => write!(f, "site {site} was enrolled"),
            EventKind::Duplicate(site) => {
                write!(f, "site {site}: two machines use its identity; the one with the older key is refused")
            }
            EventKind::Rejected(site, why) => write!(f, "site {site}: {why}"),
            EventKind::EngineDown(why) => write!(f, "the engine is not accepting data: {why}"),
            EventKind::EngineUp => f.write_str("the engine accepts data again"),
            EventKind::State(why) => f.write_str(why),
            EventKind::Objects(why) => write!(f, "cannot store objects: {why}"),
        }
    }
}

/// Collects events.
pub(crate) struct Events {
    sender: SyncSender<Event>,
    receiver: Mutex<Receiver<Event>>,
    /// When the last event of a kind was reported about a site.
    reported: Mutex<BTreeMap<(u8, SiteName), u64>>,
}

impl Events {
    pub(crate) fn new() -> Events {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        Events { sender, receiver: Mutex::new(receiver), reported: Mutex::default() }
    }
    /// Reports an event. Those of a site that agents could repeat are reported at most every ten
    /// minutes.
    pub(crate) fn report(&self, kind: EventKind, now_ms: u64) {
        let repeated = match &kind {
            EventKind::Duplicate(site) => Some((0, site.clone())),
            EventKind::Rejected(site, _) => Some((1, site.clone())),
            _ => None,
        };
        if repeated.is_some_and(|key| !self.is_due(key, now_ms)) {
            return;
        }
        match self.sender.try_send(Event { at_ms: now_ms, kind }) {
            // Nobody reads them.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
    fn is_due(&self, key: (u8, SiteName), now_ms: u64) -> bool {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |at: &u64| now_ms.saturating_sub(*at) < EVERY_MS;
        if reported.get(&key).is_some_and(is_recent) {
            return false;
        }
        if reported.len() >= MAX_REPORTED {
            reported.retain(|_, at| is_recent(at));
        }
        if reported.len() < MAX_REPORTED {
            reported.insert(key, now_ms);
        }
        true
    }
    /// The next event.
    pub(crate) fn next(&self, limit: Duration) -> Option<Event> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        receiver.recv_timeout(limit).ok()
    }
}
