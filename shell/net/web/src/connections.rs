//! Connections of HTTP servers, within limits of time and size. Also for servers without a page;
//! how many connections they have is up to them.
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Timeout for a TLS handshake, and for the head of a request; idle connections end with it too.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a request head. A browser sends less than 2 kB.
const MAX_HEAD_BYTES: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
/// Timeout for a client that does not read its response.
const UNTAKEN: Duration = Duration::from_secs(30);
/// Pause after a failed accept (no descriptors), to avoid a busy loop.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Accepts connections until `stop`. `serve` returns what serves one, as a task that ends with
/// `stop`, or `None` to close it.
pub async fn accept<F>(
    listener: TcpListener,
    mut stop: watch::Receiver<bool>,
    serve: impl Fn(TcpStream, SocketAddr) -> Option<F>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => return,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(AFTER_FAILURE).await;
            continue;
        };
        // Without these options a connection is only slower or held longer.
        let _ = stream.set_nodelay(true);
        let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(UNTAKEN));
        let Some(serving) = serve(stream, from) else { continue };
        let mut stop = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = serving => {}
                _ = stop.changed() => {}
            }
        });
    }
}

/// Accepts TLS on a connection; `None` if the handshake fails or takes too long.
pub async fn handshake(tls: &TlsAcceptor, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
    // An error of the client only ends its own connection.
    timeout(HEAD_TIMEOUT, tls.accept(stream)).await.ok()?.ok()
}

/// Responds to the requests of a connection until it ends.
pub async fn respond<F, B>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: impl Fn(Request<Incoming>) -> F,
) where
    F: Future<Output = Response<B>>,
    B: hyper::body::Body<Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let service = service_fn(|request| {
        let answered = answer(request);
        async move { Ok::<_, Infallible>(answered.await) }
    });
    // An error of the client only ends its own connection.
    let _ = http().serve_connection(TokioIo::new(stream), service).await;
}

/// HTTP with limits of time and size.
pub(crate) fn http() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS);
    builder
}

/// The addresses of one client: an IPv6 network of 64 bits counts as one, because a household has
/// 2^64 addresses.
#[must_use]
pub fn group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
    }
}
