//! Queue disciplines of users.
use crate::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink};
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use fathom_units::{Bytes, Duration, Time};

/// What a [`QueuePlugin`] learns about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuedPacket {
    /// Identifies the packet in this queue. Packets are numbered from 0 as they arrive.
    pub number: u64,
    /// Size on the wire.
    pub len: Bytes,
    /// The ECN bits. Only a packet that is not [`Ecn::NotEct`] can be marked.
    pub ecn: Ecn,
    /// Hash of the flow identity, with the seed of the queue as its salt.
    pub flow: u64,
    /// The six DSCP bits (RFC 2474).
    pub dscp: u8,
}

/// A queue discipline of a user.
///
/// The host keeps the packets, and the discipline decides by their numbers. Each packet leaves
/// once: it is returned by `dequeue`, or dropped. The current time is an argument and never
/// decreases. The same calls must lead to the same decisions: random numbers derive from the seed.
pub trait QueuePlugin: Send {
    /// A packet has arrived and is in the queue. The discipline may drop it, or other packets.
    fn enqueue(&mut self, packet: QueuedPacket, now: Time, actions: &mut Actions);
    /// Returns the number of the packet that leaves now; `None` if none may. Packets that are
    /// dropped leave before it.
    fn dequeue(&mut self, now: Time, actions: &mut Actions) -> Option<u64>;
    /// When to call `dequeue` again after `None` although packets wait: later than `now`. `None` if
    /// it takes an arrival.
    fn next_ready(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }
    /// The discipline broke the rules above; `what` says how. The decision has no effect.
    ///
    /// # Panics
    /// Unless it is overridden: the results would be wrong.
    fn on_violation(&self, what: &str) {
        panic!("{what}");
    }
}

/// What a discipline does with packets in its queue, in this order.
#[derive(Default, Debug)]
pub struct Actions(Vec<Action>);

#[derive(Clone, Copy, Debug)]
enum Action {
    Drop(u64, DropReason),
    Mark(u64, MarkReason),
}

impl Actions {
    /// Drops a packet.
    pub fn drop(&mut self, number: u64, reason: DropReason) {
        self.0.push(Action::Drop(number, reason));
    }
    /// Marks a packet CE. It remains in the queue.
    pub fn mark(&mut self, number: u64, reason: MarkReason) {
        self.0.push(Action::Mark(number, reason));
    }
}

type Make = dyn Fn(u64) -> Box<dyn QueuePlugin> + Send + Sync;

/// A kind of [`QueuePlugin`]: its name, and how to create one.
#[derive(Clone)]
pub struct PluginParams {
    name: String,
    make: Arc<Make>,
}

impl PluginParams {
    /// `make` creates an empty queue from a seed.
    pub fn new(name: &str, make: impl Fn(u64) -> Box<dyn QueuePlugin> + Send + Sync + 'static) -> Self {
        PluginParams { name: name.to_owned(), make: Arc::new(make) }
    }
    /// The name in results.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for PluginParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PluginParams({:?})", self.name)
    }
}

/// Equal if one is a clone of the other.
impl PartialEq for PluginParams {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make)
    }
}

struct Held<P> {
    packet: P,
    arrived: Time,
}

/// A [`QueuePlugin`] with its packets, as a [`Qdisc`].
pub struct Plugin<P> {
    discipline: Box<dyn QueuePlugin>,
    salt: u64,
    /// The packets from number `first` on; `None` for those that have left.
    held: VecDeque<Option<Held<P>>>,
    first: u64,
    backlog: Backlog,
    /// When `dequeue` last returned `None` although packets wait.
    refused: Option<Time>,
    actions: Actions,
}

impl<P: Packet> Plugin<P> {
    /// An empty queue.
    pub fn new(params: PluginParams, seed: u64) -> Self {
        Plugin {
            discipline: (params.make)(seed),
            salt: seed,
            held: VecDeque::new(),
            first: 0,
            backlog: Backlog::default(),
            refused: None,
            actions: Actions::default(),
        }
    }
    fn get(&mut self, number: u64) -> Option<&mut Held<P>> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.held.get_mut(at)?.as_mut()
    }
    fn take(&mut self, number: u64) -> Option<Held<P>> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let taken = self.held.get_mut(at)?.take()?;
        self.backlog.bytes -= taken.packet.len();
        self.backlog.packets -= 1;
        while let Some(None) = self.held.front() {
            self.held.pop_front();
            self.first += 1;
        }
        Some(taken)
    }
    fn act(&mut self, now: Time, sink: &mut impl Sink<P>) {
        let mut actions = core::mem::take(&mut self.actions.0);
        for action in actions.drain(..) {
            match action {
                Action::Drop(number, reason) => match self.take(number) {
                    Some(held) => sink.dropped(held.packet, reason, now - held.arrived, now),
                    None => self.absent("dropped", number),
                },
                Action::Mark(number, reason) => match self.get(number) {
                    Some(held) if held.packet.ecn() == Ecn::NotEct => {
                        self.discipline.on_violation(&format!("packet {number} is not ECN-capable: drop it"));
                    }
                    Some(held) => {
                        held.packet.set_ce();
                        sink.marked(&held.packet, reason, now);
                    }
                    None => self.absent("marked", number),
                },
            }
        }
        // Reuses the memory of the list.
        self.actions.0 = actions;
    }
    fn absent(&self, verb: &str, number: u64) {
        self.discipline.on_violation(&format!("packet {number} was {verb}, but is not in the queue"));
    }
}

impl<P: Packet> Qdisc<P> for Plugin<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        let queued = QueuedPacket {
            number: self.first + self.held.len() as u64,
            len: packet.len(),
            ecn: packet.ecn(),
            flow: packet.flow_hash(self.salt),
            dscp: packet.dscp(),
        };
        self.backlog.bytes += queued.len;
        self.backlog.packets += 1;
        self.held.push_back(Some(Held { packet, arrived: now }));
        self.refused = None;
        self.discipline.enqueue(queued, now, &mut self.actions);
        self.act(now, sink);
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let number = self.discipline.dequeue(now, &mut self.actions);
        self.act(now, sink);
        self.refused = (number.is_none() && self.backlog.packets > 0).then_some(now);
        let number = number?;
        let taken = self.take(number);
        if taken.is_none() {
            self.absent("dequeued", number);
        }
        taken.map(|held| (held.packet, now - held.arrived))
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        let next = self.discipline.next_ready(now).filter(|_| self.backlog.packets > 0)?;
        if next < now || self.refused == Some(next) {
            // The host would call `dequeue` again and again.
            let at = next.as_nanos();
            self.discipline.on_violation(&format!("next_ready is {at} ns (expected None or a later time)"));
            return None;
        }
        Some(next)
    }
    fn backlog(&self) -> Backlog {
        self.backlog
    }
}
