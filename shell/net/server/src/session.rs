//! Open sessions and their usage.
use crate::flow::Flow;
use crate::shares::{Held, NoPlace, Shares, place_to_free};
use crate::sync::{lock, wait_until};
use fathom_probe::Download;
use fathom_probe::protocol::{ErrorCode, FlowReport, SessionId, SessionKey, Ticket};
use fathom_units::{Duration, Time};
use portable_atomic::AtomicU64;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};

/// A session without activity for this long may be ended for another client. The phase of a test
/// without load takes less, and probes count as activity.
const IDLE_GRACE: Duration = Duration::from_secs(10);
/// Time that each client is granted if others wait: that of a test with all phases.
const GRANTED: Duration = Duration::from_secs(120);

/// The open sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    open: Mutex<Open>,
    changed: Condvar,
}

#[derive(Debug)]
struct Open {
    /// Also those that were replaced and are about to end.
    by_id: HashMap<SessionId, Arc<Session>>,
    /// Places of sessions that were not replaced.
    shares: Shares,
}

impl Sessions {
    pub(crate) fn new(most: u32) -> Sessions {
        let open = Open { by_id: HashMap::new(), shares: Shares::new(most) };
        Sessions { open: Mutex::new(open), changed: Condvar::new() }
    }
    /// Adds a session. If all places are held, one may be replaced: its thread then ends it.
    pub(crate) fn insert(&self, session: &Arc<Session>, now: Time) -> Result<(), NoPlace> {
        let mut open = lock(&self.open);
        match open.shares.check(session.client) {
            Ok(()) => {}
            Err(NoPlace::Full) => open.replace(session.client, now).ok_or(NoPlace::Full)?,
            Err(share) => return Err(share),
        }
        open.shares.take(session.client);
        open.by_id.insert(session.id, Arc::clone(session));
        Ok(())
    }
    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        lock(&self.open).by_id.get(&id).cloned()
    }
    /// Whether a client has an open session.
    pub(crate) fn has(&self, client: IpAddr) -> bool {
        lock(&self.open).by_id.values().any(|session| session.client == client)
    }
    pub(crate) fn remove(&self, id: SessionId) {
        let mut open = lock(&self.open);
        if let Some(session) = open.by_id.remove(&id)
            && !session.is_replaced()
        {
            open.shares.release(session.client);
        }
        drop(open);
        self.changed.notify_all();
    }
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(lock(&self.open).by_id.len()).unwrap_or(u32::MAX)
    }
    /// Sessions other than `id` that have load.
    pub(crate) fn others_with_load(&self, id: SessionId) -> u32 {
        let open = lock(&self.open);
        let others = open.by_id.values().filter(|s| s.id != id && s.has_load.load(Relaxed));
        u32::try_from(others.count()).unwrap_or(u32::MAX)
    }
    pub(crate) fn wait_until_empty(&self, patience: Duration) {
        wait_until(&self.open, &self.changed, patience, |open| open.by_id.is_empty());
    }
}

impl Open {
    /// Frees a place for `client`, if one may be freed.
    fn replace(&mut self, client: IpAddr, now: Time) -> Option<()> {
        let held = self.by_id.values().filter(|session| !session.is_replaced()).map(|session| Held {
            key: session.id,
            of_network: self.shares.of_network(session.client),
            is_idle: now.saturating_since(session.active()) >= IDLE_GRACE,
            is_due: now.saturating_since(session.since) >= GRANTED,
            since: session.since.as_nanos(),
        });
        let replaced = self.by_id.get(&place_to_free(held, self.shares.of_network(client))?)?;
        replaced.is_replaced.store(true, Relaxed);
        self.shares.release(replaced.client);
        Some(())
    }
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The client's address on the control connection.
    pub(crate) client: IpAddr,
    /// Authenticates its flows and probes, if the server requires a token.
    pub(crate) key: Option<SessionKey>,
    /// The server's address on the control connection. UDP replies use it as source, whatever the
    /// routing table says.
    pub(crate) local: SocketAddr,
    pub(crate) since: Time,
    /// When the client last did something, in nanoseconds; set by the session's thread.
    active: AtomicU64,
    is_replaced: AtomicBool,
    /// Whether load was transferred just now; set by the session's thread.
    pub(crate) has_load: AtomicBool,
    pub(crate) probes: ProbeRate,
    flows: Mutex<Flows>,
    flow_ended: Condvar,
    /// Bytes transferred, and how many may be, which its thread sets.
    moved: AtomicU64,
    may_move: AtomicU64,
    /// Totals of finished flows.
    pub(crate) up_bytes: AtomicU64,
    pub(crate) down_bytes: AtomicU64,
    pub(crate) udp_received: AtomicU64,
    /// Datagrams of applications.
    pub(crate) application_received: AtomicU64,
    /// UDP probes by the class of their replies.
    pub(crate) received_in_class: [AtomicU64; 256],
    pub(crate) udp_refused: AtomicU64,
}

/// Limits the UDP probes of a session, so that it cannot delay those of others.
#[derive(Default, Debug)]
pub(crate) struct ProbeRate {
    second: AtomicU64,
    admitted: AtomicU64,
}

impl ProbeRate {
    /// Probes in a second, at most: fifty times as many as a test sends.
    const PER_SECOND: u64 = 5_000;

    /// Whether a probe that arrived at `at` is within the limit. Only the echo thread calls this.
    pub(crate) fn admit(&self, at: Time) -> bool {
        let second = at.as_nanos() / 1_000_000_000;
        if self.second.swap(second, Relaxed) != second {
            self.admitted.store(0, Relaxed);
        }
        self.admitted.fetch_add(1, Relaxed) < ProbeRate::PER_SECOND
    }
}

#[derive(Default, Debug)]
struct Flows {
    open: BTreeMap<u32, Arc<Flow>>,
    /// The session has ended: no flow may start.
    ended: bool,
}

impl Session {
    pub(crate) fn new(ticket: Ticket, client: IpAddr, local: SocketAddr, now: Time) -> Self {
        Session {
            id: ticket.id,
            key: ticket.key,
            client,
            local,
            since: now,
            active: AtomicU64::new(now.as_nanos()),
            is_replaced: AtomicBool::new(false),
            has_load: AtomicBool::new(false),
            probes: ProbeRate::default(),
            flows: Mutex::default(),
            flow_ended: Condvar::new(),
            moved: AtomicU64::new(0),
            may_move: AtomicU64::new(0),
            up_bytes: AtomicU64::new(0),
            down_bytes: AtomicU64::new(0),
            udp_received: AtomicU64::new(0),
            application_received: AtomicU64::new(0),
            received_in_class: [const { AtomicU64::new(0) }; 256],
            udp_refused: AtomicU64::new(0),
        }
    }
    pub(crate) const fn ticket(&self) -> Ticket {
        Ticket { id: self.id, key: self.key }
    }
    /// UDP probes and datagrams of applications that arrived.
    pub(crate) fn datagrams(&self) -> u64 {
        self.udp_received.load(Relaxed) + self.application_received.load(Relaxed)
    }
    /// When the client last did something.
    pub(crate) fn active(&self) -> Time {
        Time::from_nanos(self.active.load(Relaxed))
    }
    pub(crate) fn set_active(&self, now: Time) {
        self.active.store(now.as_nanos(), Relaxed);
    }
    /// Whether another client got the place of this session.
    pub(crate) fn is_replaced(&self) -> bool {
        self.is_replaced.load(Relaxed)
    }
    /// Adds `bytes`; returns false once the total reaches what the session may move.
    pub(crate) fn count(&self, bytes: usize) -> bool {
        self.moved.fetch_add(bytes as u64, Relaxed) + (bytes as u64) < self.may_move.load(Relaxed)
    }
    /// Sets the total of bytes that the session may move.
    pub(crate) fn set_may_move(&self, bytes: u64) {
        self.may_move.store(bytes, Relaxed);
    }
    pub(crate) fn moved(&self) -> u64 {
        self.moved.load(Relaxed)
    }
    pub(crate) fn add(&self, flow: &Arc<Flow>, most: u32) -> Result<(), ErrorCode> {
        let mut flows = lock(&self.flows);
        if flows.ended {
            return Err(ErrorCode::Session);
        }
        if flows.open.len() >= most as usize {
            return Err(ErrorCode::Full);
        }
        if flows.open.contains_key(&flow.number) {
            return Err(ErrorCode::Number);
        }
        flows.open.insert(flow.number, Arc::clone(flow));
        Ok(())
    }
    pub(crate) fn remove(&self, flow: &Flow) {
        lock(&self.flows).open.remove(&flow.number);
        self.flow_ended.notify_all();
    }
    /// Takes the proof that the address `from` is that of a flow of datagrams. Returns whether it
    /// is valid.
    pub(crate) fn prove(&self, number: u64, token: u64, from: SocketAddr) -> bool {
        let flows = lock(&self.flows);
        let flow = u32::try_from(number).ok().and_then(|number| flows.open.get(&number));
        let datagrams = flow.and_then(|flow| flow.datagrams.as_ref()).filter(|flow| flow.token == token);
        datagrams.is_some_and(|proven| *lock(&proven.client).get_or_insert(from) == from)
    }
    /// Open flows in order of number.
    pub(crate) fn report(&self) -> Vec<FlowReport> {
        lock(&self.flows).open.values().map(|flow| flow.report()).collect()
    }
    /// Open downloads by TCP.
    pub(crate) fn downloads(&self) -> Vec<Download> {
        lock(&self.flows).open.values().filter_map(|flow| flow.download()).collect()
    }
    /// Ends all flows and waits until they are counted.
    pub(crate) fn end_flows(&self, patience: Duration) {
        let mut flows = lock(&self.flows);
        flows.ended = true;
        flows.open.values().for_each(|flow| flow.interrupt());
        drop(flows);
        wait_until(&self.flows, &self.flow_ended, patience, |f| f.open.is_empty());
    }
}
