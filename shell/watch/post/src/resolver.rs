//! The addresses of the hosts, which are looked up again while the watch runs: at the start of a
//! router, its name server often cannot be reached.
use fathom_client::{Located, resolve_server};
use fathom_os::clock::Clock;
use fathom_units::{Duration, Time};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

/// Time until a name is looked up again, as in `fathom watch`.
const AGAIN: Duration = Duration::from_secs(300);
/// Pauses after failures, which double.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(160);

/// The thread that looks up names. It ends when this is dropped, after the query in progress.
pub(crate) struct Resolver {
    _stop: Sender<()>,
}

impl Resolver {
    /// Looks up these hosts, and returns where their addresses arrive.
    pub(crate) fn start(hosts: Vec<String>, clock: Clock) -> (Resolver, Receiver<Located>) {
        let (stop, stopped) = channel();
        let (found, located) = channel();
        let hosts = hosts.into_iter().map(Host::new).collect();
        std::thread::spawn(move || run(hosts, clock, &stopped, &found));
        (Resolver { _stop: stop }, located)
    }
}

struct Host {
    name: String,
    /// The last result that was passed on.
    address: Option<Result<SocketAddr, String>>,
    due: Time,
    pause: Duration,
}

impl Host {
    const fn new(name: String) -> Self {
        Host { name, address: None, due: Time::ZERO, pause: FIRST_PAUSE }
    }
    /// Looks up the host. Returns the result if it is a new one. A host that had an address keeps
    /// it while its name cannot be resolved.
    fn look_up(&mut self, clock: Clock) -> Option<Result<SocketAddr, String>> {
        let resolved = resolve_server(&self.name, 0, None).map_err(|error| error.to_string());
        let found = resolved.map(|all| all.first().copied());
        let found = found.and_then(|address| address.ok_or_else(|| "no address".to_owned()));
        let pause = if found.is_ok() { AGAIN } else { self.pause };
        self.pause = if found.is_ok() { FIRST_PAUSE } else { (self.pause * 2).min(LONGEST_PAUSE) };
        self.due = clock.now() + pause;
        let is_kept = found.is_err() && matches!(self.address, Some(Ok(_)));
        if is_kept || self.address.as_ref() == Some(&found) {
            return None;
        }
        self.address = Some(found.clone());
        Some(found)
    }
}

fn run(mut hosts: Vec<Host>, clock: Clock, stopped: &Receiver<()>, found: &Sender<Located>) {
    loop {
        let now = clock.now();
        for (target, host) in hosts.iter_mut().enumerate().filter(|(_, host)| host.due <= now) {
            let news = host.look_up(clock).map(|address| Located { target, address });
            // At the end, nobody listens.
            if news.is_some_and(|located| found.send(located).is_err()) {
                return;
            }
        }
        let next = hosts.iter().map(|host| host.due).min().unwrap_or(Time::ZERO);
        let pause = std::time::Duration::from_nanos(next.saturating_since(clock.now()).as_nanos());
        if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}
