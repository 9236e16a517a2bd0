//! The program on older kernels: a filter of system calls (seccomp) refuses those that they lack,
//! and the options of sockets.
use crate::program::{Ran, Serve, fathom, scratch};
use fathom_test_support::in_new_namespace;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};
use std::collections::BTreeMap;
use std::process::Command;

/// A version of Linux.
type Version = (u32, u32);

/// System calls of Linux, their numbers on x86_64 and aarch64, and the version that brought them
/// (syscalls(2)). Those before 4.14 are left out.
const CALLS: [(i64, Version); 22] = [
    // pidfd_send_signal, io_uring_setup, io_uring_enter, io_uring_register
    (424, (5, 1)),
    (425, (5, 1)),
    (426, (5, 1)),
    (427, (5, 1)),
    // open_tree, move_mount, fsopen, fsconfig, fsmount
    (428, (5, 2)),
    (429, (5, 2)),
    (430, (5, 2)),
    (431, (5, 2)),
    (432, (5, 2)),
    // pidfd_open, clone3
    (434, (5, 3)),
    (435, (5, 3)),
    // close_range, openat2, pidfd_getfd, faccessat2
    (436, (5, 9)),
    (437, (5, 6)),
    (438, (5, 6)),
    (439, (5, 8)),
    // process_madvise, epoll_pwait2, mount_setattr
    (440, (5, 10)),
    (441, (5, 11)),
    (442, (5, 12)),
    // landlock_create_ruleset, landlock_add_rule, landlock_restrict_self
    (444, (5, 13)),
    (445, (5, 13)),
    (446, (5, 13)),
    // futex_waitv
    (449, (5, 16)),
];

/// Options of sockets: level, name, and the version that brought them (socket(7), udp(7), and the
/// history of include/uapi).
const OPTIONS: [(u64, u64, Version); 10] = [
    // UDP_SEGMENT, UDP_GRO
    (17, 103, (4, 18)),
    (17, 104, (5, 0)),
    // SO_TXTIME, SO_BINDTOIFINDEX, SO_TIMESTAMPING_NEW, SO_PREFER_BUSY_POLL, SO_RESERVE_MEM
    (1, 61, (4, 19)),
    (1, 62, (5, 0)),
    (1, 65, (5, 1)),
    (1, 69, (5, 11)),
    (1, 73, (5, 16)),
    // IP_RECVERR_RFC4884
    (0, 26, (5, 9)),
    // TCP_INQ, TCP_TX_DELAY
    (6, 36, (4, 18)),
    (6, 37, (5, 3)),
];

/// Makes this thread and its children live on an old kernel.
fn live_on(version: Version) {
    let is =
        |arg, value| SeccompCondition::new(arg, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value).unwrap();
    let missing = |since: &Version| *since > version;
    let calls = CALLS.iter().filter(|(_, since)| missing(since)).map(|(call, _)| (*call, Vec::new()));
    let options = OPTIONS.iter().filter(|(.., since)| missing(since));
    let options =
        options.map(|(level, name, _)| SeccompRule::new(vec![is(1, *level), is(2, *name)]).unwrap());
    let set = BTreeMap::from([(libc::SYS_setsockopt, options.collect::<Vec<_>>())]);
    for (rules, error) in [(calls.collect(), libc::ENOSYS), (set, libc::ENOPROTOOPT)] {
        let refuse = SeccompAction::Errno(error.unsigned_abs());
        let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
        apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
    }
}

/// Fails unless the filter is at work: close_range(2) is as unknown as on an old kernel.
fn assert_old() {
    let script = "import ctypes, sys; c = ctypes.CDLL(None, use_errno=True); c.syscall(436, 9, 8, 0); \
        sys.exit(ctypes.get_errno())";
    let ran = Command::new("python3").args(["-c", script]).status().unwrap();
    assert_eq!(ran.code(), Some(libc::ENOSYS));
}

/// What each command does there: its exit codes, and the beginning of what it says.
fn works(version: Version, args: &[&str], codes: &[i32], begin: &str) {
    let mut command = fathom(args);
    let ran: Ran =
        command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).output().unwrap().into();
    let is_expected = ran.code.is_some_and(|code| codes.contains(&code)) && ran.out.starts_with(begin);
    assert!(is_expected, "{version:?}: {args:?}: {}", ran.describe());
}

fn commands_work_on(version: Version) {
    in_new_namespace(|| {
        live_on(version);
        assert_old();
        let server = Serve::start(&[]);
        let target = server.target();
        let probes = format!("udp://{target}");
        let folder =
            |kind: &str| scratch().join(format!("{kind}-{}-{}", version.0, version.1)).display().to_string();
        let (state, store) = (folder("state"), folder("store"));
        // A line that is faster than its computer has no result.
        works(
            version,
            &["test", &target, "--phases", "idle,up", "--max-phase", "1s", "--no-save", "-q"],
            &[0, 4, 5],
            "",
        );
        works(version, &["buffer", &target, "-q"], &[0, 5], "NO RESULT");
        works(version, &["ping", "-c", "2", "-i", "0.1", "127.0.0.1"], &[0], "PING");
        works(version, &["ping", "-c", "2", "-i", "0.1", &probes], &[0], "PING");
        works(version, &["path", "127.0.0.1", "-c", "1"], &[0], "path to 127.0.0.1");
        works(version, &["doctor"], &[0], "Linux");
        works(
            version,
            &["fix", "lo", "--up", "10mbit", "--keep-for", "1s", "--state", &state],
            &[0],
            "lo: egress at most 10Mbit",
        );
        works(version, &["lab", "--line", "dsl", "--", "true"], &[0], "");
        works(version, &["sim", "dsl", "-q"], &[1], "BAD");
        works(version, &["trace", "testdata/trace/kernel/one.pcap.gz", "-q"], &[0], "GOOD");
        works(version, &["report", "testdata/results/v0.2.0-test.json.gz", "-q"], &[1], "BAD");
        let watch = ["watch", "--target", "127.0.0.1", "--listen", "127.0.0.1:0", "--store"];
        let mut command = Command::new("timeout");
        command.args(["-s", "INT", "2", env!("CARGO_BIN_EXE_fathom")]).args(watch).arg(&store);
        command.output().unwrap();
        works(version, &["watch", "status", "--store", &store], &[0], "");
    });
}

#[test]
fn commands_work_on_linux_4_14() {
    commands_work_on((4, 14));
}

#[test]
fn commands_work_on_linux_4_19() {
    commands_work_on((4, 19));
}

#[test]
fn commands_work_on_linux_5_4() {
    commands_work_on((5, 4));
}
