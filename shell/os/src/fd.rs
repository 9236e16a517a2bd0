//! Descriptors of sockets, as the calls of this crate take them.
#[cfg(unix)]
pub use std::os::fd::{AsFd, BorrowedFd};
#[cfg(windows)]
use std::os::windows::io::AsSocket;
#[cfg(windows)]
pub use std::os::windows::io::BorrowedSocket as BorrowedFd;

/// What has a socket.
#[cfg(windows)]
pub trait AsFd {
    /// Its socket.
    fn as_fd(&self) -> BorrowedFd<'_>;
}

#[cfg(windows)]
impl<T: AsSocket> AsFd for T {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_socket()
    }
}
