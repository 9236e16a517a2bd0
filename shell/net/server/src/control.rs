//! Control connections: one thread each, which owns the session.
use crate::hops::HopProber;
use crate::limited::{End, FLOWS_PATIENCE, Limited, OpenSession, TICK, flush, report_end, still_open};
use crate::session::Session;
use crate::shared::Shared;
use crate::stats::Refusal;
use crate::sync::Slot;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::{
    CLASSES, CONTROL_LINE_LIMIT_BYTES, ClientMessage, ErrorCode, FlowLoad, HOPS, Limits, LineReader,
    REPORT_EVERY_MAX_MS, REPORT_EVERY_MIN_MS, ServerMessage,
};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::io::Read;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Time that the client has to read the last line before the connection is closed.
const LAST_LINE_PATIENCE: Duration = Duration::from_secs(1);

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
        hops: None,
        limits: Limited::new(&shared, &session),
    };
    let end = control.converse(early);
    session.end_flows(FLOWS_PATIENCE);
    report_end(&shared, &session, &end);
    let last = last_line(&session, end);
    drop(open);
    if let Some(last) = last {
        control.say(&last);
        control.close();
    }
    drop(slot);
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

struct Control<'a> {
    shared: &'a Shared,
    session: &'a Session,
    socket: &'a Socket,
    lines: LineReader,
    /// Output that the socket did not accept yet.
    outbox: Vec<u8>,
    report: Option<Reports>,
    hops: Option<HopProber>,
    limits: Limited,
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
        self.limits.keep(now)?;
        self.report_if_due(now);
        self.probe_hops(now);
        self.flush()?;
        if self.wait(now) { self.read() } else { Ok(()) }
    }
    fn hello(&self) -> ServerMessage {
        let config = &self.shared.config;
        let hops = Some(HOPS).filter(|_| self.shared.probes_hops);
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
            loads: FlowLoad::NAMES.into_iter().chain([CLASSES]).chain(hops).map(str::to_owned).collect(),
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
                ClientMessage::ProbeHops {} => {
                    self.hops = self.hops.take().or_else(|| HopProber::open(self.session, self.socket));
                }
                ClientMessage::Response { .. } => {
                    let message = "a response without a challenge".to_owned();
                    return Err(End::Error(Refusal::Control, ErrorCode::Malformed, message));
                }
            }
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
            let others = self.shared.sessions.others_with_load(self.session.id);
            self.say(&ServerMessage::Report { at_ns: self.shared.clock.now().as_nanos(), flows, others });
        }
    }
    fn probe_hops(&mut self, now: Time) {
        let Some(hops) = &mut self.hops else { return };
        hops.turn(self.shared, self.session);
        if self.outbox.is_empty()
            && let Some(replies) = hops.report(now)
        {
            self.say(&ServerMessage::Hops { replies });
        }
    }
    fn say(&mut self, message: &ServerMessage) {
        self.outbox.extend(message.to_line());
    }
    fn flush(&mut self) -> Result<(), End> {
        flush(self.socket, &mut self.outbox)
    }
    /// Whether there is input.
    fn wait(&self, now: Time) -> bool {
        let next = self.report.as_ref().map_or(Time::MAX, |r| r.due).min(self.limits.ends()).min(now + TICK);
        let mut fds = vec![PollFd::readable(self.socket.as_fd()), PollFd::readable(self.shared.stop.fd())];
        fds.extend(self.hops.as_ref().map(HopProber::interest));
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
