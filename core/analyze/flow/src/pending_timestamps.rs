//! Timestamps (RFC 7323) that wait for their echo.
use crate::Times;
use crate::sequence::is_after;
use alloc::collections::VecDeque;

/// A timestamp, and the first packet that carried it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingTimestamp {
    pub(crate) times: Times,
    value: u32,
    /// On an ACK without data: the other end need not answer it at once.
    pub(crate) is_bare: bool,
}

/// Timestamps of one end, oldest first; nothing expires but by a newer one's echo.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingTimestamps {
    waiting: VecDeque<PendingTimestamp>,
    newest: Option<u32>,
}

impl PendingTimestamps {
    /// A packet with this timestamp passed. Only the first with it counts, and only if it is `eligible`: one that the other end answers.
    /// True if it waits from now on.
    pub(crate) fn sent(&mut self, times: Times, value: u32, eligible: bool, is_bare: bool) -> bool {
        if self.newest.is_some_and(|newest| !is_after(value, newest)) {
            return false;
        }
        self.newest = Some(value);
        if eligible {
            self.waiting.push_back(PendingTimestamp { times, value, is_bare });
        }
        eligible
    }
    /// An echo passed: the timestamp that it answers, if it is the first echo of it. Older ones are never echoed again.
    pub(crate) fn echoed(&mut self, echo: u32) -> Option<PendingTimestamp> {
        while let Some(first) = self.waiting.front().copied() {
            if is_after(first.value, echo) {
                return None;
            }
            self.waiting.pop_front();
            if first.value == echo {
                return Some(first);
            }
        }
        None
    }
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
    pub(crate) fn forget_oldest(&mut self) {
        self.waiting.pop_front();
    }
    /// Gives memory back.
    pub(crate) fn shrink(&mut self) {
        self.waiting = VecDeque::new();
    }
}
