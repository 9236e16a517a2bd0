//! Waiting for descriptors and for moments, to the nanosecond as far as the kernel can.
use fathom_units::Duration;
use rustix::event::{self, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

/// What one descriptor is watched for, and what came.
#[derive(Clone, Debug)]
pub struct PollFd<'fd>(event::PollFd<'fd>);

impl<'fd> PollFd<'fd> {
    /// Watches `fd` for input, errors and the end of the other side.
    #[must_use]
    pub fn readable(fd: BorrowedFd<'fd>) -> Self {
        PollFd(event::PollFd::from_borrowed_fd(fd, PollFlags::IN))
    }
    /// Watches `fd` for room to write (an established connection), and errors.
    #[must_use]
    pub fn writable(fd: BorrowedFd<'fd>) -> Self {
        PollFd(event::PollFd::from_borrowed_fd(fd, PollFlags::OUT))
    }
    /// Whether the last [`wait`] found something on it.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.0.revents().is_empty()
    }
}

/// Waits until one of `fds` is ready or `timeout` has passed (`None`: for ever). Returns how many are ready.
///
/// # Errors
/// As `ppoll(2)`; an interruption by a signal counts as a timeout.
pub fn wait(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(timespec);
    let mut all: Vec<event::PollFd<'_>> = fds.iter().map(|fd| fd.0.clone()).collect();
    let found = event::poll(&mut all, timeout.as_ref());
    if found.is_err() {
        all.iter_mut().for_each(event::PollFd::clear_revents);
    }
    fds.iter_mut().zip(all).for_each(|(fd, polled)| fd.0 = polled);
    match found {
        Err(Errno::INTR) => Ok(0),
        other => other.map_err(io::Error::from),
    }
}

fn timespec(d: Duration) -> Timespec {
    let (seconds, nanos) = (d.as_nanos() / 1_000_000_000, d.as_nanos() % 1_000_000_000);
    // Both fit: 2^64 ns are below 2^35 s, and the remainder is below 10^9.
    Timespec { tv_sec: seconds as i64, tv_nsec: nanos as _ }
}

/// Asks the kernel to wake this thread at its deadline instead of up to 50 us later (`PR_SET_TIMERSLACK`).
///
/// # Errors
/// As `prctl(2)`.
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
