//! Observes what this host sends and receives during a test.
use crate::processes::owners;
use crate::sockets::{Connection, connections};
use fathom_os::interface::{ByteCounts, byte_counts};
use fathom_run::{HostTraffic, PhaseKind, Process, ProgramTraffic, is_local_address};
use fathom_units::{Direction, PerDirection};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

/// Less traffic of a program changes no result: a twentieth of a line of 200 kbit/s.
const LEAST_BITS_PER_SECOND: f64 = 10_000.0;
/// Most programs of a phase that are recorded in each direction.
const MOST_PROGRAMS: usize = 3;

/// A thread that reads the counters of interfaces and connections when phases begin and end.
pub struct TrafficObserver {
    marks: Sender<Mark>,
    thread: JoinHandle<Vec<HostTraffic>>,
}

enum Mark {
    Started(PhaseKind),
    Ended,
}

impl TrafficObserver {
    /// Starts to observe the traffic of this network namespace, for a test with `server`.
    pub fn start(server: IpAddr) -> Self {
        let (marks, inbox) = channel();
        TrafficObserver { marks, thread: std::thread::spawn(move || observe(&inbox, server)) }
    }
    /// A phase has started.
    pub fn phase_started(&self, kind: PhaseKind) {
        // It fails only if the thread is gone, and then `finish` returns nothing.
        let _ = self.marks.send(Mark::Started(kind));
    }
    /// The phase is over.
    pub fn phase_ended(&self) {
        let _ = self.marks.send(Mark::Ended);
    }
    /// What was observed; nothing if the kernel does not list its sockets.
    pub fn finish(self) -> Vec<HostTraffic> {
        drop(self.marks);
        self.thread.join().unwrap_or_default()
    }
}

fn observe(inbox: &Receiver<Mark>, server: IpAddr) -> Vec<HostTraffic> {
    let mut all: Vec<HostTraffic> = Vec::new();
    let mut begun = None;
    for mark in inbox {
        match mark {
            Mark::Started(kind) => {
                let is_first = all.iter().all(|traffic| traffic.phase != kind);
                begun = Reading::take(server).filter(|_| is_first).map(|reading| (kind, reading));
            }
            Mark::Ended => {
                let pair = begun.take().and_then(|begun| Some((begun, Reading::take(server)?)));
                all.extend(pair.map(|((kind, before), after)| traffic(kind, &before, &after)));
            }
        }
    }
    all
}

/// Counters at a moment.
struct Reading {
    at: Instant,
    /// Of all interfaces except loopback.
    total: ByteCounts,
    /// Connections with other hosts over the same line.
    connections: BTreeMap<u64, Connection>,
}

impl Reading {
    fn take(server: IpAddr) -> Option<Self> {
        let interfaces = byte_counts().ok()?;
        let others = interfaces.iter().filter(|(name, _)| *name != "lo");
        let total = others.fold((0, 0), |sum, (_, one)| (sum.0 + one.0, sum.1 + one.1));
        let is_on_line = |one: &Connection| is_on_line(one, server);
        let connections =
            connections().ok()?.into_iter().filter(is_on_line).map(|one| (one.socket.cookie, one));
        Some(Reading { at: Instant::now(), total, connections: connections.collect() })
    }
}

/// Whether packets of a connection take the line to `server`: those to this host itself do not, and
/// those to devices of the local network only if the server is one.
fn is_on_line(connection: &Connection, server: IpAddr) -> bool {
    let (local, remote) = (connection.socket.local.ip(), connection.socket.remote.ip());
    !remote.is_loopback() && local != remote && (is_local_address(server) || !is_local_address(remote))
}

/// The traffic between two readings.
fn traffic(phase: PhaseKind, before: &Reading, after: &Reading) -> HostTraffic {
    let seconds = after.at.duration_since(before.at).as_secs_f64().max(1e-3);
    let rate = |old: u64, new: u64| new.saturating_sub(old) as f64 * 8.0 / seconds;
    let bits_per_second =
        PerDirection { up: rate(before.total.1, after.total.1), down: rate(before.total.0, after.total.0) };
    // A connection that is new has counted from zero.
    let old = |one: &Connection| {
        before.connections.get(&one.socket.cookie).map_or((0, 0), |old| (old.acked_bytes, old.received_bytes))
    };
    let rates_of = |one: &Connection| {
        let (acked, received) = old(one);
        PerDirection { up: rate(acked, one.acked_bytes), down: rate(received, one.received_bytes) }
    };
    let moving = after.connections.values().map(|one| (one, rates_of(one)));
    let moving: Vec<_> = moving.filter(|(_, rates)| rates.up + rates.down > 0.0).collect();
    let owners =
        owners(&moving.iter().map(|(one, _)| one.socket.inode).filter(|inode| *inode != 0).collect());
    let of_others = moving.into_iter().filter_map(|(one, rates)| {
        let owner = owners.get(&one.socket.inode).cloned();
        let is_own = owner.as_ref().is_some_and(|owner| owner.id == std::process::id());
        (!is_own).then_some((owner, one.socket.remote.ip(), rates))
    });
    HostTraffic { phase, bits_per_second, programs: largest(combined(of_others)) }
}

/// One entry for all connections of a process with a host.
fn combined(
    connections: impl Iterator<Item = (Option<Process>, IpAddr, PerDirection<f64>)>,
) -> Vec<ProgramTraffic> {
    let mut sums: BTreeMap<(Option<Process>, IpAddr), PerDirection<f64>> = BTreeMap::new();
    for (process, remote, rates) in connections {
        let sum = sums.entry((process, remote)).or_default();
        *sum = PerDirection { up: sum.up + rates.up, down: sum.down + rates.down };
    }
    let entry = |((process, remote), bits_per_second): ((_, IpAddr), _)| ProgramTraffic {
        process,
        remote: remote.to_string(),
        bits_per_second,
    };
    sums.into_iter().map(entry).collect()
}

/// Those that are among the largest of a direction.
fn largest(programs: Vec<ProgramTraffic>) -> Vec<ProgramTraffic> {
    let top = |direction: Direction| {
        let mut order: Vec<usize> = (0..programs.len()).collect();
        let rate = |index: usize| programs[index].bits_per_second[direction];
        order.retain(|index| rate(*index) >= LEAST_BITS_PER_SECOND);
        order.sort_by(|a, b| rate(*b).total_cmp(&rate(*a)));
        order.truncate(MOST_PROGRAMS);
        order
    };
    let kept: BTreeSet<usize> = Direction::BOTH.into_iter().flat_map(top).collect();
    let all = programs.into_iter().enumerate();
    all.filter(|(index, _)| kept.contains(index)).map(|(_, program)| program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::Socket;
    use std::time::Duration;

    const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn connection(cookie: u64, remote: &str, acked_bytes: u64, received_bytes: u64) -> Connection {
        let local = "10.0.0.9:40000".parse().unwrap();
        let remote = std::net::SocketAddr::new(remote.parse().unwrap(), 443);
        let socket = Socket { cookie, inode: 0, local, remote };
        Connection { socket, acked_bytes, received_bytes }
    }

    fn reading(at: Instant, total: ByteCounts, connections: &[Connection]) -> Reading {
        Reading { at, total, connections: connections.iter().map(|one| (one.socket.cookie, *one)).collect() }
    }

    #[test]
    fn rates_are_those_between_two_readings() {
        let at = Instant::now();
        let before = reading(at, (1_000, 50_000), &[connection(1, "192.0.2.7", 40_000, 300)]);
        let later = [
            connection(1, "192.0.2.7", 1_040_000, 300),
            connection(2, "192.0.2.7", 500_000, 0),
            connection(3, "192.0.2.8", 0, 6_000),
            connection(4, "192.0.2.9", 0, 700_000),
        ];
        let after = reading(at + Duration::from_secs(4), (801_000, 1_950_000), &later);
        let found = traffic(PhaseKind::Idle, &before, &after);
        assert_eq!(found.bits_per_second, PerDirection { up: 3_800_000.0, down: 1_600_000.0 });
        let rates: Vec<_> = found.programs.iter().map(|p| (p.remote.as_str(), p.bits_per_second)).collect();
        // The third has 12 kbit/s, and the first two have the same host and no known process.
        assert_eq!(
            rates,
            [
                ("192.0.2.7", PerDirection { up: 3_000_000.0, down: 0.0 }),
                ("192.0.2.8", PerDirection { up: 0.0, down: 12_000.0 }),
                ("192.0.2.9", PerDirection { up: 0.0, down: 1_400_000.0 }),
            ]
        );
        assert!(found.programs.iter().all(|program| program.process.is_none()));
    }

    #[test]
    fn only_the_largest_of_each_direction_are_kept() {
        let of = |up, down| ProgramTraffic {
            process: None,
            remote: String::new(),
            bits_per_second: PerDirection { up, down },
        };
        let all = vec![of(2e4, 0.0), of(3e4, 0.0), of(4e4, 0.0), of(5e4, 0.0), of(0.0, 9e3), of(0.0, 1e4)];
        let ups: Vec<f64> = largest(all).iter().map(|program| program.bits_per_second.up).collect();
        assert_eq!(ups, [3e4, 4e4, 5e4, 0.0]);
    }

    #[test]
    fn traffic_that_stays_at_home_is_not_on_the_line() {
        let is_seen =
            |remote: &str, server: &str| is_on_line(&connection(1, remote, 0, 0), server.parse().unwrap());
        assert!(is_seen("198.51.100.1", "192.0.2.1"));
        assert!(!is_seen("10.0.0.4", "192.0.2.1"), "a device at home");
        assert!(is_seen("10.0.0.4", "10.0.0.5"), "the server is at home, too");
        assert!(!is_seen("127.0.0.1", "127.0.0.1"));
        assert!(!is_seen("10.0.0.9", "10.0.0.5"), "this host");
    }

    #[test]
    fn interfaces_count_what_passes() {
        let counts = || byte_counts().unwrap()["lo"];
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let before = counts();
        socket.send_to(&[0; 9_000], socket.local_addr().unwrap()).unwrap();
        socket.recv(&mut [0; 9_000]).unwrap();
        let after = counts();
        assert!(after.0 - before.0 >= 9_000 && after.1 - before.1 >= 9_000, "{before:?} {after:?}");
    }

    #[test]
    fn each_kind_of_phase_is_observed_once() {
        let observer = TrafficObserver::start(SERVER);
        for kind in [PhaseKind::Idle, PhaseKind::Up, PhaseKind::Idle] {
            observer.phase_started(kind);
            observer.phase_ended();
        }
        observer.phase_started(PhaseKind::Down);
        let phases: Vec<_> = observer.finish().iter().map(|traffic| traffic.phase).collect();
        assert_eq!(phases, [PhaseKind::Idle, PhaseKind::Up], "a phase without an end is left out");
    }
}
