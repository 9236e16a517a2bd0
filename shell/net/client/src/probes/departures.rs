//! Kernel timestamps of datagrams entering the host's queue.
use super::Context;
use fathom_os::mmsg::IcmpRefusal;
use fathom_os::timestamp::{Departure, QueueEntry};
use fathom_probe::ProbeSeries;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Duration, WallTime};
use std::collections::VecDeque;
use std::io;

/// Probes whose departure from the host is awaited.
const MOST_QUEUED: usize = 4096;
/// A timestamp further than this from the send call belongs to another datagram.
const PLAUSIBLE: Duration = Duration::from_secs(1);

/// Replaces the time before the send call of a probe with the kernel's timestamp.
///
/// The timestamp taken before the interface queue is used, not the one after it, because that queue
/// is part of the path.
pub(crate) struct Departures {
    /// After a failed call, the kernel's packet numbers and ours may differ.
    out_of_step: bool,
    /// Packet number of each probe in the host's queue, and when it entered.
    queued: VecDeque<(u32, WallTime)>,
    /// Times in the host's queue.
    waits: Series,
}

impl Default for Departures {
    fn default() -> Self {
        let waits = Series::new(SeriesKey::of(Metric::HostQueue));
        Departures { out_of_step: false, queued: VecDeque::new(), waits }
    }
}

impl Departures {
    pub(crate) const fn failed(&mut self) {
        self.out_of_step = true;
    }
    /// Takes all entries of a socket's error queue: otherwise every wait on the socket returns
    /// immediately. `on_refusal` gets ICMP errors, and the packets that they are about.
    pub(crate) fn collect(
        &mut self,
        next: &dyn Fn(&mut [u8]) -> io::Result<QueueEntry>,
        series: &mut ProbeSeries,
        context: &mut Context,
        on_refusal: &mut dyn FnMut(IcmpRefusal, &[u8]),
    ) {
        let mut packet = [0; 256];
        while let Ok(entry) = next(&mut packet) {
            let sent = match entry {
                QueueEntry::Stamp(sent) if !self.out_of_step => sent,
                QueueEntry::Refused(refusal, length) => {
                    on_refusal(refusal, &packet[..length]);
                    continue;
                }
                _ => continue,
            };
            if sent.departure == Departure::Sent {
                self.left(sent.id, sent.stamp, context);
                continue;
            }
            self.queued.push_back((sent.id, sent.stamp));
            if self.queued.len() > MOST_QUEUED {
                self.queued.pop_front();
            }
            let Some(at) = context.departure(sent.stamp) else { continue };
            let called = series.departure_of(sent.id);
            if called.is_some_and(|called| at >= called && at.saturating_since(called) < PLAUSIBLE) {
                series.departed(sent.id, at);
            }
        }
    }
    /// Records the wait of a packet that left the host's queue.
    fn left(&mut self, id: u32, left: WallTime, context: &mut Context) {
        let Some(place) = self.queued.iter().position(|(queued, _)| *queued == id) else { return };
        let Some((_, entered)) = self.queued.remove(place) else { return };
        let Some(at) = context.departure(entered) else { return };
        let value = Value::Observed(left.0.saturating_sub(entered.0) as f64 / 1e9);
        self.waits.push(Observation { at, value });
    }
    /// The times of the probes in the host's queue.
    pub(crate) fn take_waits(&mut self) -> Series {
        std::mem::replace(&mut self.waits, Series::new(SeriesKey::of(Metric::HostQueue)))
    }
}
