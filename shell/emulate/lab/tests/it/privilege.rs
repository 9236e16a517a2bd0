//! The lab of an ordinary user, and what it says where the system refuses.
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

/// Runs the example `first` as nobody, in a mount namespace where `prepare` has been run before. It is a program of its
/// own because a test never has the process to itself. In `prepare`, `$FOLDER` is a folder of this test's own.
fn as_nobody(prepare: &str) -> String {
    let _turn = crate::turn();
    // The user nobody must be able to enter it.
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    // The build's own folder may be closed to others.
    let examples = std::env::current_exe().unwrap().with_file_name("../examples/first");
    fs::copy(&examples, folder.path().join("first")).unwrap_or_else(|e| {
        panic!("{}: {e}; cargo test builds it unless --test is given", examples.display())
    });
    let script = format!(
        "set -e; {prepare}\nexec setpriv --reuid 65534 --regid 65534 --clear-groups \"$FOLDER/first\""
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).env("FOLDER", folder.path());
    let Output { stdout, stderr, .. } = command.output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr))
}

/// A device node of TUN with `mode`, in the place of the system's.
fn device(mode: &str) -> String {
    format!("mknod -m {mode} \"$FOLDER/tun\" c 10 200; mount --bind \"$FOLDER/tun\" /dev/net/tun")
}

#[test]
fn an_ordinary_user_has_a_lab_in_a_user_namespace() {
    let text = as_nobody(&device("666"));
    assert!(text.contains("5 bytes came back") && text.contains("here I am PID 2\nexit status: 5"), "{text}");
}

#[test]
fn a_closed_device_is_named_with_its_mode() {
    let text = as_nobody(&device("600"));
    assert!(text.contains("/dev/net/tun may not be opened: its mode is 0600"), "{text}");
}

#[test]
fn a_missing_device_is_named() {
    let text = as_nobody("mount -t tmpfs none /dev/net");
    assert!(text.contains("/dev/net/tun does not exist"), "{text}");
}

#[test]
fn a_device_without_a_driver_is_named() {
    // 10, 199 belongs to no driver.
    let node = "mknod -m 666 \"$FOLDER/tun\" c 10 199; mount --bind \"$FOLDER/tun\" /dev/net/tun";
    let text = as_nobody(node);
    assert!(text.contains("has no driver behind it"), "{text}");
}
