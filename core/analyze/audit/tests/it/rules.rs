//! One fact at a time: what it makes of a place.
use crate::fixture::{asked, tree};
use fathom_audit::{Facts, Kind, Level, Place, Tree, audit, links};

/// A path and what is in the file.
type File<'a> = (&'a str, &'a str);

/// A card of 100 Mbit/s with the default route, and whatever else.
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

fn found(files: &[File<'_>], rates: &str, number: u8) -> Option<Place> {
    let places = audit(&Facts::of(&host(files)), &asked(rates), None);
    places.into_iter().find(|place| place.spot.number() == number)
}

const QDISC: &str = "replies/qdisc";

#[test]
fn queue_disciplines() {
    // Reply of the kernel, level, milliseconds at worst.
    let cases = [
        ("eth0 pfifo_fast handle=0", Level::Bad, Some(121.12)),
        ("eth0 pfifo handle=8001 limit_packets=100", Level::Quiet, Some(12.112)),
        ("eth0 bfifo handle=8001 limit_bytes=1000000", Level::Bad, Some(80.0)),
        ("eth0 fq_codel handle=0 limit_packets=10240", Level::Quiet, None),
        ("eth0 fq handle=0 limit_packets=10000", Level::Quiet, None),
        ("eth0 cake handle=8001 limit_bytes=4194304", Level::Quiet, None),
        ("eth0 tbf handle=8001 limit_bytes=250000 rate_bits_per_second=10000000", Level::Bad, Some(200.0)),
        ("eth0 noqueue handle=0", Level::Quiet, None),
        (
            "eth0 mq handle=0\neth0 pfifo_fast handle=0 parent=0\neth0 pfifo_fast handle=0 parent=0",
            Level::Bad,
            Some(242.24),
        ),
        (
            "eth0 htb handle=1 rate_bits_per_second=20000000\neth0 fq_codel handle=10 parent=1 limit_packets=1000",
            Level::Quiet,
            None,
        ),
        (
            "eth0 htb handle=1 rate_bits_per_second=20000000\neth0 bfifo handle=10 parent=1 limit_bytes=250000",
            Level::Bad,
            Some(100.0),
        ),
    ];
    for (reply, level, millis) in cases {
        let place = found(&[(QDISC, reply)], "", 6);
        let got =
            place.as_ref().and_then(|p| p.worst.as_ref()).map(|worst| worst.sum.delay().as_millis_f64());
        assert_eq!((place.map_or(Level::Quiet, |p| p.level), got), (level, millis), "{reply}");
    }
}

/// What is to be typed, and what takes it back; `shell/host/audit-facts/tests/it/kernel.rs` types them.
#[test]
fn fixes_and_their_undoing() {
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
        let place = found(&[(QDISC, reply)], "", 6).expect("a place");
        assert_eq!((place.fix, place.undo), (vec![fix], vec![undo]), "{reply}");
    }
}

#[test]
fn what_the_line_beyond_does() {
    let fifo = (QDISC, "eth0 pfifo_fast handle=0");
    let level = |rates, number| found(&[fifo], rates, number).map(|place| place.level);
    assert_eq!((level("", 6), level("", 25)), (Some(Level::Bad), Some(Level::Unknown)));
    // Behind a slower line the queue stands there, and the one here is dark.
    assert_eq!((level("20mbit", 6), level("20mbit", 25)), (Some(Level::Dark), Some(Level::Bad)));
    assert_eq!((level("1gbit", 6), level("1gbit", 25)), (Some(Level::Bad), Some(Level::Quiet)));
    let beyond = found(&[fifo], "20mbit", 25).expect("a place");
    assert_eq!(beyond.mismatch, Some(5.0));
}

/// A virtual card tells no speed: whether it or the line is slower, no file says.
#[test]
fn a_card_of_unknown_speed_before_a_known_line() {
    let files = [("sys/class/net/eth0/speed", "-1"), (QDISC, "eth0 pfifo_fast handle=0")];
    let level = |rates, number| found(&files, rates, number).map(|place| place.level);
    assert_eq!((level("", 6), level("", 25)), (Some(Level::Unknown), Some(Level::Unknown)));
    assert_eq!((level("20mbit", 6), level("20mbit", 25)), (Some(Level::Dark), Some(Level::Unknown)));
    assert_eq!(
        (level("20mbit eth0=10mbit", 6), level("eth0=10mbit", 6)),
        (Some(Level::Bad), Some(Level::Bad))
    );
}

#[test]
fn drivers_and_rings() {
    const LONG: File<'_> =
        ("replies/ethtool/eth0", "ring_tx 4096\nring_tx_max 4096\ntso 0\ngso 1\ngro 0\ntx_usecs 50");
    const SHORT: File<'_> = ("replies/ethtool/eth0", "ring_tx 64\nring_tx_max 4096\ntso 0\ngso 1");
    let limit = |text| ("sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit", text);
    // Without byte queue limits, or where they stay zero although 5 MB were sent, the ring is what fills.
    for files in [vec![LONG], vec![LONG, limit("0")]] {
        let place = found(&files, "", 10).expect("a place");
        assert_eq!((place.level, place.undo), (Level::Bad, vec!["ethtool -G eth0 tx 4096".to_owned()]));
    }
    assert_eq!(found(&[SHORT], "", 10).map(|p| p.level), Some(Level::Quiet));
    assert_eq!(found(&[], "", 10).map(|p| p.level), Some(Level::Unknown));
    let limited = found(&[LONG, limit("25000")], "", 9).expect("a place");
    assert_eq!((limited.level, limited.delay().as_millis_f64()), (Level::Quiet, 2.0));
    let ran_away = found(&[LONG, limit("1000000")], "", 9).expect("a place");
    assert_eq!((ran_away.level, ran_away.delay().as_millis_f64()), (Level::Bad, 80.0));
    assert!(found(&[LONG, limit("25000")], "", 10).is_none());
}

#[test]
fn kinds_of_interfaces() {
    let cases = [
        ("router", "eth0", Kind::Ethernet),
        ("router", "lan1", Kind::Stacked),
        ("router", "br-lan", Kind::Bridge),
        ("router", "pppoe-wan", Kind::Ppp),
        ("router", "wlan0", Kind::Wifi),
        ("router", "ifb4eth0", Kind::Ifb),
        ("laptop", "wwan0", Kind::Usb),
        ("laptop", "tun0", Kind::Tun),
        ("laptop", "wg0", Kind::WireGuard),
        ("vm-host", "vnet0", Kind::Tap),
        ("vm-host", "veth0", Kind::Veth),
        ("container", "eth0", Kind::Veth),
        ("container", "lo", Kind::Loopback),
    ];
    for (host, name, kind) in cases {
        let facts = Facts::of(&tree(host));
        let interface = facts.interfaces.iter().find(|i| i.name == name).expect(name);
        assert_eq!(interface.kind, kind, "{name} of {host}");
    }
}

/// Interfaces may be called nearly anything, and their names come into commands.
#[test]
fn a_hostile_name_is_quoted() {
    let mut tree = Tree::default();
    let name = "a;rm$(x)'b";
    for (path, text) in host(&[(QDISC, "a;rm$(x)'b pfifo_fast handle=0")]).iter() {
        tree.insert(path.replace("eth0", name), text.to_vec());
    }
    let places = audit(&Facts::of(&tree), &asked(""), None);
    let fix =
        places.iter().flat_map(|place| &place.fix).find(|fix| fix.contains("replace dev")).expect("a fix");
    assert_eq!(fix, "tc qdisc replace dev 'a;rm$(x)'\\''b' root fq_codel");
}

#[test]
fn what_is_down_is_left_out() {
    let facts = Facts::of(&tree("router"));
    assert!(links(&facts, &asked(""), None).iter().all(|link| link.name != "ifb4eth0"));
}

#[test]
fn nothing_is_read_from_nothing() {
    let facts = Facts::of(&Tree::default());
    assert!(facts.interfaces.is_empty() && audit(&facts, &asked(""), None).is_empty());
}

/// The bitrate of Wi-Fi is not what it carries; its queues are known by their limits, with or without debugfs.
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
    let place = found(&files, "", 14).expect("a place");
    // 3000000 * 8 / 60e6, as the memory is less than 8,192 packets.
    assert_eq!((place.level, place.delay().as_millis_f64()), (Level::Unknown, 400.0));
    assert!(found(&files, "", 15).is_none());
    assert_eq!(found(&files[..2], "", 15).map(|p| p.level), Some(Level::Unknown));
}

#[test]
fn what_goes_past_every_queue() {
    let forwards = ("proc/sys/net/ipv4/ip_forward", "1");
    let cases = [
        (vec![], None),
        (vec![forwards], Some((Level::Quiet, "no connection bypasses the queue disciplines"))),
        (
            vec![("replies/flowtables", "fw4 ft hardware eth0 lan1\n")],
            Some((Level::Bad, "flow table fw4 ft hardware eth0 lan1")),
        ),
        (vec![("etc/config/firewall", "\toption flow_offloading '0'")], None),
        (
            vec![("etc/config/firewall", "\toption flow_offloading_hw \"1\"")],
            Some((Level::Bad, "/etc/config/firewall")),
        ),
        (vec![("etc/nftables.conf", "# flowtable f {")], None),
        (
            vec![("etc/nftables.conf", "table inet t {\n flowtable f {")],
            Some((Level::Bad, "/etc/nftables.conf")),
        ),
    ];
    for (files, want) in cases {
        let place = found(&files, "", 24);
        let got = place.as_ref().map(|place| (place.level, place.what.as_str()));
        assert_eq!(got, want, "{files:?}");
    }
}
