//! Waits for descriptors and deadlines, with nanosecond resolution where the kernel supports it.
use fathom_units::Duration;
use rustix::thread::set_current_timer_slack;
use std::io;
use std::marker::PhantomData;
use std::num::NonZeroU64;
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

/// Waits until one of `fds` is ready or `timeout` expires (`None`: no timeout). Returns the number
/// of ready descriptors. Not by rustix, as [`Clock`](crate::clock::Clock).
///
/// # Errors
/// See `ppoll(2)`; an interruption by a signal counts as a timeout.
pub fn wait(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(timespec);
    let limit = timeout.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: `PollFd` is a transparent `pollfd`, of which there are as many as said; `limit` is
    // null or valid, and no signal mask is given.
    let found = unsafe { libc::ppoll(fds.as_mut_ptr().cast(), fds.len() as _, limit, core::ptr::null()) };
    let Ok(found) = usize::try_from(found) else {
        let error = io::Error::last_os_error();
        fds.iter_mut().for_each(|fd| fd.0.revents = 0);
        return if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) };
    };
    Ok(found)
}

fn timespec(d: Duration) -> libc::timespec {
    // SAFETY: an all-zero `timespec` is valid: it has integers alone.
    let mut time: libc::timespec = unsafe { core::mem::zeroed() };
    // Both fit: 2^64 ns is less than 2^35 s, which has 64 bits in every C library of today, and the
    // remainder is less than 10^9.
    time.tv_sec = (d.as_nanos() / 1_000_000_000) as _;
    time.tv_nsec = (d.as_nanos() % 1_000_000_000) as _;
    time
}

/// Makes the kernel wake this thread at its deadline instead of up to 50 us later
/// (`PR_SET_TIMERSLACK`).
///
/// # Errors
/// See `prctl(2)`.
pub fn set_precise_timers() -> io::Result<()> {
    Ok(set_current_timer_slack(NonZeroU64::new(1))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn finds_the_descriptor_that_has_input() {
        let (mut near, far) = UnixStream::pair().unwrap();
        let (idle, _other) = UnixStream::pair().unwrap();
        let mut fds = [PollFd::readable(idle.as_fd()), PollFd::readable(far.as_fd())];
        assert_eq!(wait(&mut fds, Some(Duration::from_micros(100))).unwrap(), 0);
        near.write_all(b"x").unwrap();
        assert_eq!(wait(&mut fds, None).unwrap(), 1);
        assert_eq!(fds.map(|p| p.is_ready()), [false, true]);
    }
}
