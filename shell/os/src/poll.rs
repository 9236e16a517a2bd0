//! Waits for descriptors and deadlines, with nanosecond resolution where the kernel supports it.
use fathom_units::Duration;
use rustix::event::{self, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

/// A descriptor with the events to wait for and the events that occurred.
#[derive(Clone, Debug)]
pub struct PollFd<'fd>(event::PollFd<'fd>);

impl<'fd> PollFd<'fd> {
    /// Waits for input, errors and end of stream on `fd`.
    #[must_use]
    pub fn readable(fd: BorrowedFd<'fd>) -> Self {
        PollFd(event::PollFd::from_borrowed_fd(fd, PollFlags::IN))
    }
    /// Waits for `fd` to become writable (an established connection), and for errors.
    #[must_use]
    pub fn writable(fd: BorrowedFd<'fd>) -> Self {
        PollFd(event::PollFd::from_borrowed_fd(fd, PollFlags::OUT))
    }
    /// Whether the last [`wait`] reported an event.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.0.revents().is_empty()
    }
}

/// Waits until one of `fds` is ready or `timeout` expires (`None`: no timeout). Returns the number
/// of ready descriptors.
///
/// # Errors
/// See `ppoll(2)`; an interruption by a signal counts as a timeout.
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
    // Both fit: 2^64 ns is less than 2^35 s, and the remainder is less than 10^9.
    Timespec { tv_sec: seconds as i64, tv_nsec: nanos as _ }
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
