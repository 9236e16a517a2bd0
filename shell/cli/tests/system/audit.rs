//! Tests of `fathom audit`. The last ones create namespaces and fail without root.
use crate::program::{Ran, Words, fathom, on_slow_line, run, scratch};
use fathom_test_support::new_namespace;
use serde_json::Value;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn fixture(name: &str) -> String {
    format!("{}/../../testdata/audit/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The finding about a kind of queue of an interface or of the host.
fn finding<'a>(document: &'a Value, queue: &str, interface: Option<&str>) -> &'a Value {
    let all = document["findings"].as_array().unwrap();
    let is_it = |finding: &&Value| {
        let point = &finding["parameters"];
        point["queue"]["kind"] == queue && point["interface"].as_str() == interface
    };
    all.iter().find(is_it).unwrap_or_else(|| panic!("no {queue} of {interface:?} in {document:#}"))
}

fn worst_s(finding: &Value) -> f64 {
    finding["parameters"]["worst"]["delay_s"].as_f64().unwrap_or_else(|| panic!("{finding:#}"))
}

#[test]
fn hosts_in_folders() {
    // The text is in golden/report/audit-*.txt.
    let shown = run(&["audit", "--root", &fixture("vm-host"), "--json"]);
    assert_eq!(shown.code, Some(1), "{}", shown.describe());
    let shown = shown.document();
    // 1000 * 1514 * 8 / 100000000
    assert_eq!(worst_s(finding(&shown, "qdisc", Some("eno2"))), 0.12112);
    let driver = finding(&shown, "no_byte_queue_limits", Some("eno2"));
    assert_eq!(driver["remedies"][0]["undo"], "ethtool -G eno2 tx 256");
    assert_eq!(shown["verdict"]["health"], "bloated");
    let quiet = run(&["audit", "--root", &fixture("container")]);
    assert_eq!(quiet.code, Some(0), "{}", quiet.describe());
    let laptop = run(&["audit", "--root", &fixture("laptop"), "--rate", "wwan0=5mbit", "--json"]).document();
    assert_eq!(worst_s(finding(&laptop, "qdisc", Some("wwan0"))), 2.4224);
}

#[test]
fn this_machine() {
    let ran = run(&["audit", "--rate", "50mbit", "--json"]);
    let audit = ran.document();
    assert_eq!(ran.code, Some(code_of(&audit)), "{}", ran.describe());
    for queue in
        ["unsent_data", "receive_buffer", "small_queues", "congestion_control", "receive_backlog", "stacked"]
    {
        finding(&audit, queue, None);
    }
    // From this host: the largest send buffer, at the rate of the line.
    let wmem = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem").unwrap();
    let max: f64 = wmem.split_whitespace().nth(2).unwrap().parse().unwrap();
    let send_buffer = finding(&audit, "send_buffer", None);
    let interfaces = audit["audit"]["interfaces"].as_array().unwrap();
    if interfaces.iter().any(|interface| interface["has_default_route"] == true) {
        let got = worst_s(send_buffer);
        assert!((got - max * 8.0 / 50e6).abs() < 1e-6, "{got} of {max}");
    }
}

/// The exit code for the findings of an audit.
fn code_of(document: &Value) -> i32 {
    let kinds: Vec<&str> =
        document["findings"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap()).collect();
    i32::from(kinds.contains(&"bloated_queue") || kinds.contains(&"qdisc_bypass"))
}

#[test]
fn another_host_by_its_shell() {
    let rsh = scratch().join("rsh");
    std::fs::write(&rsh, "#!/bin/sh\nshift\nexec \"$@\"\n").unwrap();
    std::fs::set_permissions(&rsh, PermissionsExt::from_mode(0o755)).unwrap();
    let of_router = ["audit", "--host", "root@router", "--rsh", rsh.to_str().unwrap()];
    let (ran, read) = (run(&of_router), run(&[&of_router[..], &["--json"]].concat()));
    assert_eq!(ran.code, Some(code_of(&read.document())), "{}", ran.describe());
    assert_eq!(ran.code, read.code);
    assert!(ran.out.contains("\nroot@router, Linux "), "{}", ran.describe());
    std::fs::write(&rsh, "#!/bin/sh\necho no route to host >&2\nexit 255\n").unwrap();
    let refused = run(&of_router);
    assert!(refused.code == Some(3) && refused.err.contains("no route to host"), "{}", refused.describe());
}

#[test]
fn a_saved_audit_gives_the_same_result() {
    let folder = scratch().join("saved");
    let folder = folder.to_str().unwrap();
    let words = |ran: Ran| {
        ran.out.lines().filter(|line| !line.contains("rounds cut short")).collect::<Vec<_>>().join("\n")
    };
    let before = run(&["audit", "--root", &fixture("router"), "--rate", "20mbit", "--save", folder]);
    assert!(std::path::Path::new(folder).join("proc").is_dir(), "{}", before.describe());
    assert_eq!(words(before), words(run(&["audit", "--root", folder, "--rate", "20mbit"])));
}

#[test]
fn nonsense_is_one_clear_error() {
    let router = fixture("router");
    let cases: [(&[&str], i32); 5] = [
        (&["--root", &router, "--rate", "wan9=20mbit"], 2),
        (&["--rate", "20"], 2),
        (&["--rate", "0mbit"], 2),
        (&["--root", "/no/such"], 3),
        (&["--host", "-oProxyCommand=x"], 2),
    ];
    let mut words = Words::of("audit-refusals", &scratch());
    for (args, code) in cases {
        words.run(&[&["audit"], args].concat(), code);
    }
}

fn ip(words: &str) {
    let status = Command::new("ip").args(words.split(' ')).status().unwrap();
    assert!(status.success(), "ip {words}");
}

/// Audits a namespace like that of a container. Its default route is shaped to 10 Mbit/s with a
/// FIFO of 250 kB. While UDP overloads it, the observed backlog is the size of the buffer.
#[test]
fn the_backlog_is_observed_while_the_host_is_loaded() {
    let _slow = on_slow_line();
    let audited = std::thread::spawn(|| {
        new_namespace().enter().unwrap();
        ip("link set lo up");
        ip("link add out type veth peer name far");
        ip("addr add 192.0.2.1/24 dev out");
        ip("link set out up");
        ip("link set far up");
        ip("route add default via 192.0.2.254");
        ip("neigh add 192.0.2.254 lladdr 02:00:00:00:00:01 dev out");
        let shaped = "qdisc add dev out root tbf rate 10mbit burst 10kb limit 250000b";
        assert!(Command::new("tc").args(shaped.split(' ')).status().unwrap().success());
        // The send buffer of one socket limits its data in the queue to about 130 kB.
        let sockets: Vec<UdpSocket> = (0..4).map(|_| UdpSocket::bind("0.0.0.0:0").unwrap()).collect();
        let is_over = AtomicBool::new(false);
        let load = || {
            while !is_over.load(Ordering::Relaxed) {
                // 20 packets of 1,400 bytes every 5 ms are 45 Mbit/s.
                for socket in sockets.iter().cycle().take(20) {
                    socket.set_nonblocking(true).unwrap();
                    let _ = socket.send_to(&[0; 1_400], "192.0.2.254:9");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        // /sys shows the namespace that mounted it, so a new one is mounted for the program.
        let audit = format!(
            "mount -t sysfs none /sys && exec {} audit --observe 2s --json",
            env!("CARGO_BIN_EXE_fathom")
        );
        std::thread::scope(|scope| {
            scope.spawn(load);
            let ran = Command::new("unshare").args(["-m", "sh", "-c", &audit]).output();
            is_over.store(true, Ordering::Relaxed);
            Ran::from(ran.unwrap())
        })
    });
    let ran = audited.join().unwrap();
    let audit = ran.document();
    let queue = finding(&audit, "qdisc", Some("out"));
    assert_eq!((queue["kind"].as_str(), ran.code), (Some("bloated_queue"), Some(1)), "{queue:#}");
    assert_eq!(queue["certainty"], "certain", "{queue:#}");
    // 250000 * 8 / 10e6
    assert_eq!(worst_s(queue), 0.2, "{queue:#}");
    assert!(queue["remedies"][0]["undo"].as_str().unwrap().ends_with(":1 bfifo limit 250000b"), "{queue:#}");
    let observed = queue["parameters"]["observed_delay_s"].as_f64().unwrap();
    assert!((0.15..=0.205).contains(&observed), "{queue:#}");
    assert!(audit["audit"]["observed"]["sample_count"].as_u64().unwrap() >= 5, "{audit:#}");
}

#[test]
fn a_namespace_of_another_sys_is_noted() {
    let ran = std::thread::spawn(|| {
        new_namespace().enter().unwrap();
        let ran: Ran = fathom(&["audit"]).output().unwrap().into();
        ran
    });
    let ran = ran.join().unwrap();
    assert!(ran.err.contains("try: ip netns exec"), "{}", ran.describe());
}
