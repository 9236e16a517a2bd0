//! Waits for descriptors and deadlines.
//!
//! By poll(2), with milliseconds: select(2) has microseconds, but only for the first 1,024
//! descriptors of a process, and kevent(2) needs a queue that outlives the descriptors in it.
use fathom_units::Duration;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A descriptor with the events to wait for and the events that occurred.
#[derive(Clone, Debug)]
#[repr(transparent)]
pub struct PollFd<'fd>(libc::pollfd, PhantomData<BorrowedFd<'fd>>);

impl<'fd> PollFd<'fd> {
    const fn new(fd: i32, events: i16) -> Self {
        PollFd(libc::pollfd { fd, events, revents: 0 }, PhantomData)
    }
    /// Waits for input, errors and end of stream on `fd`.
    #[must_use]
    pub fn readable(fd: BorrowedFd<'fd>) -> Self {
        PollFd::new(fd.as_raw_fd(), libc::POLLIN)
    }
    /// Waits for `fd` to become writable (an established connection), and for errors.
    #[must_use]
    pub fn writable(fd: BorrowedFd<'fd>) -> Self {
        PollFd::new(fd.as_raw_fd(), libc::POLLOUT)
    }
    /// Whether the last [`wait`] reported an event.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.0.revents != 0
    }
}

/// Waits until one of `fds` is ready or `timeout` expires (`None`: no timeout), which is rounded up
/// to milliseconds. Returns the number of ready descriptors.
///
/// # Errors
/// See `poll(2)`; an interruption by a signal counts as a timeout.
pub fn wait(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let millis =
        timeout.map_or(-1, |time| i32::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX));
    let count = libc::nfds_t::try_from(fds.len()).unwrap_or(libc::nfds_t::MAX);
    // SAFETY: `PollFd` is a transparent `pollfd`, of which there are as many as said.
    let found = unsafe { libc::poll(fds.as_mut_ptr().cast(), count, millis) };
    let Ok(found) = usize::try_from(found) else {
        let error = io::Error::last_os_error();
        fds.iter_mut().for_each(|fd| fd.0.revents = 0);
        return if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) };
    };
    Ok(found)
}

/// Makes the kernel wake this thread at its deadline, instead of later together with others.
///
/// # Errors
/// See `pthread_set_qos_class_self_np(3)`.
pub fn set_precise_timers() -> io::Result<()> {
    super::sched::set_interactive()
}
