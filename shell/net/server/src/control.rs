//! Control connections: one thread each, which owns the session.
use crate::session::Session;
use crate::shared::Shared;
use crate::stats::Refusal;
use crate::sync::Slot;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::{
    CONTROL_LINE_LIMIT_BYTES, ClientMessage, ErrorCode, Limits, LineReader, REPORT_EVERY_MAX_MS,
    REPORT_EVERY_MIN_MS, ServerMessage, SessionId,
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
    /// An error to report to the client.
    Error(ErrorCode, String),
}

/// A registered session. Dropping it ends the session, also after a panic.
pub(crate) struct OpenSession {
    shared: Arc<Shared>,
    session: Arc<Session>,
}

impl OpenSession {
    /// Opens a session for the client of `socket`; `None` if the maximum is reached.
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        socket: &Socket,
        client: IpAddr,
    ) -> io::Result<Option<OpenSession>> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|e| io::Error::other(e.to_string()))?;
        let local = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::InvalidInput)?;
        let session = Arc::new(Session::new(SessionId(id), client, local));
        if !shared.sessions.insert(&session, shared.config.max_sessions) {
            return Ok(None);
        }
        shared.counters.sessions.fetch_add(1, Relaxed);
        Ok(Some(OpenSession { shared: Arc::clone(shared), session }))
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
        ends: shared.clock.now() + shared.config.max_time,
    };
    let end = control.converse(early);
    session.end_flows(FLOWS_PATIENCE);
    let last = last_line(&shared, &session, end);
    drop(open);
    if let Some(last) = last {
        control.say(&last);
        control.close();
    }
    drop(slot);
}

fn last_line(shared: &Shared, session: &Session, end: End) -> Option<ServerMessage> {
    match end {
        End::Gone => None,
        End::Bye => Some(ServerMessage::Bye {
            up_bytes: session.up_bytes.load(Relaxed),
            down_bytes: session.down_bytes.load(Relaxed),
            udp_received: session.udp_received.load(Relaxed),
            udp_refused: session.udp_refused.load(Relaxed),
        }),
        End::Error(code, message) => {
            shared.counters.refuse(match code {
                ErrorCode::Limit => Refusal::Limit,
                _ => Refusal::Control,
            });
            Some(ServerMessage::Error { code, message })
        }
    }
}

/// Interval of reports and time of the next one.
struct Reports {
    every: Duration,
    due: Time,
}

struct Control<'a> {
    shared: &'a Shared,
    session: &'a Session,
    socket: &'a Socket,
    lines: LineReader,
    /// Output that the socket did not accept yet.
    outbox: Vec<u8>,
    report: Option<Reports>,
    ends: Time,
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
        }
    }
    /// Processes all complete lines.
    fn process_messages(&mut self, now: Time) -> Result<(), End> {
        let malformed = |error: &dyn std::error::Error| End::Error(ErrorCode::Malformed, error.to_string());
        while let Some(line) = self.lines.next_line().map_err(|e| malformed(&e))? {
            match ClientMessage::parse(&line).map_err(|e| malformed(&e))? {
                ClientMessage::Bye {} => return Err(End::Bye),
                ClientMessage::ReportEvery { ms } => self.report = Some(reports(ms, now)?),
            }
        }
        Ok(())
    }
    fn keep_limits(&self, now: Time) -> Result<(), End> {
        let config = &self.shared.config;
        if self.shared.stop.is_set() {
            return Err(End::Gone);
        }
        if now >= self.ends {
            let message = format!("the session reached the time limit of {}", config.max_time);
            return Err(End::Error(ErrorCode::Limit, message));
        }
        if self.session.moved() >= config.max_bytes.get() {
            let message = format!("the session reached the byte limit of {}", config.max_bytes);
            return Err(End::Error(ErrorCode::Limit, message));
        }
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
            self.say(&ServerMessage::Report { at_ns: self.shared.clock.now().as_nanos(), flows });
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
        let next = self.report.as_ref().map_or(Time::MAX, |r| r.due).min(self.ends).min(now + TICK);
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
        return Err(End::Error(ErrorCode::Malformed, message));
    }
    let every = Duration::from_millis(u64::from(ms));
    Ok(Reports { every, due: now + every })
}

fn still_open(error: &io::Error) -> Result<(), End> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(()),
        _ => Err(End::Gone),
    }
}
