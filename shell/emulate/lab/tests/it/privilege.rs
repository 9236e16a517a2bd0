//! The lab of an ordinary user, and what it says where the system refuses.
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Runs the example `first` without the capabilities of root, in a mount namespace where `prepare` has been run before. It
/// is a program of its own because a test never has the process to itself. It keeps CAP_SETFCAP, without which user 0 maps
/// no user. In `prepare`, `$FOLDER` is `folder`.
fn without_capabilities(folder: &TempDir, prepare: &str) -> String {
    fathom_test_support::require_namespaces();
    let _turn = crate::turn();
    // The build's own folder may be closed to others.
    let examples = std::env::current_exe().unwrap().with_file_name("../examples/first");
    fs::copy(&examples, folder.path().join("first")).unwrap_or_else(|e| {
        panic!("{}: {e}; cargo test builds it unless --test is given", examples.display())
    });
    let script = format!("set -e; {prepare}\nexec setpriv --bounding-set=-all,+setfcap \"$FOLDER/first\"");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).env("FOLDER", folder.path());
    let Output { stdout, stderr, .. } = command.output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr))
}

#[test]
fn an_ordinary_user_has_a_lab_in_a_user_namespace() {
    let text = without_capabilities(&tempfile::tempdir().unwrap(), ":");
    assert!(text.contains("5 bytes came back") && text.contains("here I am PID 2\nexit status: 5"), "{text}");
}

#[test]
fn a_closed_device_is_named_with_its_mode() {
    // A file of another user. One who is not root can make none, but finds one.
    let closed = "install -m 600 /dev/null \"$FOLDER/tun\"; closed=\"$FOLDER/tun\"; \
                  chown 65534 $closed 2>/dev/null || closed=/etc/shadow; mount --bind $closed /dev/net/tun";
    let text = without_capabilities(&tempfile::tempdir().unwrap(), closed);
    assert!(text.contains("/dev/net/tun may not be opened: its mode is 06"), "{text}");
}

#[test]
fn a_missing_device_is_named() {
    let text = without_capabilities(&tempfile::tempdir().unwrap(), "mount -t tmpfs none /dev/net");
    assert!(text.contains("/dev/net/tun does not exist"), "{text}");
}

#[test]
fn a_device_without_a_driver_is_named() {
    // Opening a UNIX socket gives ENXIO, as opening a device without a driver does.
    let folder = tempfile::tempdir().unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(folder.path().join("tun")).unwrap();
    let text = without_capabilities(&folder, "mount --bind \"$FOLDER/tun\" /dev/net/tun");
    assert!(text.contains("has no driver behind it"), "{text}");
}
