//! Sessions with `fathom serve`, which answers UDP probes of a session only.
use super::{PingProbe, PingTarget};
use crate::control::{Control, ControlInput};
use crate::flows::FathomPeer;
use crate::resolve::{LOOK_EVERY, Limits, resolve_server};
use crate::{DEFAULT_PORT, Family, TestConfig, TestError};
use fathom_os::clock::Clock;
use fathom_units::{Duration, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Interval of reports of a server, which a ping does not need.
const REPORT_EVERY: Duration = Duration::from_secs(10);
/// Share of the time that a server allows a session after which the next one is opened, percent.
const RENEWED_PERCENT: u64 = 90;
/// Time between two attempts that fail, and the longest one.
const RETRY_EVERY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(5);

/// Sessions of a target, one after the other. Dropping it ends the last one.
pub struct PingSession {
    finish: Arc<AtomicBool>,
    renewing: Option<JoinHandle<()>>,
}

impl Drop for PingSession {
    fn drop(&mut self) {
        self.finish.store(true, Ordering::Relaxed);
        drop(self.renewing.take().map(JoinHandle::join));
    }
}

/// A target that runs `fathom serve`, for UDP probes.
///
/// # Errors
/// If the server cannot be reached or refuses.
pub fn ping_session(
    server: &str,
    family: Option<Family>,
    token: Option<String>,
    limits: &Limits<'_>,
) -> Result<PingTarget, TestError> {
    let config = TestConfig { family, token, tcp_info_every: REPORT_EVERY, ..TestConfig::new(server) };
    let addresses = resolve_server(server, DEFAULT_PORT, family)?;
    let control = Control::open(&config, &addresses, limits)?;
    let peer = FathomPeer::new(control.address, &control.hello)
        .map_err(|e| TestError::Host(format!("memory for load: {e}")))?;
    let (peer, address, clock) = (Arc::new(peer), control.address, limits.clock);
    let finish = Arc::new(AtomicBool::new(false));
    let renewal = Renewal { config, peer: peer.clone(), clock, finish: finish.clone() };
    let renewing = Some(std::thread::spawn(move || renewal.run(control)));
    Ok(PingTarget {
        name: server.to_owned(),
        address,
        probe: PingProbe::Udp(peer),
        session: Some(PingSession { finish, renewing }),
    })
}

/// Opens a session before the last one ends, or after it if the server was gone.
struct Renewal {
    config: TestConfig,
    peer: Arc<FathomPeer>,
    clock: Clock,
    finish: Arc<AtomicBool>,
}

impl Renewal {
    fn run(&self, first: Control) {
        let mut session = Open::new(first, self.clock.now());
        let mut retry_at = Time::ZERO;
        while !self.finish.load(Ordering::Relaxed) {
            std::thread::park_timeout(std::time::Duration::from_nanos(LOOK_EVERY.as_nanos()));
            let now = self.clock.now();
            if !session.is_due(now) || now < retry_at {
                continue;
            }
            let limits = Limits { stop: &self.finish, clock: self.clock, patience: PATIENCE };
            match Control::open(&self.config, &[session.control.address], &limits) {
                Ok(next) => {
                    self.peer.renew(next.hello.session);
                    session = Open::new(next, self.clock.now());
                }
                Err(_) => retry_at = now + RETRY_EVERY,
            }
        }
    }
}

/// An open session. Dropping it ends it.
struct Open {
    control: Control,
    /// The connection has ended, or shall not be read any more.
    is_closed: Arc<AtomicBool>,
    /// Reads reports, so that the server can send them. They are not used.
    reader: Option<JoinHandle<()>>,
    renew_at: Time,
}

impl Open {
    fn new(control: Control, now: Time) -> Self {
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = is_closed.clone();
        let reader = control.listen(is_closed.clone(), move |input| {
            if matches!(input, ControlInput::Closed(_)) {
                closed.store(true, Ordering::Relaxed);
            }
        });
        let allowed_s = control.hello.limits.seconds.max(1);
        let renew_at = now + Duration::from_millis(allowed_s.saturating_mul(10 * RENEWED_PERCENT));
        Open { control, is_closed, reader: Some(reader), renew_at }
    }
    fn is_due(&self, now: Time) -> bool {
        now >= self.renew_at || self.is_closed.load(Ordering::Relaxed)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.control.say_bye();
        self.is_closed.store(true, Ordering::Relaxed);
        drop(self.reader.take().map(JoinHandle::join));
    }
}
