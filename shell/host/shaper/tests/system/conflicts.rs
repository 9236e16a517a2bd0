//! Detection of conflicts in file trees that resemble a laptop and a router.
use crate::world::{World, gone, request, watchdog_command};
use fathom_run::{ConflictCause, ShaperBypass};
use fathom_shaper::{Boot, System, Transaction, conflicts};
use fathom_units::Direction;
use std::path::PathBuf;
use std::time::Duration;

/// A directory with these files.
pub(crate) fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
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

/// Files of a system, and the names of the conflicts they cause.
struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    device: &'static str,
    expected: &'static [&'static str],
}

const fn case(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    device: &'static str,
    expected: &'static [&'static str],
) -> Case {
    Case { name, files, device, expected }
}

/// The name of a conflict, with the file or detail that the case is about.
fn name_of(cause: &ConflictCause) -> String {
    match cause {
        ConflictCause::NoDefaultRoute { default_routes } => format!("route {}", default_routes.join(" ")),
        ConflictCause::Offload { connection_count } => format!("offload {connection_count}"),
        ConflictCause::NetworkManager { file } => format!("manager {}", file.rsplit('/').next().unwrap()),
        ConflictCause::Networkd { file } => format!("networkd {}", file.rsplit('/').next().unwrap()),
        ConflictCause::SqmScripts => "sqm".to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_show_conflicts() {
    let cases: &[Case] = &[
        case("nothing", &[], "wan", &[]),
        case("right", &[("proc/net/route", ROUTE)], "wan", &[]),
        case("wrong", &[("proc/net/route", ROUTE)], "lan", &["route wan"]),
        case("both", &[("proc/net/route", ROUTE), ("proc/net/ipv6_route", ROUTE6)], "wan6", &[]),
        case("six", &[("proc/net/ipv6_route", ROUTE6)], "wan", &["route wan6"]),
        case("offload", &[("proc/net/nf_conntrack", OFFLOADED)], "wan", &["offload 2"]),
        case("sqm", &[("etc/config/sqm", SQM)], "wan", &["sqm"]),
        case("sqm-off", &[("etc/config/sqm", SQM)], "lan", &[]),
        case("sqm-runs", &[("run/sqm/lan.state", "")], "lan", &["sqm"]),
        case(
            "manager",
            &[(
                "etc/NetworkManager/system-connections/Home.nmconnection",
                "[connection]\ninterface-name=wan\n[tc]\nqdisc.root=fq_codel\n",
            )],
            "wan",
            &["manager Home.nmconnection"],
        ),
        case(
            "manager-other",
            &[(
                "etc/NetworkManager/system-connections/Home.nmconnection",
                "[connection]\ninterface-name=lan\n[tc]\n",
            )],
            "wan",
            &[],
        ),
        case(
            "networkd",
            &[
                ("etc/systemd/network/10.network", "[Match]\nName=en* wan*\n[CAKE]\nBandwidth=9M\n"),
                ("etc/config/sqm", SQM),
            ],
            "wan",
            &["networkd 10.network", "sqm"],
        ),
        case(
            "networkd-plain",
            &[("etc/systemd/network/10.network", "[Match]\nName=wan\n[Network]\nDHCP=yes\n")],
            "wan",
            &[],
        ),
    ];
    for Case { name, files, device, expected } in cases {
        let root = tree(name, files);
        let found: Vec<String> = conflicts::detect(&root, device).iter().map(name_of).collect();
        assert_eq!(found, *expected, "{name}");
        let _ = std::fs::remove_dir_all(root);
    }
}

#[test]
fn counters_show_what_bypasses_the_shaper() {
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
    assert_eq!(conflicts::idle(&after, &after), Some(ConflictCause::NoTraffic));
    assert_eq!(conflicts::observed(&before, &after), [], "nothing goes past it");
    // A download next to an upload: 900 ACKs and as many data packets passed, a sixth of the latter
    // was dropped.
    let mut both = after.clone();
    let down = both.down.as_mut().unwrap();
    let (passed, dropped) = ((900, 900 * 66 + 900 * 1_514), 180);
    down.sent_packets += 2 * passed.0;
    down.sent_bytes += passed.1;
    down.drops += dropped;
    both.link.received_bytes += passed.1 + u64::from(dropped) * 1_514;
    assert_eq!(conflicts::observed(&after, &both), [], "what was dropped had arrived");
    both.link.received_bytes += 200_000;
    let unshaped = |cause: &ConflictCause| match cause {
        ConflictCause::Bypass { bypass: ShaperBypass::Unshaped { direction, .. } } => Some(*direction),
        _ => None,
    };
    let more = conflicts::observed(&after, &both);
    assert_eq!(unshaped(&more[0]), Some(Direction::Down), "more than was dropped: {more:?}");
    // As if hardware had sent the same amount again.
    after.link.sent_bytes += after.link.sent_bytes;
    after.direct_packets += 3;
    let found = conflicts::observed(&before, &after);
    assert_eq!(unshaped(&found[0]), Some(Direction::Up), "{found:?}");
    let bypass = ShaperBypass::Unclassified { unclassified_packets: 3 };
    assert_eq!(found[1], ConflictCause::Bypass { bypass });
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
