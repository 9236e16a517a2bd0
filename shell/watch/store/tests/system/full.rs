//! A full disk: recording continues, the oldest detail is dropped first, and everything works again
//! once there is space.
use super::support::{Dir, child_program};
use std::process::Command;

/// Runs the example `history_child` on its own disk, which is removed with the process.
fn on_a_disk_of(size: &str, child: &str) {
    fathom_test_support::require_namespaces();
    let dir = Dir::new();
    let script = format!("mount -t tmpfs -o size={size} none \"$1\" && exec \"$0\" {child} \"$1\"");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .arg(child_program())
        .arg(&dir.0)
        .output()
        .expect("unshare is there");
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}

#[test]
fn on_a_full_disk_the_oldest_detail_is_removed() {
    on_a_disk_of("12m", "small-disk");
}

#[test]
fn without_anything_to_drop_samples_are_kept_in_memory() {
    on_a_disk_of("7m", "disk-without-room");
}
