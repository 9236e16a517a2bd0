//! Kernel timestamps of datagrams entering the host's queue.
use super::Context;
use fathom_os::timestamp::{Departure, sent_stamp};
use fathom_probe::ProbeSeries;
use fathom_units::Duration;
use std::os::fd::BorrowedFd;

/// A timestamp further than this from the send call belongs to another datagram.
const PLAUSIBLE: Duration = Duration::from_secs(1);

/// Replaces the time before the send call of a probe with the kernel's timestamp.
///
/// The timestamp taken before the interface queue is used, not the one after it, because that queue
/// is part of the path.
#[derive(Default)]
pub(crate) struct Departures {
    /// After a failed call, the kernel's packet numbers and ours may differ.
    out_of_step: bool,
}

impl Departures {
    pub(crate) const fn failed(&mut self) {
        self.out_of_step = true;
    }
    /// Reads the error queue of `socket`. It must be emptied: otherwise every wait on the socket
    /// returns immediately.
    pub(crate) fn collect(
        &mut self,
        socket: BorrowedFd<'_>,
        series: &mut ProbeSeries,
        context: &mut Context,
    ) {
        while let Ok(stamp) = sent_stamp(socket) {
            let Some(sent) = stamp.filter(|s| s.departure == Departure::Queued && !self.out_of_step) else {
                continue;
            };
            let Some(at) = context.departure(sent.stamp) else { continue };
            let called = series.departure_of(sent.id);
            if called.is_some_and(|called| at >= called && at.saturating_since(called) < PLAUSIBLE) {
                series.departed(sent.id, at);
            }
        }
    }
}
