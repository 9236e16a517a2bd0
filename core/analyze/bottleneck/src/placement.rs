//! Where on the path a queue is, as a run reports it.
use crate::{Bottleneck, Leg, Location, QueueReport};
use fathom_flow::End;
use fathom_run::QueuePlace;

/// A full packet of Ethernet.
const PACKET_BYTES: f64 = 1500.0;

/// Which part of the path a queue is in, and in which direction its packets travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The part.
    pub place: QueuePlace,
    /// The end that the packets come from.
    pub from: End,
    /// The end that they travel to.
    pub to: End,
}

impl Bottleneck {
    /// Where its queue is, by the report of its first flow, whose sender is `sender`.
    pub fn placement(&self, report: &QueueReport, sender: End) -> Placement {
        let (place, from) = match self.location {
            // No host queues for milliseconds what it receives: its answer waited, in its own queue, and the two legs cannot be
            // distinguished.
            Location::Leg(Leg::To(end)) if report.near == Some(end) && end == sender => {
                (QueuePlace::InSender, end)
            }
            Location::Leg(Leg::From(end)) if report.near == Some(end) && self.fits_in_host() => {
                (QueuePlace::InSender, end)
            }
            Location::Leg(Leg::From(end)) => (QueuePlace::BeforeCapture, end),
            Location::Leg(Leg::To(end)) => (QueuePlace::AfterCapture, end.other()),
            Location::RoundTrip(_) => (QueuePlace::RoundTrip, sender),
        };
        Placement { place, from, to: from.other() }
    }
    /// It is small enough for a host's own queue: Linux lets a flow have two of its (joined) packets there, and one more that begins,
    /// each of two packets on the wire at least or of a millisecond at its pace, which is the link's at most (TCP small queues); and
    /// these overflow nothing.
    fn fits_in_host(&self) -> bool {
        let Ok(rate) = &self.rate else { return self.fingerprint.losses == 0 };
        let flows = self.flows.len().max(1) as f64;
        let bytes_per_ns = rate.ip.bits_per_second / 8e9;
        let each = 3.0 * (1e6 * bytes_per_ns).max(2.0 * PACKET_BYTES);
        self.fingerprint.losses == 0 && self.standing.p50_ns * bytes_per_ns <= flows * each
    }
}
