//! A lab of an unprivileged user, and the messages where the system refuses.
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Runs the example `first` without root's capabilities, in a mount namespace where `prepare` ran
/// before. It is a separate program because a test shares its process with others. It keeps
/// CAP_SETFCAP, without which user 0 cannot map users. In `prepare`, `$FOLDER` is `folder`.
fn without_capabilities(folder: &TempDir, prepare: &str) -> String {
    fathom_test_support::require_namespaces();
    let _turn = crate::turn();
    // The build directory may be inaccessible to other users.
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
    // A file of another user. A non-root user cannot create one, but can find one.
    let closed = "install -m 600 /dev/null \"$FOLDER/tun\"; closed=\"$FOLDER/tun\"; \
                  chown 65534 $closed 2>/dev/null || closed=/etc/shadow; mount --bind $closed /dev/net/tun";
    let text = without_capabilities(&tempfile::tempdir().unwrap(), closed);
    assert!(text.contains("/dev/net/tun cannot be opened: its mode is 06"), "{text}");
}

#[test]
fn a_missing_device_is_named() {
    let text = without_capabilities(&tempfile::tempdir().unwrap(), "mount -t tmpfs none /dev/net");
    assert!(text.contains("/dev/net/tun does not exist"), "{text}");
}

#[test]
fn a_device_without_a_driver_is_named() {
    // Opening a UNIX socket gives ENXIO, like opening a device without a driver.
    let folder = tempfile::tempdir().unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(folder.path().join("tun")).unwrap();
    let text = without_capabilities(&folder, "mount --bind \"$FOLDER/tun\" /dev/net/tun");
    assert!(text.contains("has no driver"), "{text}");
}
