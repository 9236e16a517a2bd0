//! Drops the right to change files (Landlock, Linux 5.13; landlock(7)). No bug can regain it.
use crate::syscall_filter::forbid_system_calls;
use landlock::{
    ABI, AccessFs, PathBeneath, PathFd, PathFdError, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus,
};
use std::io;
use std::path::Path;

/// Restricts this thread and its future children: they change files only below `folders` and
/// execute no programs. Reading and already open files are unaffected. Returns false, and changes
/// nothing, if the kernel lacks Landlock. Older Landlock versions do not restrict what they do not
/// support (renames between folders, truncation).
///
/// # Errors
/// If a folder cannot be opened; also see landlock_restrict_self(2).
pub fn confine_writes(folders: &[&Path]) -> io::Result<bool> {
    // Version 3 is the first that covers truncation.
    let change = AccessFs::from_write(ABI::V3);
    let rules = Ruleset::default().handle_access(change | AccessFs::Execute).map_err(refused)?;
    let mut rules = rules.create().map_err(refused)?;
    for folder in folders {
        let folder = PathFd::new(folder).map_err(unopened)?;
        rules = rules.add_rule(PathBeneath::new(folder, change)).map_err(refused)?;
    }
    let restricted = rules.restrict_self().map_err(refused)?;
    Ok(restricted.ruleset != RulesetStatus::NotEnforced)
}

/// Drops what a server of others' data does not need: changing files outside of `folders`, running
/// programs, and [system calls](crate::syscall_filter). For this thread and its future children;
/// what the kernel does not support stays allowed.
///
/// # Errors
/// As [`confine_writes`] and [`forbid_system_calls`]; the other right is dropped all the same.
pub fn drop_rights(folders: &[&Path]) -> io::Result<()> {
    // Both, whatever the first returns.
    let (files, calls) = (confine_writes(folders), forbid_system_calls());
    files.and(calls).map(drop)
}

fn refused(error: RulesetError) -> io::Error {
    io::Error::other(error)
}

fn unopened(error: PathFdError) -> io::Error {
    match error {
        PathFdError::OpenCall { source, .. } => source,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn a_thread_writes_where_it_may_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (folder.path().join("own"), folder.path().join("other"));
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("there"), "before").unwrap();
        // In a separate thread, because only that thread is restricted.
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
                    // Threads that it starts inherit the restrictions.
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
            // Without Landlock the thread is unrestricted and the function says so; test machines
            // must have it.
            assert!(had, "this kernel has no Landlock");
        });
        fs::write(other.join("new"), "").unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let nowhere = Path::new("/nonexistent/folder");
        let result = std::thread::spawn(move || confine_writes(&[nowhere]).map_err(|e| e.kind()));
        assert_eq!(result.join().unwrap(), Err(io::ErrorKind::NotFound));
    }
}
