//! ndt7: load in messages of a WebSocket. Source: github.com/m-lab/ndt-server,
//! spec/ndt7-protocol.md. Each transfer has a thread, as the flows of Fathom's own protocol.
use super::Connection;
use super::caller::Caller;
use super::client::Transfer;
use super::content::Content;
use super::place::Running;
use super::respond::refused;
use super::transport::{Records, Transport};
use crate::stats::Refusal;
use fathom_os::fd::AsFd;
use fathom_os::socket::set_congestion_control;
use fathom_os::tcp_info::tcp_info;
use fathom_protocol::measurement_lab::{MAX_MESSAGE_BYTES, Measured, Sender, SpeedTest, measurement};
use fathom_units::{Direction, Duration, Time};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use hyper::upgrade::{Upgraded, on};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::upgrade::{Parts, downcast};
use socket2::{SockRef, Socket};
use std::io::{self, ErrorKind, Read, Write};
use std::panic::resume_unwind;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tungstenite::handshake::server::create_response;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// The server sends for this long, and clients too; it receives for half as long again, because
/// what a client sent may wait in a queue.
const LOAD_TIME: Duration = Duration::from_secs(10);
const LONGEST_UPLOAD: Duration = Duration::from_secs(15);
/// Interval of measurements.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// Size of the first message, and of the largest. A message has at most a sixteenth of what was
/// sent before, so that a slow line gets small ones.
const FIRST_BYTES: usize = 1 << 13;
const LARGEST_BYTES: usize = 1 << 20;
const GROWTH: u64 = 16;

/// The direction of a path of ndt7.
pub(super) fn direction(path: &str) -> Option<Direction> {
    Direction::BOTH.into_iter().find(|direction| path == SpeedTest::Ndt7.path(*direction))
}

/// Accepts a WebSocket and starts its transfer.
pub(super) fn accept(
    mut request: Request<Incoming>,
    caller: Caller,
    direction: Direction,
) -> Result<Response<Content>, (Refusal, String)> {
    let protocol = SpeedTest::Ndt7.subprotocol();
    let offered = request.headers().get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    if !offered.map(str::trim).any(|name| name == protocol) {
        return Err(refused(Refusal::Http));
    }
    let upgrade = on(&mut request);
    let response = create_response(&request.map(|_| ())).map_err(|_| refused(Refusal::Http))?;
    let transfer = caller.transfer(direction)?;
    let connection = Arc::clone(&caller);
    let shared = Arc::clone(&connection.common.shared);
    super::spawn(&shared, async move {
        // An error is the end of the connection.
        let Ok(upgraded) = upgrade.await else { return };
        let runtime = Handle::current();
        let _running = connection.activity.run();
        let run = move || Test { connection, transfer, direction, runtime, _running }.run(upgraded);
        if let Err(panic) = spawn_blocking(run).await
            && panic.is_panic()
        {
            resume_unwind(panic.into_panic());
        }
    });
    let mut response = response.map(|()| Content::Text(None));
    response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
    Ok(response)
}

/// A connection whose socket is known.
trait Carrier: AsyncRead + AsyncWrite + Unpin {
    fn socket(&self) -> &TcpStream;
}

impl Carrier for Transport {
    fn socket(&self) -> &TcpStream {
        self.stream()
    }
}

impl Carrier for Records {
    fn socket(&self) -> &TcpStream {
        self.transport().stream()
    }
}

/// A connection that blocks the calling thread, at most for the patience of the server.
struct Blocking<S> {
    stream: S,
    runtime: Handle,
    patience: std::time::Duration,
    received_bytes: u64,
}

impl<S: Carrier> Read for Blocking<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = async { timeout(self.patience, self.stream.read(buffer)).await };
        let length = self.runtime.block_on(read).map_err(|_| ErrorKind::TimedOut)??;
        self.received_bytes += length as u64;
        Ok(length)
    }
}

impl<S: Carrier> Write for Blocking<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let write = async { timeout(self.patience, self.stream.write(bytes)).await };
        self.runtime.block_on(write).map_err(|_| ErrorKind::TimedOut)?
    }
    fn flush(&mut self) -> io::Result<()> {
        let flush = async { timeout(self.patience, self.stream.flush()).await };
        self.runtime.block_on(flush).map_err(|_| ErrorKind::TimedOut)?
    }
}

/// A transfer in its thread.
struct Test {
    connection: Arc<Connection>,
    transfer: Transfer,
    direction: Direction,
    runtime: Handle,
    _running: Running,
}

impl Test {
    fn run(self, upgraded: Upgraded) {
        let ended = match downcast::<TokioIo<Transport>>(upgraded) {
            Ok(parts) => self.over(parts),
            Err(other) => match downcast::<TokioIo<Records>>(other) {
                Ok(parts) => self.over(parts),
                Err(_) => return,
            },
        };
        // An error is the end of the connection: closed by the client, or lost.
        let _ = ended;
    }
    fn over<S: Carrier>(&self, parts: Parts<TokioIo<S>>) -> tungstenite::Result<()> {
        let stream = parts.io.into_inner();
        let socket = SockRef::from(stream.socket()).try_clone()?;
        let patience =
            std::time::Duration::from_nanos(self.connection.common.shared.config.patience.as_nanos());
        let stream = Blocking { stream, runtime: self.runtime.clone(), patience, received_bytes: 0 };
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let early = parts.read_buf.to_vec();
        let mut messages = WebSocket::from_partially_read(stream, early, Role::Server, Some(config));
        match self.direction {
            Direction::Down => self.send(&mut messages, &socket)?,
            Direction::Up => self.receive(&mut messages, &socket)?,
        }
        messages.close(None)?;
        // Until the client has confirmed the end.
        while messages.read().is_ok() {}
        Ok(())
    }
    fn now(&self) -> Time {
        self.connection.common.shared.clock.now()
    }
    fn send<S: Carrier>(
        &self,
        messages: &mut WebSocket<Blocking<S>>,
        socket: &Socket,
    ) -> tungstenite::Result<()> {
        // The specification recommends BBR. Without it, the default is used.
        let _ = set_congestion_control(socket, "bbr");
        let load: &Bytes = &self.connection.common.load;
        let (start, mut due) = (self.now(), self.now() + REPORT_EVERY);
        let (mut length, mut sent_bytes) = (FIRST_BYTES, 0);
        while self.now().saturating_since(start) < LOAD_TIME {
            messages.send(Message::Binary(load.slice(..length)))?;
            sent_bytes += length as u64;
            if !self.transfer.count(length) {
                break;
            }
            if length < LARGEST_BYTES && length as u64 <= sent_bytes / GROWTH {
                length *= 2;
            }
            if self.now() >= due {
                due = self.now() + REPORT_EVERY;
                messages.send(Message::text(self.measurement(start, sent_bytes, socket)))?;
            }
        }
        Ok(())
    }
    fn receive<S: Carrier>(
        &self,
        messages: &mut WebSocket<Blocking<S>>,
        socket: &Socket,
    ) -> tungstenite::Result<()> {
        let (start, mut due) = (self.now(), self.now() + REPORT_EVERY);
        let mut counted_bytes = 0;
        while self.now().saturating_since(start) < LONGEST_UPLOAD {
            if messages.read()?.is_close() {
                break;
            }
            let received_bytes = messages.get_ref().received_bytes;
            if !self.transfer.count((received_bytes - counted_bytes) as usize) {
                break;
            }
            counted_bytes = received_bytes;
            if self.now() >= due {
                due = self.now() + REPORT_EVERY;
                messages.send(Message::text(self.measurement(start, received_bytes, socket)))?;
            }
        }
        Ok(())
    }
    fn measurement(&self, start: Time, bytes: u64, socket: &Socket) -> String {
        let tcp = tcp_info(socket.as_fd()).ok().map(|info| Sender {
            rtt_us: info.rtt_us,
            min_rtt_us: info.min_rtt_us,
            bytes_acked: info.bytes_acked,
            bytes_sent: info.bytes_sent,
            bytes_retrans: info.bytes_retransmitted,
        });
        measurement(&Measured {
            direction: self.direction,
            elapsed_us: self.now().saturating_since(start).as_nanos() / 1_000,
            bytes,
            client: self.connection.client,
            server: self.connection.local,
            tcp,
        })
    }
}
