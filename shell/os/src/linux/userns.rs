//! A user namespace, in which an unprivileged user can create network namespaces; and the setting
//! that forbids it, if any.
use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::{fmt, fs, io};

/// Why namespaces cannot be created. `Display` names the setting and what to do.
#[derive(Debug)]
pub struct Refusal {
    obstacle: Obstacle,
    source: io::Error,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Obstacle {
    /// user.max_user_namespaces, with its value.
    MaxUserNamespaces(u64),
    /// kernel.unprivileged_userns_clone is 0.
    UnprivilegedUsernsClone,
    /// kernel.apparmor_restrict_unprivileged_userns is 1.
    AppArmor,
    /// A system call filter, common in containers.
    Seccomp,
    /// The process has several threads; their number.
    Threads(u64),
    /// None of the known causes.
    Unknown,
}

/// System settings that affect user namespaces.
#[derive(Clone, Copy, Default, Debug)]
struct Facts {
    max_user_namespaces: Option<u64>,
    unprivileged_userns_clone: Option<u64>,
    apparmor_restrict: Option<u64>,
    seccomp_mode: Option<u64>,
    threads: Option<u64>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this user cannot create namespaces ({}): ", self.source)?;
        match self.obstacle {
            Obstacle::MaxUserNamespaces(limit) => setting_refusal(f, "user.max_user_namespaces", limit, 10_000),
            Obstacle::UnprivilegedUsernsClone => setting_refusal(f, "kernel.unprivileged_userns_clone", 0, 1),
            // Ubuntu 23.10 and later.
            Obstacle::AppArmor => setting_refusal(f, "kernel.apparmor_restrict_unprivileged_userns", 1, 0),
            Obstacle::Seccomp => f.write_str(
                "a system call filter forbids it, as in containers; run outside the container, \
                 or grant it CAP_SYS_ADMIN and CAP_NET_ADMIN (docker run --cap-add SYS_ADMIN --cap-add NET_ADMIN)",
            ),
            Obstacle::Threads(n) => {
                write!(f, "the process has {n} threads, too many to enter a user namespace")
            }
            Obstacle::Unknown => f.write_str("no known setting forbids it; run as root"),
        }
    }
}

fn setting_refusal(f: &mut fmt::Formatter<'_>, name: &str, value: u64, needed: u64) -> fmt::Result {
    write!(f, "{name} is {value}; run as root, or change it: sudo sysctl -w {name}={needed}")
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Ensures that this process may create and configure network namespaces. If it lacks the
/// capabilities, it enters a new user namespace in which it is root. Call it before starting
/// threads.
///
/// # Errors
/// Names the setting that forbids it.
pub fn become_root() -> Result<(), Refusal> {
    if is_privileged() {
        return Ok(());
    }
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: it does not unshare descriptors.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }.map_err(|error| explain(error.into()))?;
    // Without a capability in the parent namespace a user may map only itself, and write gid_map
    // only after disabling setgroups.
    fs::write("/proc/self/setgroups", "deny").map_err(explain)?;
    fs::write("/proc/self/uid_map", format!("0 {uid} 1")).map_err(explain)?;
    fs::write("/proc/self/gid_map", format!("0 {gid} 1")).map_err(explain)
}

/// Explains a refused namespace from the settings of this system.
#[must_use]
pub fn explain(source: io::Error) -> Refusal {
    Refusal { obstacle: find_obstacle(&source, &Facts::read()), source }
}

/// Whether this thread has the capabilities for namespaces and interfaces.
#[must_use]
pub fn is_privileged() -> bool {
    // CAP_NET_ADMIN and CAP_SYS_ADMIN. Source: linux/capability.h.
    const NEEDED: u64 = 1 << 12 | 1 << 21;
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status_field(&status, "CapEff").and_then(|text| u64::from_str_radix(text, 16).ok());
    effective.is_some_and(|bits| bits & NEEDED == NEEDED)
}

impl Facts {
    fn read() -> Facts {
        let sysctl = |path| fs::read_to_string(path).ok()?.trim().parse().ok();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name| status_field(&status, name)?.parse().ok();
        Facts {
            max_user_namespaces: sysctl("/proc/sys/user/max_user_namespaces"),
            unprivileged_userns_clone: sysctl("/proc/sys/kernel/unprivileged_userns_clone"),
            apparmor_restrict: sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            seccomp_mode: field("Seccomp"),
            threads: field("Threads"),
        }
    }
}

fn status_field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

fn find_obstacle(source: &io::Error, facts: &Facts) -> Obstacle {
    match (source.raw_os_error(), facts) {
        // ENOSPC is the error at the limit, and immediately with a limit of 0 (namespaces(7)).
        (Some(libc::ENOSPC), Facts { max_user_namespaces: Some(limit), .. }) => {
            Obstacle::MaxUserNamespaces(*limit)
        }
        (_, Facts { max_user_namespaces: Some(0), .. }) => Obstacle::MaxUserNamespaces(0),
        (Some(libc::EINVAL), Facts { threads: Some(n @ 2..), .. }) => Obstacle::Threads(*n),
        (_, Facts { unprivileged_userns_clone: Some(0), .. }) => Obstacle::UnprivilegedUsernsClone,
        (_, Facts { apparmor_restrict: Some(1), .. }) => Obstacle::AppArmor,
        // 2 means a filter, 0 none. Source: proc(5).
        (_, Facts { seccomp_mode: Some(2), .. }) => Obstacle::Seccomp,
        _ => Obstacle::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_obstacle_is_named() {
        let open = Facts {
            max_user_namespaces: Some(96_365),
            unprivileged_userns_clone: Some(1),
            apparmor_restrict: Some(0),
            seccomp_mode: Some(0),
            threads: Some(1),
        };
        let cases = [
            (libc::EPERM, open, "no known setting"),
            (libc::ENOSPC, open, "user.max_user_namespaces is 96365"),
            (libc::ENOSPC, Facts { max_user_namespaces: Some(0), ..open }, "user.max_user_namespaces is 0"),
            (
                libc::EPERM,
                Facts { unprivileged_userns_clone: Some(0), ..open },
                "kernel.unprivileged_userns_clone is 0",
            ),
            (
                libc::EPERM,
                Facts { apparmor_restrict: Some(1), ..open },
                "kernel.apparmor_restrict_unprivileged_userns",
            ),
            (
                libc::EACCES,
                Facts { apparmor_restrict: Some(1), ..open },
                "kernel.apparmor_restrict_unprivileged_userns",
            ),
            (libc::EPERM, Facts { seccomp_mode: Some(2), ..open }, "system call filter"),
            (libc::EINVAL, Facts { threads: Some(3), ..open }, "has 3 threads"),
            (libc::EPERM, Facts::default(), "no known setting"),
        ];
        for (errno, facts, expected) in cases {
            let source = io::Error::from_raw_os_error(errno);
            let text = Refusal { obstacle: find_obstacle(&source, &facts), source }.to_string();
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn a_status_field_is_found_by_its_whole_name() {
        let status = "NoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n";
        assert_eq!(status_field(status, "Seccomp"), Some("2"));
        assert_eq!(status_field(status, "Sec"), None);
    }
}
