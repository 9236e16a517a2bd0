//! Connections: how many, how long, and how large a request.
use crate::app::App;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// A browser holds six; beyond these, a connection is closed at once rather than kept waiting.
const MAX_CONNECTIONS: usize = 512;
/// A request's head comes within this, or the connection ends: so do connections on which nothing
/// is asked.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Head and buffer of a connection. A browser sends less than 2 kB.
const MAX_HEAD_BYTES: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
/// Who does not take what was sent to him for so long has gone away.
const UNTAKEN: Duration = Duration::from_secs(30);
/// After a failure to accept (no descriptor is left), so that the loop does not spin.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Accepts until `stop` says so.
pub(crate) async fn accept(listener: TcpListener, app: Arc<App>, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => return,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(AFTER_FAILURE).await;
            continue;
        };
        // Without a place, the stream is dropped: the client sees the connection closed.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let (app, stop) = (Arc::clone(&app), stop.clone());
        tokio::spawn(async move {
            serve(stream, from, app, stop).await;
            drop(place);
        });
    }
}

async fn serve(stream: TcpStream, from: SocketAddr, app: Arc<App>, mut stop: watch::Receiver<bool>) {
    // Without these two a connection is slower, or held longer, and as good.
    let _ = stream.set_nodelay(true);
    let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(UNTAKEN));
    let service = service_fn(move |request: Request<Incoming>| {
        let app = Arc::clone(&app);
        async move { Ok::<_, Infallible>(app.answer(request, from.ip()).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // A client's fault ends its own connection, and is nobody else's concern.
        _ = &mut connection => {}
        _ = stop.changed() => {}
    }
}
