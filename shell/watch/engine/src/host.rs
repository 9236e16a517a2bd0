//! Counters of this host, which distinguish "slow while the uplink is full" from "slow".
use crate::register::{PlannedSeries, Register, THIS_HOST};
use crate::report::{Report, Reporter, SeriesSlot};
use fathom_os::backlog::backlog;
use fathom_os::clock::{Clock, wall_now};
use fathom_os::interface::{ByteCounts, byte_counts};
use fathom_os::netlink::interface_index;
use fathom_units::{Duration, Time};
use fathom_watch_plan::Plan;
use fathom_watch_samples::{Level, Unit};
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The first two slots are the lateness of the probing threads.
const SLOTS_BEGIN: SeriesSlot = 2;
/// Maximum number of interfaces.
const MAX_INTERFACES: usize = 16;
/// Series per interface: received, sent, backlog.
const SERIES: SeriesSlot = 3;
/// The first slot for targets.
pub(crate) const SLOTS_END: SeriesSlot = SLOTS_BEGIN + MAX_INTERFACES as SeriesSlot * SERIES;

#[derive(Debug)]
struct Interface {
    name: String,
    slot: SeriesSlot,
    last: Option<(Time, ByteCounts)>,
}

/// The thread that reads the counters.
pub(crate) struct HostThread {
    wishes: Receiver<Vec<String>>,
    reporter: Reporter,
    register: Register,
    clock: Clock,
    wanted: Vec<String>,
    interfaces: Vec<Interface>,
}

impl HostThread {
    pub(crate) fn new(wishes: Receiver<Vec<String>>, reporter: Reporter, register: Register) -> Self {
        HostThread {
            wishes,
            reporter,
            register,
            clock: Clock::start(),
            wanted: Vec::new(),
            interfaces: Vec::new(),
        }
    }
    /// Runs until all senders of commands are dropped.
    pub(crate) fn run(mut self) {
        let turn = std::time::Duration::from_nanos(LOOK_EVERY.as_nanos());
        loop {
            match self.wishes.recv_timeout(turn) {
                Ok(names) => self.wanted = names,
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.reporter.hand_over_all();
    }
    fn look(&mut self) {
        let Ok(counts) = byte_counts() else { return };
        let (now, names) = (self.clock.now(), names(&self.wanted));
        for name in names {
            let Some(of_this) = counts.get(&name) else { continue };
            let Some(slot) = self.slot(&name) else { continue };
            self.report(&name, slot, (now, *of_this));
        }
        self.reporter.hand_over(now);
    }
    fn slot(&mut self, name: &str) -> Option<SeriesSlot> {
        if let Some(known) = self.interfaces.iter().find(|i| i.name == name) {
            return Some(known.slot);
        }
        if self.interfaces.len() >= MAX_INTERFACES {
            return None;
        }
        let slot = SLOTS_BEGIN + self.interfaces.len() as SeriesSlot * SERIES;
        let parts =
            [("received", Unit::BitsPerSecond), ("sent", Unit::BitsPerSecond), ("backlog", Unit::Bytes)];
        for (index, (part, unit)) in parts.into_iter().enumerate() {
            let (target, probe, slot) =
                (THIS_HOST.to_owned(), format!("{name} {part}"), slot + index as SeriesSlot);
            self.register.open(PlannedSeries { slot, target, probe, unit, now: None });
        }
        self.interfaces.push(Interface { name: name.to_owned(), slot, last: None });
        Some(slot)
    }
    fn report(&mut self, name: &str, slot: SeriesSlot, read: (Time, ByteCounts)) {
        let at = wall_now();
        let found = self.interfaces.iter_mut().find(|i| i.name == name);
        let before = found.and_then(|interface| interface.last.replace(read));
        if let Some((received, sent)) = before.and_then(|before| rates(before, read)) {
            for (one, value) in [(slot, received), (slot + 1, sent)] {
                self.reporter.report(Report::Level(one, Level { at, value: Some(value) }));
            }
        }
        let waiting = interface_index(name).ok().and_then(|index| backlog(index).ok().flatten());
        if let Some(bytes) = waiting {
            let value = Some(bytes.get() as f64);
            self.reporter.report(Report::Level(slot + 2, Level { at, value }));
        }
    }
}

/// Receive and send rate in bit/s; `None` if a counter decreased, because the interface was
/// replaced.
fn rates(before: (Time, ByteCounts), now: (Time, ByteCounts)) -> Option<(f64, f64)> {
    let seconds = now.0.saturating_since(before.0).as_secs_f64();
    let rate = |old: u64, new: u64| new.checked_sub(old).map(|bytes| bytes as f64 * 8.0 / seconds);
    let (received, sent) = (rate(before.1.0, now.1.0)?, rate(before.1.1, now.1.1)?);
    (seconds > 0.0).then_some((received, sent))
}

/// The interfaces of a plan; by default that of the default route, of IPv4 or else of IPv6.
fn names(wanted: &[String]) -> Vec<String> {
    match wanted {
        [] => default_interface().into_iter().collect(),
        [none] if none == "none" => Vec::new(),
        names => names.to_vec(),
    }
}

/// Why the load of this host, or of some configured interfaces, is unknown; `None` if it is known.
#[must_use]
pub fn unknown_load(plan: &Plan) -> Option<String> {
    let known = byte_counts().unwrap_or_default().into_keys().collect();
    why_unknown(&plan.interfaces, &names(&plan.interfaces), &known)
}

fn why_unknown(wanted: &[String], names: &[String], known: &BTreeSet<String>) -> Option<String> {
    if let Some(missing) = names.iter().find(|name| !known.contains(*name)) {
        return Some(format!("no interface {missing}"));
    }
    let why = if wanted.is_empty() { "no default route" } else { "interface is \"none\"" };
    names.is_empty().then(|| why.to_owned())
}

fn default_interface() -> Option<String> {
    let v4 = std::fs::read_to_string("/proc/thread-self/net/route").unwrap_or_default();
    let v6 = std::fs::read_to_string("/proc/thread-self/net/ipv6_route").unwrap_or_default();
    default_v4(&v4).or_else(|| default_v6(&v6))
}

/// The line whose destination and mask are zero.
fn default_v4(text: &str) -> Option<String> {
    text.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_default = words.get(1) == Some(&"00000000") && words.get(7) == Some(&"00000000");
        words.first().filter(|_| is_default).map(|name| (*name).to_owned())
    })
}

/// The line whose destination has a prefix length of 0, except the unreachable route on `lo`.
fn default_v6(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_default =
            words.get(1) == Some(&"00") && words.first().is_some_and(|w| w.bytes().all(|b| b == b'0'));
        words.last().filter(|name| is_default && **name != "lo").map(|name| (*name).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_load_has_a_reason() {
        let known = BTreeSet::from(["eth0".to_owned()]);
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (wanted, names, why) in [
            (all(&[]), all(&["eth0"]), None),
            (all(&[]), all(&[]), Some("no default route")),
            (all(&["none"]), all(&[]), Some("interface is \"none\"")),
            (all(&["eth0", "eth9"]), all(&["eth0", "eth9"]), Some("no interface eth9")),
        ] {
            assert_eq!(why_unknown(&wanted, &names, &known).as_deref(), why, "{wanted:?}");
        }
    }

    #[test]
    fn rates_are_bits_per_second() {
        let at = |s: u64| Time::from_nanos(s * 1_000_000_000);
        assert_eq!(rates((at(1), (0, 1_000)), (at(3), (500, 3_000))), Some((2_000.0, 8_000.0)));
        assert_eq!(rates((at(1), (10, 0)), (at(3), (9, 0))), None, "counters that went back");
        assert_eq!(rates((at(1), (0, 0)), (at(1), (0, 0))), None);
    }

    #[test]
    fn the_default_route_of_either_family() {
        let v4 = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n\
                  eth1\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\n\
                  wan\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\n";
        assert_eq!(default_v4(v4).as_deref(), Some("wan"));
        assert_eq!(default_v4("Iface\n"), None);
        let zero = "00000000000000000000000000000000";
        let route = |to: &str, length: &str, name: &str| {
            format!("{to} {length} {zero} 00 {zero} 00000400 1 0 3 {name}\n")
        };
        let v6 =
            route("fe80000000000000", "40", "eth0") + &route(zero, "00", "lo") + &route(zero, "00", "wan");
        assert_eq!(default_v6(&v6).as_deref(), Some("wan"));
        assert_eq!(default_v6(""), None);
    }
}
