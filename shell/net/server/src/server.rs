//! A running server.
use crate::config::{Config, ServerError};
use crate::echo::{self, OwnProbes};
use crate::event::Event;
use crate::front;
use crate::iperf3::udp::Openings;
use crate::irtt::Irtt;
use crate::listen::{self, Listening};
use crate::shared::Shared;
use crate::stamp::Stamp;
use crate::stats::Stats;
#[cfg(feature = "web")]
use fathom_pages::Judge;
use fathom_protocol::irtt::Tokens;
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
        Server::serve(listen::listen(&config)?, Arc::new(Shared::new(config)?))
    }
    #[cfg(feature = "web")]
    /// As [`Server::start`], with a page that tests in a browser if no token is required. `judge`
    /// judges its runs.
    ///
    /// # Errors
    /// See [`Server::start`].
    pub fn start_with_page(config: Config, judge: Arc<dyn Judge>) -> Result<Server, ServerError> {
        let listening = listen::listen(&config)?;
        let shared = Arc::new(Shared::new(config)?);
        let pages = crate::web::start_pages(&shared, &listening, judge);
        let mut server = Server::serve(listening, shared)?;
        server.threads.extend(pages.transpose()?);
        Ok(server)
    }
    fn serve(listening: Listening, shared: Arc<Shared>) -> Result<Server, ServerError> {
        let Listening { tcp, iperf3, iperf3_udp, udp, irtt, stamp, port, addresses, .. } = listening;
        let [for_front, for_echo, for_iperf3, for_irtt, for_stamp] = [(); 5].map(|()| Arc::clone(&shared));
        let tokens = new_tokens()?;
        let mut server = Server { shared, port, addresses, fingerprint: None, threads: Vec::new() };
        #[cfg(feature = "web")]
        server.start_web(listening.web)?;
        server.threads.push(start("fathom-front", move || front::run(&for_front, &tcp, &iperf3))?);
        server.threads.push(start("fathom-echo", move || echo::run(&for_echo, &udp, || OwnProbes))?);
        if !iperf3_udp.is_empty() {
            let run = move || echo::run(&for_iperf3, &iperf3_udp, || Openings);
            server.threads.push(start("fathom-iperf3-udp", run)?);
        }
        if !irtt.is_empty() {
            let run = move || echo::run(&for_irtt, &irtt, || Irtt::new(tokens.clone()));
            server.threads.push(start("fathom-irtt", run)?);
        }
        if !stamp.is_empty() {
            server.threads.push(start("fathom-stamp", move || echo::run(&for_stamp, &stamp, Stamp::new))?);
        }
        Ok(server)
    }
    #[cfg(feature = "web")]
    fn start_web(&mut self, listeners: Vec<socket2::Socket>) -> Result<(), ServerError> {
        if listeners.is_empty() && !self.shared.has_page() {
            return Ok(());
        }
        let tls = crate::web::certificate(self.shared.config.web.as_ref(), &self.addresses)?;
        self.fingerprint = tls.fingerprint;
        let web = crate::web::Web::new(&self.shared, listeners, tls.config);
        let web = web.map_err(|error| ServerError::Host { what: "thread", error })?;
        let shared = Arc::clone(&self.shared);
        self.threads.push(start("fathom-web-stop", move || web.run(&shared))?);
        Ok(())
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

/// The tokens of irtt sessions.
fn new_tokens() -> Result<Tokens, ServerError> {
    let mut secret = [0; 64];
    getrandom::fill(&mut secret).map_err(|error| ServerError::Host {
        what: "random numbers",
        error: io::Error::other(error.to_string()),
    })?;
    Ok(Tokens::new(secret))
}

pub(crate) fn start(
    name: &'static str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, ServerError> {
    let started = thread::Builder::new().name(name.into()).spawn(run);
    started.map_err(|error: io::Error| ServerError::Host { what: "thread", error })
}
