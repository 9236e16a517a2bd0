//! Giving up the right to change files (Landlock, Linux 5.13; landlock(7)): what a thread gives up, no bug in it gets back.
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `LANDLOCK_ACCESS_FS_*` of linux/landlock.h: what changes a file or a folder.
const WRITE_FILE: u64 = 1 << 1;
const REMOVE_TO_MAKE_SYM: u64 = 0x1ff << 4;
/// Renaming from folder to folder, since the second version.
const REFER: u64 = 1 << 13;
/// Since the third.
const TRUNCATE: u64 = 1 << 14;
/// Running a program.
const EXECUTE: u64 = 1;

const CREATE_RULESET_VERSION: libc::c_uint = 1;
const RULE_PATH_BENEATH: libc::c_uint = 1;

/// `struct landlock_ruleset_attr`, as much of it as the first version has.
#[repr(C)]
struct Ruleset {
    handled_access_fs: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct Beneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// From now on this thread, and what it starts, changes no file but beneath `folders`, and runs no program. Reading, and what is open
/// already, stay as they are. False if the kernel has no Landlock, and then nothing is changed.
///
/// # Errors
/// If a folder cannot be opened, or as landlock_restrict_self(2).
pub fn confine_writes(folders: &[&Path]) -> io::Result<bool> {
    let Some(version) = version() else { return Ok(false) };
    let mut change = WRITE_FILE | REMOVE_TO_MAKE_SYM;
    if version >= 2 {
        change |= REFER;
    }
    if version >= 3 {
        change |= TRUNCATE;
    }
    let rules = ruleset(change | EXECUTE)?;
    for folder in folders {
        allow(&rules, folder, change)?;
    }
    restrict(&rules)?;
    Ok(true)
}

/// The version of Landlock, if there is one.
fn version() -> Option<i64> {
    let none = std::ptr::null::<Ruleset>();
    // SAFETY: with this flag and no attributes the call only gives a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, CREATE_RULESET_VERSION) };
    (version > 0).then_some(version)
}

fn ruleset(handled_access_fs: u64) -> io::Result<OwnedFd> {
    let attributes = Ruleset { handled_access_fs };
    // SAFETY: `attributes` is valid through the call, with its size beside it.
    let fd = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size_of::<Ruleset>(), 0)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

fn allow(rules: &OwnedFd, folder: &Path, allowed_access: u64) -> io::Result<()> {
    let folder = File::options().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(folder)?;
    let rule = Beneath { allowed_access, parent_fd: folder.as_raw_fd() };
    // SAFETY: `rule` and both descriptors are valid through the call.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            rules.as_raw_fd(),
            RULE_PATH_BENEATH,
            &raw const rule,
            0_u32,
        )
    };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn restrict(rules: &OwnedFd) -> io::Result<()> {
    // A thread that could run programs of other users has to give that up first.
    // SAFETY: the call takes numbers alone.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is valid through the call.
    let failed = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn a_thread_writes_where_it_may_and_nowhere_else() {
        let folder = std::env::temp_dir().join(format!("fathom-confine-{}", std::process::id()));
        let (own, other) = (folder.join("own"), folder.join("other"));
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("there"), "before").unwrap();
        // A thread of its own: what it gives up, the others keep.
        std::thread::scope(|scope| {
            let confined = scope.spawn(|| {
                if !confine_writes(&[&own]).unwrap() {
                    return false;
                }
                fs::write(own.join("new"), "mine").unwrap();
                fs::rename(own.join("new"), own.join("newer")).unwrap();
                assert_eq!(fs::read_to_string(other.join("there")).unwrap(), "before");
                let refused = [
                    fs::write(other.join("new"), ""),
                    fs::write(other.join("there"), ""),
                    fs::remove_file(other.join("there")),
                    fs::rename(own.join("newer"), other.join("newer")),
                    Command::new("/bin/true").status().map(drop),
                    // What it starts has no more than it has.
                    std::thread::spawn({
                        let to = other.join("new");
                        move || fs::write(to, "")
                    })
                    .join()
                    .unwrap(),
                ];
                let kinds = refused.map(|result| result.unwrap_err().kind());
                assert!(kinds.iter().all(|kind| *kind == io::ErrorKind::PermissionDenied), "{kinds:?}");
                true
            });
            let had = confined.join().unwrap();
            // Where the kernel has none the thread is as it was, and that is told; a machine that tests are run on has it.
            assert!(had, "this kernel has no Landlock");
        });
        fs::write(other.join("new"), "").unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let nowhere = Path::new("/nonexistent/folder");
        let result = std::thread::spawn(move || confine_writes(&[nowhere]).map_err(|e| e.kind()));
        assert_eq!(result.join().unwrap(), Err(io::ErrorKind::NotFound));
    }
}
