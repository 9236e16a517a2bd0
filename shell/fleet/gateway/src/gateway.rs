//! The running gateway.
use crate::api::App;
use crate::config::{GatewayConfig, GatewayError};
use crate::event::{Event, EventKind, Events};
use crate::forward::{Forwarder, MAX_REQUESTS};
use crate::listen::accept;
use crate::objects::{MAX_UPLOADS, Objects};
use crate::places::Places;
use crate::registry_file::RegistryFile;
use crate::secrets::{fill, now_ms};
use crate::sites::Sites;
use fathom_certificate::Tls;
use fathom_fleet_admission::Digest;
use fathom_os::error::without_code;
use fathom_os::files::read_text_at_most;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

/// Kilobytes of bodies in memory.
const MEMORY_KILOBYTES: usize = 256 << 10;
/// Changes of the registry that wait for each other.
const MAX_CHANGES: usize = 16;
/// Threads that block, of each serving thread: requests to the engine, and files.
const BLOCKING_THREADS: usize = MAX_REQUESTS + MAX_CHANGES + 16;
/// How often changes by administrators are read.
const REFRESH_EVERY: Duration = Duration::from_millis(500);
/// How often silent sites are forgotten, in refreshes.
const FORGET_EVERY: u64 = 1_200;
/// Time for requests to finish at a stop.
const PATIENCE: Duration = Duration::from_millis(500);
const MAX_PASSWORD_BYTES: u64 = 1_024;

/// A running gateway; it stops when this value is dropped.
pub struct Gateway {
    address: SocketAddr,
    fingerprint: Option<String>,
    app: Arc<App>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Gateway {
    /// Starts a gateway.
    ///
    /// # Errors
    /// An address that is in use, or files that cannot be read or written.
    pub fn start(config: &GatewayConfig) -> Result<Gateway, GatewayError> {
        let app = Arc::new(app(config)?);
        let tls = config.certificate.as_ref().map(|one| Tls::new(one, &[b"http/1.1"])).transpose();
        let tls = tls.map_err(GatewayError::Certificate)?;
        let unheard = |source| GatewayError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).map_err(unheard)?;
        listener.set_nonblocking(true).map_err(unheard)?;
        let address = listener.local_addr().map_err(unheard)?;
        // A lower limit only refuses connections earlier.
        let _ = fathom_os::files::raise_limit();
        let places = Arc::new(Places::new(config.connections));
        let acceptor = tls.as_ref().map(|tls| TlsAcceptor::from(Arc::clone(&tls.config)));
        let (stop, stopped) = watch::channel(false);
        let fingerprint = tls.and_then(|tls| tls.fingerprint);
        let mut gateway = Gateway { address, fingerprint, app, stop, threads: Vec::new() };
        for number in 0..config.threads.max(1) {
            let own = listener.try_clone().map_err(unheard)?;
            let with = (acceptor.clone(), Arc::clone(&gateway.app), Arc::clone(&places), stopped.clone());
            let runtime = runtime().map_err(GatewayError::System)?;
            let run = move || run(runtime, own, with, number == 0);
            let thread = std::thread::Builder::new().name("gateway".into()).spawn(run);
            gateway.threads.push(thread.map_err(GatewayError::System)?);
        }
        Ok(gateway)
    }
    /// The listen address, with the actual port if 0 was requested.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
    /// SHA-256 of the certificate, if that is self-signed.
    #[must_use]
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }
    /// Events that were not read yet.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        std::iter::from_fn(|| self.next_event(Duration::ZERO)).collect()
    }
    /// Waits for the next event.
    #[must_use]
    pub fn next_event(&self, limit: Duration) -> Option<Event> {
        self.app.events.next(limit)
    }
    /// Stops the gateway, as dropping it does.
    pub fn stop(self) {}
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            // A panic of the thread was already reported on stderr.
            let _ = thread.join();
        }
    }
}

fn app(config: &GatewayConfig) -> Result<App, GatewayError> {
    let mut salt = [0; 16];
    fill(&mut salt).map_err(GatewayError::System)?;
    let objects = config.objects.as_deref().map(Objects::open).transpose()?;
    Ok(App {
        registry: RegistryFile::open(&config.state).map_err(GatewayError::State)?,
        forwarder: config.engine.as_ref().map(Forwarder::new).transpose()?,
        objects: objects.map(Arc::new),
        sites: Sites::new(config.limits),
        counts: crate::counts::Counts::default(),
        events: Events::new(),
        memory: Semaphore::new(MEMORY_KILOBYTES),
        turns: Arc::new(Semaphore::new(MAX_REQUESTS)),
        uploads: Semaphore::new(MAX_UPLOADS),
        changes: Arc::new(Semaphore::new(MAX_CHANGES)),
        is_engine_up: true.into(),
        salt,
        body_timeout: config.body_timeout,
        grace_ms: u64::try_from(config.grace.as_millis()).unwrap_or(u64::MAX),
        metrics_password: config.metrics_password_file.as_deref().map(password).transpose()?,
    })
}

/// The digest of a password, of which a comparison may show its beginning.
fn password(path: &Path) -> Result<Digest, GatewayError> {
    let fault = |why: String| GatewayError::File { path: path.to_owned(), why };
    let text = read_text_at_most(path, MAX_PASSWORD_BYTES).map_err(|error| fault(without_code(&error)))?;
    let word = text.trim();
    if word.len() < 12 {
        Err(fault("has a password of less than 12 bytes".into()))
    } else {
        Ok(Digest::of(word))
    }
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("gateway-work")
        .build()
}

type With = (Option<TlsAcceptor>, Arc<App>, Arc<Places>, watch::Receiver<bool>);

fn run(runtime: Runtime, listener: TcpListener, (tls, app, places, stopped): With, refreshes: bool) {
    runtime.block_on(async move {
        // The listener is already non-blocking.
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        let follower = refreshes.then(|| tokio::spawn(follow(Arc::clone(&app))));
        accept(listener, tls, app, places, stopped).await;
        follower.iter().for_each(tokio::task::JoinHandle::abort);
    });
    runtime.shutdown_timeout(PATIENCE);
}

/// Reads what administrators change, and forgets silent sites.
async fn follow(app: Arc<App>) {
    let mut failing = false;
    for tick in 1_u64.. {
        tokio::time::sleep(REFRESH_EVERY).await;
        let own = Arc::clone(&app);
        let refreshed = tokio::task::spawn_blocking(move || {
            if tick.is_multiple_of(FORGET_EVERY) {
                own.sites.forget_idle(now_ms());
            }
            own.registry.refresh()
        });
        let result = refreshed.await.unwrap_or(Ok(()));
        if let Err(error) = &result
            && !failing
        {
            app.events.report(EventKind::State(error.to_string()), now_ms());
        }
        failing = result.is_err();
    }
}
