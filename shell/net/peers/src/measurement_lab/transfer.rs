//! Load in messages of a WebSocket.
use crate::tls::cause;
use crate::web::Stream;
use fathom_client::Meter;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_protocol::measurement_lab::{MAX_MESSAGE_BYTES, congestion_control};
use socket2::Socket;
use std::io::{self, ErrorKind, Read, Write};
use tungstenite::client::{ClientRequestBuilder, IntoClientRequest};
use tungstenite::handshake::HandshakeError;
use tungstenite::handshake::client::Request;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, Error, Message, WebSocket};
use url::Url;

/// Messages that are written before incoming ones are read, which bounds the time between reads on
/// a fast line.
const MESSAGES_PER_TURN: usize = 16;

/// The request that opens the WebSocket.
pub(super) fn request(url: &Url, subprotocol: &str) -> Result<Request, String> {
    let uri = url.as_str().parse().map_err(|e| format!("invalid URL {url}: {e}"))?;
    let builder = ClientRequestBuilder::new(uri).with_sub_protocol(subprotocol);
    builder.into_client_request().map_err(|error| reason(&error))
}

/// A stream that counts the bytes it receives: messages are too long to be counted whole on a slow
/// line.
struct Counted<'a> {
    stream: Stream,
    meter: Option<&'a Meter>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stream.read(buffer)?;
        if let Some(meter) = self.meter {
            meter.add_received(length as u64);
        }
        Ok(length)
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn open(stream: Counted<'_>, request: Request) -> Result<WebSocket<Counted<'_>>, String> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    match tungstenite::client::client_with_config(request, stream, Some(config)) {
        Ok((socket, _)) => Ok(socket),
        Err(HandshakeError::Failure(error)) => Err(reason(&error)),
        Err(HandshakeError::Interrupted(_)) => Err("WebSocket: no response".to_owned()),
    }
}

/// Downloads until the server ends the test.
pub(super) fn download(stream: Stream, request: Request, meter: &Meter) -> Result<(), String> {
    let mut socket = open(Counted { stream, meter: Some(meter) }, request)?;
    let mut is_named = false;
    loop {
        match socket.read() {
            Ok(Message::Close(_)) => return Ok(()),
            Ok(Message::Text(measurement)) if !is_named => {
                let name = congestion_control(&measurement);
                is_named = name.is_some();
                name.into_iter().for_each(|name| meter.set_congestion_control(name));
            }
            Ok(_) => {}
            Err(error) => return Err(reason(&error)),
        }
    }
}

/// Uploads until the server ends the test. Its measurements are read meanwhile, because a server
/// that cannot send them stops.
pub(super) fn upload(
    stream: Stream,
    connection: &Socket,
    request: Request,
    payload: &Bytes,
) -> Result<(), String> {
    let mut socket = open(Counted { stream, meter: None }, request)?;
    connection.set_nonblocking(true).map_err(|e| cause(&e))?;
    loop {
        if has_ended(&mut socket)? {
            return Ok(());
        }
        if is_full(&mut socket, payload)? {
            let mut events = [PollFd::readable(connection.as_fd()), PollFd::writable(connection.as_fd())];
            poll::wait(&mut events, None).map_err(|e| cause(&e))?;
        }
    }
}

/// Reads what has arrived and returns whether the server ended the test.
fn has_ended(socket: &mut WebSocket<Counted<'_>>) -> Result<bool, String> {
    loop {
        match socket.read() {
            Ok(Message::Close(_)) => return Ok(true),
            Ok(_) => {}
            Err(error) if is_waiting(&error) => return Ok(false),
            Err(error) => return Err(reason(&error)),
        }
    }
}

/// Sends some messages and returns whether the kernel takes no more.
fn is_full(socket: &mut WebSocket<Counted<'_>>, payload: &Bytes) -> Result<bool, String> {
    for _ in 0..MESSAGES_PER_TURN {
        match socket.flush().and_then(|()| socket.write(Message::Binary(payload.clone()))) {
            Ok(()) => {}
            Err(error) if is_waiting(&error) => return Ok(true),
            Err(error) => return Err(reason(&error)),
        }
    }
    Ok(false)
}

fn is_waiting(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == ErrorKind::WouldBlock)
}

/// The error in the words of other servers.
fn reason(error: &Error) -> String {
    match error {
        Error::Io(error) => cause(error),
        Error::Http(response) => {
            let after = response.headers().get("retry-after").and_then(|after| after.to_str().ok());
            let after = after.map_or_else(String::new, |after| format!(", retry after {after}"));
            format!("HTTP status {}{after}", response.status().as_u16())
        }
        Error::Protocol(error) => format!("WebSocket: {error}"),
        other => format!("WebSocket: {other}"),
    }
}
