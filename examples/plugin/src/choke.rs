//! CHOKe: an arriving packet is compared with a random packet of the queue, and both are dropped if
//! they are of the same flow. Source: Pan, Prabhakar, Psounis, "CHOKe, a stateless active queue
//! management scheme for approximating fair bandwidth allocation", INFOCOM 2000.
use fathom_qdisc::{Actions, DropReason, QueuePlugin, QueuedPacket};
use fathom_units::{Rng, Time};

/// The queue. Packets are compared while it holds more than `threshold`.
pub struct Choke {
    waiting: Vec<QueuedPacket>,
    random: Rng,
    threshold: usize,
    limit: usize,
}

impl Choke {
    /// An empty queue of at most `limit` packets.
    pub fn new(seed: u64, threshold: usize, limit: usize) -> Self {
        Choke { waiting: Vec::new(), random: Rng::new(seed), threshold, limit }
    }
}

impl QueuePlugin for Choke {
    fn enqueue(&mut self, packet: QueuedPacket, _now: Time, actions: &mut Actions) {
        if self.waiting.len() > self.threshold {
            let at = self.random.below(self.waiting.len() as u64) as usize;
            if self.waiting[at].flow == packet.flow {
                actions.drop(self.waiting.remove(at).number, DropReason::Aqm);
                actions.drop(packet.number, DropReason::Aqm);
                return;
            }
        }
        if self.waiting.len() < self.limit {
            self.waiting.push(packet);
        } else {
            actions.drop(packet.number, DropReason::Overlimit);
        }
    }
    fn dequeue(&mut self, _now: Time, _actions: &mut Actions) -> Option<u64> {
        (!self.waiting.is_empty()).then(|| self.waiting.remove(0).number)
    }
}
