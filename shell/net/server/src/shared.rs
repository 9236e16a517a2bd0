//! State shared by all threads of a server.
use crate::config::{Config, ServerError};
use crate::hops;
use crate::iperf3::Tests;
use crate::quota::Quota;
use crate::session::Sessions;
use crate::stats::{Counters, Stats};
use crate::sync::{Slot, Stop};
use fathom_os::clock::Clock;
use fathom_os::socket::{MemoryFile, congestion_controls};
#[cfg(feature = "web")]
use fathom_pages::Pages;
use fathom_probe::protocol::Token;
use fathom_units::{Rng, Time};
use socket2::Socket;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
#[cfg(feature = "web")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
#[cfg(feature = "web")]
use tokio::sync::mpsc::UnboundedSender;

/// The load repeats after this many bytes, which is more than any compression on a path looks back
/// (gzip 32 KiB, zstd by default at most 2 MiB; links use less).
pub(crate) const LOAD_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) token: Option<Token>,
    /// The clock of reports and UDP timestamps.
    pub(crate) clock: Clock,
    pub(crate) sessions: Sessions,
    pub(crate) counters: Counters,
    pub(crate) quota: Quota,
    pub(crate) iperf3: Tests,
    pub(crate) stop: Stop,
    /// The payload of down flows.
    pub(crate) load: MemoryFile,
    /// Congestion controls available to this process, the default first.
    pub(crate) congestion_controls: Vec<String>,
    /// Whether this process may probe the hops to clients.
    pub(crate) probes_hops: bool,
    #[cfg(feature = "web")]
    /// Tests by browsers, if there are some.
    pub(crate) pages: OnceLock<Arc<Pages>>,
    #[cfg(feature = "web")]
    /// Takes connections of browsers from the front thread.
    pub(crate) browsers: OnceLock<UnboundedSender<Browser>>,
    connections: Arc<AtomicU32>,
}

#[cfg(feature = "web")]
/// The connection of a browser, with the bytes that have been read.
#[derive(Debug)]
pub(crate) struct Browser {
    pub(crate) socket: Socket,
    pub(crate) early: Vec<u8>,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Result<Self, ServerError> {
        let token = config.token.as_deref().map(str::parse).transpose().map_err(|_| ServerError::Token)?;
        let host = |what| move |error| ServerError::Host { what, error };
        Ok(Shared {
            token,
            clock: Clock::start(),
            sessions: Sessions::new(config.max_sessions),
            quota: Quota::new(config.max_hourly_bytes.get()),
            counters: Counters::default(),
            iperf3: Tests::default(),
            stop: Stop::new().map_err(host("descriptor"))?,
            load: MemoryFile::new(&load_bytes()).map_err(host("memory for load"))?,
            congestion_controls: congestion_controls(),
            probes_hops: hops::is_permitted(),
            #[cfg(feature = "web")]
            pages: OnceLock::new(),
            #[cfg(feature = "web")]
            browsers: OnceLock::new(),
            connections: Arc::default(),
            config,
        })
    }
    /// Whether to answer nothing to `client`, unless it shows that it knows the token. This host
    /// may read `/metrics`, and a client with a session makes HTTP probes.
    pub(crate) fn is_silent(&self, client: IpAddr) -> bool {
        let is_this_host = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]
            .contains(&client.to_canonical());
        self.config.is_silent && self.token.is_some() && !is_this_host && !self.sessions.has(client)
    }
    /// Whether browsers get a page: only of a server that anybody may use.
    pub(crate) fn has_page(&self) -> bool {
        #[cfg(feature = "web")]
        return self.pages.get().is_some();
        #[cfg(not(feature = "web"))]
        false
    }
    #[cfg(feature = "web")]
    /// Proxies whose headers name their clients.
    pub(crate) fn proxies(&self) -> &[IpAddr] {
        self.config.web.as_ref().map_or(&[], |web| &web.proxies)
    }
    /// Passes the connection of a browser on, with the bytes that have been read.
    pub(crate) fn pass_on(&self, socket: Socket, early: Vec<u8>) {
        #[cfg(feature = "web")]
        if let Some(browsers) = self.browsers.get() {
            // Fails if the server stops.
            let _ = browsers.send(Browser { socket, early });
        }
        #[cfg(not(feature = "web"))]
        drop((socket, early));
    }
    /// Takes a datagram if it is of a page.
    pub(crate) fn take_of_page(
        &self,
        bytes: &[u8],
        (from, to): (SocketAddr, Option<SocketAddr>),
        at: Time,
    ) -> bool {
        #[cfg(feature = "web")]
        return self.pages.get().is_some_and(|pages| pages.take(bytes, from, to, at));
        #[cfg(not(feature = "web"))]
        {
            let _ = (bytes, from, to, at);
            false
        }
    }
    /// Counts a connection.
    pub(crate) fn take_slot(&self) -> Slot {
        Slot::take(&self.connections)
    }
    pub(crate) fn stats(&self) -> Stats {
        let counters = &self.counters;
        Stats {
            sessions: counters.sessions.load(Relaxed),
            open_sessions: self.sessions.count(),
            open_connections: self.connections.load(Relaxed),
            up_bytes: counters.up_bytes.load(Relaxed),
            down_bytes: counters.down_bytes.load(Relaxed),
            udp_answered: counters.udp_answered.load(Relaxed),
            http_answered: counters.http_answered.load(Relaxed),
            lost_sessions: counters.lost_sessions.load(Relaxed),
            panics: counters.panics.load(Relaxed),
            refused: counters.refused(),
        }
    }
}

/// Random bytes, which cannot be compressed on the path.
pub(crate) fn load_bytes() -> Vec<u8> {
    let mut rng = Rng::stream(1, "load");
    (0..LOAD_BYTES / 8).flat_map(|_| rng.next_u64().to_ne_bytes()).collect()
}
