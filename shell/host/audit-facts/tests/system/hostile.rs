//! A directory made to harm its reader: no read blocks or exhausts memory, and harmless files are
//! still read.
use crate::scratch::Scratch;
use fathom_audit::Facts;
use fathom_audit_facts::{files, save};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

/// Fails the test if `work` takes too long.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    wait.recv_timeout(Duration::from_secs(60)).expect("reading hangs")
}

#[test]
fn a_folder_made_to_harm() {
    let scratch = Scratch::new("hostile");
    let net = "sys/class/net";
    scratch.write(&format!("{net}/eth0/flags"), b"0x1003\n");
    scratch.write(&format!("{net}/eth0/speed"), &[0xff, 0, 0x80, b'\n']);
    let at = |path: &str| scratch.path().join(net).join(path);
    // A pipe without a writer, an endless device, symbolic link loops, a directory instead of a
    // file.
    let made = Command::new("mkfifo").arg(at("eth0/mtu")).status().expect("mkfifo");
    assert!(made.success());
    symlink("/dev/zero", at("eth0/tx_queue_len")).expect("a link");
    symlink("flags2", at("eth0/flags3")).expect("a link");
    symlink("type", at("eth0/type")).expect("a link to itself");
    symlink("..", at("loop")).expect("a link upwards");
    std::fs::create_dir(at("eth0/operstate")).expect("a folder");
    // A sparse file of one terabyte.
    std::fs::File::create(at("eth0/uevent")).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    // A large number of interfaces.
    (0..500).for_each(|i| scratch.write(&format!("{net}/x{i}/flags"), b"0x1003"));
    let root = scratch.path().to_owned();
    let tree = in_time(move || files(&root));
    assert!(tree.iter().all(|(_, bytes)| bytes.len() <= 256 << 10));
    assert!(tree.iter().all(|(path, _)| !path.ends_with("/mtu") && !path.ends_with("/tx_queue_len")));
    let facts = Facts::of(&tree);
    assert!(facts.interfaces.iter().any(|interface| interface.name == "eth0" && interface.is_up));
    assert!(facts.interfaces.len() > 500);
}

#[test]
fn nothing_at_all() {
    let scratch = Scratch::new("nothing");
    assert!(files(scratch.path()).is_empty());
    assert!(files(&scratch.path().join("no-such")).is_empty());
}

#[test]
fn what_is_saved_is_read_again_and_stays_in_its_folder() {
    let scratch = Scratch::new("save");
    scratch.write("from/sys/class/net/eth0/flags", b"0x1003\n");
    scratch.write("from/etc/hotplug.d/iface/10-x", b"tc qdisc\n");
    let mut tree = files(&scratch.path().join("from"));
    let to = scratch.path().join("to");
    tree.insert("../escaped", b"x".to_vec());
    tree.insert("/escaped", b"x".to_vec());
    assert_eq!(save(&tree, &to).expect("written"), 2);
    assert!(!scratch.path().join("escaped").exists());
    assert!(files(&to) == files(&scratch.path().join("from")));
}
