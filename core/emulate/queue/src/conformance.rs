//! What each queue discipline does right, checked with random packets.
use crate::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rng, Time};

/// Arrivals and departures per seed.
pub const CALLS: u64 = 2000;

/// A packet of these checks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestPacket {
    /// In order of arrival.
    pub number: u64,
    /// From 0 to 5.
    pub flow: u64,
    /// Size on the wire.
    pub len: Bytes,
    /// The ECN bits now.
    pub ecn: Ecn,
    /// The ECN bits on arrival.
    pub sent_ecn: Ecn,
}

impl Packet for TestPacket {
    fn len(&self) -> Bytes {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow_hash(&self, salt: u64) -> u64 {
        Rng::new(salt ^ self.flow).next_u64()
    }
}

/// A random call of a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    /// A packet arrives.
    Enqueue(TestPacket),
    /// The link can send.
    Dequeue,
}

/// Random calls in order of time: overload and idleness, several flows, sizes from an ACK to a full
/// packet, some packets ECN-capable.
pub fn calls(seed: u64, count: u64) -> Vec<(Time, Call)> {
    let mut rng = Rng::new(seed);
    let flows = 1 + rng.below(6);
    let (mut now, mut arrivals, mut number) = (Time::ZERO, 0.5, 0);
    let mut calls = Vec::new();
    for n in 0..count {
        if n % 200 == 0 {
            arrivals = [0.3, 0.5, 0.55, 0.7, 0.95][rng.below(5) as usize];
        }
        // Some at the same time, some after a long pause.
        let pause = [0, 100_000, 1_000_000, 4_000_000, 30_000_000][rng.below(5) as usize];
        now += Duration::from_nanos(rng.below(pause + 1));
        let call = if rng.chance(arrivals) {
            let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][rng.below(4) as usize];
            let len = Bytes([60, 300, 1000, 1514][rng.below(4) as usize]);
            number += 1;
            Call::Enqueue(TestPacket { number, flow: rng.below(flows), len, ecn, sent_ecn: ecn })
        } else {
            Call::Dequeue
        };
        calls.push((now, call));
    }
    calls
}

/// What left a queue in a call.
#[derive(Default, PartialEq, Eq, Debug)]
struct Left {
    sent: Option<(TestPacket, Duration)>,
    dropped: Vec<(TestPacket, DropReason, Duration)>,
    marked: Vec<u64>,
}

impl Sink<TestPacket> for Left {
    fn dropped(&mut self, packet: TestPacket, reason: DropReason, sojourn: Duration, _: Time) {
        self.dropped.push((packet, reason, sojourn));
    }
    fn marked(&mut self, packet: &TestPacket, _: MarkReason, _: Time) {
        self.marked.push(packet.number);
    }
}

/// Calls a queue that `make` creates from each of the seeds.
///
/// - Each packet leaves once, sent or dropped, with the time that it waited.
/// - Only a packet that can carry CE is marked.
/// - The backlog is that of the packets that have not left.
/// - While packets wait, `dequeue` returns one, or `next_ready` is later.
/// - Packets of a flow with the same ECN bits leave in the order of their arrival.
/// - The same calls have the same effect.
///
/// # Errors
/// The first rule that is broken, with its seed and time.
pub fn check<Q: Qdisc<TestPacket>>(
    seeds: impl IntoIterator<Item = u64>,
    make: impl Fn(u64) -> Q,
) -> Result<(), String> {
    for seed in seeds {
        let [mut queue, mut twin] = [make(seed), make(seed)];
        let mut books = Books::default();
        for (now, call) in calls(seed, CALLS) {
            let place = |what: String| format!("seed {seed}, {} s: {what}", now.as_secs_f64());
            let left = apply(&mut queue, &call, now);
            if left != apply(&mut twin, &call, now) {
                return Err(place("the same calls had another effect in a second queue".into()));
            }
            books.enter(&call, &left, now).map_err(place)?;
            books.compare(queue.backlog()).map_err(place)?;
            let next = queue.next_ready(now);
            let is_refused = call == Call::Dequeue && left.sent.is_none() && !books.held.is_empty();
            if is_refused && next.is_none_or(|next| next <= now) {
                return Err(place("packets wait, and next_ready is not later".into()));
            }
            if next.is_some_and(|next| next < now || books.held.is_empty()) {
                return Err(place(format!("next_ready is {next:?}")));
            }
        }
    }
    Ok(())
}

fn apply<Q: Qdisc<TestPacket>>(queue: &mut Q, call: &Call, now: Time) -> Left {
    let mut left = Left::default();
    match call {
        Call::Enqueue(packet) => queue.enqueue(packet.clone(), now, &mut left),
        Call::Dequeue => left.sent = queue.dequeue(now, &mut left),
    }
    left
}

/// What is in the queue.
#[derive(Default)]
struct Books {
    held: BTreeMap<u64, (TestPacket, Time)>,
    marked: BTreeSet<u64>,
    /// The last packet that was sent, by flow and ECN bits on arrival.
    last: BTreeMap<(u64, u8), u64>,
}

impl Books {
    fn enter(&mut self, call: &Call, left: &Left, now: Time) -> Result<(), String> {
        if let Call::Enqueue(packet) = call {
            self.held.insert(packet.number, (packet.clone(), now));
        }
        self.marked.extend(&left.marked);
        for (packet, _, sojourn) in &left.dropped {
            self.leave(packet, *sojourn, now)?;
        }
        let Some((packet, sojourn)) = &left.sent else { return Ok(()) };
        self.leave(packet, *sojourn, now)?;
        let before = self.last.insert((packet.flow, packet.sent_ecn as u8), packet.number);
        if before.is_some_and(|before| before > packet.number) {
            return Err(format!("packet {} was overtaken", packet.number));
        }
        Ok(())
    }
    fn leave(&mut self, packet: &TestPacket, sojourn: Duration, now: Time) -> Result<(), String> {
        let number = packet.number;
        let (arrived, at) = self.held.remove(&number).ok_or_else(|| format!("packet {number} left twice"))?;
        if sojourn != now - at {
            return Err(format!("packet {number} waited {:?}, not {sojourn:?}", now - at));
        }
        let is_changed = packet.ecn != arrived.ecn;
        if is_changed && (arrived.ecn == Ecn::NotEct || packet.ecn != Ecn::Ce) {
            return Err(format!("packet {number} arrived as {:?} and left as {:?}", arrived.ecn, packet.ecn));
        }
        if is_changed && !self.marked.remove(&number) {
            return Err(format!("packet {number} was marked unreported"));
        }
        Ok(())
    }
    fn compare(&self, backlog: Backlog) -> Result<(), String> {
        let bytes = Bytes(self.held.values().map(|(packet, _)| packet.len.get()).sum());
        let held = Backlog { bytes, packets: self.held.len() as u64 };
        if backlog == held { Ok(()) } else { Err(format!("{backlog:?}, not {held:?}")) }
    }
}
