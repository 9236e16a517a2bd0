//! `fathom path` over routers in this test's own namespaces.
use crate::program::run;
use fathom_test_support::{NamespaceRow, in_new_namespace};
use serde_json::Value as Json;

/// Numbers and addresses of the hops, and the number of the hop that is the host.
fn path(document: &Json) -> (Vec<String>, Option<u64>) {
    let path = &document["path"];
    let hop = |hop: &Json| format!("{} {}", hop["number"], hop["address"].as_str().unwrap_or(""));
    let hops = path["hops"].as_array().map(|hops| hops.iter().map(hop).collect());
    (hops.unwrap_or_default(), path["server_hop"].as_u64())
}

/// One router answers nothing itself, and the host answers.
#[test]
fn all_hops_that_answer_are_listed() {
    in_new_namespace(|| {
        let row = NamespaceRow::new(5);
        // What it sends itself is dropped; what it forwards is not.
        row.sh(2, "ip rule add iif lo priority 10 blackhole; ip rule add priority 20 lookup local; ip rule del priority 0");
        row.enter(0);
        let ran = run(&["path", "10.8.3.2", "-c", "3", "-i", "1", "--json-lines"]);
        assert_eq!(ran.code, Some(0), "{}", ran.describe());
        let events = ran.events();
        let expected = ["1 10.8.0.2", "3 10.8.2.2"].map(str::to_owned).to_vec();
        let result = &events.last().unwrap()["document"];
        assert_eq!(path(result), (expected, Some(4)), "{}", ran.describe());
        let last = events.iter().rfind(|event| event["event"] == "path").unwrap();
        let hops: Vec<String> =
            last["hops"].as_array().unwrap().iter().map(|hop| hop["address"].to_string()).collect();
        assert_eq!(hops, ["\"10.8.0.2\"", "null", "\"10.8.2.2\"", "\"10.8.3.2\""]);
        // By IPv6, whose hops are named as the system names them.
        let by_v6 = run(&["path", "fd08:3::2", "-c", "2", "-n", "--json"]);
        let all = ["1 fd08::2", "2 fd08:1::2", "3 fd08:2::2"].map(str::to_owned).to_vec();
        assert_eq!(path(&by_v6.document()), (all, Some(4)), "{}", by_v6.describe());
    });
}

/// The host answers nothing: the hops before it are shown, and the exit code says so.
#[test]
fn the_hops_before_a_silent_host_are_listed() {
    in_new_namespace(|| {
        let row = NamespaceRow::new(4);
        row.sh(3, "sysctl -qw net.ipv4.icmp_echo_ignore_all=1");
        row.enter(0);
        let ran = run(&["path", "10.8.2.2", "-c", "2"]);
        assert_eq!(ran.code, Some(5), "{}", ran.describe());
        let shown = |hop: &str| ran.out.lines().filter(|line| line.contains(hop)).count();
        assert_eq!([shown("10.8.0.2"), shown("10.8.1.2")], [2, 2], "{}", ran.describe());
    });
}

#[test]
fn errors_name_the_value_and_the_limit() {
    // A namespace has no route but its own.
    in_new_namespace(|| {
        let _row = NamespaceRow::new(1);
        check_errors();
    });
}

fn check_errors() {
    for (arguments, expected) in [
        (&["path", "nosuch.invalid"][..], "nosuch.invalid"),
        (&["path", "192.0.2.1", "-c", "1"][..], "route to 192.0.2.1: Network is unreachable"),
        (&["path", "127.0.0.1", "-i", "1ms"][..], "--interval 1ms is too short: at least 100ms"),
        (&["path", "127.0.0.1", "--load", "-c", "3"][..], "cannot be used with"),
    ] {
        let ran = run(arguments);
        assert!(ran.code != Some(0) && ran.err.contains(expected), "{}", ran.describe());
    }
}
