//! Whether a host reads datagrams as soon as they arrive. Where the system does not timestamp them,
//! the time of reading is only then that of arrival.
use crate::fd::BorrowedFd;
use crate::poll::{self, PollFd};
use crate::timestamp::STAMPS_ARRIVALS;
use fathom_units::{Duration, Time};
use std::io;

/// A socket that always has another datagram for so long is read too slowly. A burst at the rate of
/// a line leaves time in between; one that waits in the socket does not.
const TOO_LONG: Duration = Duration::from_millis(10);

/// Watches a socket that is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct PromptReader {
    /// Since when there always was another one.
    behind_since: Option<Time>,
}

impl PromptReader {
    /// To be called before each wait for the socket, with the time.
    ///
    /// # Errors
    /// If the socket is read too slowly, or as [`poll::wait`].
    pub fn check(&mut self, socket: BorrowedFd<'_>, now: Time) -> io::Result<()> {
        if STAMPS_ARRIVALS {
            return Ok(());
        }
        let has_more = poll::wait(&mut [PollFd::readable(socket)], Some(Duration::ZERO))? > 0;
        if self.keeps_up(has_more, now) {
            return Ok(());
        }
        Err(io::Error::other("this computer is too slow"))
    }
    fn keeps_up(&mut self, has_more: bool, now: Time) -> bool {
        let since = *self.behind_since.get_or_insert(now);
        if !has_more {
            self.behind_since = None;
        }
        !has_more || now.saturating_since(since) < TOO_LONG
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_never_finds_its_socket_empty_is_late() {
        let mut reader = PromptReader::default();
        let mut at = |ms: u64, has_more| reader.keeps_up(has_more, Time::ZERO + Duration::from_millis(ms));
        assert!(at(0, true) && at(9, true));
        assert!(at(11, false), "it was empty at last");
        assert!(at(12, true) && at(21, true));
        assert!(!at(22, true));
    }
}
