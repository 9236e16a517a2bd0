//! When datagrams entered the host's queue, by the kernel.
use super::Context;
use fathom_os::timestamp::{Departure, sent_stamp};
use fathom_probe::ProbeSeries;
use fathom_units::Duration;
use std::os::fd::BorrowedFd;

/// A stamp that is further from the call that sent the datagram belongs to another one.
const PLAUSIBLE: Duration = Duration::from_secs(1);

/// Replaces the moment before the call that sent a probe by the kernel's stamp.
///
/// The queue of this host's interface is part of the path, so the stamp before it counts, not the one after it.
#[derive(Default)]
pub(crate) struct Departures {
    /// The kernel's count of datagrams and ours may differ after a call that failed.
    out_of_step: bool,
}

impl Departures {
    pub(crate) const fn failed(&mut self) {
        self.out_of_step = true;
    }
    /// Takes what the error queue of `socket` holds. It must be emptied, or every wait on the socket ends at once.
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
