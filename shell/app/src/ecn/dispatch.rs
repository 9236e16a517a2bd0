//! Schedules the tests of a survey: a limited number per second, no address twice, and one host of
//! a network at a time.
use super::list::{Host, OptOut};
use crate::CancelToken;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which waiting threads check for a stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The hosts that wait, shared by all threads.
pub(super) struct Dispatch<'a> {
    opt_out: &'a OptOut,
    cancel: &'a CancelToken,
    interval: Duration,
    state: Mutex<State>,
    path: Mutex<()>,
}

struct State {
    pending: VecDeque<Task>,
    /// Networks with a host that is being tested.
    busy: BTreeSet<u32>,
    /// Names of the tested hosts, by address.
    tested: BTreeMap<SocketAddrV4, String>,
    next_start: Instant,
    opted_out: u64,
}

/// A host that waits, with its address if it has been resolved.
pub(super) struct Task {
    pub(super) host: Host,
    pub(super) address: Option<SocketAddrV4>,
}

/// Whether a host can be tested now.
pub(super) enum Turn {
    /// Yes. [`Dispatch::release`] must follow.
    Now,
    /// Another host of its network is tested; it waits again.
    Later,
    /// The host with this name has the same address.
    Duplicate(String),
    /// It must not be tested.
    OptedOut,
}

impl<'a> Dispatch<'a> {
    /// `tested`: the addresses of earlier tests.
    pub(super) fn new(
        hosts: Vec<Host>,
        tested: BTreeMap<SocketAddrV4, String>,
        hosts_per_second: u32,
        opt_out: &'a OptOut,
        cancel: &'a CancelToken,
    ) -> Self {
        let pending = hosts.into_iter().map(|host| Task { host, address: None }).collect();
        let next_start = Instant::now();
        let state = State { pending, busy: BTreeSet::new(), tested, next_start, opted_out: 0 };
        let interval = Duration::from_secs(1) / hosts_per_second;
        Dispatch { opt_out, cancel, interval, state: Mutex::new(state), path: Mutex::new(()) }
    }
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The next host, when it may start. `None` if there is none, or the survey is to stop.
    pub(super) fn next(&self) -> Option<Task> {
        let (task, start) = {
            let mut state = self.state();
            let task = state.pending.pop_front()?;
            let start = state.next_start.max(Instant::now());
            state.next_start = start + self.interval;
            (task, start)
        };
        loop {
            if self.cancel.is_cancelled() {
                return None;
            }
            match start.checked_duration_since(Instant::now()) {
                None | Some(Duration::ZERO) => return Some(task),
                Some(wait) => std::thread::sleep(wait.min(LOOK_EVERY)),
            }
        }
    }
    /// Whether this host of a task can be tested now.
    pub(super) fn turn(&self, host: &Host, address: SocketAddrV4) -> Turn {
        let mut state = self.state();
        if self.opt_out.has_name(&host.name) || self.opt_out.has_address(*address.ip()) {
            state.opted_out += 1;
            return Turn::OptedOut;
        }
        if let Some(other) = state.tested.get(&address) {
            return Turn::Duplicate(other.clone());
        }
        if !state.busy.insert(network(*address.ip())) {
            state.pending.push_back(Task { host: host.clone(), address: Some(address) });
            return Turn::Later;
        }
        state.tested.insert(address, host.name.clone());
        Turn::Now
    }
    /// Waits until no other path is tested. Routers near this computer are on all paths, and send
    /// it few ICMP errors (`icmp_ratelimit`, icmp(7)).
    pub(super) fn path(&self) -> MutexGuard<'_, ()> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The test of a host has ended.
    pub(super) fn release(&self, address: SocketAddrV4) {
        self.state().busy.remove(&network(*address.ip()));
    }
    /// Number of hosts that must not be tested.
    pub(super) fn opted_out(&self) -> u64 {
        self.state().opted_out
    }
}

/// The /24 of an address: the longest prefix that is announced on its own.
fn network(address: Ipv4Addr) -> u32 {
    address.to_bits() >> 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn::list::hosts_of;

    #[test]
    fn one_host_of_a_network_at_a_time_and_no_address_twice() {
        let names = ["a", "b", "c", "out.example"].map(str::to_owned);
        let mut opt_out = OptOut::default();
        opt_out.add_domain("example");
        let cancel = CancelToken::new();
        let hosts = hosts_of(&names, 443).unwrap();
        let dispatch = Dispatch::new(hosts, BTreeMap::new(), 1_000, &opt_out, &cancel);
        let at = |text: &str| SocketAddrV4::new(text.parse().unwrap(), 443);
        let [a, b, c, out] = [(); 4].map(|()| dispatch.next().unwrap().host);
        assert!(matches!(dispatch.turn(&a, at("192.0.2.1")), Turn::Now));
        assert!(matches!(dispatch.turn(&b, at("192.0.2.1")), Turn::Duplicate(name) if name == "a"));
        assert!(matches!(dispatch.turn(&c, at("192.0.2.2")), Turn::Later));
        assert!(matches!(dispatch.turn(&out, at("192.0.2.9")), Turn::OptedOut));
        assert_eq!(dispatch.opted_out(), 1);
        dispatch.release(at("192.0.2.1"));
        let again = dispatch.next().unwrap();
        assert_eq!((again.host.name.as_str(), again.address), ("c", Some(at("192.0.2.2"))));
        assert!(matches!(dispatch.turn(&c, at("192.0.2.2")), Turn::Now));
        assert!(dispatch.next().is_none());
        cancel.cancel();
    }
}
