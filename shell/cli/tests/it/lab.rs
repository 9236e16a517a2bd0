//! `fathom lab` as the sceptic uses it.
use crate::program::{Ran, alone, run, scratch};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

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
    assert_eq!(ran.code, Some(0), "{}", ran.told());
    let seen = median(rtts_ms(&ran.out));
    assert!((48.0..53.0).contains(&seen), "median {seen} ms: {}", ran.told());
    assert!(ran.err.contains("what the queues did"), "{}", ran.told());
}

#[test]
fn traceroute_sees_every_hop() {
    let _alone = alone();
    let ran = run(&["lab", "--line", "dsl", "--", "sh", "-c", "traceroute -n -q 1 -w 2 $FATHOM_SERVER"]);
    let hops = ran.out.lines().skip(1).filter(|l| l.contains(" ms")).count();
    let plan =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/dsl.toml")).unwrap();
    // Each hop of the line answers, then the far end itself.
    assert_eq!(hops, plan.matches("[[hop]]").count() + 1, "{}", ran.told());
}

#[test]
fn the_exit_code_is_the_programs() {
    let _alone = alone();
    assert_eq!(run(&["lab", "--", "sh", "-c", "exit 7"]).code, Some(7));
    let missing = run(&["lab", "--", "/no/such/program"]);
    assert_eq!(missing.code, Some(3), "{}", missing.told());
    assert!(missing.err.contains("/no/such/program"), "{}", missing.told());
}

#[test]
fn every_built_in_line_carries_a_ping() {
    let _alone = alone();
    let listed = run(&["lab", "--list"]).out;
    let names: Vec<&str> = listed.lines().filter_map(|l| l.split(' ').next()).collect();
    for name in fathom_scenario::BUILTIN_NAMES {
        assert!(names.contains(name), "{name} is not listed: {listed}");
        // Lines that lose packets by design lose few of these.
        let ran = run(&["lab", "--line", name, "--", "sh", "-c", "ping -i 0.2 -c 5 -W 3 $FATHOM_SERVER"]);
        assert!(rtts_ms(&ran.out).len() >= 3, "{name}: {}", ran.told());
    }
}

/// A user without any right, in a namespace of his own, with a TUN device node that he may open.
#[test]
fn works_without_root() {
    let _alone = alone();
    let node = scratch().join("tun");
    let fathom = env!("CARGO_BIN_EXE_fathom");
    // The user nobody must be able to enter it.
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let copy = folder.path().join("fathom");
    std::fs::copy(fathom, &copy).unwrap();
    let script = format!(
        "rm -f {0}; mknod {0} c 10 200 && chmod 666 {0} && mount --bind {0} /dev/net/tun && \
         exec setpriv --reuid=65534 --regid=65534 --clear-groups {1} lab --line fiber -- sh -c 'ping -c 3 $FATHOM_SERVER'",
        node.display(),
        copy.display()
    );
    let ran: Ran =
        Command::new("unshare").args(["-m", "sh", "-c", &script]).current_dir("/").output().unwrap().into();
    let refused: Ran = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&copy)
        .args(["lab", "--", "true"])
        .current_dir("/")
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(0), "{}", ran.told());
    assert_eq!(rtts_ms(&ran.out).len(), 3, "{}", ran.told());
    // Where /dev/net/tun is only root's, as here, the message names it; elsewhere the lab simply works.
    if refused.code != Some(0) {
        assert!(
            refused.err.contains("/dev/net/tun") || refused.err.contains("user namespace"),
            "{}",
            refused.told()
        );
    }
}
