//! The output ports of a switch, which share one memory. Source of the thresholds: A. K. Choudhury and E. L. Hahne,
//! "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches" (IEEE/ACM Transactions on Networking 6(2), 1998).
use crate::store::Store;
use crate::{Backlog, DropReason, End, Packet, Qdisc, Sink};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rate, Rng, Time};

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// Parameters of [`Switch`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SwitchParams {
    /// Output ports.
    pub ports: u32,
    /// Of each port.
    pub rate: Rate,
    /// Wire bytes that all ports hold together.
    pub memory: Bytes,
    /// Who may use it.
    pub sharing: Sharing,
}

/// How much of the memory a port may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sharing {
    /// A port takes nothing more from this many times the free memory on. With n ports that always want more each holds
    /// alpha x memory / (1 + n alpha), and the rest is left for the next one. The default, with alpha 1.
    Dynamic(f64),
    /// All that is free.
    Complete,
    /// An equal part for each port.
    Static,
}

/// One output port: a packet is sent when those before it are, whether or not it is fetched in time.
struct Port<P> {
    store: Store<P>,
    /// When the last bit of the head leaves; `None` without a head.
    sent_at: Option<Time>,
    /// When the last bit of the packet before it has left, and what was cut off of that time, in 1 / rate nanoseconds.
    free_at: Time,
    remainder: u128,
}

/// Ports of one rate each before one memory, first in, first out.
///
/// A packet goes to the port of its destination host: the first hosts that are seen take the ports in order, and those
/// that come when each port has one are spread by a hash. What a port sends takes its time on that port, in which it
/// still fills memory, so that the sojourn of a packet is over with its last bit. The link behind this discipline is to
/// have no rate, or far more than all ports together: it stands for the other ends of all cables.
pub struct Switch<P> {
    params: SwitchParams,
    salt: u64,
    /// Of each port the first destination host.
    hosts: Vec<u64>,
    ports: Vec<Port<P>>,
    backlog: Backlog,
}

impl<P: Packet> Port<P> {
    const fn new() -> Self {
        Port { store: Store::new(), sent_at: None, free_at: Time::ZERO, remainder: 0 }
    }
    /// Begins the head, which is new: when the one before it has left, or when it came if that was later.
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
    /// Empty ports; `seed` is for the hash of hosts beyond one for each port.
    pub fn new(params: SwitchParams, seed: u64) -> Self {
        Switch {
            params,
            salt: Rng::stream(seed, "switch").next_u64(),
            hosts: Vec::new(),
            ports: (0..params.ports).map(|_| Port::new()).collect(),
            backlog: Backlog::default(),
        }
    }
    /// The packet's port.
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
    /// True if a port that holds `queued` bytes may take `len` more.
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
    /// The port that has sent its head first, or will have; of several the one with the lowest number.
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
