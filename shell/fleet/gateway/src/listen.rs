//! Connections: their number, and the time of their parts.
use crate::api::App;
use crate::places::{Place, Places};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Time limit of a TLS handshake, and of the head of a request; idle connections end with it too.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
const MAX_HEAD_BYTES: usize = 16 << 10;
const MAX_HEADERS: usize = 64;
/// Time limit for a client that does not read its response.
const UNTAKEN: Duration = Duration::from_secs(30);
/// Pause after a failed accept (no descriptors), to avoid a busy loop.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Accepts connections until `stop`.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    app: Arc<App>,
    places: Arc<Places>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => return,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(AFTER_FAILURE).await;
            continue;
        };
        let Some(place) = places.admit(group(from)) else {
            app.counts.connections_refused.fetch_add(1, Relaxed);
            continue;
        };
        let (app, tls, place, mut stopped) = (Arc::clone(&app), tls.clone(), Arc::new(place), stop.clone());
        tokio::spawn(async move {
            let close = Arc::clone(&place.close);
            tokio::select! {
                () = serve(stream, from, tls, app, place) => {}
                () = close.notified() => {}
                _ = stopped.changed() => {}
            }
        });
    }
}

/// The addresses of one client: an IPv6 network of 64 bits counts as one.
fn group(from: SocketAddr) -> IpAddr {
    match from.ip().to_canonical() {
        IpAddr::V6(address) => IpAddr::from((u128::from(address) >> 64 << 64).to_be_bytes()),
        address => address,
    }
}

async fn serve(
    stream: TcpStream,
    from: SocketAddr,
    tls: Option<TlsAcceptor>,
    app: Arc<App>,
    place: Arc<Place>,
) {
    // Without these options a connection is only slower or held longer.
    let _ = stream.set_nodelay(true);
    let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(UNTAKEN));
    match tls {
        None => answer(stream, from.ip(), app, place).await,
        Some(tls) => {
            // An error of the client only ends its own connection.
            if let Ok(Ok(secure)) = timeout(HEAD_TIMEOUT, tls.accept(stream)).await {
                answer(secure, from.ip(), app, place).await;
            }
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, from: IpAddr, app: Arc<App>, place: Arc<Place>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (app, place) = (Arc::clone(&app), Arc::clone(&place));
        async move { Ok::<_, Infallible>(app.answer(request, from, &place).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS);
    // As above.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}
