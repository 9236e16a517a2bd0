//! `fathom dut` with a bridge of the real kernel, in this test's own namespaces.
use crate::program::{Ran, alone, fathom, run};
use fathom_os::netns::NetNs;
use fathom_test_support::{in_new_namespace, new_namespace};
use serde_json::Value as Json;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

/// 340 ms at 10 Mbit/s, in frames of full size: the switch of E. Auerswald, ten times as slow.
const HELD_PACKETS: f64 = 281.0;
const HELD_BYTES: f64 = 425_000.0;

/// A bridge in its own namespace, whose ports p1, p2 and p3 are connected to eth1, eth2 and
/// eth3 of the namespace of the calling thread.
struct Bridge {
    host: NetNs,
    bridge: NetNs,
}

impl Bridge {
    fn new(tc: &[&str]) -> Bridge {
        let new = Bridge { host: NetNs::current().unwrap(), bridge: new_namespace() };
        new.bridge.enter().unwrap();
        let descriptor = File::open("/proc/thread-self/ns/net").unwrap();
        let there = format!("/proc/{}/fd/{}", std::process::id(), descriptor.as_raw_fd());
        new.sh("ip link add name br0 type bridge; ip link set br0 up");
        for n in 1..=3 {
            new.host.enter().unwrap();
            new.sh(&format!(
                "ip link add name eth{n} type veth peer name p{n} netns {there}; ip link set eth{n} up"
            ));
            new.bridge.enter().unwrap();
            new.sh(&format!("ip link set p{n} master br0; ip link set p{n} up"));
        }
        tc.iter().for_each(|tc| new.sh(&format!("tc {tc}")));
        new.host.enter().unwrap();
        new
    }
    /// Runs shell commands where the calling thread is.
    fn sh(&self, script: &str) {
        let ran = Command::new("sh").args(["-ec", script]).output().unwrap();
        assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    /// Runs shell commands in the namespace of the bridge.
    fn at_bridge(&self, script: &str) {
        self.bridge.enter().unwrap();
        self.sh(script);
        self.host.enter().unwrap();
    }
}

fn near(ran: &Ran, found: &Json, truth: f64, tolerance: f64) {
    let value = found.as_f64().unwrap_or_else(|| panic!("{found}: {}", ran.describe()));
    assert!((value / truth - 1.0).abs() <= tolerance, "{value} instead of {truth}: {}", ran.describe());
}

/// The parameters of the findings of a kind.
fn found(result: &Json, kind: &str) -> Vec<Json> {
    let all = result["findings"].as_array().unwrap().iter();
    all.filter(|finding| finding["kind"] == kind).map(|finding| finding["parameters"].clone()).collect()
}

/// Rate, delay and loss of an overloaded port.
fn overloaded(ran: &Ran, result: &Json) -> [f64; 2] {
    let buffer = &found(result, "measured_buffer")[0];
    near(ran, &buffer["rate_bits_per_second"]["value"], 1e7, 0.03);
    let overload = &found(result, "port_overload")[0];
    near(ran, &overload["delay_s"], 0.34, 0.1);
    near(ran, &overload["fill_s"], 3.4, 0.2);
    ["loss_ratio", "ping_loss_ratio"].map(|name| overload[name].as_f64().unwrap())
}

/// A buffer of bytes loses no pings, and one of packets more than frames; bursts show which one it
/// is. Ports of a bridge have separate buffers and queues.
#[test]
fn buffers_of_bytes_and_of_packets_are_told_apart() {
    let _alone = alone();
    in_new_namespace(|| {
        let tbf = |port| format!("qdisc add dev p{port} root tbf rate 10mbit burst 3200 limit {HELD_BYTES}");
        let _bridge = Bridge::new(&[&tbf(2), &tbf(3)]);
        let flags = ["dut", "--in", "eth1", "--out", "eth2", "--out", "eth3", "--duration", "3s", "--json"];
        let ran = run(&flags);
        assert_eq!(ran.code, Some(1), "{}", ran.describe());
        let result = ran.document();
        let buffer = &found(&result, "measured_buffer")[0];
        assert_eq!(buffer["limit"], "bytes", "{}", ran.describe());
        near(&ran, &buffer["bytes"]["value"], HELD_BYTES, 0.1);
        let [frames, pings] = overloaded(&ran, &result);
        assert!((0.05..0.13).contains(&frames) && pings < 0.05, "{frames}, {pings}");
        assert_eq!(found(&result, "shared_buffer")[0]["is_shared"], false, "{}", ran.describe());
        assert_eq!(found(&result, "head_of_line_blocking")[0]["is_blocked"], false, "{}", ran.describe());
        // veth counts none.
        assert_eq!(found(&result, "pause_frames")[0]["sent_packets"], Json::Null);
    });
    in_new_namespace(|| {
        let queue = format!("qdisc add dev p3 parent 1:1 pfifo limit {HELD_PACKETS}");
        let _bridge = Bridge::new(&[
            "qdisc add dev p3 root handle 1: htb default 1",
            // The timer of a busy machine is several ms late. A smaller bucket overflows meanwhile.
            "class add dev p3 parent 1: classid 1:1 htb rate 10mbit burst 16kb cburst 16kb",
            &queue,
        ]);
        let ran =
            run(&["dut", "--in", "eth1", "--in", "eth2", "--out", "eth3", "--duration", "3s", "--json"]);
        assert_eq!(ran.code, Some(1), "{}", ran.describe());
        let result = ran.document();
        let buffer = &found(&result, "measured_buffer")[0];
        assert_eq!(buffer["limit"], "packets", "{}", ran.describe());
        near(&ran, &buffer["packets"]["value"], HELD_PACKETS, 0.05);
        let [frames, pings] = overloaded(&ran, &result);
        assert!((0.05..0.13).contains(&frames) && pings > 0.15, "{frames}, {pings}");
        // From one port, and from both.
        let bursts = found(&result, "lossless_burst");
        assert_eq!([&bursts[0]["port_count"], &bursts[1]["port_count"]], [1, 2], "{}", ran.describe());
        for burst in &bursts {
            near(&ran, &burst["sent_packets"], HELD_PACKETS * 10.0 / 9.0, 0.2);
        }
    });
}

/// Interfaces that cannot be used are named, with the reason, and nothing is sent.
#[test]
fn interfaces_that_cannot_be_used_are_named() {
    in_new_namespace(|| {
        let bridge = Bridge::new(&[]);
        let refused = |ins: &str, out: &str, code: i32, words: &[&str]| {
            let ran = run(&["dut", "--in", ins, "--out", out]);
            assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{}", ran.describe());
            let is_named = words.iter().all(|word| ran.err.contains(word));
            assert!(is_named, "{words:?}: {}", ran.describe());
        };
        refused("eth1", "eth9", 2, &["eth9", "eth1, eth2, eth3"]);
        refused("eth1", "lo", 2, &["lo", "127.0.0.1"]);
        refused("eth1", "eth1", 2, &["eth1", "twice"]);
        bridge.sh("ip addr add 192.0.2.7/24 dev eth2");
        refused("eth1", "eth2", 2, &["eth2", "192.0.2.7"]);
        bridge
            .sh("ip addr flush dev eth2; ip link add name other type bridge; ip link set eth2 master other");
        refused("eth1", "eth2", 2, &["eth2", "other"]);
        bridge.sh("ip link set eth2 nomaster; ip link set eth2 mtu 1400");
        refused("eth1", "eth2", 2, &["eth2", "1400", "1500"]);
        bridge.sh("ip link set eth2 mtu 1500");
        bridge.at_bridge("ip link set p2 nomaster");
        refused("eth1", "eth2", 3, &["eth1", "eth2", "5s"]);
        bridge.at_bridge("ip link set p2 down");
        refused("eth1", "eth2", 3, &["eth2", "carrier", "10s"]);
    });
}

/// Whatever ends the program, the interfaces stay in the namespace of the host.
#[test]
fn interfaces_stay_when_the_program_is_killed() {
    in_new_namespace(|| {
        let bridge = Bridge::new(&["qdisc add dev p2 root tbf rate 10mbit burst 3200 limit 100000"]);
        bridge.sh("ip link set eth1 down");
        let flags = ["dut", "--in", "eth1", "--out", "eth2", "-v"];
        let mut testing = fathom(&flags).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut progress = BufReader::new(testing.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("burst") {
            line.clear();
            assert!(progress.read_line(&mut line).unwrap() > 0, "no burst");
        }
        testing.kill().unwrap();
        testing.wait().unwrap();
        bridge.sh("ip link show eth1; ip link show eth2");
        // They can be used again, and one that was down is down afterwards.
        bridge.sh("ip link set eth1 down");
        let ran = run(&["dut", "--in", "eth1", "--out", "eth2", "--duration", "1s", "-q"]);
        assert!(ran.out.starts_with("GOOD") || ran.out.starts_with("BAD"), "{}", ran.describe());
        bridge.sh("ip -br link show eth1 | grep -q DOWN");
    });
}
