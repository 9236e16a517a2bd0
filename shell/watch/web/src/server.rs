//! The serving thread.
use crate::api;
use crate::app::{App, now_ns};
use crate::config::{WebConfig, WebError};
use crate::guard::Guard;
use crate::hub::Hub;
use crate::listen::accept;
use crate::now::Live;
use crate::past::{MAX_READERS, OpenPast, Pool};
use fathom_certificate::Tls;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

/// Threads: those of queries, one for result files, and two for the state of the targets and
/// `/metrics`, which take milliseconds.
const BLOCKING_THREADS: usize = MAX_READERS + 3;
/// Changes are shown within a second; with many targets, values change all the time and are sent
/// less often.
const MIN_TICK: Duration = Duration::from_secs(1);
const TARGETS_PER_SECOND: usize = 250;
const MAX_TICK: Duration = Duration::from_secs(10);
/// Width of an overview column.
const WARM_EVERY: Duration = Duration::from_nanos(crate::overview::PAGE_WIDTH_NS);
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

/// Serves the page until the result is dropped. `open_past` opens a reader of the history; it is
/// called for each reading thread.
///
/// # Errors
/// If the address is in use, the password file cannot be trusted, or the system provides no thread.
pub fn serve(config: &WebConfig, live: Arc<dyn Live>, open_past: Box<OpenPast>) -> Result<Server, WebError> {
    let (guard, new_password) = Guard::new(config)?;
    let tls = config.certificate.as_ref().map(|one| Tls::new(one, &[b"http/1.1"])).transpose();
    let tls = tls.map_err(WebError::Certificate)?;
    let unheard = |source| WebError::Listen { address: config.listen, source };
    let listener = TcpListener::bind(config.listen).map_err(unheard)?;
    listener.set_nonblocking(true).map_err(unheard)?;
    let address = listener.local_addr().map_err(unheard)?;
    let asks_password = guard.asks();
    let app = App {
        guard,
        live,
        past: Arc::new(Pool::new(open_past)),
        hub: Arc::new(Hub::new(now_ns())),
        cache: Arc::default(),
        connections: Arc::default(),
        files: Arc::new(Semaphore::new(1)),
    };
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("web-query")
        .build()
        .map_err(WebError::System)?;
    let (stop, stopped) = watch::channel(false);
    let acceptor = tls.as_ref().map(|tls| TlsAcceptor::from(Arc::clone(&tls.config)));
    let run = move || run(runtime, (listener, acceptor), Arc::new(app), stopped);
    let thread = std::thread::Builder::new().name("web".into()).spawn(run).map_err(WebError::System)?;
    let is_secure = tls.is_some();
    let fingerprint = tls.and_then(|tls| tls.fingerprint);
    Ok(Server { address, new_password, asks_password, is_secure, fingerprint, stop, thread: Some(thread) })
}

fn run(
    runtime: Runtime,
    (listener, tls): (TcpListener, Option<TlsAcceptor>),
    app: Arc<App>,
    stopped: watch::Receiver<bool>,
) {
    runtime.block_on(async move {
        // The listener is already non-blocking.
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        let updater = tokio::spawn(update_pages(Arc::clone(&app)));
        let warmer = tokio::spawn(warm(Arc::clone(&app)));
        accept(listener, tls, app, stopped).await;
        updater.abort();
        warmer.abort();
    });
    runtime.shutdown_timeout(PATIENCE);
}

/// Prepares what a page shows first.
async fn warm(app: Arc<App>) {
    loop {
        api::warm(&app).await;
        tokio::time::sleep(WARM_EVERY).await;
    }
}

/// Sends changes to open pages.
async fn update_pages(app: Arc<App>) {
    loop {
        let mut tick = MIN_TICK;
        if app.hub.has_listeners()
            && let Ok((targets, troubles)) = app.now().await
        {
            app.hub.update(&targets, &troubles);
            tick = Duration::from_millis((targets.len() * 1_000 / TARGETS_PER_SECOND) as u64);
        }
        tokio::time::sleep(tick.clamp(MIN_TICK, MAX_TICK)).await;
    }
}
