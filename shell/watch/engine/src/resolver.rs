//! Resolves names periodically in its own threads, so that an unresponsive name server delays no
//! probe.
use crate::history::Event;
use crate::report::{Report, SeriesSlot};
use crate::target::Command;
use fathom_os::clock::{Clock, wall_now};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_plan::Family;
use std::collections::BTreeMap;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Number of threads: an unresponsive name server blocks one for 10 s or more.
const THREADS: usize = 4;
/// Interval of resolution. The system's resolver does not report the TTL; five minutes is common.
const AGAIN_AFTER: Duration = Duration::from_secs(300);
const FIRST_RETRY_PAUSE: Duration = Duration::from_secs(10);
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(160);

/// A target that uses a name.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    pub(crate) number: u32,
    pub(crate) to: Sender<Command>,
}

#[derive(Debug)]
struct Host {
    askers: Vec<Asker>,
    due: Time,
    is_being_resolved: bool,
    address: Option<IpAddr>,
    failing_since: Option<WallTime>,
    wait: Duration,
}

type Key = (String, Family);

#[derive(Default, Debug)]
struct State {
    hosts: BTreeMap<Key, Host>,
    is_over: bool,
}

#[derive(Debug)]
struct Shared {
    clock: Clock,
    state: Mutex<State>,
    changed: Condvar,
    events: Mutex<Sender<Vec<Report>>>,
}

/// Called with each target whose host has a new address.
pub(crate) type Moved = Arc<dyn Fn(u32, IpAddr) + Send + Sync>;

/// The resolver threads.
#[derive(Debug)]
pub(crate) struct Resolver {
    shared: Arc<Shared>,
}

impl Resolver {
    pub(crate) fn start(clock: Clock, events: Sender<Vec<Report>>, moved: &Moved) -> Self {
        let shared = Arc::new(Shared {
            clock,
            state: Mutex::default(),
            changed: Condvar::new(),
            events: Mutex::new(events),
        });
        for _ in 0..THREADS {
            let (shared, moved) = (Arc::clone(&shared), Arc::clone(moved));
            // Not joined at the end, because the system's resolver cannot be interrupted.
            std::thread::spawn(move || shared.work(&moved));
        }
        Resolver { shared }
    }
    /// Resolves a name now and periodically.
    pub(crate) fn add(&self, host: &str, family: Family, asker: Asker) {
        let mut state = self.shared.lock();
        let entry = state.hosts.entry((host.to_owned(), family)).or_insert_with(|| Host {
            askers: Vec::new(),
            due: Time::ZERO,
            is_being_resolved: false,
            address: None,
            failing_since: None,
            wait: FIRST_RETRY_PAUSE,
        });
        if let Some(address) = entry.address {
            let _ = asker.to.send(Command::Address(asker.number, Ok(address)));
        }
        entry.askers.push(asker);
        self.shared.changed.notify_one();
    }
    pub(crate) fn remove(&self, number: u32) {
        let mut state = self.shared.lock();
        state.hosts.values_mut().for_each(|host| host.askers.retain(|asker| asker.number != number));
        state.hosts.retain(|_, host| !host.askers.is_empty());
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn work(&self, moved: &Moved) {
        while let Some((host, family)) = self.next() {
            let found = resolve(&host, family);
            self.report(&(host, family), found, moved);
        }
    }
    /// Waits for a name that is due; `None` at the end.
    fn next(&self) -> Option<Key> {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return None;
            }
            let now = self.clock.now();
            let idle = state.hosts.iter_mut().filter(|(_, host)| !host.is_being_resolved);
            let first = idle.min_by_key(|(_, host)| host.due);
            let wait = match first {
                Some((key, host)) if host.due <= now => {
                    host.is_being_resolved = true;
                    return Some(key.clone());
                }
                Some((_, host)) => host.due.saturating_since(now),
                None => AGAIN_AFTER,
            };
            let wait = std::time::Duration::from_nanos(wait.as_nanos());
            let woken = self.changed.wait_timeout(state, wait);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
    fn report(&self, key: &Key, found: Result<Vec<IpAddr>, String>, moved: &Moved) {
        let mut state = self.lock();
        let Some(host) = state.hosts.get_mut(key) else { return };
        host.is_being_resolved = false;
        let text = match found {
            Ok(addresses) => host.take(&addresses, &key.0, moved),
            Err(reason) => host.fail(&key.0, &reason),
        };
        host.due = self.clock.now() + if host.failing_since.is_some() { host.wait } else { AGAIN_AFTER };
        drop(state);
        if let Some(text) = text {
            let event = Event { at: wall_now(), kind: "address", text };
            let sender = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = sender.send(vec![Report::Event(event, None::<SeriesSlot>)]);
        }
    }
}

impl Host {
    /// The text of the event, if any.
    fn take(&mut self, addresses: &[IpAddr], name: &str, moved: &Moved) -> Option<String> {
        let since = self.failing_since.take();
        self.wait = FIRST_RETRY_PAUSE;
        // Several addresses come in a different order each time: keep the current one while it is
        // among them.
        let stays = self.address.filter(|address| addresses.contains(address));
        let address = stays.or_else(|| addresses.first().copied())?;
        let before = self.address.replace(address);
        for asker in &self.askers {
            moved(asker.number, address);
            let _ = asker.to.send(Command::Address(asker.number, Ok(address)));
        }
        match (before, since) {
            (Some(before), _) if before != address => {
                Some(format!("the address of {name} changed from {before} to {address}"))
            }
            (_, Some(since)) => {
                Some(format!("{name} resolves again, to {address}, after failing since {since}"))
            }
            _ => None,
        }
    }
    fn fail(&mut self, name: &str, reason: &str) -> Option<String> {
        self.wait = if self.failing_since.is_some() {
            (self.wait * 2).min(MAX_RETRY_PAUSE)
        } else {
            FIRST_RETRY_PAUSE
        };
        let is_news = self.failing_since.is_none();
        self.failing_since.get_or_insert_with(wall_now);
        let problem = format!("{name} does not resolve: {reason}");
        for asker in &self.askers {
            let _ = asker.to.send(Command::Address(asker.number, Err(problem.clone())));
        }
        let kept =
            self.address.map_or_else(String::new, |a| format!("; still probing the previous address {a}"));
        is_news.then(|| problem + &kept)
    }
}

fn resolve(host: &str, family: Family) -> Result<Vec<IpAddr>, String> {
    let all = (host, 0).to_socket_addrs().map_err(|e| words(&e))?;
    let wanted = |address: &IpAddr| match family {
        Family::Any => true,
        Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
    };
    let found: Vec<IpAddr> = all.map(|address| address.ip()).filter(wanted).collect();
    match (found.is_empty(), family) {
        (false, _) => Ok(found),
        (true, Family::V4) => Err("no IPv4 address found".to_owned()),
        (true, Family::V6) => Err("no IPv6 address found".to_owned()),
        (true, Family::Any) => Err("no address found".to_owned()),
    }
}

/// The resolver's message without the prefix that std adds.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_owned()
}
