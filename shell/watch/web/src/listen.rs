//! Limits of connections: number, duration, and request size.
use crate::app::App;
use crate::guard::name_of;
use crate::reply::{Refusal, Reply, moved};
use crate::shares::Place;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Timeout for a TLS handshake, and for the head of a request; idle connections end with it too.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a request head. A browser sends less than 2 kB.
const MAX_HEAD_BYTES: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
/// Timeout for a client that does not read its response.
const UNTAKEN: Duration = Duration::from_secs(30);
/// Pause after a failed accept (no descriptors), to avoid a busy loop.
const AFTER_FAILURE: Duration = Duration::from_millis(100);
/// First byte of a TLS handshake (RFC 8446 section 5.1).
const HANDSHAKE: u8 = 22;

/// Accepts connections until `stop`.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    app: Arc<App>,
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
        let place = Arc::new(app.connections.admit(from.ip()));
        let (app, tls, mut stop) = (Arc::clone(&app), tls.clone(), stop.clone());
        tokio::spawn(async move {
            let close = Arc::clone(&place.close);
            tokio::select! {
                () = serve(stream, from, tls, app, place) => {}
                () = close.notified() => {}
                _ = stop.changed() => {}
            }
        });
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
    let Some(tls) = tls else { return answer(stream, from.ip(), app, place).await };
    let mut first = [0];
    match timeout(HEAD_TIMEOUT, stream.peek(&mut first)).await {
        Ok(Ok(1)) if first[0] != HANDSHAKE => redirect(stream).await,
        Ok(Ok(1)) => {
            // An error of the client only ends its own connection.
            if let Ok(Ok(stream)) = timeout(HEAD_TIMEOUT, tls.accept(stream)).await {
                answer(stream, from.ip(), app, place).await;
            }
        }
        _ => {}
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, from: IpAddr, app: Arc<App>, place: Arc<Place>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (app, place) = (Arc::clone(&app), Arc::clone(&place));
        async move { Ok::<_, Infallible>(app.answer(request, from, &place).await) }
    });
    // An error of the client only ends its own connection.
    let _ = connection().serve_connection(TokioIo::new(stream), service).await;
}

/// Leads a browser that was given an address without `https://` to the page.
async fn redirect(stream: TcpStream) {
    let Ok(port) = stream.local_addr().map(|address| address.port()) else { return };
    let service =
        service_fn(
            move |request: Request<Incoming>| async move { Ok::<_, Infallible>(secure(&request, port)) },
        );
    // As above.
    let _ = connection().keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
}

fn secure(request: &Request<Incoming>, port: u16) -> Reply {
    let host = request.headers().get(HOST).and_then(|value| value.to_str().ok()).map(name_of);
    // Only a name: the Location header must not contain what a client chose freely.
    let is_name = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.:[]".contains(&b));
    match host.filter(|name| !name.is_empty() && is_name(name)) {
        Some(name) => moved(&format!("https://{name}:{port}/")),
        None => Refusal::bad("this server needs https://").reply(),
    }
}

fn connection() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS);
    builder
}
