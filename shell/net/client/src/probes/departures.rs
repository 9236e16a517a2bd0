//! When datagrams entered the host's queue, by the kernel.
use super::Context;
use fathom_os::timestamp::{Departure, sent_stamp};
use fathom_units::{Duration, Time};
use std::os::fd::BorrowedFd;

/// A stamp that is further from the call that sent the datagram belongs to another one.
const PLAUSIBLE: Duration = Duration::from_secs(1);

/// Times of leaving by sequence number: the moment before the call, replaced by the kernel's stamp when it comes.
///
/// The queue of this host's interface is part of the path, so the stamp before it counts, not the one after it.
#[derive(Default)]
pub(crate) struct Departures {
    called: Vec<Time>,
    stamped: Vec<Option<Time>>,
    /// The kernel's count of datagrams and ours may differ after a call that failed.
    out_of_step: bool,
}

impl Departures {
    pub(crate) fn sent(&mut self, called: Time) {
        self.called.push(called);
        self.stamped.push(None);
    }
    pub(crate) fn failed(&mut self) {
        self.out_of_step = true;
    }
    /// Takes what the error queue of `socket` holds. It must be emptied, or every wait on the socket ends at once.
    pub(crate) fn collect(&mut self, socket: BorrowedFd<'_>, context: &mut Context) {
        while let Ok(told) = sent_stamp(socket) {
            let Some(told) = told.filter(|t| t.departure == Departure::Queued && !self.out_of_step) else {
                continue;
            };
            let Some(at) = context.departure(told.stamp) else { continue };
            let place = told.id as usize;
            let called = self.called.get(place).copied();
            if called.is_some_and(|c| at >= c && at.saturating_since(c) < PLAUSIBLE) {
                self.stamped[place] = Some(at);
            }
        }
    }
    /// When probe `sequence` left.
    pub(crate) fn of(&self, sequence: u64) -> Option<Time> {
        let place = usize::try_from(sequence).ok()?;
        self.stamped.get(place).copied().flatten().or_else(|| self.called.get(place).copied())
    }
}
