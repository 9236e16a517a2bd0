//! Waiting for descriptors and for moments, to the nanosecond as far as the kernel can.
use fathom_units::Duration;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What one descriptor is watched for, and what came.
#[derive(Clone, Copy, Debug)]
pub struct PollFd<'fd> {
    fd: BorrowedFd<'fd>,
    ready: bool,
}

impl<'fd> PollFd<'fd> {
    /// Watches `fd` for input, errors and the end of the other side.
    #[must_use]
    pub const fn readable(fd: BorrowedFd<'fd>) -> Self {
        PollFd { fd, ready: false }
    }
    /// Whether the last [`wait`] found something on it.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.ready
    }
}

/// Waits until one of `fds` is ready or `timeout` has passed (`None`: for ever). Returns how many are ready.
///
/// # Errors
/// As `ppoll(2)`; an interruption by a signal counts as a timeout.
pub fn wait<const N: usize>(fds: &mut [PollFd<'_>; N], timeout: Option<Duration>) -> io::Result<usize> {
    let mut raw =
        fds.each_ref().map(|p| libc::pollfd { fd: p.fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let timeout = timeout.map(timespec);
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `raw` holds N entries, `timeout` is null or outlives the call, a null signal mask changes none.
    let found = unsafe { libc::ppoll(raw.as_mut_ptr(), N as libc::nfds_t, timeout, std::ptr::null()) };
    let found = match usize::try_from(found) {
        Ok(found) => found,
        Err(_) => interrupted_is_zero(io::Error::last_os_error())?,
    };
    for (fd, raw) in fds.iter_mut().zip(raw) {
        fd.ready = found > 0 && raw.revents != 0;
    }
    Ok(found)
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
