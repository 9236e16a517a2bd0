//! The effect of single facts on queue points.
use crate::fixture::{audited, known, tree};
use fathom_audit::{AuditedQueue, Facts, Severity, Tree, audit};
use fathom_run::{HostQueue, InterfaceKind, Remedy};

type File<'a> = (&'a str, &'a str);

/// A 100 Mbit/s card with the default route, plus other files.
fn host(files: &[File<'_>]) -> Tree {
    let mut tree = Tree::default();
    let base = [
        ("sys/class/net/eth0/flags", "0x1003"),
        ("sys/class/net/eth0/type", "1"),
        ("sys/class/net/eth0/operstate", "up"),
        ("sys/class/net/eth0/speed", "100"),
        ("sys/class/net/eth0/mtu", "1500"),
        ("sys/class/net/eth0/tx_queue_len", "1000"),
        ("sys/class/net/eth0/ifindex", "2"),
        ("sys/class/net/eth0/iflink", "2"),
        ("sys/class/net/eth0/statistics/tx_bytes", "5000000"),
        ("sys/class/net/eth0/device/uevent", "DRIVER=some"),
        ("sys/class/net/eth0/device/modalias", "pci:x"),
        ("proc/net/route", "head\neth0\t00000000\t0\t3\t0\t0\t0\t00000000"),
    ];
    for (path, text) in base.iter().chain(files) {
        tree.insert(*path, text.as_bytes().to_vec());
    }
    tree
}

fn found(files: &[File<'_>], rates: &str, number: u8) -> Option<AuditedQueue> {
    let audit = audit(&Facts::of(&host(files)), &known(rates), None);
    audit.queues.into_iter().find(|queue| queue.point.queue.kind().number() == number)
}

fn command(queue: &AuditedQueue) -> (&str, &str) {
    match &queue.remedies[..] {
        [Remedy::Run { command, undo, .. }] => (command, undo),
        other => panic!("{other:?}"),
    }
}

const QDISC: &str = "replies/qdisc";

#[test]
fn queue_disciplines() {
    // Reply of the kernel, severity, milliseconds when full.
    let cases = [
        ("eth0 pfifo_fast handle=0", Severity::Bad, Some(121.12)),
        ("eth0 pfifo handle=8001 limit_packets=100", Severity::None, Some(12.112)),
        ("eth0 bfifo handle=8001 limit_bytes=1000000", Severity::Bad, Some(80.0)),
        ("eth0 fq_codel handle=0 limit_packets=10240", Severity::None, None),
        ("eth0 fq handle=0 limit_packets=10000", Severity::None, None),
        ("eth0 cake handle=8001 limit_bytes=4194304", Severity::None, None),
        ("eth0 tbf handle=8001 limit_bytes=250000 rate_bits_per_second=10000000", Severity::Bad, Some(200.0)),
        ("eth0 noqueue handle=0", Severity::None, None),
        (
            "eth0 mq handle=0\neth0 pfifo_fast handle=0 parent=0\neth0 pfifo_fast handle=0 parent=0",
            Severity::Bad,
            Some(242.24),
        ),
        (
            "eth0 htb handle=1 rate_bits_per_second=20000000\neth0 fq_codel handle=10 parent=1 limit_packets=1000",
            Severity::None,
            None,
        ),
        (
            "eth0 htb handle=1 rate_bits_per_second=20000000\neth0 bfifo handle=10 parent=1 limit_bytes=250000",
            Severity::Bad,
            Some(100.0),
        ),
    ];
    for (reply, severity, millis) in cases {
        let queue = found(&[(QDISC, reply)], "", 6);
        let got =
            queue.as_ref().and_then(|queue| queue.point.worst.as_ref()).map(|worst| worst.delay_s * 1e3);
        assert_eq!(
            (queue.map_or(Severity::None, |queue| queue.severity), got),
            (severity, millis),
            "{reply}"
        );
    }
}

/// Commands and their undo. `shell/host/audit-facts/tests/system/kernel.rs` executes them.
#[test]
fn commands_and_their_undo() {
    let sysctl = "sysctl -w net.core.default_qdisc=";
    let fq_codel_as = |default: &str, rest: &str| format!("{sysctl}{default} && tc qdisc {rest}");
    let cases = [
        (
            "eth0 pfifo_fast handle=0",
            "tc qdisc replace dev eth0 root fq_codel".to_owned(),
            "tc qdisc del dev eth0 root".to_owned(),
        ),
        (
            "eth0 bfifo handle=8001 limit_bytes=1000000",
            "tc qdisc replace dev eth0 root fq_codel".to_owned(),
            "tc qdisc replace dev eth0 root bfifo limit 1000000b".to_owned(),
        ),
        (
            "eth0 tbf handle=8001 limit_bytes=250000 rate_bits_per_second=10000000",
            "tc qdisc replace dev eth0 parent 8001:1 fq_codel".to_owned(),
            "tc qdisc replace dev eth0 parent 8001:1 bfifo limit 250000b".to_owned(),
        ),
        (
            "eth0 htb handle=1 rate_bits_per_second=9000000\neth0 pfifo handle=10 parent=1 class=a limit_packets=900",
            "tc qdisc replace dev eth0 parent 1:a fq_codel".to_owned(),
            "tc qdisc replace dev eth0 parent 1:a pfifo limit 900".to_owned(),
        ),
        (
            "eth0 mq handle=0\neth0 pfifo_fast handle=0 parent=0 class=1",
            fq_codel_as("fq_codel", "replace dev eth0 root handle fa: mq"),
            fq_codel_as("pfifo_fast", "del dev eth0 root"),
        ),
        (
            "eth0 mq handle=fa\neth0 pfifo_fast handle=0 parent=fa class=1",
            fq_codel_as("fq_codel", "replace dev eth0 root handle fb: mq"),
            fq_codel_as("pfifo_fast", "replace dev eth0 root handle fa: mq"),
        ),
    ];
    for (reply, fix, undo) in cases {
        let queue = found(&[(QDISC, reply)], "", 6).expect("a queue discipline");
        assert_eq!(command(&queue), (fix.as_str(), undo.as_str()), "{reply}");
    }
}

#[test]
fn effect_of_the_link_beyond() {
    let fifo = (QDISC, "eth0 pfifo_fast handle=0");
    let severity = |rates, number| found(&[fifo], rates, number).map(|queue| queue.severity);
    assert_eq!((severity("", 6), severity("", 25)), (Some(Severity::Bad), Some(Severity::Unknown)));
    // If the line is slower, the queue is there, and the local one is dark.
    assert_eq!((severity("20mbit", 6), severity("20mbit", 25)), (Some(Severity::Dark), Some(Severity::Bad)));
    assert_eq!((severity("1gbit", 6), severity("1gbit", 25)), (Some(Severity::Bad), Some(Severity::None)));
    let beyond = found(&[fifo], "20mbit", 25).expect("a link");
    assert_eq!(beyond.point.arrival_ratio, Some(5.0));
}

/// A virtual card reports no speed, so no file says whether it or the line is slower.
#[test]
fn a_card_of_unknown_speed_before_a_known_line() {
    let files = [("sys/class/net/eth0/speed", "-1"), (QDISC, "eth0 pfifo_fast handle=0")];
    let severity = |rates, number| found(&files, rates, number).map(|queue| queue.severity);
    assert_eq!((severity("", 6), severity("", 25)), (Some(Severity::Unknown), Some(Severity::Unknown)));
    assert_eq!(
        (severity("20mbit", 6), severity("20mbit", 25)),
        (Some(Severity::Dark), Some(Severity::Unknown))
    );
    assert_eq!(
        (severity("20mbit eth0=10mbit", 6), severity("eth0=10mbit", 6)),
        (Some(Severity::Bad), Some(Severity::Bad))
    );
}

#[test]
fn drivers_and_rings() {
    const LONG: File<'_> =
        ("replies/ethtool/eth0", "ring_tx 4096\nring_tx_max 4096\ntso 0\ngso 1\ngro 0\ntx_usecs 50");
    const SHORT: File<'_> = ("replies/ethtool/eth0", "ring_tx 64\nring_tx_max 4096\ntso 0\ngso 1");
    let limit = |text| ("sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit", text);
    // Without byte queue limits, or if they are still zero after 5 MB were sent, the ring fills.
    for files in [vec![LONG], vec![LONG, limit("0")]] {
        let queue = found(&files, "", 10).expect("a driver");
        assert_eq!((queue.severity, command(&queue).1), (Severity::Bad, "ethtool -G eth0 tx 4096"));
    }
    assert_eq!(found(&[SHORT], "", 10).map(|queue| queue.severity), Some(Severity::None));
    assert_eq!(found(&[], "", 10).map(|queue| queue.severity), Some(Severity::Unknown));
    let limited = found(&[LONG, limit("25000")], "", 9).expect("a limit");
    assert_eq!((limited.severity, limited.point.delay_s()), (Severity::None, 0.002));
    let large = found(&[LONG, limit("1000000")], "", 9).expect("a limit");
    assert_eq!((large.severity, large.point.delay_s()), (Severity::Bad, 0.08));
    assert!(found(&[LONG, limit("25000")], "", 10).is_none());
}

#[test]
fn kinds_of_interfaces() {
    let cases = [
        ("router", "eth0", InterfaceKind::Ethernet),
        ("router", "lan1", InterfaceKind::Stacked),
        ("router", "br-lan", InterfaceKind::Bridge),
        ("router", "pppoe-wan", InterfaceKind::Ppp),
        ("router", "wlan0", InterfaceKind::Wifi),
        ("router", "ifb4eth0", InterfaceKind::Ifb),
        ("laptop", "wwan0", InterfaceKind::Usb),
        ("laptop", "tun0", InterfaceKind::Tun),
        ("laptop", "wg0", InterfaceKind::Wireguard),
        ("vm-host", "vnet0", InterfaceKind::Tap),
        ("vm-host", "veth0", InterfaceKind::Veth),
        ("container", "eth0", InterfaceKind::Veth),
        ("container", "lo", InterfaceKind::Loopback),
    ];
    for (host, name, kind) in cases {
        let facts = Facts::of(&tree(host));
        let interface = facts.interfaces.iter().find(|i| i.name == name).expect(name);
        assert_eq!(interface.kind, kind, "{name} of {host}");
    }
}

/// Interface names can contain almost any character and appear in commands.
#[test]
fn a_hostile_name_is_quoted() {
    let mut tree = Tree::default();
    let name = "a;rm$(x)'b";
    for (path, text) in host(&[(QDISC, "a;rm$(x)'b pfifo_fast handle=0")]).iter() {
        tree.insert(path.replace("eth0", name), text.to_vec());
    }
    let queues = audit(&Facts::of(&tree), &known(""), None).queues;
    let qdisc =
        queues.iter().find(|queue| queue.point.queue.kind().number() == 6).expect("a queue discipline");
    assert_eq!(command(qdisc).0, "tc qdisc replace dev 'a;rm$(x)'\\''b' root fq_codel");
}

#[test]
fn interfaces_that_are_down_are_omitted() {
    assert!(audited("router", "").host.interfaces.iter().all(|interface| interface.name != "ifb4eth0"));
}

#[test]
fn an_empty_tree_has_no_interfaces() {
    let facts = Facts::of(&Tree::default());
    assert!(facts.interfaces.is_empty() && audit(&facts, &known(""), None).queues.is_empty());
}

/// Wi-Fi carries less than its bitrate. Queue limits are known with or without debugfs.
#[test]
fn wifi_by_nl80211() {
    let files = [
        ("sys/class/net/eth0/uevent", "DEVTYPE=wlan\nINTERFACE=eth0"),
        ("sys/class/net/eth0/speed", "-1"),
        (
            "replies/wifi/eth0",
            "bitrate_bits_per_second 100000000\nlimit_packets 8192\nmemory_limit_bytes 3000000",
        ),
    ];
    let queue = found(&files, "", 14).expect("a queue");
    // 3000000 * 8 / 60e6, because the memory limit is reached before 8,192 packets.
    assert_eq!((queue.severity, queue.point.delay_s()), (Severity::Unknown, 0.4));
    assert!(found(&files, "", 15).is_none());
    assert_eq!(found(&files[..2], "", 15).map(|firmware| firmware.severity), Some(Severity::Unknown));
}

#[test]
fn flow_offload_bypasses_every_queue() {
    let forwards = ("proc/sys/net/ipv4/ip_forward", "1");
    let cases = [
        (vec![], None),
        (vec![forwards], Some((Severity::None, vec![], vec![]))),
        (
            vec![("replies/flowtables", "fw4 ft hardware eth0 lan1\n")],
            Some((Severity::Bad, vec!["fw4 ft hardware eth0 lan1"], vec![])),
        ),
        (vec![("etc/config/firewall", "\toption flow_offloading '0'")], None),
        (
            vec![("etc/config/firewall", "\toption flow_offloading_hw \"1\"")],
            Some((Severity::Bad, vec![], vec!["/etc/config/firewall"])),
        ),
        (vec![("etc/nftables.conf", "# flowtable f {")], None),
        (
            vec![("etc/nftables.conf", "table inet t {\n flowtable f {")],
            Some((Severity::Bad, vec![], vec!["/etc/nftables.conf"])),
        ),
    ];
    for (files, want) in cases {
        let found = found(&files, "", 24);
        let got = found.as_ref().map(|queue| match &queue.point.queue {
            HostQueue::FlowOffload { flow_tables, files: set_in, .. } => {
                let words =
                    |names: &'_ [String]| names.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
                (queue.severity, words(flow_tables), words(set_in))
            }
            other => panic!("{other:?}"),
        });
        let want = want.map(|(severity, tables, names)| (severity, tables.join(" "), names.join(" ")));
        assert_eq!(got, want, "{files:?}");
    }
}
