//! Waits for sockets and deadlines.
use crate::fd::BorrowedFd;
use fathom_units::Duration;
use std::io;
use std::marker::PhantomData;
use std::os::windows::io::AsRawSocket;
use windows_sys::Win32::Media::timeBeginPeriod;
use windows_sys::Win32::Networking::WinSock::{POLLRDNORM, POLLWRNORM, SOCKET, WSAPOLLFD, WSAPoll};

/// A socket with the events to wait for and the events that occurred.
#[derive(Clone)]
#[repr(transparent)]
pub struct PollFd<'fd>(WSAPOLLFD, PhantomData<BorrowedFd<'fd>>);

impl std::fmt::Debug for PollFd<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PollFd").field("fd", &self.0.fd).field("revents", &self.0.revents).finish()
    }
}

impl<'fd> PollFd<'fd> {
    const fn new(fd: SOCKET, events: i16) -> Self {
        PollFd(WSAPOLLFD { fd, events, revents: 0 }, PhantomData)
    }
    /// Waits for input, errors and end of stream on `fd`.
    #[must_use]
    pub fn readable(fd: BorrowedFd<'fd>) -> Self {
        PollFd::new(fd.as_raw_socket() as SOCKET, POLLRDNORM)
    }
    /// Waits for `fd` to become writable (an established connection), and for errors.
    #[must_use]
    pub fn writable(fd: BorrowedFd<'fd>) -> Self {
        PollFd::new(fd.as_raw_socket() as SOCKET, POLLWRNORM)
    }
    /// Whether the last [`wait`] reported an event.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.0.revents != 0
    }
}

/// Waits until one of `fds` is ready or `timeout` expires (`None`: no timeout), which is rounded up
/// to milliseconds. Returns the number of ready sockets.
///
/// # Errors
/// See `WSAPoll`.
pub fn wait(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let millis =
        timeout.map_or(-1, |time| i32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX));
    if fds.is_empty() {
        // Without a socket, the call is an error.
        let time =
            timeout.map_or(std::time::Duration::MAX, |time| std::time::Duration::from_nanos(time.as_nanos()));
        std::thread::sleep(time);
        return Ok(0);
    }
    let count = u32::try_from(fds.len()).unwrap_or(u32::MAX);
    // SAFETY: `PollFd` is a transparent `WSAPOLLFD`, of which there are as many as said.
    let found = unsafe { WSAPoll(fds.as_mut_ptr().cast(), count, millis) };
    usize::try_from(found).map_err(|_| io::Error::last_os_error())
}

/// Makes timers of this process expire within a millisecond instead of up to 15.6 ms later.
///
/// # Errors
/// None: a system that refuses wakes later.
pub fn set_precise_timers() -> io::Result<()> {
    // SAFETY: it takes a number.
    unsafe { timeBeginPeriod(1) };
    Ok(())
}
