//! Tests of `fathom doctor`.
use crate::program::{Ran, run};
use fathom_test_support::in_new_namespace;
use serde_json::Value;
use std::process::Command;

fn ability<'a>(document: &'a Value, name: &str) -> (&'a str, &'a Value) {
    let checks = document["doctor"]["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("no {name}: {document:#}"));
    (check["ability"].as_str().unwrap(), &check["enable"])
}

#[test]
fn root_can_do_what_the_tests_do() {
    let document = run(&["doctor", "--json"]).document();
    for name in ["kernel timestamps", "ICMP echo", "raw sockets", "packet capture", "emulated lines"] {
        assert_eq!(ability(&document, name).0, "yes", "{name}: {document:#}");
    }
    // The shaper of the kernel may be one without flow queues, and the CPUs may be busy with tests.
    for name in ["shaping", "CPU for load"] {
        assert_ne!(ability(&document, name).0, "no", "{name}: {document:#}");
    }
}

#[test]
fn without_privileges_it_says_what_enables_the_rest() {
    in_new_namespace(|| {
        let own = "echo '1 0' > /proc/sys/net/ipv4/ping_group_range; exec setpriv \"$@\"";
        let drop = [
            "--bounding-set=-all",
            "--inh-caps=-all",
            "--",
            env!("CARGO_BIN_EXE_fathom"),
            "doctor",
            "--json",
        ];
        let ran: Ran = Command::new("sh").args(["-c", own, "sh"]).args(drop).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        let document = ran.document();
        for (name, command) in [
            ("ICMP echo", "sysctl -w net.ipv4.ping_group_range"),
            ("raw sockets", "setcap cap_net_raw+ep"),
            ("packet capture", "setcap cap_net_raw+ep"),
        ] {
            let (ability, enable) = ability(&document, name);
            assert_eq!(ability, "no", "{name}: {document:#}");
            assert!(enable.as_str().unwrap().contains(command), "{name}: {document:#}");
        }
        let headline = document["verdict"]["headline"].as_str().unwrap();
        assert!(headline.starts_with("Missing: ICMP echo, raw sockets, packet capture"), "{headline}");
    });
}
