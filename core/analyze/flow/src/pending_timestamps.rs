//! Timestamps (RFC 7323) that have not been echoed yet.
use crate::Times;
use crate::sequence::is_after;
use alloc::collections::VecDeque;

/// A timestamp and the first packet that carried it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingTimestamp {
    pub(crate) times: Times,
    value: u32,
    /// It was on an ACK without data, which the other end need not answer at once.
    pub(crate) is_bare: bool,
}

/// Timestamps of one end, oldest first. An entry is only removed when it or a newer one is echoed.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingTimestamps {
    waiting: VecDeque<PendingTimestamp>,
    newest: Option<u32>,
}

impl PendingTimestamps {
    /// Records the timestamp of a packet. Only the first packet with a timestamp counts, and only
    /// if it is `eligible`: if the other end answers it. Returns whether the timestamp was added.
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
    /// Finds the timestamp for the first echo of it. Older ones are never echoed afterwards.
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
    pub(crate) fn shrink(&mut self) {
        self.waiting = VecDeque::new();
    }
}
