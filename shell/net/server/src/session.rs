//! Open sessions and their usage.
use crate::flow::Flow;
use crate::sync::{lock, wait_until};
use fathom_probe::protocol::{ErrorCode, FlowReport, SessionId};
use fathom_units::Duration;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};

/// The open sessions.
#[derive(Default, Debug)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
    changed: Condvar,
}

impl Sessions {
    /// Returns false if there are already `most`.
    pub(crate) fn insert(&self, session: &Arc<Session>, most: u32) -> bool {
        let mut open = lock(&self.open);
        let room = open.len() < most as usize;
        if room {
            open.insert(session.id, Arc::clone(session));
        }
        room
    }
    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        lock(&self.open).get(&id).cloned()
    }
    pub(crate) fn remove(&self, id: SessionId) {
        lock(&self.open).remove(&id);
        self.changed.notify_all();
    }
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(lock(&self.open).len()).unwrap_or(u32::MAX)
    }
    pub(crate) fn wait_until_empty(&self, patience: Duration) {
        wait_until(&self.open, &self.changed, patience, HashMap::is_empty);
    }
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The client's address on the control connection.
    pub(crate) client: IpAddr,
    /// The server's address on the control connection. UDP replies use it as source, whatever the
    /// routing table says.
    pub(crate) local: SocketAddr,
    flows: Mutex<Flows>,
    flow_ended: Condvar,
    /// Bytes transferred, for the limit.
    moved: AtomicU64,
    /// Totals of finished flows.
    pub(crate) up_bytes: AtomicU64,
    pub(crate) down_bytes: AtomicU64,
    pub(crate) udp_received: AtomicU64,
    pub(crate) udp_refused: AtomicU64,
}

#[derive(Default, Debug)]
struct Flows {
    open: BTreeMap<u32, Arc<Flow>>,
    /// The session has ended: no flow may start.
    ended: bool,
}

impl Session {
    pub(crate) fn new(id: SessionId, client: IpAddr, local: SocketAddr) -> Self {
        Session {
            id,
            client,
            local,
            flows: Mutex::default(),
            flow_ended: Condvar::new(),
            moved: AtomicU64::new(0),
            up_bytes: AtomicU64::new(0),
            down_bytes: AtomicU64::new(0),
            udp_received: AtomicU64::new(0),
            udp_refused: AtomicU64::new(0),
        }
    }
    /// Adds `bytes`; returns false once the total exceeds `most`.
    pub(crate) fn count(&self, bytes: usize, most: u64) -> bool {
        self.moved.fetch_add(bytes as u64, Relaxed) + (bytes as u64) < most
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
    /// Open flows in order of number.
    pub(crate) fn report(&self) -> Vec<FlowReport> {
        lock(&self.flows).open.values().map(|flow| flow.report()).collect()
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
