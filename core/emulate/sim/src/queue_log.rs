//! Times that packets waited in each queue, in finer steps than the samples of a run.
use alloc::vec::Vec;
use fathom_link::LinePosition;
use fathom_units::{Duration, Time};

/// Only the last packet that arrives within this time is kept. A queue with constant rate can then
/// be reconstructed at any time: it drains until the next arrival.
const SLOT: Duration = Duration::from_micros(250);

/// A packet that left a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// When it arrived.
    pub arrived: Time,
    /// Its time in the queue, without its transmission.
    pub sojourn: Duration,
    /// Its IP length in bytes.
    pub ip_bytes: u32,
    /// IP bytes of all packets that have left the queue, including this one.
    pub left_bytes: u64,
    /// It is a UDP probe. All probes are kept.
    pub is_udp_probe: bool,
}

/// What happened in the queues of a line.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct QueueLog {
    /// Packets by queue, in the order in which they left: those of hop 0 up, hop 0 down, hop 1 up,
    /// and so on.
    pub waits: Vec<Vec<Wait>>,
    /// When the UDP probes that were dropped or lost on the way were sent.
    pub lost_probes: Vec<Time>,
    /// Sums of [`Wait::left_bytes`], by queue.
    left_bytes: Vec<u64>,
}

impl QueueLog {
    pub(crate) fn new(hops: usize) -> Self {
        QueueLog {
            waits: alloc::vec![Vec::new(); 2 * hops],
            lost_probes: Vec::new(),
            left_bytes: alloc::vec![0; 2 * hops],
        }
    }
    /// A packet left a queue. The sum of `wait` is set here.
    pub(crate) fn left(&mut self, position: LinePosition, wait: Wait) {
        let is_down = matches!(position.direction, fathom_units::Direction::Down);
        let place = 2 * position.hop + usize::from(is_down);
        let (queue, sum) = (&mut self.waits[place], &mut self.left_bytes[place]);
        *sum += u64::from(wait.ip_bytes);
        let wait = Wait { left_bytes: *sum, ..wait };
        let slot = |of: &Wait| of.arrived.as_nanos() / SLOT.as_nanos();
        match queue.last_mut() {
            Some(last) if slot(last) == slot(&wait) && !last.is_udp_probe && !wait.is_udp_probe => {
                *last = wait;
            }
            _ => queue.push(wait),
        }
    }
}
