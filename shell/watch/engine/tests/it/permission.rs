//! Where ICMP is closed to the user.
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Runs the example `allowed` as nobody, in a network namespace whose `ping_group_range` lets `groups` in.
fn as_nobody(groups: &str) -> String {
    // The user nobody must be able to enter it.
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    // The build's own folder may be closed to others.
    let example = std::env::current_exe().unwrap().with_file_name("../examples/allowed");
    std::fs::copy(&example, folder.path().join("allowed")).unwrap_or_else(|e| {
        panic!("{}: {e}; cargo test builds it unless --test is given", example.display())
    });
    let script = format!(
        "set -e; sysctl -qw net.ipv4.ping_group_range='{groups}'\n\
         exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$FOLDER/allowed\""
    );
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", &script]).env("FOLDER", folder.path());
    let ran = command.output().unwrap();
    String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned()
}

#[test]
fn a_closed_group_range_is_named_with_what_to_try() {
    let told = as_nobody("1 0");
    assert!(told.contains("net.ipv4.ping_group_range") && told.contains("CAP_NET_RAW"), "{told}");
}

#[test]
fn an_open_one_is_enough() {
    let told = as_nobody("0 2147483647");
    assert_eq!(told.trim(), "permitted");
}
