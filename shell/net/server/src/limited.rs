//! Sessions: their places, their limits, and their end.
use crate::event::{Event, SessionEnd};
use crate::session::Session;
use crate::shared::Shared;
use crate::shares::{NoPlace, Prefix};
use crate::stats::Refusal;
use fathom_probe::protocol::{ErrorCode, SessionId, SessionKey, Ticket};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Interval of limit checks and of retries to send a report.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// Maximum wait for flows to end. Normally they end within milliseconds; this is for a host under
/// heavy load.
pub(crate) const FLOWS_PATIENCE: Duration = Duration::from_secs(2);

/// Why a session ends.
pub(crate) enum End {
    /// The client said goodbye.
    Bye,
    /// The connection ended or failed, or the server stops: nothing can be sent.
    Gone,
    /// The server ends it: the reason for its counters, and the error for the client.
    Error(Refusal, ErrorCode, String),
}

/// A registered session. Dropping it ends the session, also after a panic.
pub(crate) struct OpenSession {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: Arc<Session>,
}

impl OpenSession {
    /// Opens a session for a client that is connected to `local`.
    ///
    /// # Errors
    /// Why it gets none: the reason for the counters, and the error for the client.
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        local: SocketAddr,
        (client, key): (IpAddr, Option<SessionKey>),
    ) -> Result<OpenSession, (Refusal, ErrorCode, String)> {
        let now = shared.clock.now();
        let left = shared.quota.charge(client, 0, now);
        let left =
            left.map_err(|(prefix, wait)| (Refusal::Quota, ErrorCode::Limit, quota_used(prefix, wait)))?;
        let full = |reason, message| (reason, ErrorCode::Full, message);
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| full(Refusal::Descriptors, error.to_string()))?;
        let session = Arc::new(Session::new(Ticket { id: SessionId(id), key }, client, local, now));
        session.set_may_move(left.min(shared.config.max_bytes.get()));
        shared.sessions.insert(&session, now).map_err(|reason| match reason {
            NoPlace::Full => {
                let most = shared.config.max_sessions;
                full(Refusal::Full, format!("the server has reached its limit of {most} sessions"))
            }
            NoPlace::Share(prefix, held) => {
                full(Refusal::SessionShare, format!("{prefix} has its share of sessions ({held})"))
            }
        })?;
        shared.counters.sessions.fetch_add(1, Relaxed);
        Ok(OpenSession { shared: Arc::clone(shared), session })
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.session.end_flows(FLOWS_PATIENCE);
        self.shared.sessions.remove(self.session.id);
    }
}

/// Counts and reports the end of a session.
pub(crate) fn report_end(shared: &Shared, session: &Session, end: &End) {
    shared.counters.ended(Event::SessionEnded {
        client: session.client,
        duration: shared.clock.now().saturating_since(session.since),
        up_bytes: session.up_bytes.load(Relaxed),
        down_bytes: session.down_bytes.load(Relaxed),
        end: event_of(shared, end),
    });
}

fn event_of(shared: &Shared, end: &End) -> SessionEnd {
    match end {
        End::Bye => SessionEnd::Complete,
        End::Gone if shared.stop.is_set() => SessionEnd::Stopped,
        End::Gone => {
            shared.counters.lost_sessions.fetch_add(1, Relaxed);
            SessionEnd::Lost
        }
        // The event names the reason, so it is not also reported as a refusal.
        End::Error(reason, _, message) => {
            shared.counters.count(*reason);
            SessionEnd::Refused(message.clone())
        }
    }
}

/// What the session had used when its limits were last checked.
struct Usage {
    checked: Time,
    moved_bytes: u64,
    probes: u64,
}

/// Keeps a session within its limits.
pub(crate) struct Limited {
    shared: Arc<Shared>,
    session: Arc<Session>,
    usage: Usage,
}

impl Limited {
    pub(crate) fn new(shared: &Arc<Shared>, session: &Arc<Session>) -> Self {
        let usage = Usage { checked: session.since, moved_bytes: 0, probes: 0 };
        Limited { shared: Arc::clone(shared), session: Arc::clone(session), usage }
    }
    /// Why the session must end, if it must. Called every [`TICK`].
    pub(crate) fn keep(&mut self, now: Time) -> Result<(), End> {
        let shared = Arc::clone(&self.shared);
        let config = &shared.config;
        if shared.stop.is_set() {
            return Err(End::Gone);
        }
        if now.saturating_since(self.usage.checked) >= TICK {
            self.record_usage(now)?;
        }
        if self.session.is_replaced() {
            let message = "the session was ended for a client of a network with fewer sessions".into();
            return Err(End::Error(Refusal::SessionReplaced, ErrorCode::Full, message));
        }
        let limit = |reason, message| Err(End::Error(reason, ErrorCode::Limit, message));
        if now >= self.ends() {
            let message = format!("the session reached the time limit of {}", config.max_time);
            return limit(Refusal::Limit, message);
        }
        if self.session.moved() >= config.max_bytes.get() {
            let message = format!("the session reached the byte limit of {}", config.max_bytes);
            return limit(Refusal::Limit, message);
        }
        if now.saturating_since(self.session.active()) >= config.max_idle {
            return limit(Refusal::Idle, format!("the session was idle for {}", config.max_idle));
        }
        Ok(())
    }
    /// When the time of the session is over.
    pub(crate) fn ends(&self) -> Time {
        self.session.since + self.shared.config.max_time
    }
    /// Records what the session used since the last call: load, probes, and its quota.
    fn record_usage(&mut self, now: Time) -> Result<(), End> {
        let (moved, probes) = (self.session.moved(), self.session.datagrams());
        let new_bytes = moved - self.usage.moved_bytes;
        self.session.has_load.store(new_bytes > 0, Relaxed);
        if new_bytes > 0 || probes > self.usage.probes {
            self.session.set_active(now);
        }
        self.usage = Usage { checked: now, moved_bytes: moved, probes };
        let left = self.shared.quota.charge(self.session.client, new_bytes, now);
        let left = left.map_err(|(prefix, wait)| {
            End::Error(Refusal::Quota, ErrorCode::Limit, quota_used(prefix, wait))
        })?;
        self.session.set_may_move(moved.saturating_add(left).min(self.shared.config.max_bytes.get()));
        Ok(())
    }
}

/// Why a client with a used quota is refused.
fn quota_used(prefix: Prefix, wait: Duration) -> String {
    let minutes = wait.as_nanos().div_ceil(60_000_000_000);
    format!("{prefix} has used its data of this hour: try again in {minutes} min")
}

/// Sends what a control connection accepts now.
pub(crate) fn flush(socket: &Socket, outbox: &mut Vec<u8>) -> Result<(), End> {
    while !outbox.is_empty() {
        match socket.send(outbox) {
            Ok(sent) => drop(outbox.drain(..sent)),
            Err(error) => return still_open(&error),
        }
    }
    Ok(())
}

/// Whether a control connection goes on after this error.
pub(crate) fn still_open(error: &io::Error) -> Result<(), End> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(End::Gone),
    }
}
