//! Systems where the user may not send ICMP.
use std::process::Command;

/// Runs the example `allowed` without capabilities, in a network namespace where `prepare` ran
/// before.
fn without_capabilities(prepare: &str) -> String {
    fathom_test_support::require_namespaces();
    let folder = tempfile::tempdir().unwrap();
    // The build directory may be inaccessible to other users.
    let example = std::env::current_exe().unwrap().with_file_name("../examples/allowed");
    std::fs::copy(&example, folder.path().join("allowed")).unwrap_or_else(|e| {
        panic!("{}: {e}; cargo test builds it unless --test is given", example.display())
    });
    let script = format!("set -e; {prepare}\nexec setpriv --bounding-set=-all \"$FOLDER/allowed\"");
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", &script]).env("FOLDER", folder.path());
    let ran = command.output().unwrap();
    String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned()
}

#[test]
fn a_closed_group_range_is_reported_with_a_remedy() {
    // A new network namespace permits no group.
    let output = without_capabilities(":");
    assert!(output.contains("net.ipv4.ping_group_range") && output.contains("CAP_NET_RAW"), "{output}");
}

#[test]
fn an_open_group_range_is_enough() {
    // Zero is the only group of a user namespace.
    let output = without_capabilities("sysctl -qw net.ipv4.ping_group_range='0 0'");
    assert_eq!(output.trim(), "permitted");
}
