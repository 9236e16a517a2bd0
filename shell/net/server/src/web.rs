//! Web server for the speed tests of other programs: HTTP/1.1 and HTTP/2, on one port with TLS and
//! without.
mod caller;
mod client;
mod content;
mod ndt7;
mod page;
mod place;
mod respond;
mod socket;
mod transport;

use crate::config::{ServerError, WebConfig};
use crate::limited::TICK;
use crate::listen::Listening;
use crate::server::start;
use crate::shared::{Browser, Shared, load_bytes};
use crate::stats::Refusal;
use crate::sync::Slot;
use client::Clients;
use fathom_certificate::{Certificate, Tls};
use fathom_os::poll::{self, PollFd};
use fathom_pages::{Judge, Pages};
use hyper::Request;
use hyper::body::{Body, Bytes, Incoming};
use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use place::{Activity, Place, Places};
use respond::respond;
use rustls::ServerConfig;
use socket2::{SockRef, Socket};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{interval, sleep};
use tokio_rustls::TlsAcceptor;
use transport::{Pieces, Records, Responding, Transport};

/// Pause after accept(2) failed for lack of descriptors or memory.
const ACCEPT_BACK_OFF: Duration = Duration::from_millis(100);
/// Interval of checks whether a connection is idle.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// First byte of a TLS handshake (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 22;
/// Time for tasks to end at a stop.
const STOP_WAIT: Duration = Duration::from_millis(200);
/// Largest window of HTTP/2 (RFC 9113, section 6.9.1), so that TCP alone limits an upload. What
/// arrives is discarded at once, so it needs no memory.
const WINDOW_BYTES: u32 = (1 << 31) - 1;
/// Bytes of a response that wait within the server.
const SEND_BUFFER_BYTES: usize = 256 * 1024;
/// Maximum size of the head of a request. A browser sends less than 2 kB.
const MAX_HEAD_BYTES: usize = 16 * 1024;

pub(crate) fn certificate(web: Option<&WebConfig>, addresses: &[IpAddr]) -> Result<Tls, ServerError> {
    let certificate = match web.and_then(|web| web.certificate.clone()) {
        Some((chain, key)) => Certificate::Files { chain, key },
        None => {
            let addresses = addresses.iter().map(IpAddr::to_string);
            let names = web.map_or(&[][..], |web| &web.names);
            let names = names.iter().cloned().chain(["localhost".to_owned()]).chain(addresses).collect();
            Certificate::Temporary { names }
        }
    };
    Tls::new(&certificate, &[b"h2", b"http/1.1"]).map_err(ServerError::Certificate)
}

/// Starts the tests of browsers, if no token is required; returns their thread.
pub(crate) fn start_pages(
    shared: &Arc<Shared>,
    listening: &Listening,
    judge: Arc<dyn Judge>,
) -> Option<Result<JoinHandle<()>, ServerError>> {
    if shared.token.is_some() {
        return None;
    }
    let limits = (shared.config.max_bytes, shared.config.patience);
    let (pages, inbox) = Pages::new(shared.clock, listening.port, limits, judge, env!("CARGO_PKG_VERSION"));
    let pages = Arc::new(pages);
    let _ = shared.pages.set(Arc::clone(&pages));
    let sockets: io::Result<Vec<Socket>> = listening.udp.iter().map(Socket::try_clone).collect();
    let sockets = match sockets {
        Ok(sockets) => sockets,
        Err(error) => return Some(Err(ServerError::Host { what: "descriptor", error })),
    };
    let shared = Arc::clone(shared);
    Some(start("fathom-pages", move || {
        while !shared.stop.is_set() {
            let run = || pages.run(&inbox, &sockets, &|| shared.stop.is_set());
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                shared.counters.panicked();
            }
        }
    }))
}

/// The web server before it serves.
pub(crate) struct Web {
    runtime: Runtime,
    listeners: Vec<Socket>,
    /// Connections from the front thread, if there is a page.
    browsers: Option<UnboundedReceiver<Browser>>,
    acceptor: TlsAcceptor,
    /// For browsers: without HTTP/2, over which a page would load the line with one connection.
    page_acceptor: TlsAcceptor,
}

impl Web {
    pub(crate) fn new(shared: &Shared, listeners: Vec<Socket>, tls: Arc<ServerConfig>) -> io::Result<Web> {
        let runtime = Builder::new_multi_thread().thread_name("fathom-web").enable_all().build()?;
        let mut for_page = ServerConfig::clone(&tls);
        for_page.alpn_protocols = vec![b"http/1.1".to_vec()];
        let page_acceptor = TlsAcceptor::from(Arc::new(for_page));
        let (sender, arriving) = unbounded_channel();
        let has_page = shared.has_page() && shared.browsers.set(sender).is_ok();
        let browsers = has_page.then_some(arriving);
        Ok(Web { runtime, listeners, browsers, acceptor: TlsAcceptor::from(tls), page_acceptor })
    }
    /// Serves until the server stops.
    pub(crate) fn run(self, shared: &Arc<Shared>) {
        let Web { runtime, listeners, browsers, acceptor, page_acceptor } = self;
        let common = Arc::new(Common {
            shared: Arc::clone(shared),
            places: Arc::new(Places::new(shared.config.max_connections)),
            clients: Arc::new(Clients::new(shared)),
            acceptor,
            page_acceptor,
            load: Bytes::from(load_bytes()),
        });
        if let Some(browsers) = browsers {
            let _guard = runtime.enter();
            spawn(shared, accept_browsers(browsers, Arc::clone(&common)));
        }
        for listener in listeners {
            let _guard = runtime.enter();
            // It is already non-blocking. Fails if the runtime has stopped.
            let Ok(listener) = TcpListener::from_std(listener.into()) else { continue };
            spawn(shared, accept(listener, Arc::clone(&common)));
        }
        while !shared.stop.is_set() {
            let _ = poll::wait(&mut [PollFd::readable(shared.stop.fd())], None);
        }
        // A session ends at its next tick, unless a transfer does not move.
        shared.sessions.wait_until_empty(TICK * 2);
        runtime.shutdown_timeout(STOP_WAIT);
    }
}

/// What all connections share.
struct Common {
    shared: Arc<Shared>,
    places: Arc<Places>,
    clients: Arc<Clients>,
    acceptor: TlsAcceptor,
    page_acceptor: TlsAcceptor,
    load: Bytes,
}

/// An accepted connection.
struct Connection {
    common: Arc<Common>,
    client: SocketAddr,
    local: SocketAddr,
    is_secure: bool,
    /// For the state of its TCP.
    socket: Option<Socket>,
    pieces: Arc<Pieces>,
    activity: Arc<Activity>,
    _place: Place,
    _slot: Slot,
}

impl Connection {
    fn is_idle(&self) -> bool {
        let shared = &self.common.shared;
        self.activity.since_progress(shared.clock.now()) >= shared.config.patience
    }
    fn progress(&self) {
        self.activity.set_progress(self.common.shared.clock.now());
    }
}

async fn accept(listener: TcpListener, common: Arc<Common>) {
    loop {
        match listener.accept().await {
            Ok((stream, client)) => admit((stream, Vec::new()), client, &common),
            Err(_) => {
                common.shared.counters.refuse(Refusal::Descriptors, None);
                sleep(ACCEPT_BACK_OFF).await;
            }
        }
    }
}

/// Takes connections of browsers from the front thread.
async fn accept_browsers(mut arriving: UnboundedReceiver<Browser>, common: Arc<Common>) {
    while let Some(Browser { socket, early }) = arriving.recv().await {
        let stream = TcpStream::from_std(socket.into());
        let Some((stream, client)) = stream.ok().and_then(|s| s.peer_addr().ok().map(|peer| (s, peer)))
        else {
            continue;
        };
        admit((stream, early), client, &common);
    }
}

fn admit((stream, early): (TcpStream, Vec<u8>), client: SocketAddr, common: &Arc<Common>) {
    let shared = &common.shared;
    let (activity, now) = (Arc::new(Activity::default()), shared.clock.now());
    activity.set_progress(now);
    let place = match common.places.take(client.ip(), &activity, now) {
        Ok((place, replaced)) => {
            if let Some(other) = replaced {
                shared.counters.refuse(Refusal::ConnectionReplaced, Some(other));
            }
            place
        }
        Err(reason) => return shared.counters.refuse(reason, Some(client.ip())),
    };
    let Ok(local) = stream.local_addr() else { return };
    let (close, slot) = (Arc::clone(&place.close), shared.take_slot());
    let connection = Connection {
        common: Arc::clone(common),
        client,
        local,
        is_secure: false,
        socket: SockRef::from(&stream).try_clone().ok(),
        pieces: Arc::default(),
        activity,
        _place: place,
        _slot: slot,
    };
    spawn(shared, async move {
        tokio::select! {
            () = serve(stream, early, connection) => {}
            () = close.notified() => {}
        }
    });
}

async fn serve(stream: TcpStream, early: Vec<u8>, mut connection: Connection) {
    let common = &connection.common;
    let acceptor = if early.is_empty() { &common.acceptor } else { &common.page_acceptor }.clone();
    let pieces = Arc::clone(&connection.pieces);
    let patience = Duration::from_nanos(connection.common.shared.config.patience.as_nanos());
    let start = async {
        let mut first = [0];
        let is_tls = match early.first() {
            Some(byte) => *byte == HANDSHAKE,
            None => matches!(stream.peek(&mut first).await, Ok(1)) && first[0] == HANDSHAKE,
        };
        let stream = Transport::new(stream, early, pieces);
        Some(if is_tls { Err(acceptor.accept(stream).await.ok()?) } else { Ok(stream) })
    };
    match tokio::time::timeout(patience, start).await {
        Ok(Some(Ok(plain))) => answer(plain, connection).await,
        Ok(Some(Err(encrypted))) => {
            connection.is_secure = true;
            answer(Records::new(encrypted), connection).await;
        }
        // An error of the client only ends its own connection.
        Ok(None) => {}
        Err(_) => {
            let client = connection.client.ip();
            connection.common.shared.counters.refuse(Refusal::Silent, Some(client));
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, connection: Connection) {
    let connection = Arc::new(connection);
    let own = Arc::clone(&connection);
    let service = service_fn(move |request: Request<Incoming>| {
        let of_request = Arc::clone(&own);
        // That to an upload comes at its end.
        let responding = request.body().is_end_stream().then(|| Responding::new(&own.pieces));
        async move {
            let response = respond(request, of_request).await;
            drop(responding);
            Ok::<_, Infallible>(response)
        }
    });
    let mut builder = auto::Builder::new(Guarded(Arc::clone(&connection.common.shared)));
    builder.http1().timer(TokioTimer::new()).max_buf_size(MAX_HEAD_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .max_header_list_size(MAX_HEAD_BYTES as u32);
    let serving = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(serving);
    let mut look = interval(LOOK_EVERY);
    loop {
        tokio::select! {
            // As above.
            _ = &mut serving => return,
            _ = look.tick() => if connection.is_idle() { return },
        }
    }
}

/// Runs the tasks of a connection's requests, and counts those that panic.
#[derive(Clone)]
struct Guarded(Arc<Shared>);

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Guarded {
    /// Begins the task at once. A short response is then complete before HTTP/2 writes, so its
    /// header and its body are in one packet. If it began later, the body would often miss it.
    fn execute(&self, task: F) {
        let mut task = Box::pin(task);
        let mut begin = || task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        match catch_unwind(AssertUnwindSafe(&mut begin)) {
            // It runs again as soon as it is spawned, which needs no waker.
            Ok(Poll::Pending) => spawn(&self.0, task),
            Ok(Poll::Ready(_)) => {}
            Err(_) => self.0.counters.panicked(),
        }
    }
}

fn spawn(shared: &Arc<Shared>, task: impl Future<Output: Send> + Send + 'static) {
    let (shared, running) = (Arc::clone(shared), tokio::spawn(async { drop(task.await) }));
    tokio::spawn(async move {
        if running.await.is_err_and(|error| error.is_panic()) {
            shared.counters.panicked();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use tokio::sync::oneshot;

    #[test]
    fn a_short_task_is_complete_when_it_begins() {
        let shared = Arc::new(Shared::new(Config::default()).unwrap());
        let tasks = Guarded(Arc::clone(&shared));
        let done = Arc::new(AtomicU32::new(0));
        let count = || {
            let done = Arc::clone(&done);
            move || done.fetch_add(1, Relaxed)
        };
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (now, later) = (count(), count());
            let (sender, receiver) = oneshot::channel::<()>();
            tasks.execute(async move { now() });
            assert_eq!(done.load(Relaxed), 1);
            tasks.execute(async move {
                let _ = receiver.await;
                later()
            });
            tasks.execute(async { panic!("on purpose") });
            assert_eq!((done.load(Relaxed), shared.stats().panics), (1, 1));
            sender.send(()).unwrap();
            while done.load(Relaxed) < 2 {
                tokio::task::yield_now().await;
            }
        });
    }
}
