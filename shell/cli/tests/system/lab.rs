//! Tests of `fathom lab` with other programs.
use crate::program::{Ran, alone, fathom, run, scratch};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

fn rtts_ms(ping: &str) -> Vec<f64> {
    ping.lines().filter_map(|l| l.split("time=").nth(1)?.split(' ').next()?.parse().ok()).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn ping_sees_the_delay_of_the_line() {
    let _alone = alone();
    let ran = run(&["lab", "--line", "seifried-2011", "--", "sh", "-c", "ping -i 0.05 -c 20 $FATHOM_SERVER"]);
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    let seen = median(rtts_ms(&ran.out));
    assert!((48.0..53.0).contains(&seen), "median {seen} ms: {}", ran.describe());
}

#[test]
fn traceroute_sees_every_hop() {
    let ran = run(&["lab", "--line", "dsl", "--", "sh", "-c", "traceroute -n -q 1 -w 2 $FATHOM_SERVER"]);
    let hops = ran.out.lines().skip(1).filter(|l| l.contains(" ms")).count();
    let plan =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/dsl.toml")).unwrap();
    // Each hop of the line answers, then the remote end.
    assert_eq!(hops, plan.matches("[[hop]]").count() + 1, "{}", ran.describe());
}

#[test]
fn the_exit_code_is_the_programs() {
    assert_eq!(run(&["lab", "--", "sh", "-c", "exit 7"]).code, Some(7));
    let missing = run(&["lab", "--", "/no/such/program"]);
    assert_eq!(missing.code, Some(3), "{}", missing.describe());
    assert!(missing.err.contains("/no/such/program"), "{}", missing.describe());
}

#[test]
fn every_built_in_line_carries_a_ping() {
    let listed = run(&["lab", "--list"]).out;
    let names: Vec<&str> = listed.lines().filter_map(|l| l.split(' ').next()).collect();
    for name in fathom_scenario::BUILTIN_NAMES {
        assert!(names.contains(name), "{name} is not listed: {listed}");
        // Lines with packet loss lose only few of these.
        let ran = run(&["lab", "--line", name, "--", "sh", "-c", "ping -i 0.2 -c 5 -W 3 $FATHOM_SERVER"]);
        assert!(rtts_ms(&ran.out).len() >= 3, "{name}: {}", ran.describe());
    }
}

/// A user without the capabilities of root except the one to map user 0, in a user namespace, and a
/// user who may not open the TUN device.
#[test]
fn works_without_root() {
    fathom_test_support::require_namespaces();
    // A file of another user. Only root can create one; other users find one.
    let closed = format!(
        "install -m 600 /dev/null {0}; closed={0}; chown 65534 $closed 2>/dev/null || closed=/etc/shadow; \
         mount --bind $closed /dev/net/tun && ",
        scratch().join("tun").display()
    );
    let without_capabilities = |prepare: &str| -> Ran {
        let script = format!(
            "{prepare}exec setpriv --bounding-set=-all,+setfcap {} lab --line fiber -- sh -c 'ping -c 3 $FATHOM_SERVER'",
            env!("CARGO_BIN_EXE_fathom")
        );
        Command::new("unshare").args(["-m", "sh", "-c", &script]).current_dir("/").output().unwrap().into()
    };
    let ran = without_capabilities("");
    assert_eq!(ran.code, Some(0), "{}", ran.describe());
    assert_eq!(rtts_ms(&ran.out).len(), 3, "{}", ran.describe());
    let refused = without_capabilities(&closed);
    assert!(refused.code == Some(3) && refused.err.contains("/dev/net/tun"), "{}", refused.describe());
}

/// Starts `script` in a lab, sends `signal` once it has said that it is ready, and returns the rest
/// of its output and the exit code of the lab.
fn signalled(script: &str, signal: &str) -> (String, Option<i32>) {
    let mut lab = fathom(&["lab", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(lab.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let sent = Command::new("kill").args([signal, &lab.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    (rest, lab.wait().unwrap().code())
}

#[test]
fn signals_reach_the_program() {
    for (signal, name) in [("-TERM", "TERM"), ("-INT", "INT"), ("-HUP", "HUP")] {
        let script = format!("trap 'echo {name}; exit 9' {name}; echo ready; while :; do sleep 0.1; done");
        assert_eq!(signalled(&script, signal), (format!("{name}\n"), Some(9)));
    }
}

#[test]
fn a_program_that_ignores_signals_is_killed() {
    let script = "trap '' TERM INT HUP; echo ready; while :; do sleep 0.1; done";
    assert_eq!(signalled(script, "-TERM"), (String::new(), Some(137)));
}

#[test]
fn a_program_without_handler_ends_by_the_signal() {
    assert_eq!(signalled("echo ready; sleep 100", "-TERM"), (String::new(), Some(143)));
}
