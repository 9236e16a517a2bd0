//! Connections of a page: their place, TLS, and who comes without it.
use crate::connections::{HEAD_TIMEOUT, accept, handshake, http, respond};
use crate::dispatch::Site;
use crate::guard::name_of;
use crate::reply::{Refusal, Reply, moved};
use crate::routes::Routes;
use crate::shares::Place;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// First byte of a TLS handshake (RFC 8446 section 5.1).
const HANDSHAKE: u8 = 22;

/// Serves the page until `stop`.
pub(crate) async fn listen<R: Routes>(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    site: Arc<Site<R>>,
    stop: watch::Receiver<bool>,
) {
    let admit = |stream, from: SocketAddr| {
        let place = Arc::new(site.connections.admit(from.ip()));
        let (site, tls) = (Arc::clone(&site), tls.clone());
        Some(async move {
            let close = Arc::clone(&place.close);
            tokio::select! {
                () = serve(stream, from.ip(), tls, site, place) => {}
                () = close.notified() => {}
            }
        })
    };
    accept(listener, stop, admit).await;
}

async fn serve<R: Routes>(
    stream: TcpStream,
    from: IpAddr,
    tls: Option<TlsAcceptor>,
    site: Arc<Site<R>>,
    place: Arc<Place>,
) {
    let Some(tls) = tls else { return answer(stream, from, site, place).await };
    let mut first = [0];
    match timeout(HEAD_TIMEOUT, stream.peek(&mut first)).await {
        Ok(Ok(1)) if first[0] != HANDSHAKE => redirect(stream).await,
        Ok(Ok(1)) => {
            if let Some(stream) = handshake(&tls, stream).await {
                answer(stream, from, site, place).await;
            }
        }
        _ => {}
    }
}

async fn answer<R: Routes>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    from: IpAddr,
    site: Arc<Site<R>>,
    place: Arc<Place>,
) {
    let answer = |request| {
        let (site, place) = (Arc::clone(&site), Arc::clone(&place));
        async move { site.answer(request, from, &place).await }
    };
    respond(stream, answer).await;
}

/// Leads a browser that was given an address without `https://` to the page.
async fn redirect(stream: TcpStream) {
    let Ok(port) = stream.local_addr().map(|address| address.port()) else { return };
    let service =
        service_fn(
            move |request: Request<Incoming>| async move { Ok::<_, Infallible>(secure(&request, port)) },
        );
    // An error of the client only ends its own connection.
    let _ = http().keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
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
