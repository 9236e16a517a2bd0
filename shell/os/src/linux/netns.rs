//! Unnamed network namespaces: they end with the last descriptor and thread that uses them.
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;

/// An open network namespace.
#[derive(Debug)]
pub struct NetNs {
    fd: OwnedFd,
}

impl NetNs {
    /// Creates an empty namespace without entering it.
    ///
    /// # Errors
    /// See `unshare(2)` with `CLONE_NEWNET`; `userns::explain` explains a refusal.
    pub fn create() -> io::Result<NetNs> {
        let made = thread::Builder::new().name("netns".into()).spawn(|| {
            // SAFETY: it does not unshare descriptors; it affects only this thread, which ends
            // here.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            NetNs::current()
        })?;
        made.join().map_err(|_| io::Error::other("the thread that makes a network namespace panicked"))?
    }
    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// If `/proc` is not mounted.
    pub fn current() -> io::Result<NetNs> {
        Ok(NetNs { fd: File::open("/proc/thread-self/ns/net")?.into() })
    }
    /// Opens another handle of the same namespace.
    ///
    /// # Errors
    /// If no descriptors are available.
    pub fn try_clone(&self) -> io::Result<NetNs> {
        Ok(NetNs { fd: self.fd.try_clone()? })
    }
    /// The descriptor.
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
    /// Moves the calling thread into the namespace. Sockets and threads created afterwards belong
    /// to it.
    ///
    /// # Errors
    /// See `setns(2)`.
    pub fn enter(&self) -> io::Result<()> {
        Ok(move_into_link_name_space(self.fd.as_fd(), Some(LinkNameSpaceType::Network))?)
    }
}
