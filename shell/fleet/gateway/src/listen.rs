//! Connections of agents: their place, and TLS.
use crate::api::App;
use crate::places::{Place, Places};
use fathom_web::connections::{self, group, handshake, respond};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// Accepts connections until `stop`.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    app: Arc<App>,
    places: Arc<Places>,
    stop: watch::Receiver<bool>,
) {
    let admit = |stream, from: SocketAddr| {
        let Some(place) = places.admit(group(from.ip())) else {
            app.counts.connections_refused.fetch_add(1, Relaxed);
            return None;
        };
        let (app, tls, place) = (Arc::clone(&app), tls.clone(), Arc::new(place));
        Some(async move {
            let close = Arc::clone(&place.close);
            tokio::select! {
                () = serve(stream, from.ip(), tls, app, place) => {}
                () = close.notified() => {}
            }
        })
    };
    connections::accept(listener, stop, admit).await;
}

async fn serve(stream: TcpStream, from: IpAddr, tls: Option<TlsAcceptor>, app: Arc<App>, place: Arc<Place>) {
    match tls {
        None => answer(stream, from, app, place).await,
        Some(tls) => {
            if let Some(secure) = handshake(&tls, stream).await {
                answer(secure, from, app, place).await;
            }
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, from: IpAddr, app: Arc<App>, place: Arc<Place>) {
    let answer = |request| {
        let (app, place) = (Arc::clone(&app), Arc::clone(&place));
        async move { app.answer(request, from, &place).await }
    };
    respond(stream, answer).await;
}
