//! The control connection of a test.
use crate::resolve::{LOOK_EVERY, Limits};
use crate::{TestConfig, TestError};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::{Nonce, Token};
use fathom_probe::session::{Credentials, Hello, Session, SessionError, SessionEvent, SessionOutput};
use fathom_units::Duration;
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Input from the reading thread.
pub(crate) enum ControlInput {
    /// Bytes.
    Received(Vec<u8>),
    /// The connection failed for this reason; `None` if the server closed it. Nothing follows.
    Closed(Option<String>),
}

/// A session and its control connection.
pub(crate) struct Control {
    pub(crate) address: SocketAddr,
    pub(crate) hello: Hello,
    socket: Arc<Socket>,
    session: Session,
    events: VecDeque<SessionEvent>,
}

impl Control {
    /// Opens a session with the first address that accepts one. If none does, returns the error of
    /// the first address.
    pub(crate) fn open(
        config: &TestConfig,
        addresses: &[SocketAddr],
        limits: &Limits<'_>,
    ) -> Result<Self, TestError> {
        let mut first_error = None;
        for address in addresses {
            match Self::open_at(config, *address, limits) {
                Ok(control) => return Ok(control),
                // A server that answered has decided; its other addresses would decide the same.
                Err(error @ (TestError::Rejected { .. } | TestError::Stopped)) => return Err(error),
                Err(error) => drop(first_error.get_or_insert(error).to_string()),
            }
        }
        Err(first_error.unwrap_or_else(|| TestError::Host("no address to connect to".to_owned())))
    }
    fn open_at(config: &TestConfig, address: SocketAddr, limits: &Limits<'_>) -> Result<Self, TestError> {
        let credentials = credentials(config)?;
        let socket = limits.connect(address, |s| s.set_tcp_nodelay(true))?;
        let mut session = Session::new(credentials, limits.patience, limits.clock.now());
        loop {
            while let Some(output) = session.poll_output() {
                match output {
                    SessionOutput::Send(bytes) => send(&socket, &bytes, &mut session),
                    SessionOutput::Event(SessionEvent::Opened(hello)) => {
                        let (socket, events) = (Arc::new(socket), VecDeque::new());
                        let mut control = Control { address, hello, socket, session, events };
                        control.report_every(config.tcp_info_every);
                        return Ok(control);
                    }
                    SessionOutput::Event(SessionEvent::Ended(error)) => {
                        return Err(session_error(address, error));
                    }
                    SessionOutput::Event(_) => {}
                }
            }
            limits.readable(&socket, address, "Hello")?;
            match read(&socket) {
                ControlInput::Received(bytes) => session.handle_input(&bytes),
                ControlInput::Closed(reason) => session.handle_close(reason),
            }
            session.handle_timeout(limits.clock.now());
        }
    }
    /// Requests reports from the server at this interval.
    pub(crate) fn report_every(&mut self, interval: Duration) {
        self.session.report_every(interval);
        self.flush();
    }
    /// Requests probes of the hops from the server, if it can send them.
    pub(crate) fn probe_hops(&mut self) {
        self.session.probe_hops(&self.hello);
        self.flush();
    }
    /// Asks the server to end the session.
    pub(crate) fn say_bye(&mut self) {
        self.session.say_bye();
        self.flush();
    }
    /// Processes input from the reading thread.
    pub(crate) fn handle_input(&mut self, input: ControlInput) {
        match input {
            ControlInput::Received(bytes) => self.session.handle_input(&bytes),
            ControlInput::Closed(reason) => self.session.handle_close(reason),
        }
        self.flush();
    }
    /// The next event, if any.
    pub(crate) fn next_event(&mut self) -> Option<SessionEvent> {
        self.events.pop_front()
    }
    fn flush(&mut self) {
        while let Some(output) = self.session.poll_output() {
            match output {
                SessionOutput::Send(bytes) => send(&self.socket, &bytes, &mut self.session),
                SessionOutput::Event(event) => self.events.push_back(event),
            }
        }
    }
    /// Starts the reading thread, which runs until `finish` is set or the connection ends.
    pub(crate) fn listen(
        &self,
        finish: Arc<AtomicBool>,
        mut report: impl FnMut(ControlInput) + Send + 'static,
    ) -> std::thread::JoinHandle<()> {
        let socket = self.socket.clone();
        std::thread::spawn(move || {
            while !finish.load(Ordering::Relaxed) {
                let input = match poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(LOOK_EVERY)) {
                    Ok(0) => continue,
                    Ok(_) => read(&socket),
                    Err(error) => ControlInput::Closed(Some(without_code(&error))),
                };
                let is_over = matches!(input, ControlInput::Closed(_));
                report(input);
                if is_over {
                    return;
                }
            }
        })
    }
}

/// The token of the configuration, and a random nonce; `None` without a token.
///
/// # Errors
/// If the token is invalid, or there are no random numbers.
pub fn credentials(config: &TestConfig) -> Result<Option<Credentials>, TestError> {
    let Some(token) = config.token.as_deref() else { return Ok(None) };
    let token = token.parse::<Token>().map_err(|e| TestError::Config(e.to_string()))?;
    let mut nonce = Nonce([0; 16]);
    getrandom::fill(&mut nonce.0).map_err(|e| TestError::Host(format!("random numbers: {e}")))?;
    Ok(Some(Credentials { token, nonce }))
}

fn read(mut socket: &Socket) -> ControlInput {
    let mut buffer = vec![0; 16 * 1024];
    match socket.read(&mut buffer) {
        Ok(0) => ControlInput::Closed(None),
        Ok(length) => {
            buffer.truncate(length);
            ControlInput::Received(buffer)
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => ControlInput::Received(Vec::new()),
        Err(error) => ControlInput::Closed(Some(without_code(&error))),
    }
}

fn send(mut socket: &Socket, bytes: &[u8], session: &mut Session) {
    if let Err(error) = socket.write_all(bytes) {
        session.handle_close(Some(without_code(&error)));
    }
}

/// Converts an error of the session with the server at `address`.
#[must_use]
pub fn session_error(address: SocketAddr, error: SessionError) -> TestError {
    match error {
        SessionError::Rejected { code, message } => {
            TestError::Rejected { address, code: code.name().to_owned(), message }
        }
        SessionError::Timeout(waited) => TestError::Timeout { address, awaited: "Hello", waited },
        error @ SessionError::NotProven => TestError::Host(format!("{address}: {error}")),
        SessionError::Connection(seen) | SessionError::NotFathom(seen) => TestError::NotFathom(address, seen),
        other => TestError::NotFathom(address, other.to_string()),
    }
}
