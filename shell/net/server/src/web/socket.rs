//! Probes of a page by WebSocket, where UDP is blocked.
use super::Connection;
use super::content::Content;
use super::respond::refused;
use super::transport::{Records, Transport};
use crate::stats::Refusal;
use fathom_browser::{self as browser, ECHO_BYTES};
use fathom_pages::Test;
use fathom_units::{Duration, Time};
use hyper::body::Incoming;
use hyper::upgrade::{Upgraded, on};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::upgrade::{Parts, downcast};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::time::sleep;
use tungstenite::handshake::server::create_response;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// Longest message of a page; answers are shorter.
const MAX_MESSAGE_BYTES: usize = 1024;
/// The last message is sent this long before the connection closes.
const LAST_WAIT: Duration = Duration::from_millis(500);

/// Accepts the WebSocket of a test.
pub(super) fn accept(
    mut request: Request<Incoming>,
    test: Arc<Test>,
    connection: Arc<Connection>,
) -> Result<Response<Content>, (Refusal, String)> {
    let upgrade = on(&mut request);
    let response = create_response(&request.map(|_| ())).map_err(|_| refused(Refusal::Http))?;
    let shared = Arc::clone(&connection.common.shared);
    super::spawn(&shared, async move {
        // An error is the end of the connection.
        let Ok(upgraded) = upgrade.await else { return };
        let _running = connection.activity.run();
        drive(upgraded, &test, &connection).await;
        test.leave(connection.common.shared.clock.now());
    });
    Ok(response.map(|()| Content::Text(None)))
}

async fn drive(upgraded: Upgraded, test: &Test, connection: &Connection) {
    match downcast::<TokioIo<Transport>>(upgraded) {
        Ok(parts) => run(parts, test, connection).await,
        Err(other) => {
            if let Ok(parts) = downcast::<TokioIo<Records>>(other) {
                run(parts, test, connection).await;
            }
        }
    }
}

/// What has arrived and what is to be sent, as the two ends of a stream.
#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Read for Buffers {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.input.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let length = self.input.len().min(into.len());
        into[..length].copy_from_slice(&self.input[..length]);
        self.input.drain(..length);
        Ok(length)
    }
}

impl Write for Buffers {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The messages of a page.
struct Socket<S> {
    messages: WebSocket<Buffers>,
    reader: ReadHalf<S>,
    writer: WriteHalf<S>,
}

impl<S: AsyncRead + AsyncWrite> Socket<S> {
    fn new(parts: Parts<TokioIo<S>>) -> Self {
        let (reader, writer) = split(parts.io.into_inner());
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let early = parts.read_buf.to_vec();
        let messages = WebSocket::from_partially_read(Buffers::default(), early, Role::Server, Some(config));
        Socket { messages, reader, writer }
    }
    /// Whether all messages have been taken by the kernel.
    fn is_ready(&self) -> bool {
        self.messages.get_ref().output.is_empty()
    }
    fn send(&mut self, message: &[u8]) -> Option<()> {
        self.messages.send(Message::binary(message.to_vec())).ok()
    }
    /// Waits for bytes, for room, or until `wait` is over; `None` at the end of the connection.
    async fn turn(&mut self, wait: Duration) -> Option<()> {
        let mut received = [0; 1024];
        let output = &mut self.messages.get_mut().output;
        tokio::select! {
            length = self.reader.read(&mut received) => {
                let length = length.ok().filter(|length| *length > 0)?;
                self.messages.get_mut().input.extend_from_slice(&received[..length]);
            }
            length = self.writer.write(output), if !output.is_empty() => {
                output.drain(..length.ok()?);
            }
            () = sleep(std::time::Duration::from_nanos(wait.as_nanos())) => {}
        }
        Some(())
    }
    /// The answers that have arrived; `None` at the end of the connection.
    fn answers(&mut self) -> Option<Vec<[u8; ECHO_BYTES]>> {
        let mut answers = Vec::new();
        loop {
            match self.messages.read() {
                Ok(Message::Binary(bytes)) => answers.extend(<[u8; ECHO_BYTES]>::try_from(&bytes[..])),
                Ok(Message::Close(_)) => return None,
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                    return Some(answers);
                }
                Err(_) => return None,
            }
        }
    }
}

async fn run<S: AsyncRead + AsyncWrite>(parts: Parts<TokioIo<S>>, test: &Test, connection: &Connection) {
    let clock = connection.common.shared.clock;
    let mut socket = Socket::new(parts);
    if test.open(browser::Transport::WebSocket, clock.now()) {
        // Both end with the connection.
        let _ = probe(&mut socket, test, connection).await;
    }
    if let Some(message) = test.last_message() {
        let until = clock.now() + LAST_WAIT;
        let mut is_open = socket.send(&message).is_some();
        while is_open && clock.now() < until {
            is_open = socket.turn(until.saturating_since(clock.now())).await.is_some();
        }
    }
}

/// Probes until the test is over; `None` if the connection ends before.
async fn probe<S: AsyncRead + AsyncWrite>(
    socket: &mut Socket<S>,
    test: &Test,
    connection: &Connection,
) -> Option<()> {
    let shared = &connection.common.shared;
    let clock = shared.clock;
    let mut due = clock.now();
    loop {
        let now: Time = clock.now();
        if shared.stop.is_set() {
            return None;
        }
        for answer in socket.answers()? {
            connection.progress();
            test.take(&answer, now);
        }
        if now >= due {
            let Some(wake) = test.advance(now) else { return Some(()) };
            if !socket.is_ready() {
                test.withhold(now);
            } else if let Some((sequence, message)) = test.probe(now) {
                socket.send(&message)?;
                test.departed(sequence, clock.now());
            }
            due = wake.max(now);
            due = test.advance(now).unwrap_or(due);
        }
        socket.turn(due.saturating_since(clock.now())).await?;
    }
}
