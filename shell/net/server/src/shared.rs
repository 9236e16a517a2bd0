//! What all threads of a server share.
use crate::config::{Config, ServerError};
use crate::session::Sessions;
use crate::stats::{Counters, Stats};
use fathom_os::clock::Clock;
use fathom_os::socket::{congestion_control, memory_file, set_congestion_control};
use fathom_probe::protocol::Token;
use fathom_units::Rng;
use socket2::{Domain, Socket, Type};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Load repeats after this many bytes: more than any compression on a path looks back (gzip 32 KiB, zstd by default 2 MiB at
/// most; links use less).
pub(crate) const LOAD_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) token: Option<Token>,
    /// The clock of reports and UDP stamps.
    pub(crate) clock: Clock,
    pub(crate) sessions: Sessions,
    pub(crate) counters: Counters,
    pub(crate) stop: Stop,
    /// What down flows send.
    pub(crate) load: File,
    /// What the kernel lets this process choose, its default first.
    pub(crate) congestion_controls: Vec<String>,
    connections: AtomicU32,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Result<Self, ServerError> {
        let token = config.token.as_deref().map(str::parse).transpose().map_err(|_| ServerError::Token)?;
        let host = |what| move |error| ServerError::Host { what, error };
        Ok(Shared {
            token,
            clock: Clock::start(),
            sessions: Sessions::default(),
            counters: Counters::default(),
            stop: Stop::new().map_err(host("descriptor"))?,
            load: memory_file(&load_bytes()).map_err(host("memory for load"))?,
            congestion_controls: congestion_controls(),
            connections: AtomicU32::new(0),
            config,
        })
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
            panics: counters.panics.load(Relaxed),
            refused: counters.refused(),
        }
    }
}

/// Random bytes, so that nothing on the path compresses them.
fn load_bytes() -> Vec<u8> {
    let mut rng = Rng::stream(1, "load");
    (0..LOAD_BYTES / 8).flat_map(|_| rng.next_u64().to_ne_bytes()).collect()
}

/// By trial, because the answer depends on the privileges of this process.
fn congestion_controls() -> Vec<String> {
    let Ok(trial) = Socket::new(Domain::IPV4, Type::STREAM, None)
        .or_else(|_| Socket::new(Domain::IPV6, Type::STREAM, None))
    else {
        return Vec::new();
    };
    let default = congestion_control(&trial).ok();
    let list = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let list = list.unwrap_or_default();
    let usable = list.split_whitespace().filter(|name| Some(*name) != default.as_deref());
    let usable = usable.filter(|name| set_congestion_control(&trial, name).is_ok()).map(str::to_owned);
    default.clone().into_iter().chain(usable).collect()
}

/// One of the connections that a server may have; given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<Shared>);

impl Slot {
    /// `None` if all are taken.
    pub(crate) fn take(shared: &Arc<Shared>) -> Option<Slot> {
        let most = shared.config.max_connections;
        let one_more = |taken| (taken < most).then_some(taken + 1);
        shared.connections.fetch_update(Relaxed, Relaxed, one_more).ok()?;
        Some(Slot(Arc::clone(shared)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

/// Tells every thread to end; a thread that waits in poll(2) watches it too.
#[derive(Debug)]
pub(crate) struct Stop {
    told: AtomicBool,
    /// Dropped to tell: the other end then stays readable for all.
    near: Mutex<Option<UnixStream>>,
    far: UnixStream,
}

impl Stop {
    fn new() -> io::Result<Stop> {
        let (near, far) = UnixStream::pair()?;
        Ok(Stop { told: AtomicBool::new(false), near: Mutex::new(Some(near)), far })
    }
    pub(crate) fn set(&self) {
        self.told.store(true, Relaxed);
        lock(&self.near).take();
    }
    pub(crate) fn is_set(&self) -> bool {
        self.told.load(Relaxed)
    }
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.far.as_fd()
    }
}

/// A thread that panicked leaves counters and maps whole: every change under these locks is one call.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
