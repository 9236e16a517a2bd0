//! A capture's flows in parts, so that threads can follow them at the same time.
use crate::queue::{QueueWatch, Queues};
use crate::tracer::sockets;
use crate::{Bounds, Flows, Times, Tracer};
use fathom_capture::{Packet, Transport};

/// Parts of a capture. So many whatever the machine has, and bounds are divided among them: no result depends on how many threads there are.
pub const PARTS: usize = 2;

/// The part that a packet belongs to: that of its flow, in both directions the same; the first, if it is not TCP.
///
/// A capture can be written of which all flows are in one part: that takes the time of one thread, and half of the bounds.
fn part_of(packet: &Packet<'_>) -> usize {
    let Transport::Tcp(tcp) = &packet.transport else { return 0 };
    let addresses = packet.source.bits() ^ packet.destination.bits();
    let ports = u64::from(tcp.source_port ^ tcp.destination_port) << 32;
    let both = addresses as u64 ^ (addresses >> 64) as u64 ^ ports;
    // The highest bit of the product: each bit of what is multiplied has a say in it.
    (both.wrapping_mul(MIX) >> 63) as usize
}

/// The fractional part of the golden ratio, odd (Knuth, The Art of Computer Programming, section 6.4).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Follows the flows of one part, with the queues that they tell of. It is to be shown every packet of the capture.
#[derive(Debug)]
pub struct Part {
    number: usize,
    tracer: Tracer<QueueWatch>,
}

/// What one part has seen.
#[derive(Debug)]
pub struct Followed {
    flows: Flows,
    watch: QueueWatch,
}

impl Part {
    /// All parts of a capture, within `bounds` together.
    pub fn all(bounds: Bounds) -> [Part; PARTS] {
        let bounds = Bounds {
            lone_flows: bounds.lone_flows / PARTS,
            flows: bounds.flows / PARTS,
            waiting: bounds.waiting / PARTS,
            ..bounds
        };
        core::array::from_fn(|number| Part {
            number,
            tracer: Tracer::bounded(QueueWatch::one_of(PARTS), bounds),
        })
    }
    /// The next packet of the capture, of this part or not.
    #[inline]
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.tracer.sink_mut().begin(times.at);
        if self.number == 0 {
            self.tracer.pass(times);
        }
        if part_of(packet) == self.number {
            self.tracer.put(times, packet);
        }
    }
    /// The capture is at its end.
    pub fn finish(self) -> Followed {
        let (flows, watch) = self.tracer.finish();
        Followed { flows, watch }
    }
}

/// All parts of a capture, followed by one thread.
#[derive(Debug)]
pub struct Parts {
    parts: [Part; PARTS],
    /// The part of the last packet: packets come in trains, and most are of the same flow as the one before.
    last: usize,
}

impl Parts {
    /// Of these, which have seen nothing yet.
    pub const fn new(parts: [Part; PARTS]) -> Parts {
        Parts { parts, last: 0 }
    }
    /// The next packet of the capture.
    #[inline(always)]
    pub fn packet(&mut self, times: Times, packet: &Packet<'_>) {
        self.parts[0].tracer.pass(times);
        let Transport::Tcp(tcp) = &packet.transport else {
            self.begin(times);
            // A copy, as what is given away is stored in memory: see `fathom_capture::usual`.
            return self.parts[0].tracer.other(times, &packet.clone());
        };
        let sockets = sockets(packet, tcp);
        let found = match self.parts[self.last].tracer.last_flow(sockets) {
            None => {
                self.begin(times);
                self.last = part_of(packet);
                self.parts[self.last].tracer.place(sockets, tcp.flags, times)
            }
            found => found,
        };
        if let Some(found) = found {
            self.parts[self.last].tracer.wait(found, times, packet, tcp);
        }
    }
    /// The capture begins, if it has not yet.
    #[inline]
    fn begin(&mut self, times: Times) {
        self.parts.iter_mut().for_each(|part| part.tracer.sink_mut().begin(times.at));
    }
    /// The capture is at its end.
    pub fn finish(self) -> [Followed; PARTS] {
        self.parts.map(Part::finish)
    }
}

impl Followed {
    /// All parts together.
    pub fn join([first, second]: [Followed; PARTS]) -> (Flows, Queues) {
        (first.flows.join(second.flows), first.watch.join(second.watch).finish())
    }
}
