//! The routers of a path through this test's own namespaces.
use crate::memory::{answered, row, start, wait_for};
use fathom_os::netns::NetNs;
use fathom_test_support::{in_new_namespace, new_namespace};
use fathom_watch_samples::Outcome;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;

/// Namespaces in a row, each a router for the previous one: 10.8.N.0/24 and fd08:N::/64 are between
/// N and N + 1.
struct Row {
    namespaces: Vec<(NetNs, File)>,
}

impl Row {
    fn new(count: usize) -> Row {
        let make = |_| {
            let namespace = new_namespace();
            namespace.enter().unwrap();
            (namespace, File::open("/proc/thread-self/ns/net").unwrap())
        };
        let row = Row { namespaces: (0..count).map(make).collect() };
        for n in 0..count {
            row.sh(n, "ip link set lo up; sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0");
        }
        for n in 0..count - 1 {
            row.join(n, count);
        }
        row
    }
    /// Connects N and N + 1, with routes to all the others.
    fn join(&self, n: usize, count: usize) {
        let there = format!("/proc/{}/fd/{}", std::process::id(), self.namespaces[n + 1].1.as_raw_fd());
        self.sh(n, &format!("ip link add right type veth peer name left netns {there}"));
        for (at, device, last) in [(n, "right", 1), (n + 1, "left", 2)] {
            self.sh(at, &format!("ip addr add 10.8.{n}.{last}/24 dev {device}; ip -6 addr add fd08:{n}::{last}/64 dev {device} nodad; ip link set {device} up"));
        }
        for other in n + 1..count - 1 {
            self.sh(n, &format!("ip route add 10.8.{other}.0/24 via 10.8.{n}.2; ip -6 route add fd08:{other}::/64 via fd08:{n}::2"));
        }
        for other in 0..n {
            self.sh(n + 1, &format!("ip route add 10.8.{other}.0/24 via 10.8.{n}.1; ip -6 route add fd08:{other}::/64 via fd08:{n}::1"));
        }
    }
    fn sh(&self, at: usize, script: &str) {
        self.namespaces[at].0.enter().unwrap();
        let ran = Command::new("sh").args(["-ec", script]).output().unwrap();
        assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn each_router_is_a_series_and_a_new_one_is_reported() {
    in_new_namespace(|| {
        let row_of_four = Row::new(4);
        row_of_four.namespaces[0].0.enter().unwrap();
        let (monitor, memory) = start(
            "[watch]\ninterface = 'none'\n[defaults]\ninterval = '500ms'\nprobe = 'hops'\nmax_hops = 6\n\
         [[target]]\nname = 'four'\nhost = '10.8.2.2'\n\
         [[target]]\nname = 'six'\nhost = 'fd08:2::2'\n",
        );
        for (name, addresses) in
            [("four", ["10.8.0.2", "10.8.1.2", "10.8.2.2"]), ("six", ["fd08:0::2", "fd08:1::2", "fd08:2::2"])]
        {
            for (n, address) in addresses.into_iter().enumerate() {
                let probe = format!("hop {}", n + 1);
                wait_for(&format!("{name} {probe}"), || {
                    (answered(&memory.samples(name, &probe)) >= 3).then_some(())
                });
                assert_eq!(row(&monitor, name, &probe).unwrap().address, Some(address.parse().unwrap()));
            }
            assert!(memory.of(name, "hop 4").is_none(), "nothing lies beyond the end");
        }
        // The first router answers from another address from now on.
        row_of_four.sh(1, "ip addr del 10.8.0.2/24 dev left; ip addr add 10.8.0.9/24 dev left; ip route replace 10.8.0.0/24 dev left");
        row_of_four
            .sh(0, "ip route replace 10.8.2.0/24 via 10.8.0.9; ip route replace 10.8.1.0/24 via 10.8.0.9");
        let text = wait_for("the change of path", || memory.events("path").pop());
        assert!(text.contains("hop 1 changed from 10.8.0.2 to 10.8.0.9"), "{text}");
        assert!(monitor.stop().is_empty());
        let first = memory.samples("four", "hop 3");
        assert!(first.iter().any(|s| matches!(s.outcome, Outcome::Answered(d) if d.as_secs_f64() < 1.0)));
    });
}
