//! The control connection.
use crate::resolve::{LOOK_EVERY, Limits};
use crate::{TestConfig, TestError};
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol;
use fathom_probe::protocol::{
    CONTROL_LINE_LIMIT_BYTES, ClientMessage, ErrorCode, FirstLine, LineReader, ServerMessage, SessionId,
    Token,
};
use fathom_units::Duration;
use socket2::Socket;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the server said in its first line.
#[derive(Clone, Debug)]
pub(crate) struct Hello {
    pub(crate) session: SessionId,
    pub(crate) seen_as: IpAddr,
    pub(crate) version: String,
    pub(crate) congestion_controls: Vec<String>,
    pub(crate) limits: protocol::Limits,
}

/// An open session.
pub(crate) struct Control {
    pub(crate) address: SocketAddr,
    pub(crate) hello: Hello,
    socket: Arc<Socket>,
    lines: Option<LineReader>,
}

impl Control {
    /// Opens a session with the first address that gives one. If none does, the error is that of the first address.
    pub(crate) fn open(
        config: &TestConfig,
        addresses: &[SocketAddr],
        limits: &Limits<'_>,
    ) -> Result<Self, TestError> {
        let mut first_error = None;
        for address in addresses {
            match Self::open_at(config, *address, limits) {
                Ok(control) => return Ok(control),
                // A server that answered has decided; another address of it would decide the same.
                Err(error @ (TestError::Rejected { .. } | TestError::Stopped)) => return Err(error),
                Err(error) => drop(first_error.get_or_insert(error).to_string()),
            }
        }
        Err(first_error.unwrap_or_else(|| TestError::Host("no address to connect to".to_owned())))
    }
    fn open_at(config: &TestConfig, address: SocketAddr, limits: &Limits<'_>) -> Result<Self, TestError> {
        let token = config.token.as_deref().map(str::parse::<Token>).transpose();
        let token = token.map_err(|e| TestError::Config(e.to_string()))?;
        let socket = limits.connect(address, |s| s.set_tcp_nodelay(true))?;
        send(&socket, format!("{}\n", FirstLine::Control { token }).as_bytes())
            .map_err(|e| TestError::NotFathom(address, e.to_string()))?;
        let mut lines = LineReader::new(CONTROL_LINE_LIMIT_BYTES);
        let hello = read_hello(&socket, &mut lines, address, limits)?;
        let control = Control { address, hello, socket: Arc::new(socket), lines: Some(lines) };
        let first = control.reports().ask(config.tcp_info_every);
        first.map_err(|e| TestError::NotFathom(address, e.to_string()))?;
        Ok(control)
    }
    /// For asking how often the server reports.
    pub(crate) fn reports(&self) -> Reports {
        Reports { socket: self.socket.clone(), asked_ms: 0 }
    }
    /// Sends one line.
    pub(crate) fn say(&self, message: &ClientMessage) -> io::Result<()> {
        send(&self.socket, &message.to_line())
    }
    /// Starts the thread that reads: `tell` is called with each line of the server, and with the reason when there are no more.
    pub(crate) fn listen(
        &mut self,
        finish: Arc<AtomicBool>,
        mut tell: impl FnMut(Result<ServerMessage, String>) + Send + 'static,
    ) -> std::thread::JoinHandle<()> {
        let (socket, lines) = (self.socket.clone(), self.lines.take());
        let mut lines = lines.unwrap_or_else(|| LineReader::new(CONTROL_LINE_LIMIT_BYTES));
        std::thread::spawn(move || {
            let end = loop {
                match next_message(&socket, &mut lines, &finish) {
                    Ok(Some(message)) => tell(Ok(message)),
                    Ok(None) => return,
                    Err(reason) => break reason,
                }
            };
            tell(Err(end));
        })
    }
}

/// The interval of the server's reports.
pub(crate) struct Reports {
    socket: Arc<Socket>,
    asked_ms: u32,
}

impl Reports {
    /// Asks for a report at this interval, as far as the protocol allows it, unless that was asked for last.
    pub(crate) fn ask(&mut self, every: Duration) -> io::Result<()> {
        let ms = u32::try_from(every.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        let ms = ms.clamp(protocol::REPORT_EVERY_MIN_MS, protocol::REPORT_EVERY_MAX_MS);
        if ms == self.asked_ms {
            return Ok(());
        }
        self.asked_ms = ms;
        send(&self.socket, &ClientMessage::ReportEvery { ms }.to_line())
    }
}

/// `None` once `finish` is set.
fn next_message(
    socket: &Socket,
    lines: &mut LineReader,
    finish: &AtomicBool,
) -> Result<Option<ServerMessage>, String> {
    loop {
        if let Some(line) = lines.next_line().map_err(|e| format!("it sent a {e}"))? {
            return ServerMessage::parse(&line).map(Some).map_err(|e| format!("it sent {e}"));
        }
        if finish.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let ready = poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(LOOK_EVERY));
        if ready.map_err(|e| e.to_string())? > 0 && read_into(socket, lines).map_err(|e| e.to_string())? == 0
        {
            return Err("it closed the control connection".to_owned());
        }
    }
}

fn read_into(mut socket: &Socket, lines: &mut LineReader) -> io::Result<usize> {
    let mut buffer = [0; 16 * 1024];
    let length = socket.read(&mut buffer)?;
    lines.push(&buffer[..length]);
    Ok(length)
}

fn send(mut socket: &Socket, bytes: &[u8]) -> io::Result<()> {
    socket.write_all(bytes)
}

fn read_hello(
    socket: &Socket,
    lines: &mut LineReader,
    address: SocketAddr,
    limits: &Limits<'_>,
) -> Result<Hello, TestError> {
    let foreign = |seen: String| TestError::NotFathom(address, seen);
    let line = loop {
        if let Some(line) = lines.next_line().map_err(|e| foreign(format!("it sent a {e}")))? {
            break line;
        }
        limits.readable(socket, address, "greeting")?;
        match read_into(socket, lines) {
            Ok(0) => return Err(foreign("it closed the connection without a word".to_owned())),
            Ok(_) => {}
            Err(error) => return Err(foreign(error.to_string())),
        }
    };
    match ServerMessage::parse(&line) {
        Ok(ServerMessage::Hello {
            session,
            address: seen_as,
            version,
            congestion_controls,
            limits: allowed,
        }) => {
            let version = printable(version.as_bytes());
            Ok(Hello { session, seen_as, version, congestion_controls, limits: allowed })
        }
        Ok(ServerMessage::Error { code, message }) => Err(rejected(address, code, &message)),
        Ok(_) => Err(foreign("its first line is no greeting".to_owned())),
        Err(_) => Err(foreign(format!("it sent \"{}\"", printable(&line)))),
    }
}

fn rejected(address: SocketAddr, code: ErrorCode, message: &str) -> TestError {
    TestError::Rejected { address, code: code.name().to_owned(), message: printable(message.as_bytes()) }
}

/// The start of a line, fit for a terminal.
fn printable(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(200)])
        .chars()
        .map(|c| if c.is_control() { '.' } else { c })
        .collect()
}
