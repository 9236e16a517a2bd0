//! A running server.
use crate::config::{Config, ServerError, WebConfig};
use crate::event::Event;
use crate::listen::{self, Listening};
use crate::shared::Shared;
use crate::stats::Stats;
use crate::web::Web;
use crate::{echo, front};
use fathom_certificate::{Certificate, Tls};
use fathom_units::Duration;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Maximum wait for sessions to end. Normally they end within milliseconds; this is for a host
/// under heavy load.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// A running server. It stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    port: u16,
    addresses: Vec<IpAddr>,
    fingerprint: Option<String>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Starts a server in the network namespace of the calling thread. Returns when it is
    /// listening.
    ///
    /// # Errors
    /// If it cannot listen as `config` demands, or if the host lacks memory or threads.
    pub fn start(config: Config) -> Result<Server, ServerError> {
        let Listening { tcp, iperf3, web, udp, port, addresses } = listen::listen(&config)?;
        let tls = config.web.as_ref().map(|settings| certificate(settings, &addresses)).transpose()?;
        let fingerprint = tls.as_ref().and_then(|tls| tls.fingerprint.clone());
        let shared = Arc::new(Shared::new(config)?);
        let (for_front, for_echo) = (Arc::clone(&shared), Arc::clone(&shared));
        let mut server = Server { shared, port, addresses, fingerprint, threads: Vec::new() };
        if let Some(tls) = tls {
            let error = |error| ServerError::Host { what: "thread", error };
            let (web, for_web) = (Web::new(web, tls.config).map_err(error)?, Arc::clone(&server.shared));
            server.threads.push(start("fathom-web-stop", move || web.run(&for_web))?);
        }
        server.threads.push(start("fathom-front", move || front::run(&for_front, &tcp, &iperf3))?);
        server.threads.push(start("fathom-echo", move || echo::run(&for_echo, &udp))?);
        Ok(server)
    }
    /// The TCP and UDP port.
    #[must_use]
    pub const fn local_port(&self) -> u16 {
        self.port
    }
    /// Addresses at which clients can reach the server: those it was configured to listen on,
    /// otherwise one per family that this host uses toward the Internet, otherwise loopback.
    #[must_use]
    pub fn local_addresses(&self) -> &[IpAddr] {
        &self.addresses
    }
    /// SHA-256 of the certificate of the web server, if it is self-signed.
    #[must_use]
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }
    /// Counters so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }
    /// What happened since the last call. Refusals of one reason are reported at once, then
    /// together every 10 s.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.shared.counters.events(self.shared.clock.now())
    }
    /// Ends all sessions and closes all connections. Returns when the port is free.
    pub fn stop(mut self) {
        self.end();
    }
    fn end(&mut self) {
        self.shared.stop.set();
        for thread in self.threads.drain(..) {
            // Panics are counted where they occur.
            let _ = thread.join();
        }
        self.shared.sessions.wait_until_empty(STOP_PATIENCE);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn certificate(web: &WebConfig, addresses: &[IpAddr]) -> Result<Tls, ServerError> {
    let certificate = match web.certificate.clone() {
        Some((chain, key)) => Certificate::Files { chain, key },
        None => {
            let addresses = addresses.iter().map(IpAddr::to_string);
            let names = web.names.iter().cloned().chain(["localhost".to_owned()]).chain(addresses).collect();
            Certificate::Temporary { names }
        }
    };
    Tls::new(&certificate, &[b"h2", b"http/1.1"]).map_err(ServerError::Certificate)
}

fn start(name: &'static str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, ServerError> {
    let started = thread::Builder::new().name(name.into()).spawn(run);
    started.map_err(|error: io::Error| ServerError::Host { what: "thread", error })
}
