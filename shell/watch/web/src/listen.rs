//! Limits of connections: number, duration, and request size.
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

/// Maximum number of connections; a browser opens six. Beyond it, new connections are closed
/// immediately.
const MAX_CONNECTIONS: usize = 512;
/// Timeout for the head of a request; idle connections end with it too.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a request head. A browser sends less than 2 kB.
const MAX_HEAD_BYTES: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
/// Timeout for a client that does not read its response.
const UNTAKEN: Duration = Duration::from_secs(30);
/// Pause after a failed accept (no descriptors), to avoid a busy loop.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Accepts connections until `stop`.
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
        // Without a permit, the stream is dropped, which closes the connection.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let (app, stop) = (Arc::clone(&app), stop.clone());
        tokio::spawn(async move {
            serve(stream, from, app, stop).await;
            drop(place);
        });
    }
}

async fn serve(stream: TcpStream, from: SocketAddr, app: Arc<App>, mut stop: watch::Receiver<bool>) {
    // Without these options a connection is only slower or held longer.
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
        // An error of the client only ends its own connection.
        _ = &mut connection => {}
        _ = stop.changed() => {}
    }
}
