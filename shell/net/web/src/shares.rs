//! Shares of the connections, so that no client keeps others out.
//!
//! A client beyond its share replaces an earlier connection from the same address. If all places
//! are taken, a client replaces a connection of the address that has the most. A new connection is
//! therefore always served, also one that requests `/metrics`.
use crate::connections::group;
use crate::lock::lock;
use crate::reply::Refusal;
use hyper::StatusCode;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::Notify;

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 512;
/// Maximum number of connections of one address. A browser opens six, a reverse proxy some per
/// page.
const MAX_OF_ONE: usize = MAX_CONNECTIONS / 4;
/// Maximum number of streams, which last: of events, one per open page, and of samples.
const MAX_STREAMS: usize = MAX_CONNECTIONS / 2;
/// Maximum number of streams of one address.
const MAX_STREAMS_OF_ONE: usize = MAX_OF_ONE / 2;
/// Maximum number of queries in progress of one address. A browser has at most six.
const MAX_QUERIES_OF_ONE: usize = 16;
/// When a client that has too many streams should try again.
const RETRY_S: u64 = 10;

/// What a connection does. A connection that does less is closed first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doing {
    Nothing,
    Streaming,
    Querying,
}

struct Open {
    from: IpAddr,
    doing: Doing,
    since: Instant,
    close: Arc<Notify>,
}

/// The open connections.
#[derive(Default)]
pub(crate) struct Connections {
    open: Mutex<BTreeMap<u64, Open>>,
    /// Number of the next connection; never reused, because a closed one is dropped later.
    next: AtomicU64,
}

/// The place of a connection, until it is dropped.
pub(crate) struct Place {
    connections: Arc<Connections>,
    number: u64,
    /// Notified when the connection must close.
    pub(crate) close: Arc<Notify>,
}

impl Connections {
    /// Gives a new connection its place.
    pub(crate) fn admit(self: &Arc<Self>, from: IpAddr) -> Place {
        let from = group(from);
        let mut open = lock(&self.open);
        let crowded = match count(&open, from) {
            MAX_OF_ONE.. => Some(from),
            _ if open.len() >= MAX_CONNECTIONS => largest(&open),
            _ => None,
        };
        let of_crowded = open.iter().filter(|(_, one)| Some(one.from) == crowded);
        let least = of_crowded.min_by_key(|(_, one)| (one.doing, one.since)).map(|(number, _)| *number);
        if let Some(closed) = least.and_then(|number| open.remove(&number)) {
            closed.close.notify_one();
        }
        let number = self.next.fetch_add(1, Relaxed);
        let close = Arc::new(Notify::new());
        let new = Open { from, doing: Doing::Nothing, since: Instant::now(), close: Arc::clone(&close) };
        open.insert(number, new);
        Place { connections: Arc::clone(self), number, close }
    }
}

impl Place {
    /// The connection begins a query.
    pub(crate) fn query(&self) -> Result<(), Refusal> {
        let text = format!(
            "more than {MAX_QUERIES_OF_ONE} queries of your address are in progress: wait for their responses"
        );
        self.begin(Doing::Querying, MAX_QUERIES_OF_ONE, usize::MAX, StatusCode::TOO_MANY_REQUESTS, text)
    }
    /// The connection begins a stream.
    pub(crate) fn stream(&self) -> Result<(), Refusal> {
        let text = "too many pages are open: close some".into();
        let status = StatusCode::SERVICE_UNAVAILABLE;
        self.begin(Doing::Streaming, MAX_STREAMS_OF_ONE, MAX_STREAMS, status, text)
    }
    /// The response to a query is complete.
    pub(crate) fn rest(&self) {
        self.set(Doing::Nothing);
    }
    fn begin(
        &self,
        doing: Doing,
        most_of_one: usize,
        most: usize,
        status: StatusCode,
        text: String,
    ) -> Result<(), Refusal> {
        let open = lock(&self.connections.open);
        let same = || open.iter().filter(|(number, one)| **number != self.number && one.doing == doing);
        let from = open.get(&self.number).map(|own| own.from);
        let is_full =
            same().count() >= most || same().filter(|(_, one)| Some(one.from) == from).count() >= most_of_one;
        drop(open);
        if is_full {
            return Err(Refusal { retry_after_s: Some(RETRY_S), ..Refusal::new(status, text) });
        }
        self.set(doing);
        Ok(())
    }
    fn set(&self, doing: Doing) {
        if let Some(own) = lock(&self.connections.open).get_mut(&self.number) {
            (own.doing, own.since) = (doing, Instant::now());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.connections.open).remove(&self.number);
    }
}

fn count(open: &BTreeMap<u64, Open>, from: IpAddr) -> usize {
    open.values().filter(|one| one.from == from).count()
}

/// The address with the most connections.
fn largest(open: &BTreeMap<u64, Open>) -> Option<IpAddr> {
    let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
    open.values().for_each(|one| *counts.entry(one.from).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(from, _)| from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(number: usize) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + number as u32))
    }

    fn is_open(place: &Place) -> bool {
        lock(&place.connections.open).contains_key(&place.number)
    }

    #[test]
    fn an_address_beyond_its_share_replaces_its_own_connection_that_does_least() {
        let connections = Arc::new(Connections::default());
        let other = connections.admit(address(1));
        let own: Vec<Place> = (0..MAX_OF_ONE).map(|_| connections.admit(address(2))).collect();
        own[0].query().unwrap();
        own[1].stream().unwrap();
        let more: Vec<Place> = (0..3).map(|_| connections.admit(address(2))).collect();
        assert!(is_open(&other) && more.iter().all(is_open));
        let closed: Vec<usize> = (0..own.len()).filter(|n| !is_open(&own[*n])).collect();
        assert_eq!(closed, [2, 3, 4]);
    }

    #[test]
    fn a_newcomer_replaces_a_connection_of_the_largest_address() {
        let connections = Arc::new(Connections::default());
        let of = |count: usize, number| -> Vec<Place> {
            (0..count).map(|_| connections.admit(address(number))).collect()
        };
        let mut all: Vec<Vec<Place>> = (0..4).map(|number| of(MAX_OF_ONE - 1, number)).collect();
        all.push(of(4, 9));
        let newcomer = connections.admit(address(10));
        assert!(is_open(&newcomer) && all[4].iter().all(is_open));
        assert_eq!(lock(&connections.open).len(), MAX_CONNECTIONS);
        drop(all);
        assert_eq!(lock(&connections.open).len(), 1);
    }

    #[test]
    fn a_closed_connection_that_is_dropped_late_takes_no_other_place() {
        let connections = Arc::new(Connections::default());
        let closed = connections.admit(address(1));
        lock(&connections.open).remove(&closed.number);
        let next = connections.admit(address(1));
        drop(closed);
        assert!(is_open(&next));
    }

    #[test]
    fn streams_and_queries_have_shares() {
        let connections = Arc::new(Connections::default());
        let places: Vec<Place> = (0..MAX_OF_ONE).map(|_| connections.admit(address(1))).collect();
        let streams = places.iter().filter(|place| place.stream().is_ok()).count();
        assert_eq!(streams, MAX_STREAMS_OF_ONE);
        let queries = places[MAX_STREAMS_OF_ONE..].iter().filter(|place| place.query().is_ok()).count();
        assert_eq!(queries, MAX_QUERIES_OF_ONE);
        places[MAX_STREAMS_OF_ONE].rest();
        places[MAX_OF_ONE - 1].query().unwrap();
        connections.admit(address(2)).stream().unwrap();
    }
}
