//! `fathom fix --export`: its configurations in the programs that read them, where they run here.
//! The rates of all platforms are read back in `core/present/shaper-export/tests/it`.
use crate::kernel::boot;
use crate::program::{Ran, fathom, on_slow_line, run, scratch};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

const INSIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/conformance/export.sh");

/// An ADSL line.
const LINE: [&str; 9] = ["--up", "900kbit", "--down", "14.5mbit", "--overhead", "44", "--mpu", "96", "--atm"];

#[track_caller]
fn exported(platform: &str, device: &str, more: &[&str]) -> String {
    let ran = run(&[&["fix", device, "--export", platform], more].concat());
    assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{platform}: {}", ran.describe());
    ran.out
}

/// What a program says about `input`.
fn given(program: &str, args: &[&str], input: &str) -> Ran {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}: ./setup installs it"));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

/// The qdiscs that `tc` shows, each with these words.
fn has(work: &Path, name: &str, words: &[&str]) {
    let shown = std::fs::read_to_string(work.join(name)).unwrap();
    for word in words {
        assert!(shown.contains(word), "{name} lacks {word:?}:\n{shown}");
    }
}

#[test]
fn real_cake_is_as_exported_with_tc_and_with_networkd() {
    let _slow = on_slow_line();
    let networkd = Path::new("/lib/systemd/systemd-networkd");
    assert!(
        networkd.exists(),
        "{} is missing: ./setup installs it (Debian package systemd)",
        networkd.display()
    );
    let work = scratch().join("export-kernel");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).unwrap();
    let far = [&LINE[..], &["--rtt", "300ms"]].concat();
    std::fs::write(work.join("linux-tc.sh"), exported("linux-tc", "eth0", &far)).unwrap();
    std::fs::write(work.join("networkd.sh"), exported("systemd-networkd", "eth0", &LINE)).unwrap();
    let console = boot(INSIDE, &work, &[]);
    let read = |name: &str| std::fs::read_to_string(work.join(name)).unwrap_or_default();
    assert!(work.join("done").exists(), "inside: {}\nits console: {console}", read("said"));
    let redirect = "matchall chain 0 handle 0x1 \n  not_in_hw\n\taction order 1: mirred (Egress Redirect to device ifb-eth0) stolen";
    let framing = "atm overhead 44 mpu 96 \n";
    let (up, down) = ("bandwidth 900Kbit diffserv3 ", "bandwidth 14500Kbit besteffort ");
    has(&work, "linux-tc.shown", &[up, down, " ingress ", &format!("rtt 300ms {framing}"), redirect]);
    has(&work, "networkd.shown", &[up, down, &format!("rtt 100ms {framing}"), redirect]);
    has(&work, "networkd.ifb", &["UP,"]);
    assert_eq!(read("after"), read("before"), "undone: {}", read("said"));
    assert!(!read("networkd.stopped").contains("mirred"), "{}", read("networkd.stopped"));
    // Unknown keys and values, and what systemd does not like of a unit.
    let log = read("networkd.log");
    assert!(!log.contains("Unknown ") && !log.contains("ignoring assignment"), "{log}");
    assert_eq!(read("verify"), "");
    std::fs::remove_dir_all(work).unwrap();
}

/// Prints the text of each element with a name, in order.
const ELEMENTS: &str = "\
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.stdin).getroot()
for name in sys.argv[1:]:
    print(name, *[element.text for element in root.iter(name)])
";

/// The texts of elements, as another reader of XML has them.
#[track_caller]
fn elements(xml: &str, names: &[&str]) -> String {
    let read = given("python3", &[&["-c", ELEMENTS], names].concat(), xml);
    assert_eq!(read.code, Some(0), "{}\n{xml}", read.describe());
    read.out
}

#[test]
fn firewalls_get_xml() {
    let rates = ["--up", "9.5mbit", "--down", "4gbit"];
    let opnsense = exported("opnsense", "wan", &rates);
    let [up, down] = [0, 1].map(|index| format!("fa7403e0-0000-4000-8000-00000000002{index}"));
    let expected = format!(
        "bandwidth 9500000 4000000000\nbandwidthMetric bit bit\nscheduler fq_codel fq_codel\ninterface wan wan\n\
         direction out in\ntarget {up} {down}\n"
    );
    let names = ["bandwidth", "bandwidthMetric", "scheduler", "interface", "direction", "target"];
    assert_eq!(elements(&opnsense, &names), expected);
    assert!(opnsense.contains(&format!("<queue uuid=\"{up}\">")), "{opnsense}");
    let limiters = "bw 9500000 4000000000\nbwscale b b\nsched fq_codel fq_codel\necn on on\n";
    let pfsense = exported("pfsense", "opt1", &rates);
    assert_eq!(elements(&pfsense, &["bw", "bwscale", "sched", "ecn"]), limiters);
}

#[test]
fn scripts_are_of_the_shell() {
    for platform in ["linux-tc", "systemd-networkd", "networkmanager"] {
        let script = exported(platform, "eth0.7", &["--up", "9.5mbit"]);
        let read = given("sh", &["-n"], &script);
        assert!(read.code == Some(0) && script.starts_with("#!/bin/sh\n"), "{platform}: {}", read.describe());
    }
}

/// The rates of the recommended shaper, as the advice of `fathom report` has them.
#[test]
fn rates_come_from_a_result() {
    let file = scratch().join("export-from.json");
    let file = file.to_str().unwrap();
    let simulated = run(&["sim", "dsl", "-o", file, "--quiet"]);
    assert!(std::fs::exists(file).unwrap(), "{}", simulated.describe());
    let text = exported("vyos", "eth0", &["--from", file]);
    let rate = |name: &str| {
        let start = format!("set qos policy cake {name} bandwidth ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        line.and_then(|rate| rate.strip_suffix("bit")).and_then(|rate| rate.parse::<u64>().ok())
    };
    let found = [rate("FATHOM-UP"), rate("FATHOM-DOWN")];
    let report = run(&["report", file, "--json"]).document();
    let ranges = report["advice"].as_array().unwrap().iter().filter(|remedy| remedy["action"] == "shape");
    let mut count = 0;
    for remedy in ranges {
        let index = usize::from(remedy["direction"] == "down");
        let [min, max] = ["min", "max"].map(|end| remedy[format!("{end}_bits_per_second")].as_f64().unwrap());
        let exported = found[index].unwrap_or_else(|| panic!("{index}: {text}")) as f64;
        assert!((0.98 * min..=max).contains(&exported), "{exported}, of {min} to {max}: {report}");
        count += 1;
    }
    assert!(count > 0 && count == found.iter().flatten().count(), "{count}: {found:?} {report}");
    // A rate that is given counts.
    let given = exported("vyos", "eth0", &["--from", file, "--up", "640kbit"]);
    assert!(given.contains("FATHOM-UP bandwidth 640000bit"), "{given}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn it_needs_no_root_and_has_a_document() {
    // Through an open file: `nobody` may not enter the folder of the program, such as one in /root.
    let program = File::open(env!("CARGO_BIN_EXE_fathom")).unwrap();
    let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
    let args = ["fix", "ge-0/0/0.100", "--export", "junos", "--up", "9.5mbit", "--json"];
    let ran = Ran::from(command.args(args).uid(65_534).output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    let document = ran.document();
    assert_eq!(document["verdict"]["reason"]["kind"], "not_measured");
    let export = &document["fix"]["export"];
    assert_eq!(
        (&export["platform"], &document["fix"]["interface"]),
        (&"junos".into(), &"ge-0/0/0.100".into())
    );
    assert_eq!(export["rates_bits_per_second"], serde_json::json!({ "up": 9_500_000, "down": null }));
    assert!(export["configuration"].as_str().unwrap().contains("shaping-rate 9500000;"), "{document}");
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let cases: &[(&[&str], &str)] = &[
        (
            &["eth0", "--export", "openwrt", "--up", "5mbit"],
            "unknown platform \"openwrt\" (known: openwrt-sqm, mikrotik,",
        ),
        (&["--export", "vyos", "--up", "5mbit"], "no interface and no rates given"),
        (&["eth0", "--export", "vyos"], "no rate given: --up, --down or both are needed"),
        (&["eth0", "--export", "vyos", "--up", "0mbit"], "cannot shape to 0bit"),
        (&["eth0\nreboot", "--export", "vyos", "--up", "5mbit"], "invalid interface name \"eth0\\nreboot\""),
        (&["$(reboot)", "--export", "linux-tc", "--up", "5mbit"], "invalid interface name"),
        (
            &["wan", "--export", "pfsense", "--up", "5gbit"],
            "cannot shape to 5Gbit (expected 1bit to 4.294967295Gbit)",
        ),
        (&["eth0", "--export", "networkmanager", "--down", "5mbit"], "cannot shape ingress"),
        (&["ether1", "--export", "mikrotik", "--down", "5mbit"], "try: --lan DEV"),
        (&["eth0", "--export", "vyos", "--up", "5mbit", "--shaper", "tbf"], "no one short queue"),
        (&["eth0", "--export", "vyos", "--up", "5mbit", "--commit"], "cannot be used with"),
        (&["eth0", "--export", "vyos", "--server", "far"], "cannot be used with"),
        (&["eth0", "--lan", "br0", "--up", "5mbit"], "--export"),
        (&["eth0", "--export", "vyos", "--from", "/no/such.json"], "/no/such.json"),
    ];
    for (args, words) in cases {
        let ran = Ran::from(fathom(&[&["fix"], *args].concat()).output().unwrap());
        assert!(
            ran.code == Some(2) && ran.out.is_empty() && ran.err.contains(words),
            "{args:?}: {}",
            ran.describe()
        );
    }
}
