//! The output ports of a switch with shared memory. Source of the thresholds: A. K. Choudhury and
//! E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (IEEE/ACM
//! Transactions on Networking 6(2), 1998).
use crate::store::Store;
use crate::{Backlog, DropReason, End, Packet, Qdisc, Sink};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rate, Rng, Time};

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// Parameters of [`Switch`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SwitchParams {
    /// Number of output ports.
    pub ports: u32,
    /// Rate of each port.
    pub rate: Rate,
    /// Size of the shared memory, in wire bytes.
    pub memory: Bytes,
    /// How the ports share the memory.
    pub sharing: Sharing,
}

/// How much of the memory a port may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sharing {
    /// A port accepts packets while its queue is below this many times the free memory (alpha). If
    /// n ports are overloaded, each holds alpha x memory / (1 + n alpha), and the rest stays free
    /// for other ports. This is the default, with alpha 1.
    Dynamic(f64),
    /// All free memory.
    Complete,
    /// An equal part per port.
    Static,
}

/// One output port. A packet is sent after those before it, whether or not it is dequeued in time.
struct Port<P> {
    store: Store<P>,
    /// When the last bit of the head is sent; `None` without a head.
    sent_at: Option<Time>,
    /// When the previous packet was sent, and the truncated rest in units of 1 / rate ns.
    free_at: Time,
    remainder: u128,
}

/// Ports with one rate and a shared memory, each a FIFO.
///
/// A packet goes to the port of its destination host. The first hosts seen take the ports in order;
/// further hosts are hashed. A packet occupies memory until its last bit is sent, so its sojourn
/// includes the transmission. The link behind this discipline represents the far ends of all
/// cables: it should have no rate, or a much higher one than all ports together.
pub struct Switch<P> {
    params: SwitchParams,
    salt: u64,
    /// The first destination host of each port.
    hosts: Vec<u64>,
    ports: Vec<Port<P>>,
    backlog: Backlog,
}

impl<P: Packet> Port<P> {
    const fn new() -> Self {
        Port { store: Store::new(), sent_at: None, free_at: Time::ZERO, remainder: 0 }
    }
    /// Starts sending a new head: after the previous packet, or on arrival if that is later.
    fn begin(&mut self, rate: Rate) {
        let Some(head) = self.store.head() else {
            self.sent_at = None;
            return;
        };
        if head.arrived > self.free_at {
            (self.free_at, self.remainder) = (head.arrived, 0);
        }
        let rate = u128::from(rate.as_bits_per_second());
        let scaled = u128::from(head.packet.len().get()) * 8 * NANOS_PER_SEC + self.remainder;
        self.free_at += Duration::from_nanos(u64::try_from(scaled / rate).unwrap_or(u64::MAX));
        self.remainder = scaled % rate;
        self.sent_at = Some(self.free_at);
    }
}

impl<P: Packet> Switch<P> {
    /// Creates empty ports. `seed` is for the hash of the hosts beyond one per port.
    pub fn new(params: SwitchParams, seed: u64) -> Self {
        Switch {
            params,
            salt: Rng::stream(seed, "switch").next_u64(),
            hosts: Vec::new(),
            ports: (0..params.ports).map(|_| Port::new()).collect(),
            backlog: Backlog::default(),
        }
    }
    fn port(&mut self, packet: &P) -> usize {
        let host = packet.host_hash(End::Destination, self.salt);
        if let Some(port) = self.hosts.iter().position(|other| *other == host) {
            return port;
        }
        if self.hosts.len() == self.ports.len() {
            return (host % self.ports.len() as u64) as usize;
        }
        self.hosts.push(host);
        self.hosts.len() - 1
    }
    /// True if a port that holds `queued` bytes may accept `len` more.
    fn admits(&self, queued: Bytes, len: Bytes) -> bool {
        let free = self.params.memory - self.backlog.bytes;
        len <= free
            && match self.params.sharing {
                Sharing::Dynamic(alpha) => (queued.get() as f64) < alpha * free.get() as f64,
                Sharing::Complete => true,
                Sharing::Static => {
                    (queued + len).get() <= self.params.memory.get() / u64::from(self.params.ports)
                }
            }
    }
    /// The port that has sent its head first, or will have; of equal ports, the lowest number.
    fn first(&self) -> Option<(Time, usize)> {
        let sent = self.ports.iter().enumerate().filter_map(|(number, port)| Some((port.sent_at?, number)));
        sent.min()
    }
}

impl<P: Packet> Qdisc<P> for Switch<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        let (number, len) = (self.port(&packet), packet.len());
        if !self.admits(self.ports[number].store.bytes(), len) {
            return sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += len;
        let port = &mut self.ports[number];
        port.store.push(packet, now);
        if port.sent_at.is_none() {
            port.begin(self.params.rate);
        }
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let (_, number) = self.first().filter(|(at, _)| *at <= now)?;
        let port = &mut self.ports[number];
        let stored = port.store.pop()?;
        port.begin(self.params.rate);
        self.backlog.packets -= 1;
        self.backlog.bytes -= stored.packet.len();
        Some(stored.leave(now))
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        self.first().map(|(at, _)| at.max(now))
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
