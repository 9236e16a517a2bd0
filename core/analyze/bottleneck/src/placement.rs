//! Location of a queue on the path, as reported in a run.
use crate::{Bottleneck, Leg, Location, QueueReport};
use fathom_flow::End;
use fathom_run::QueuePlace;

/// Size of a full-size Ethernet packet.
const PACKET_BYTES: f64 = 1500.0;

/// The part of the path that contains a queue, and the direction of its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The part of the path.
    pub place: QueuePlace,
    /// The end that sends the packets.
    pub from: End,
    /// The end that receives the packets.
    pub to: End,
}

impl Bottleneck {
    /// Location of the queue according to the report of its first flow, sent by `sender`.
    pub fn placement(&self, report: &QueueReport, sender: End) -> Placement {
        let (place, from) = match self.location {
            // No host delays received packets for milliseconds. The response waited in the sender's
            // own queue, and the two legs cannot be distinguished.
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
    /// Whether the queue is small enough to be the host's own. With TCP small queues, Linux lets a
    /// flow queue two of its (merged) packets and start one more. Each has at least two wire
    /// packets, or 1 ms at the pacing rate, which is at most the link's rate. Such queues never
    /// overflow.
    fn fits_in_host(&self) -> bool {
        let Ok(rate) = &self.rate else { return self.fingerprint.losses == 0 };
        let flows = self.flows.len().max(1) as f64;
        let bytes_per_ns = rate.ip.bits_per_second / 8e9;
        let each = 3.0 * (1e6 * bytes_per_ns).max(2.0 * PACKET_BYTES);
        self.fingerprint.losses == 0 && self.standing.p50_ns * bytes_per_ns <= flows * each
    }
}
