//! Network namespaces in a row.
use crate::new_namespace;
use fathom_os::netns::NetNs;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;

/// Namespaces in a row, each a router between its neighbors. 10.8.N.0/24 and fd08:N::/64 are
/// between N (device `right`, address 1) and N + 1 (device `left`, address 2).
pub struct NamespaceRow(Vec<(NetNs, File)>);

impl NamespaceRow {
    /// Creates `count` namespaces with links and routes, and leaves the calling thread in one of
    /// them.
    ///
    /// # Panics
    /// If the system refuses it.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let make = |_| {
            let namespace = new_namespace();
            namespace.enter().expect("a new namespace");
            (namespace, File::open("/proc/thread-self/ns/net").expect("/proc is mounted"))
        };
        let row = NamespaceRow((0..count).map(make).collect());
        for n in 0..count {
            row.sh(n, "ip link set lo up; sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1");
        }
        for n in 0..count - 1 {
            row.join(n, count);
        }
        row
    }
    /// Connects N and N + 1, with routes to all the others.
    fn join(&self, n: usize, count: usize) {
        let there = format!("/proc/{}/fd/{}", std::process::id(), self.0[n + 1].1.as_raw_fd());
        self.sh(n, &format!("ip link add right type veth peer name left netns {there}"));
        for (at, device, last) in [(n, "right", 1), (n + 1, "left", 2)] {
            self.sh(at, &format!("ip addr add 10.8.{n}.{last}/24 dev {device}; ip -6 addr add fd08:{n}::{last}/64 dev {device} nodad; ip link set {device} up"));
        }
        // A device drops packets until the kernel has handled its carrier, later on a busy machine.
        for (at, device) in [(n, "right"), (n + 1, "left")] {
            self.sh(at, &format!("for n in $(seq 500); do ip link show dev {device} | grep -q 'state UP' && exit; sleep 0.01; done; exit 1"));
        }
        for other in n + 1..count - 1 {
            self.sh(n, &format!("ip route add 10.8.{other}.0/24 via 10.8.{n}.2; ip -6 route add fd08:{other}::/64 via fd08:{n}::2"));
        }
        for other in 0..n {
            self.sh(n + 1, &format!("ip route add 10.8.{other}.0/24 via 10.8.{n}.1; ip -6 route add fd08:{other}::/64 via fd08:{n}::1"));
        }
    }
    /// Moves the calling thread into a namespace.
    ///
    /// # Panics
    /// If the system refuses it.
    pub fn enter(&self, at: usize) {
        self.0[at].0.enter().expect("a namespace of this row");
    }
    /// Runs shell commands in a namespace, and leaves the calling thread there.
    ///
    /// # Panics
    /// If a command fails.
    pub fn sh(&self, at: usize, script: &str) {
        self.enter(at);
        let ran = Command::new("sh").args(["-ec", script]).output().expect("sh is installed");
        assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
