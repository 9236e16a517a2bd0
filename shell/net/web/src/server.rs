//! The serving thread.
use crate::config::{WebConfig, WebError};
use crate::dispatch::Site;
use crate::guard::Guard;
use crate::listen::listen;
use crate::routes::Routes;
use fathom_certificate::Tls;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// Time for running queries to finish at a stop.
const PATIENCE: Duration = Duration::from_millis(500);

/// The running server; it stops when this value is dropped.
pub struct Server {
    /// The listen address, with the actual port if 0 was requested.
    pub address: SocketAddr,
    /// The newly generated password, if any: show it once.
    pub new_password: Option<String>,
    /// Whether a password is required.
    pub asks_password: bool,
    /// Whether the page is served by TLS.
    pub is_secure: bool,
    /// SHA-256 of its certificate, if that is self-signed.
    pub fingerprint: Option<String>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported on stderr.
            let _ = thread.join();
        }
    }
}

/// Serves a page until the result is dropped.
///
/// # Errors
/// If the address is in use, the password file cannot be trusted, or the system provides no thread.
pub fn serve<R: Routes>(config: &WebConfig, routes: Arc<R>) -> Result<Server, WebError> {
    let (guard, new_password) = Guard::new(config, R::ABOUT.name)?;
    let tls = config.certificate.as_ref().map(|one| Tls::new(one, &[b"http/1.1"])).transpose();
    let tls = tls.map_err(WebError::Certificate)?;
    let unheard = |source| WebError::Listen { address: config.listen, source };
    let listener = TcpListener::bind(config.listen).map_err(unheard)?;
    listener.set_nonblocking(true).map_err(unheard)?;
    let address = listener.local_addr().map_err(unheard)?;
    let asks_password = guard.asks();
    let site = Site { guard, connections: Arc::default(), routes };
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(R::ABOUT.threads)
        .thread_name("web-query")
        .build()
        .map_err(WebError::System)?;
    let (stop, stopped) = watch::channel(false);
    let acceptor = tls.as_ref().map(|tls| TlsAcceptor::from(Arc::clone(&tls.config)));
    let run = move || run(runtime, (listener, acceptor), Arc::new(site), stopped);
    let thread = std::thread::Builder::new().name("web".into()).spawn(run).map_err(WebError::System)?;
    let is_secure = tls.is_some();
    let fingerprint = tls.and_then(|tls| tls.fingerprint);
    Ok(Server { address, new_password, asks_password, is_secure, fingerprint, stop, thread: Some(thread) })
}

fn run<R: Routes>(
    runtime: Runtime,
    (listener, tls): (TcpListener, Option<TlsAcceptor>),
    site: Arc<Site<R>>,
    stopped: watch::Receiver<bool>,
) {
    runtime.block_on(async move {
        // The listener is already non-blocking.
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        site.routes.start();
        listen(listener, tls, site, stopped).await;
    });
    // Ends all tasks.
    runtime.shutdown_timeout(PATIENCE);
}
