//! Waiting for descriptors and for moments, to the nanosecond as far as the kernel can.
use fathom_units::Duration;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What one descriptor is watched for, and what came.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct PollFd<'fd> {
    raw: libc::pollfd,
    borrow: PhantomData<BorrowedFd<'fd>>,
}

impl<'fd> PollFd<'fd> {
    /// Watches `fd` for input, errors and the end of the other side.
    #[must_use]
    pub fn readable(fd: BorrowedFd<'fd>) -> Self {
        PollFd {
            raw: libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 },
            borrow: PhantomData,
        }
    }
    /// Watches `fd` for room to write (an established connection), and errors.
    #[must_use]
    pub fn writable(fd: BorrowedFd<'fd>) -> Self {
        PollFd {
            raw: libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLOUT, revents: 0 },
            borrow: PhantomData,
        }
    }
    /// Whether the last [`wait`] found something on it.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.raw.revents != 0
    }
}

/// Waits until one of `fds` is ready or `timeout` has passed (`None`: for ever). Returns how many are ready.
///
/// # Errors
/// As `ppoll(2)`; an interruption by a signal counts as a timeout.
pub fn wait(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(timespec);
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let count = fds.len() as libc::nfds_t;
    // SAFETY: `PollFd` is a transparent `pollfd` and there are `count` of them; `timeout` is null or outlives the call;
    // a null signal mask changes none.
    let found = unsafe { libc::ppoll(fds.as_mut_ptr().cast(), count, timeout, std::ptr::null()) };
    match usize::try_from(found) {
        Ok(found) => Ok(found),
        Err(_) => {
            fds.iter_mut().for_each(|fd| fd.raw.revents = 0);
            interrupted_is_zero(io::Error::last_os_error())
        }
    }
}

fn interrupted_is_zero(error: io::Error) -> io::Result<usize> {
    if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) }
}

fn timespec(d: Duration) -> libc::timespec {
    let (seconds, nanos) = (d.as_nanos() / 1_000_000_000, d.as_nanos() % 1_000_000_000);
    // Both fit: 2^64 ns are below 2^35 s, and the remainder is below 10^9.
    libc::timespec { tv_sec: seconds as libc::time_t, tv_nsec: nanos as libc::c_long }
}

/// Asks the kernel to wake this thread at its deadline instead of up to 50 us later (`PR_SET_TIMERSLACK`).
///
/// # Errors
/// As `prctl(2)`.
pub fn set_precise_timers() -> io::Result<()> {
    // SAFETY: PR_SET_TIMERSLACK takes one integer and touches no memory of ours.
    let failed = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
