//! What stands against a shaper, found in trees of files that are like those of a laptop and a router.
use crate::world::{World, gone, request, watchdog_command};
use fathom_shaper::{Boot, System, Transaction, conflicts};
use std::path::PathBuf;
use std::time::Duration;

/// A tree of files in a directory of its own.
fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tree-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

const ROUTE: &str = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n\
    wan\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
    lan\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
const ROUTE6: &str = "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe80 00000400 1 0 00000003 wan6\n\
    00000000000000000000000000000000 00 00000000000000000000000000000000 00 0 ffffffff 1 0 00200200 lo\n";
const OFFLOADED: &str = "ipv4 2 tcp 6 src=10.0.0.2 dst=1.1.1.1 [OFFLOAD] mark=0 use=2\n\
    ipv4 2 tcp 6 300 ESTABLISHED src=10.0.0.2 dst=1.1.1.2 [ASSURED]\nipv6 10 udp 17 src=fd::1 [HW_OFFLOAD] use=2\n";
const SQM: &str = "config queue 'eth1'\n\toption enabled '1'\n\toption interface 'wan'\n\nconfig queue\n\toption enabled '0'\n\toption interface 'lan'\n";

/// A name, files, the interface, and words of what is found.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static [&'static str]);

#[test]
fn files_tell_what_stands_against_it() {
    let cases: &[Case] = &[
        ("nothing", &[], "wan", &[]),
        ("right", &[("proc/net/route", ROUTE)], "wan", &[]),
        (
            "wrong",
            &[("proc/net/route", ROUTE)],
            "lan",
            &["no default route leads through lan, but through wan"],
        ),
        ("both", &[("proc/net/route", ROUTE), ("proc/net/ipv6_route", ROUTE6)], "wan6", &[]),
        ("six", &[("proc/net/ipv6_route", ROUTE6)], "wan", &["through wan, but through wan6"]),
        ("offload", &[("proc/net/nf_conntrack", OFFLOADED)], "wan", &["2 connections are offloaded"]),
        ("sqm", &[("etc/config/sqm", SQM)], "wan", &["sqm-scripts shapes wan too"]),
        ("sqm-off", &[("etc/config/sqm", SQM)], "lan", &[]),
        ("sqm-runs", &[("run/sqm/lan.state", "")], "lan", &["sqm-scripts shapes lan too"]),
        (
            "manager",
            &[(
                "etc/NetworkManager/system-connections/Home.nmconnection",
                "[connection]\ninterface-name=wan\n[tc]\nqdisc.root=fq_codel\n",
            )],
            "wan",
            &["NetworkManager sets queues by"],
        ),
        (
            "manager-other",
            &[(
                "etc/NetworkManager/system-connections/Home.nmconnection",
                "[connection]\ninterface-name=lan\n[tc]\n",
            )],
            "wan",
            &[],
        ),
        (
            "networkd",
            &[
                ("etc/systemd/network/10.network", "[Match]\nName=en* wan*\n[CAKE]\nBandwidth=9M\n"),
                ("etc/config/sqm", SQM),
            ],
            "wan",
            &["systemd-networkd sets queues by", "sqm-scripts"],
        ),
        (
            "networkd-plain",
            &[("etc/systemd/network/10.network", "[Match]\nName=wan\n[Network]\nDHCP=yes\n")],
            "wan",
            &[],
        ),
    ];
    for (name, files, device, expected) in cases {
        let root = tree(name, files);
        let found = conflicts::detect(&root, device);
        assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
        for (one, words) in found.iter().zip(*expected) {
            assert!(one.what.contains(words) && !one.advice.is_empty(), "{name}: {one:?}");
        }
        let _ = std::fs::remove_dir_all(root);
    }
}

#[test]
fn counters_tell_who_goes_past_the_shaper() {
    let world = World::new(&[
        "ip addr add 10.9.0.1/24 dev eth0",
        "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev eth0",
    ]);
    let mut transaction = world.inside(|| Transaction::begin(&request(None), &world.place())).unwrap();
    world.inside(|| transaction.apply(watchdog_command(&world.place()), Duration::from_secs(60))).unwrap();
    let load = world.inside(|| std::net::UdpSocket::bind("10.9.0.1:0").unwrap());
    let before = transaction.look().unwrap();
    for _ in 0..40 {
        for _ in 0..10 {
            load.send_to(&[0; 1_000], "10.9.0.2:9").unwrap();
        }
        gone(&mut transaction);
    }
    let mut after = transaction.look().unwrap();
    assert!(conflicts::idle(&before, &after).is_none());
    let idle = conflicts::idle(&after, &after).unwrap();
    assert!(idle.what.contains("not one packet passed by eth0"), "{idle:?}");
    assert_eq!(conflicts::observed(&before, &after), [], "nothing goes past it");
    // A download beside an upload: 900 acknowledgements and as many data packets passed, a sixth of the latter was dropped.
    let mut both = after.clone();
    let down = both.down.as_mut().unwrap();
    let (passed, dropped) = ((900, 900 * 66 + 900 * 1_514), 180);
    down.sent_packets += 2 * passed.0;
    down.sent_bytes += passed.1;
    down.drops += dropped;
    both.link.received_bytes += passed.1 + u64::from(dropped) * 1_514;
    assert_eq!(conflicts::observed(&after, &both), [], "what was dropped had arrived");
    both.link.received_bytes += 200_000;
    assert!(conflicts::observed(&after, &both)[0].what.contains("arrived by eth0"), "more than was dropped");
    // As if hardware had sent as much again.
    after.link.sent_bytes += after.link.sent_bytes;
    after.direct_packets += 3;
    let found = conflicts::observed(&before, &after);
    assert!(found[0].what.contains("passed the shaper: the rest bypasses it"), "{found:?}");
    assert!(found[1].what.contains("3 packets passed HTB outside of all classes"), "{found:?}");
    world.inside(|| transaction.roll_back("test")).unwrap();
}

#[test]
fn it_comes_back_with_the_system() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let apply = words("/usr/bin/fathom fix eth0 --commit --up 9.5Mbit");
    let undo = [words("/opt/a"), vec!["b c/$fathom".to_owned()]].concat();
    let cases = [
        (
            System::Systemd,
            "etc/systemd/system/x",
            "etc/systemd/system/fathom-fix-eth-0.service",
            "\"b c/$$fathom\"",
        ),
        (System::OpenWrt, "etc/openwrt_release", "etc/init.d/fathom-fix-eth-0", "'b c/$fathom'"),
    ];
    for (system, sign, file, quoted) in cases {
        let root = tree(&format!("{system:?}"), &[(sign, ""), ("etc/init.d/network", "")]);
        let boot = Boot::of(&root, "eth-0").unwrap();
        assert_eq!((boot.system, boot.file.as_path()), (system, root.join(file).as_path()));
        let text = boot.text("eth-0", &apply, &undo);
        assert!(
            text.contains("/usr/bin/fathom fix eth0 --commit --up 9.5Mbit\n") && text.contains(quoted),
            "{text}"
        );
        for _ in 0..2 {
            boot.write(&text).unwrap();
            assert_eq!(std::fs::read_to_string(&boot.link).unwrap(), text, "the link leads to it");
        }
        assert!(boot.remove().unwrap() && !boot.remove().unwrap());
        assert!(!boot.file.exists() && boot.link.symlink_metadata().is_err());
        let _ = std::fs::remove_dir_all(root);
    }
    let none = tree("none", &[("etc/passwd", "")]);
    assert!(Boot::of(&none, "eth0").unwrap_err().to_string().contains("neither systemd"));
}
