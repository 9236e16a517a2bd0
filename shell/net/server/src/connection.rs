//! Connections without a thread: first line, HTTP, and closing.
use crate::http::{Http, METRICS_PATH};
use crate::iperf3::Cookie;
use crate::shared::Shared;
use crate::stats::Refusal;
use crate::sync::Slot;
use fathom_os::fd::AsFd;
use fathom_os::poll::PollFd;
use fathom_probe::protocol::{
    ClientMessage, ControlProof, ErrorCode, FIRST_LINE_LIMIT_BYTES, FIRST_LINE_TIMEOUT, FirstLine,
    FirstLineError, FlowRequest, LineReader, Nonce, PROBE_PATH, ServerMessage, SessionKey,
};
use fathom_protocol::iperf3::COOKIE_BYTES;
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::io::{self, Read};
use std::net::{IpAddr, Shutdown};

/// First byte of a TLS handshake (RFC 8446, section 5.1).
const TLS_HANDSHAKE: u8 = 22;
/// A kept-alive HTTP connection without a request for this long is closed.
const HTTP_IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// A request must be complete this long after its first byte. On a bloated link it may arrive in
/// two parts.
const HTTP_REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// A client that is not served sends its first line at once: within one round trip of any line
/// without a queue.
const FIRST_LINE_GRACE: Duration = Duration::from_secs(1);
/// Time that the client has to read the last line before the connection is closed.
const LAST_LINE_PATIENCE: Duration = Duration::from_secs(1);

/// A connection without a thread.
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    pub(crate) client: IpAddr,
    pub(crate) slot: Slot,
    pub(crate) deadline: Time,
    /// When the server accepted it.
    pub(crate) since: Time,
    stage: Stage,
}

/// The protocol that a client speaks, by the port that it connected to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Protocol {
    Fathom,
    Iperf3,
}

enum Stage {
    /// The part of an iperf3 cookie that has arrived.
    Cookie(Vec<u8>),
    FirstLine(LineReader),
    /// Waits for the response to a challenge.
    Challenged(LineReader, SessionKey),
    Http(Http),
    /// Sends the last line, then waits for the client to close.
    Closing(Vec<u8>),
}

/// The next state of a connection.
pub(crate) enum Next {
    Stay,
    Close,
    /// A session request, with the key that was agreed on and the bytes that followed.
    Control(Option<SessionKey>, Vec<u8>),
    /// The client does not know the token.
    Stranger,
    /// A connection of an iperf3 test.
    Iperf3(Cookie),
    /// A browser, with the bytes that have been read.
    Browser(Vec<u8>),
    /// A flow request, with the bytes that followed the first line.
    Flow(FlowRequest, Vec<u8>),
}

impl Connection {
    pub(crate) fn new(socket: Socket, client: IpAddr, slot: Slot, protocol: Protocol, now: Time) -> Self {
        let stage = match protocol {
            Protocol::Fathom => Stage::FirstLine(LineReader::new(FIRST_LINE_LIMIT_BYTES)),
            Protocol::Iperf3 => Stage::Cookie(Vec::new()),
        };
        Connection { socket, client, slot, deadline: now + FIRST_LINE_TIMEOUT, since: now, stage }
    }
    /// Whether the client neither sent a first line soon nor is within an HTTP request.
    pub(crate) fn is_idle(&self, now: Time) -> bool {
        now.saturating_since(self.since) > FIRST_LINE_GRACE
            && match &self.stage {
                Stage::Cookie(_) | Stage::FirstLine(_) | Stage::Challenged(..) | Stage::Closing(_) => true,
                Stage::Http(http) => !http.is_within_request() && http.output.is_empty(),
            }
    }
    /// The event that it waits for.
    pub(crate) fn interest(&self) -> PollFd<'_> {
        let unsent = match &self.stage {
            Stage::Cookie(_) | Stage::FirstLine(_) | Stage::Challenged(..) => false,
            Stage::Http(http) => !http.output.is_empty(),
            Stage::Closing(output) => !output.is_empty(),
        };
        let fd = self.socket.as_fd();
        if unsent { PollFd::writable(fd) } else { PollFd::readable(fd) }
    }
    /// Handles a timeout.
    pub(crate) fn expire(&self, shared: &Shared) {
        let silent = match &self.stage {
            Stage::Cookie(_) | Stage::FirstLine(_) | Stage::Challenged(..) => true,
            Stage::Http(http) => http.is_within_request(),
            Stage::Closing(_) => false,
        };
        if silent {
            shared.counters.refuse(Refusal::Silent, Some(self.client));
        }
    }
    /// Handles an event.
    pub(crate) fn step(&mut self, shared: &Shared, now: Time) -> Next {
        match &self.stage {
            Stage::Cookie(_) => self.read_cookie(),
            Stage::FirstLine(_) => self.read_first_line(shared, now),
            Stage::Challenged(..) => self.read_response(),
            Stage::Http(_) => self.read_http(shared, now),
            Stage::Closing(_) => self.read_end(),
        }
    }
    /// Reads no further: what follows is the load, or of the control connection.
    fn read_cookie(&mut self) -> Next {
        let Stage::Cookie(held) = &mut self.stage else { return Next::Close };
        let mut buffer = [0; COOKIE_BYTES];
        match (&self.socket).read(&mut buffer[held.len()..]) {
            Ok(0) => return Next::Close,
            Ok(got) => held.extend_from_slice(&buffer[held.len()..][..got]),
            Err(error) => return unless_would_block(&error),
        }
        Cookie::try_from(held.as_slice()).map_or(Next::Stay, Next::Iperf3)
    }
    fn read_first_line(&mut self, shared: &Shared, now: Time) -> Next {
        let mut buffer = [0; 4096];
        let Stage::FirstLine(lines) = &mut self.stage else { return Next::Close };
        match (&self.socket).read(&mut buffer) {
            Ok(0) => return Next::Close,
            Ok(got) if shared.has_page() && lines.held().is_empty() && buffer[0] == TLS_HANDSHAKE => {
                return Next::Browser(buffer[..got].to_vec());
            }
            Ok(got) => lines.push(&buffer[..got]),
            Err(error) => return unless_would_block(&error),
        }
        let line = match lines.next_line() {
            Ok(None) => return Next::Stay,
            Ok(Some(line)) => line,
            Err(_) => return self.refuse_line(shared, FirstLineError::NotALine, now),
        };
        let rest = lines.held().to_vec();
        if shared.has_page() && is_of_browser(&line) {
            return Next::Browser([&line, &b"\r\n"[..], &rest].concat());
        }
        match FirstLine::parse(&line) {
            Ok(FirstLine::Control { proof }) => self.challenge(shared, proof, rest, now),
            Ok(FirstLine::Flow(request)) => Next::Flow(request, rest),
            Ok(FirstLine::Http) if shared.is_silent(self.client) => self.ignore(shared),
            Ok(FirstLine::Http) => {
                self.stage = Stage::Http(Http::new(&line, &rest));
                self.deadline = now + HTTP_REQUEST_TIMEOUT;
                self.serve_http(shared, now)
            }
            Err(error) => self.refuse_line(shared, error, now),
        }
    }
    /// Challenges a client that has shown that it knows the token.
    fn challenge(&mut self, shared: &Shared, proof: Option<ControlProof>, rest: Vec<u8>, now: Time) -> Next {
        let Some(token) = &shared.token else { return Next::Control(None, rest) };
        let Some(proof) = proof.filter(|proof| token.accepts(proof)) else { return Next::Stranger };
        let mut nonce = Nonce([0; 16]);
        if getrandom::fill(&mut nonce.0).is_err() {
            return Next::Close;
        }
        let mut line = ServerMessage::Challenge { nonce }.to_line();
        // A new connection takes a line at once.
        if flush(&self.socket, &mut line).is_err() || !line.is_empty() {
            return Next::Close;
        }
        let mut lines = LineReader::new(FIRST_LINE_LIMIT_BYTES);
        lines.push(&rest);
        self.stage = Stage::Challenged(lines, token.session_key(proof.nonce, nonce));
        self.deadline = now + FIRST_LINE_TIMEOUT;
        Next::Stay
    }
    fn read_response(&mut self) -> Next {
        let mut buffer = [0; 4096];
        let Stage::Challenged(lines, key) = &mut self.stage else { return Next::Close };
        match (&self.socket).read(&mut buffer) {
            Ok(0) => return Next::Close,
            Ok(got) => lines.push(&buffer[..got]),
            Err(error) => return unless_would_block(&error),
        }
        match lines.next_line() {
            Ok(None) => Next::Stay,
            Ok(Some(line)) => match ClientMessage::parse(&line) {
                Ok(ClientMessage::Response { mac }) if mac.is(&key.of_client()) => {
                    Next::Control(Some(*key), lines.held().to_vec())
                }
                _ => Next::Stranger,
            },
            Err(_) => Next::Stranger,
        }
    }
    /// Closes the connection of a stranger without a word.
    fn ignore(&self, shared: &Shared) -> Next {
        shared.counters.refuse(Refusal::Stranger, Some(self.client));
        Next::Close
    }
    fn refuse_line(&mut self, shared: &Shared, error: FirstLineError, now: Time) -> Next {
        if shared.is_silent(self.client) {
            return self.ignore(shared);
        }
        let code = match error {
            FirstLineError::Version => ErrorCode::Version,
            FirstLineError::Malformed(_) => ErrorCode::Malformed,
            // Another protocol, where our error line would mean nothing.
            FirstLineError::NotALine | FirstLineError::Foreign => {
                shared.counters.refuse(Refusal::FirstLine, Some(self.client));
                return Next::Close;
            }
        };
        let reason = if code == ErrorCode::Version { Refusal::Version } else { Refusal::FirstLine };
        shared.counters.refuse(reason, Some(self.client));
        self.close_with(ServerMessage::Error { code, message: error.to_string() }.to_line(), now)
    }
    /// Sends a last line, then closes.
    pub(crate) fn close_with(&mut self, line: Vec<u8>, now: Time) -> Next {
        self.stage = Stage::Closing(line);
        self.deadline = now + LAST_LINE_PATIENCE;
        self.flush_end()
    }
    fn flush_end(&mut self) -> Next {
        let Stage::Closing(output) = &mut self.stage else { return Next::Close };
        match flush(&self.socket, output) {
            Ok(()) if output.is_empty() => match self.socket.shutdown(Shutdown::Write) {
                Ok(()) => Next::Stay,
                Err(_) => Next::Close,
            },
            Ok(()) => Next::Stay,
            Err(_) => Next::Close,
        }
    }
    /// Reads until the client closes: closing with unread input would send a reset, which may
    /// overtake the last line.
    fn read_end(&mut self) -> Next {
        if matches!(&self.stage, Stage::Closing(output) if !output.is_empty()) {
            return self.flush_end();
        }
        match (&self.socket).read(&mut [0; 4096]) {
            Ok(0) => Next::Close,
            Ok(_) => Next::Stay,
            Err(error) => unless_would_block(&error),
        }
    }
    fn read_http(&mut self, shared: &Shared, now: Time) -> Next {
        let Stage::Http(http) = &mut self.stage else { return Next::Close };
        if http.output.is_empty() {
            let mut buffer = [0; 4096];
            match (&self.socket).read(&mut buffer) {
                Ok(0) => return Next::Close,
                Ok(got) => {
                    if !http.is_within_request() {
                        self.deadline = now + HTTP_REQUEST_TIMEOUT;
                    }
                    http.push(&buffer[..got]);
                }
                Err(error) => return unless_would_block(&error),
            }
        }
        self.serve_http(shared, now)
    }
    /// Answers requests until none is left or the output is full.
    fn serve_http(&mut self, shared: &Shared, now: Time) -> Next {
        let Stage::Http(http) = &mut self.stage else { return Next::Close };
        loop {
            let answered = http.answer(shared, self.client);
            if answered {
                self.deadline = now + HTTP_IDLE_TIMEOUT;
            }
            match flush(&self.socket, &mut http.output) {
                Err(_) => return Next::Close,
                Ok(()) if !http.output.is_empty() => return Next::Stay,
                Ok(()) if http.ending => return self.close_with(Vec::new(), now),
                Ok(()) if !answered => return Next::Stay,
                Ok(()) => {}
            }
        }
    }
}

/// Whether a first line is an HTTP request for something that this thread does not answer.
fn is_of_browser(line: &[u8]) -> bool {
    let mut words = line.split(|byte| *byte == b' ');
    let is_method = matches!(words.next(), Some(b"GET" | b"HEAD" | b"OPTIONS" | b"POST"));
    let of_programs = [PROBE_PATH, METRICS_PATH].map(str::as_bytes);
    is_method && words.next().is_some_and(|path| !of_programs.contains(&path))
}

/// Sends as much as the socket accepts.
fn flush(socket: &Socket, output: &mut Vec<u8>) -> io::Result<()> {
    while !output.is_empty() {
        match socket.send(output) {
            Ok(sent) => drop(output.drain(..sent)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn unless_would_block(error: &io::Error) -> Next {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Next::Stay,
        _ => Next::Close,
    }
}
