//! Sessions of web clients: one per address, from its first transfer until it has made none for a
//! while.
use super::respond::refused;
use crate::limited::{End, Limited, OpenSession, TICK, report_end};
use crate::shared::Shared;
use crate::stats::Refusal;
use crate::sync::lock;
use fathom_units::{Direction, Duration};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};
use tokio::time::interval;

/// A session without transfers ends after this time: longer than the pause between two parts of a
/// speed test.
const REST: Duration = Duration::from_secs(5);

/// The clients with a session.
pub(super) struct Clients {
    shared: Arc<Shared>,
    open: Mutex<HashMap<IpAddr, Weak<Client>>>,
}

/// A client with a session.
pub(super) struct Client {
    session: OpenSession,
    transfers: AtomicU32,
    end: Mutex<Option<End>>,
}

/// A transfer of a client, until it is dropped.
pub(super) struct Transfer {
    client: Arc<Client>,
    direction: Direction,
}

impl Clients {
    pub(super) fn new(shared: &Arc<Shared>) -> Clients {
        Clients { shared: Arc::clone(shared), open: Mutex::default() }
    }
    /// Starts a transfer, and the session if it is the first.
    ///
    /// # Errors
    /// Why the client may make none now.
    pub(super) fn transfer(
        self: &Arc<Self>,
        (address, local): (IpAddr, SocketAddr),
        direction: Direction,
    ) -> Result<Transfer, (Refusal, String)> {
        let most = self.shared.config.max_flows;
        let mut open = lock(&self.open);
        let client = match open.get(&address).and_then(Weak::upgrade) {
            Some(client) => client,
            None => {
                let session = OpenSession::begin(&self.shared, local, (address, None));
                let session = session.map_err(|(reason, _, message)| (reason, message))?;
                let client = Client { session, transfers: AtomicU32::new(0), end: Mutex::default() };
                let client = Arc::new(client);
                open.insert(address, Arc::downgrade(&client));
                super::spawn(&self.shared, keep(Arc::clone(&client), Arc::clone(self)));
                client
            }
        };
        if client.transfers.load(Relaxed) >= most {
            return Err(refused(Refusal::Flows));
        }
        client.transfers.fetch_add(1, Relaxed);
        Ok(Transfer { client, direction })
    }
}

/// Keeps the session of a client within its limits until it ends.
async fn keep(client: Arc<Client>, clients: Arc<Clients>) {
    let (shared, session) = (Arc::clone(&clients.shared), Arc::clone(&client.session.session));
    let mut limits = Limited::new(&shared, &session);
    let mut busy = session.since;
    let mut ticks = interval(std::time::Duration::from_nanos(TICK.as_nanos()));
    let end = loop {
        ticks.tick().await;
        let now = shared.clock.now();
        if client.transfers.load(Relaxed) > 0 {
            busy = now;
        }
        let end = match limits.keep(now) {
            Err(end) => end,
            Ok(()) if now.saturating_since(busy) >= REST => End::Bye,
            Ok(()) => continue,
        };
        let mut open = lock(&clients.open);
        // A transfer may have started since.
        if !matches!(end, End::Bye) || client.transfers.load(Relaxed) == 0 {
            open.remove(&session.client);
            break end;
        }
    };
    // What is still transferred ends with its next bytes.
    session.set_may_move(0);
    *lock(&client.end) = Some(end);
}

impl Drop for Client {
    fn drop(&mut self) {
        let end = lock(&self.end).take().unwrap_or(End::Gone);
        report_end(&self.session.shared, &self.session.session, &end);
    }
}

impl Transfer {
    /// Counts bytes; returns false if the client may move no more.
    pub(super) fn count(&self, bytes: usize) -> bool {
        let (session, counters) = (&self.client.session.session, &self.client.session.shared.counters);
        let (of_session, of_server) = match self.direction {
            Direction::Up => (&session.up_bytes, &counters.up_bytes),
            Direction::Down => (&session.down_bytes, &counters.down_bytes),
        };
        of_session.fetch_add(bytes as u64, Relaxed);
        of_server.fetch_add(bytes as u64, Relaxed);
        session.count(bytes)
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.client.transfers.fetch_sub(1, Relaxed);
    }
}
