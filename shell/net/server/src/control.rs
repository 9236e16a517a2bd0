//! Control connections: one thread each, which owns the session.
use crate::event::{Event, SessionEnd};
use crate::session::Session;
use crate::shared::Shared;
use crate::shares::{NoPlace, Prefix};
use crate::stats::Refusal;
use crate::sync::Slot;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::{
    CONTROL_LINE_LIMIT_BYTES, ClientMessage, ErrorCode, Limits, LineReader, REPORT_EVERY_MAX_MS,
    REPORT_EVERY_MIN_MS, ServerMessage, SessionId, SessionKey, Ticket,
};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::io::{self, Read};
use std::net::{IpAddr, Shutdown};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Interval of limit checks and of retries to send a report.
const TICK: Duration = Duration::from_millis(100);
/// Maximum wait for flows to end. Normally they end within milliseconds; this is for a host under
/// heavy load.
const FLOWS_PATIENCE: Duration = Duration::from_secs(2);
/// Time that the client has to read the last line before the connection is closed.
const LAST_LINE_PATIENCE: Duration = Duration::from_secs(1);

/// Why a session ends.
enum End {
    /// The client said goodbye.
    Bye,
    /// The connection ended or failed, or the server stops: nothing can be sent.
    Gone,
    /// The server ends it: the reason for its counters, and the error for the client.
    Error(Refusal, ErrorCode, String),
}

/// A registered session. Dropping it ends the session, also after a panic.
pub(crate) struct OpenSession {
    shared: Arc<Shared>,
    session: Arc<Session>,
}

impl OpenSession {
    /// Opens a session for the client of `socket`, if there is a place for it. It may move
    /// `may_move` bytes.
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        socket: &Socket,
        (client, key): (IpAddr, Option<SessionKey>),
        may_move: u64,
    ) -> io::Result<Result<OpenSession, NoPlace>> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|e| io::Error::other(e.to_string()))?;
        let local = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::InvalidInput)?;
        let now = shared.clock.now();
        let session = Arc::new(Session::new(Ticket { id: SessionId(id), key }, client, local, now));
        session.set_may_move(may_move);
        if let Err(reason) = shared.sessions.insert(&session, now) {
            return Ok(Err(reason));
        }
        shared.counters.sessions.fetch_add(1, Relaxed);
        Ok(Ok(OpenSession { shared: Arc::clone(shared), session }))
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.session.end_flows(FLOWS_PATIENCE);
        self.shared.sessions.remove(self.session.id);
    }
}

/// Main function of a session thread. `early` is what followed the first line.
pub(crate) fn run(open: OpenSession, socket: Socket, early: &[u8], slot: Slot) {
    let (shared, session) = (Arc::clone(&open.shared), Arc::clone(&open.session));
    let mut control = Control {
        shared: &shared,
        session: &session,
        socket: &socket,
        lines: LineReader::new(CONTROL_LINE_LIMIT_BYTES),
        outbox: Vec::new(),
        report: None,
        usage: Usage { checked: session.since, moved_bytes: 0, probes: 0 },
    };
    let end = control.converse(early);
    session.end_flows(FLOWS_PATIENCE);
    shared.counters.ended(Event::SessionEnded {
        client: session.client,
        duration: shared.clock.now().saturating_since(session.since),
        up_bytes: session.up_bytes.load(Relaxed),
        down_bytes: session.down_bytes.load(Relaxed),
        end: event_of(&shared, &end),
    });
    let last = last_line(&session, end);
    drop(open);
    if let Some(last) = last {
        control.say(&last);
        control.close();
    }
    drop(slot);
}

/// Counts the end of a session.
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

fn last_line(session: &Session, end: End) -> Option<ServerMessage> {
    match end {
        End::Gone => None,
        End::Bye => Some(ServerMessage::Bye {
            up_bytes: session.up_bytes.load(Relaxed),
            down_bytes: session.down_bytes.load(Relaxed),
            udp_received: session.udp_received.load(Relaxed),
            udp_refused: session.udp_refused.load(Relaxed),
        }),
        End::Error(_, code, message) => Some(ServerMessage::Error { code, message }),
    }
}

/// Interval of reports and time of the next one.
struct Reports {
    every: Duration,
    due: Time,
}

/// What the session had used when its limits were last checked.
struct Usage {
    checked: Time,
    moved_bytes: u64,
    probes: u64,
}

struct Control<'a> {
    shared: &'a Shared,
    session: &'a Session,
    socket: &'a Socket,
    lines: LineReader,
    /// Output that the socket did not accept yet.
    outbox: Vec<u8>,
    report: Option<Reports>,
    usage: Usage,
}

impl Control<'_> {
    fn converse(&mut self, early: &[u8]) -> End {
        self.say(&self.hello());
        self.lines.push(early);
        loop {
            if let Err(end) = self.turn() {
                return end;
            }
        }
    }
    /// Does everything that is due, then waits for the next event.
    fn turn(&mut self) -> Result<(), End> {
        let now = self.shared.clock.now();
        self.process_messages(now)?;
        self.keep_limits(now)?;
        self.report_if_due(now);
        self.flush()?;
        if self.wait(now) { self.read() } else { Ok(()) }
    }
    fn hello(&self) -> ServerMessage {
        let config = &self.shared.config;
        ServerMessage::Hello {
            session: self.session.id,
            address: self.session.client,
            version: env!("CARGO_PKG_VERSION").into(),
            congestion_controls: self.shared.congestion_controls.clone(),
            limits: Limits {
                seconds: config.max_time.as_nanos() / 1_000_000_000,
                bytes: config.max_bytes.get(),
                flows: config.max_flows,
            },
            mac: self.session.key.map(|key| key.of_server(self.session.id)),
        }
    }
    /// Processes all complete lines.
    fn process_messages(&mut self, now: Time) -> Result<(), End> {
        let malformed = |error: &dyn std::error::Error| malformed(error.to_string());
        while let Some(line) = self.lines.next_line().map_err(|e| malformed(&e))? {
            match ClientMessage::parse(&line).map_err(|e| malformed(&e))? {
                ClientMessage::Bye {} => return Err(End::Bye),
                ClientMessage::ReportEvery { ms } => self.report = Some(reports(ms, now)?),
                ClientMessage::Response { .. } => {
                    let message = "a response without a challenge".to_owned();
                    return Err(End::Error(Refusal::Control, ErrorCode::Malformed, message));
                }
            }
        }
        Ok(())
    }
    fn keep_limits(&mut self, now: Time) -> Result<(), End> {
        let config = &self.shared.config;
        if self.shared.stop.is_set() {
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
    fn ends(&self) -> Time {
        self.session.since + self.shared.config.max_time
    }
    /// Records what the session used since the last call: load, probes, and its quota.
    fn record_usage(&mut self, now: Time) -> Result<(), End> {
        let (moved, probes) = (self.session.moved(), self.session.udp_received.load(Relaxed));
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
    fn report_if_due(&mut self, now: Time) {
        let Some(report) = self.report.as_mut().filter(|r| r.due <= now) else { return };
        report.due = (report.due + report.every).max(now);
        // While an older report is unsent, a newer one would only queue behind it.
        if !self.outbox.is_empty() {
            return;
        }
        let flows = self.session.report();
        if !flows.is_empty() {
            // Read the clock again: the flows were read now, not at the start of the turn.
            let others = self.shared.sessions.others_with_load(self.session.id);
            self.say(&ServerMessage::Report { at_ns: self.shared.clock.now().as_nanos(), flows, others });
        }
    }
    fn say(&mut self, message: &ServerMessage) {
        self.outbox.extend(message.to_line());
    }
    fn flush(&mut self) -> Result<(), End> {
        while !self.outbox.is_empty() {
            match self.socket.send(&self.outbox) {
                Ok(sent) => drop(self.outbox.drain(..sent)),
                Err(error) => return still_open(&error),
            }
        }
        Ok(())
    }
    /// Whether there is input.
    fn wait(&self, now: Time) -> bool {
        let next = self.report.as_ref().map_or(Time::MAX, |r| r.due).min(self.ends()).min(now + TICK);
        let mut fds = [PollFd::readable(self.socket.as_fd()), PollFd::readable(self.shared.stop.fd())];
        let found = poll::wait(&mut fds, Some(next.saturating_since(self.shared.clock.now())));
        found.is_ok() && fds[0].is_ready()
    }
    fn read(&mut self) -> Result<(), End> {
        let mut buffer = [0; 4096];
        let mut socket = self.socket;
        match socket.read(&mut buffer) {
            Ok(0) => Err(End::Gone),
            Ok(got) => {
                self.lines.push(&buffer[..got]);
                self.session.set_active(self.shared.clock.now());
                Ok(())
            }
            Err(error) => still_open(&error),
        }
    }
    /// Lets the client read the last line: closing with unread input would send a reset, which may
    /// overtake it.
    fn close(&mut self) {
        let until = self.shared.clock.now() + LAST_LINE_PATIENCE;
        let mut buffer = [0; 4096];
        let mut told = false;
        while !self.shared.stop.is_set() {
            let now = self.shared.clock.now();
            if now >= until || self.flush().is_err() {
                return;
            }
            if self.outbox.is_empty() && !told {
                told = true;
                // Fails if the client has disconnected; the next read reports that.
                let _ = self.socket.shutdown(Shutdown::Write);
            }
            let mut socket = self.socket;
            if self.wait(now) && matches!(socket.read(&mut buffer), Ok(0) | Err(_)) {
                return;
            }
        }
    }
}

fn reports(ms: u32, now: Time) -> Result<Reports, End> {
    if !(REPORT_EVERY_MIN_MS..=REPORT_EVERY_MAX_MS).contains(&ms) {
        let message = format!(
            "report_every: invalid value {ms} ms (expected {REPORT_EVERY_MIN_MS} to {REPORT_EVERY_MAX_MS} ms)"
        );
        return Err(malformed(message));
    }
    let every = Duration::from_millis(u64::from(ms));
    Ok(Reports { every, due: now + every })
}

fn malformed(message: String) -> End {
    End::Error(Refusal::Control, ErrorCode::Malformed, message)
}

/// Why a client with a used quota is refused.
pub(crate) fn quota_used(prefix: Prefix, wait: Duration) -> String {
    let minutes = wait.as_nanos().div_ceil(60_000_000_000);
    format!("{prefix} has used its data of this hour: try again in {minutes} min")
}

fn still_open(error: &io::Error) -> Result<(), End> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(End::Gone),
    }
}
