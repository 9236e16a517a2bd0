//! Drops the right to system calls that a server never needs (seccomp(2)). No bug can regain it.
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use std::collections::BTreeMap;
use std::io;

/// Run programs, read the memory of other processes, change namespaces, mounts, modules, clocks and
/// keys, load code into the kernel, and interfaces whose bugs have often led to root.
const FORBIDDEN: &[libc::c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_personality,
];

/// Makes the forbidden system calls fail with EPERM, in this thread and those that it starts.
/// Returns false, and changes nothing, on a processor that the filter does not support.
///
/// # Errors
/// See seccomp(2).
pub fn forbid_system_calls() -> io::Result<bool> {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(false) };
    #[allow(clippy::useless_conversion, reason = "32 bits on some processors")]
    let rules: BTreeMap<i64, Vec<_>> = FORBIDDEN.iter().map(|call| (i64::from(*call), Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(io::Error::other)?;
    let program: BpfProgram = filter.try_into().map_err(io::Error::other)?;
    apply_filter(&program).map_err(io::Error::other)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn forbidden_calls_fail_and_others_work() {
        // In a separate thread, because only that thread and its children are restricted.
        let restricted = std::thread::spawn(|| {
            assert!(forbid_system_calls().unwrap(), "this processor is not supported");
            let child = std::thread::spawn(|| {
                let ran = Command::new("/bin/true").status().map_err(|error| error.kind());
                assert_eq!(ran.unwrap_err(), io::ErrorKind::PermissionDenied);
                std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            });
            child.join().unwrap();
        });
        restricted.join().unwrap();
        assert!(Command::new("/bin/true").status().unwrap().success());
    }
}
