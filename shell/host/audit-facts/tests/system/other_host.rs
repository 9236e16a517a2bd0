//! Another host, simulated by a program that runs the shell locally, as `ssh HOST sh` does
//! remotely.
use crate::scratch::Scratch;
use fathom_audit::{Facts, Tree};
use fathom_audit_facts::{RemoteError, files, remote};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// A program that replaces ssh.
fn stand_in(scratch: &Scratch, script: &str) -> String {
    scratch.write("rsh", format!("#!/bin/sh\n{script}\n").as_bytes());
    let path = scratch.path().join("rsh");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("executable");
    path.display().to_string()
}

/// Whether the content of a file stays the same during the test.
fn is_steady(path: &str) -> bool {
    path.starts_with("sys/class/net/")
        && !path.contains("/statistics/")
        && !path.contains("byte_queue_limits")
}

fn steady(tree: &Tree) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    tree.iter()
        .filter(|(path, _)| is_steady(path))
        .map(|(path, bytes)| (path.to_owned(), text(bytes)))
        .collect()
}

#[test]
fn a_shell_tells_what_reading_here_does() {
    let scratch = Scratch::new("same");
    let rsh = stand_in(&scratch, "shift; exec \"$@\"");
    let there = remote(&rsh, "user@router", PATIENCE).expect("files");
    let here = files(std::path::Path::new("/"));
    assert!(!Facts::of(&there).interfaces.is_empty());
    // `cat` of an unreadable file prints nothing, while a local read omits the file.
    let told =
        |tree: &Tree| steady(tree).into_iter().filter(|(_, text)| !text.is_empty()).collect::<Vec<_>>();
    assert_eq!(told(&there), told(&here));
}

/// Runs the script in a directory that serves as the other host's root.
#[test]
fn no_password_is_sent() {
    let scratch = Scratch::new("secret");
    scratch.write("root/etc/NetworkManager/system-connections/home", b"[wifi-security]\npsk=secret\n[tc]\n");
    scratch.write("root/sys/class/net/eth0/flags", b"0x1003\n");
    let root = scratch.path().join("root");
    let rsh = stand_in(
        &scratch,
        &format!("sed 's#^cd /#cd {}#' | tee {}/sent | sh", root.display(), scratch.path().display()),
    );
    let tree = remote(&rsh, "router", PATIENCE).expect("files");
    let all: Vec<u8> = tree.iter().flat_map(|(_, bytes)| bytes.to_vec()).collect();
    let text = String::from_utf8_lossy(&all).into_owned();
    assert!(text.contains("[tc]") && text.contains("0x1003") && !text.contains("secret"), "{text}");
}

#[test]
fn a_host_that_refuses_is_named_with_its_last_words() {
    let scratch = Scratch::new("refused");
    let rsh = stand_in(&scratch, "echo 'Permission denied (publickey).' >&2; exit 255");
    let error = remote(&rsh, "root@router", PATIENCE).expect_err("no files").to_string();
    assert!(error.contains("root@router") && error.contains("Permission denied (publickey)"), "{error}");
    assert!(error.contains("\n  try: "), "{error}");
}

#[test]
fn one_that_is_cut_off_is_no_host_without_the_rest() {
    let scratch = Scratch::new("cut");
    let rsh = stand_in(&scratch, "cat >/dev/null; printf '\\n@@fathom sys/class/net/eth0/flags\\n0x1003\\n'");
    assert!(matches!(remote(&rsh, "router", PATIENCE), Err(RemoteError::Cut { .. })));
}

#[test]
fn one_that_never_ends_is_left() {
    let scratch = Scratch::new("late");
    let rsh = stand_in(&scratch, "exec sleep 600");
    let error = remote(&rsh, "router", Duration::from_millis(300)).expect_err("late");
    assert!(matches!(error, RemoteError::Late(..)), "{error}");
}

#[test]
fn a_name_that_is_an_option_is_refused() {
    for name in ["-oProxyCommand=x", ""] {
        assert!(matches!(remote("ssh", name, PATIENCE), Err(RemoteError::Name(_))), "{name}");
    }
    assert!(matches!(remote("/no/such/program", "router", PATIENCE), Err(RemoteError::Start(..))));
}
