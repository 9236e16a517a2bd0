//! A directory with the state of a privileged program. Others must not be able to change it: root
//! would otherwise follow their symbolic links, or believe their files.
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, flock, fstat, open, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// Permission bits with which others can change a directory.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Others can create entries, but only remove their own, as in `/tmp`.
const STICKY: u32 = 0o1000;

/// An open directory that only this user and root can change.
#[derive(Debug)]
pub struct StateDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl StateDir {
    /// Opens the directory; `None` if it does not exist.
    ///
    /// # Errors
    /// If it or a directory above it can be changed by other users, or it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Option<StateDir>> {
        match check(path) {
            Ok(fd) => Ok(Some(StateDir { fd, path: path.to_owned() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
    /// Opens the directory, and creates it if it does not exist.
    ///
    /// # Errors
    /// As [`StateDir::open`], or if it cannot be created.
    pub fn create(path: &Path) -> io::Result<StateDir> {
        std::fs::create_dir_all(path)?;
        Ok(StateDir { fd: check(path)?, path: path.to_owned() })
    }
    /// Names of the files.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = rustix::fs::Dir::read_from(&self.fd)?;
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
        }
        Ok(names)
    }
    /// The content of a file; `None` if there is none.
    ///
    /// # Errors
    /// If it is a symbolic link or not a regular file, belongs to another user, or has more than
    /// `max_bytes`.
    pub fn read(&self, name: &str, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match openat(&self.fd, plain(name)?, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(refused("is a symbolic link")),
            other => other?,
        };
        let about = fstat(&fd)?;
        if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
            return Err(refused("is not a regular file"));
        }
        if !is_trusted(about.st_uid) {
            return Err(refused(&format!("belongs to user {}", about.st_uid)));
        }
        let mut bytes = Vec::new();
        File::from(fd).take(max_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes {
            return Err(refused(&format!("is larger than the limit of {max_bytes} bytes")));
        }
        Ok(Some(bytes))
    }
    /// Replaces a file. After a power failure it is either the old or the new one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = format!("{}.new", plain(name)?);
        self.remove(&new)?;
        // An existing file or link is never opened.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.fd, &*new, flags, Mode::from_raw_mode(0o644))?);
        file.write_all(bytes)?;
        file.sync_all()?;
        renameat(&self.fd, &*new, &self.fd, name)?;
        Ok(())
    }
    /// Renames a file.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.fd, plain(from)?, &self.fd, plain(to)?)?)
    }
    /// Removes a file, or the link itself, if it exists.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.fd, plain(name)?, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
    /// Takes a lock, which is released when it is dropped or the process ends; `None` if another
    /// process holds it.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn lock(&self, name: &str) -> io::Result<Option<Lock>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let file = openat(&self.fd, plain(name)?, flags, Mode::from_raw_mode(0o600))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            // The previous holder may have removed the file meanwhile.
            let is_same = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|now| fstat(&file).is_ok_and(|own| own.st_ino == now.st_ino));
            if is_same {
                let folder = self.fd.try_clone()?;
                return Ok(Some(Lock { file, folder, name: name.to_owned() }));
            }
        }
    }
    /// The path of a file, for messages.
    #[must_use]
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// A locked file (`flock(2)`), which is removed with the lock.
#[derive(Debug)]
pub struct Lock {
    file: OwnedFd,
    folder: OwnedFd,
    name: String,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed before it is unlocked, so that nobody else's lock is removed. If that fails, the
        // file stays, which is harmless.
        let _ = unlinkat(&self.folder, &*self.name, AtFlags::empty());
        // A child that is being started shares the descriptor until it executes its program.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// A name without a directory.
fn plain(name: &str) -> io::Result<&str> {
    let is_plain = Path::new(name).components().eq([Component::Normal(name.as_ref())]);
    is_plain.then_some(name).ok_or_else(|| refused("is not the name of a file"))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}

fn is_trusted(user: u32) -> bool {
    user == 0 || user == geteuid().as_raw() || (user == OVERFLOW_USER && is_in_user_namespace())
}

/// Whom the kernel shows for a user that has no number in this user namespace, such as the owner of
/// `/` (sysctl kernel.overflowuid). Root of such a namespace has no rights outside.
const OVERFLOW_USER: u32 = 65_534;

fn is_in_user_namespace() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    !map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Opens a directory if nobody else can change it or replace it.
fn check(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let real = path.canonicalize()?;
    let mut above = real.ancestors().skip(1);
    above.try_for_each(|folder| check_one(folder, &open(folder, flags, Mode::empty())?, STICKY))?;
    let fd = open(&real, flags | OFlags::NOFOLLOW, Mode::empty())?;
    // The directory itself may not even be sticky: others could put their files there.
    check_one(&real, &fd, 0)?;
    Ok(fd)
}

/// A directory with the bit `excuse` may be writable by others.
fn check_one(folder: &Path, fd: &OwnedFd, excuse: u32) -> io::Result<()> {
    let about = fstat(fd)?;
    let folder = folder.display();
    if !is_trusted(about.st_uid) {
        return Err(refused(&format!("user {} can change {folder}, which belongs to it", about.st_uid)));
    }
    let mode = about.st_mode & 0o7777;
    if mode & WRITABLE_BY_OTHERS != 0 && mode & excuse == 0 {
        return Err(refused(&format!(
            "other users can change {folder} (mode {mode:o}): try chmod go-w {folder}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn files_are_replaced_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (state, secret) = (folder.path().join("state"), folder.path().join("secret"));
        fs::write(&secret, "secret").unwrap();
        let dir = StateDir::create(&state).unwrap();
        assert_eq!(dir.read("a", 10).unwrap(), None);
        dir.write("a", b"one").unwrap();
        dir.write("a", b"two").unwrap();
        assert_eq!(dir.read("a", 3).unwrap().unwrap(), b"two");
        assert!(dir.read("a", 2).unwrap_err().to_string().contains("limit of 2 bytes"));
        // Links where a file and its new version are expected.
        for name in ["b", "b.new"] {
            symlink(&secret, state.join(name)).unwrap();
        }
        assert!(dir.read("b", 10).unwrap_err().to_string().contains("symbolic link"));
        assert!(dir.lock("b").is_err());
        dir.write("b", b"three").unwrap();
        assert_eq!(dir.read("b", 10).unwrap().unwrap(), b"three");
        assert_eq!(fs::read(&secret).unwrap(), b"secret");
        fs::create_dir(state.join("d")).unwrap();
        assert!(dir.read("d", 10).unwrap_err().to_string().contains("regular file"));
        dir.remove("a").unwrap();
        dir.remove("a").unwrap();
        for name in ["../secret", "/etc/passwd", "", ".", "..", "d/x"] {
            assert!(dir.read(name, 10).is_err() && dir.write(name, b"x").is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_directory_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (above, state) = (folder.path().join("above"), folder.path().join("above/state"));
        assert!(StateDir::open(&state).unwrap().is_none());
        StateDir::create(&state).unwrap();
        for bad in [0o777, 0o775, 0o1777] {
            mode(&state, bad);
            let error = StateDir::open(&state).unwrap_err().to_string();
            assert!(error.contains(&format!("(mode {bad:o}): try chmod go-w")), "{error}");
        }
        mode(&state, 0o755);
        mode(&above, 0o777);
        assert!(StateDir::open(&state).is_err());
        // As /tmp: others cannot replace what is not theirs.
        mode(&above, 0o1777);
        assert!(StateDir::open(&state).unwrap().is_some());
        // A link to a directory of this user is that directory.
        symlink(&state, folder.path().join("link")).unwrap();
        assert!(StateDir::open(&folder.path().join("link")).unwrap().is_some());
        if geteuid().is_root() {
            std::os::unix::fs::chown(&state, Some(12_345), None).unwrap();
            let error = StateDir::open(&state).unwrap_err().to_string();
            assert!(error.contains("user 12345 can change"), "{error}");
            std::os::unix::fs::chown(&state, Some(0), None).unwrap();
            fs::write(state.join("theirs"), "x").unwrap();
            std::os::unix::fs::chown(state.join("theirs"), Some(12_345), None).unwrap();
            let theirs = StateDir::open(&state).unwrap().unwrap().read("theirs", 9).unwrap_err();
            assert!(theirs.to_string().contains("belongs to user 12345"), "{theirs}");
        }
    }

    #[test]
    fn one_process_has_a_lock_and_its_file_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let dir = StateDir::create(folder.path()).unwrap();
        let first = dir.lock("lock").unwrap();
        assert!(first.is_some() && dir.lock("lock").unwrap().is_none());
        drop(first);
        assert!(!folder.path().join("lock").exists());
        // A lock on a file that was removed meanwhile is not one.
        let held = dir.lock("lock").unwrap();
        fs::remove_file(folder.path().join("lock")).unwrap();
        let next = dir.lock("lock").unwrap();
        assert!(held.is_some() && next.is_some());
    }
}
