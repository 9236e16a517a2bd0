//! `fathom test` over a path of Linux routers in this test's own namespaces, with the default limit
//! of ICMP errors: which link holds the queue of each direction.
use crate::program::{Serve, alone, fathom, run, scratch};
use fathom_os::netns::NetNs;
use fathom_test_support::{in_new_namespace, new_namespace};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;

/// Namespaces in a row, each a router between its neighbors: 10.8.N.0/24 is between N and N + 1.
struct Row(Vec<(NetNs, File)>);

impl Row {
    fn new(count: usize) -> Row {
        let make = |_| {
            let namespace = new_namespace();
            namespace.enter().unwrap();
            (namespace, File::open("/proc/thread-self/ns/net").unwrap())
        };
        let row = Row((0..count).map(make).collect());
        for n in 0..count {
            row.sh(n, "ip link set lo up; sysctl -qw net.ipv4.ip_forward=1");
        }
        for n in 0..count - 1 {
            let there = format!("/proc/{}/fd/{}", std::process::id(), row.0[n + 1].1.as_raw_fd());
            row.sh(n, &format!("ip link add right type veth peer name left netns {there}"));
            for (at, device, last) in [(n, "right", 1), (n + 1, "left", 2)] {
                row.sh(at, &format!("ip addr add 10.8.{n}.{last}/24 dev {device}; ip link set {device} up"));
            }
            for other in n + 1..count - 1 {
                row.sh(n, &format!("ip route add 10.8.{other}.0/24 via 10.8.{n}.2"));
            }
            for other in 0..n {
                row.sh(n + 1, &format!("ip route add 10.8.{other}.0/24 via 10.8.{n}.1"));
            }
        }
        row
    }
    fn sh(&self, at: usize, script: &str) {
        self.0[at].0.enter().unwrap();
        let ran = Command::new("sh").args(["-ec", script]).output().unwrap();
        assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn each_queue_is_found_on_its_link() {
    let _alone = alone();
    in_new_namespace(|| {
        // This host, three routers, and the server. The upload waits at the first router, the
        // download at the third.
        let row = Row::new(5);
        row.sh(1, "tc qdisc add dev right root tbf rate 5mbit burst 3200 limit 200k");
        row.sh(3, "tc qdisc add dev left root tbf rate 20mbit burst 3200 limit 500k");
        row.0[4].0.enter().unwrap();
        let server = Serve::start(&["--listen", "10.8.3.2"]);
        row.0[0].0.enter().unwrap();
        let file = scratch().join("location.json");
        let file = file.to_str().unwrap();
        let target = format!("10.8.3.2:{}", server.port);
        let mut test = fathom(&["test", &target, "--phases", "idle,down,up", "-q", "-o", file]);
        let ran = test.output().unwrap();
        assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
        let result = run(&["report", file, "--json"]).document();
        let findings = result["findings"].as_array().unwrap();
        let is_place = |finding: &&serde_json::Value| finding["kind"] == "queue_location";
        let text = |finding: &serde_json::Value| {
            let of = |name: &str| finding["parameters"][name].as_str().unwrap_or("").to_owned();
            format!("{} {} {}", finding["direction"], of("near_address"), of("far_address"))
        };
        let mut found: Vec<String> = findings.iter().filter(is_place).map(text).collect();
        found.sort();
        let expected = ["\"down\" 10.8.1.2 10.8.2.2", "\"up\" 10.8.0.2 10.8.1.2"];
        assert_eq!(found, expected, "{findings:#?}");
    });
}
