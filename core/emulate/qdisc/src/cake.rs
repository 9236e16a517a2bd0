//! CAKE: a shaper, tins, fair queueing between hosts and flows, and COBALT on each queue. Sources:
//! Høiland-Jørgensen, Täht and Morton, "Piece of CAKE" (LANMAN 2018, arXiv:1804.07617),
//! `tc-cake(8)`, and the behavior of Linux 6.12.
mod ack;
mod autorate;
mod cobalt;
mod diffserv;
mod framing;
mod hash;
mod hosts;
mod longest;
mod params;
mod ring;
mod rounds;
mod service;
mod shaper;
mod tin;

pub use diffserv::{Diffserv, TinParams};
pub use framing::{Cells, Framing, SizeBase};
pub use params::{AckFilter, CakeParams, Isolation};

use crate::store::Stored;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink};
use alloc::boxed::Box;
use alloc::vec::Vec;
use autorate::Estimator;
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Rate, Rng, Time};
use hash::PLACES;
use longest::Longest;
use shaper::{Pace, Shaper};
use tin::Tin;

/// A full Ethernet frame, the unit of packet times and quanta.
const FULL_PACKET: Bytes = ETHERNET_FULL_FRAME;
const MAX_TINS: usize = 8;
/// Bounds of the default memory limit: 4 MiB, and 10240 full packets. Source: `sch_cake`.
const MIN_MEMORY: u64 = 4 << 20;
const MAX_MEMORY: u64 = 10_240 * FULL_PACKET.get();

/// CAKE.
///
/// Apart from what the fields of [`CakeParams`] say, it differs from Linux 6.12 as follows:
/// - Clocks count fractions of a nanosecond, so every rate is exact.
/// - The flows of a host share a quantum to 1/65536 of a byte, without random rounding. Rounds in
///   which nothing can be sent are skipped, so the number of flows per host costs no time.
/// - A packet that COBALT marks and BLUE then drops is not counted as marked.
/// - The ACK filter acts when a pure ACK arrives. Linux also lets data segments replace pure ACKs.
/// - `autorate-ingress` starts at the first packet and changes the rate at most every 250 ms.
pub struct Cake<P> {
    state: Box<State<P>>,
}

struct State<P> {
    params: CakeParams,
    salt: u64,
    rng: Rng,
    shaper: Shaper,
    tins: Vec<Tin<P>>,
    /// The tin whose turn it is; used without a shaper.
    current: usize,
    longest: Longest,
    backlog: Backlog,
    memory: Bytes,
    estimator: Estimator,
}

/// A queue of a tin.
#[derive(Clone, Copy)]
struct Place {
    tin: usize,
    queue: usize,
}

impl CakeParams {
    fn memory_at(&self, rate: Option<Rate>) -> Bytes {
        let needed = rate.map_or(MAX_MEMORY, |rate| rate.bytes_in(self.rtt).get().saturating_mul(4));
        self.memory.unwrap_or(Bytes(needed.clamp(MIN_MEMORY, MAX_MEMORY)))
    }
}

impl<P: Packet> Cake<P> {
    /// Creates empty queues. `seed` determines hash collisions and random decisions.
    pub fn new(params: CakeParams, seed: u64) -> Self {
        let tins = params.diffserv.tins(params.rate, params.rtt);
        let mut rng = Rng::stream(seed, "cake");
        Cake {
            state: Box::new(State {
                params,
                salt: rng.next_u64(),
                rng,
                shaper: Shaper::new(Pace::of(params.rate)),
                longest: Longest::new(tins.len() * PLACES),
                tins: tins.iter().map(|tin| Tin::new(tin, params.isolation, params.variant)).collect(),
                current: 0,
                backlog: Backlog::default(),
                memory: params.memory_at(params.rate),
                estimator: Estimator::new(params.rate),
            }),
        }
    }
}

impl<P: Packet> State<P> {
    fn set_rate(&mut self, rate: Rate, now: Time) {
        let params = self.params.diffserv.tins(Some(rate), self.params.rtt);
        self.tins.iter_mut().zip(&params).for_each(|(tin, params)| tin.set(params));
        self.shaper.set_pace(Pace::of(Some(rate)), now);
        self.memory = self.params.memory_at(Some(rate));
    }

    /// Selects the tin of `packet` and clears its DSCP if configured (`wash`).
    fn classify(&self, packet: &mut P) -> usize {
        let dscp = packet.dscp();
        if self.params.wash && dscp != 0 {
            packet.set_dscp(0);
        }
        self.params.diffserv.tin(dscp)
    }

    /// Advances the clocks of idle parts to `now`.
    fn wake(&mut self, tin: usize, now: Time) {
        if self.tins[tin].packets == 0 {
            self.tins[tin].clock.wake(now);
        }
        if self.backlog.packets == 0 {
            self.shaper.wake(now);
        }
    }

    fn push(&mut self, place: Place, packet: P, now: Time) {
        self.backlog.packets += 1;
        self.backlog.bytes += packet.len();
        let tin = &mut self.tins[place.tin];
        tin.packets += 1;
        tin.flows[place.queue].store.push(packet, now);
        self.weigh(place);
    }
    fn pop(&mut self, place: Place) -> Option<Stored<P>> {
        let stored = self.tins[place.tin].flows[place.queue].store.pop()?;
        self.took(place, &stored);
        Some(stored)
    }
    /// Updates the totals after a packet was removed.
    fn took(&mut self, place: Place, stored: &Stored<P>) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= stored.packet.len();
        self.tins[place.tin].packets -= 1;
        self.weigh(place);
    }
    fn weigh(&mut self, place: Place) {
        let bytes = self.tins[place.tin].flows[place.queue].store.bytes();
        self.longest.set(place.tin * PLACES + place.queue, bytes.get());
    }

    fn filter_acks(&mut self, place: Place, now: Time, sink: &mut impl Sink<P>) {
        let filter = self.params.ack_filter;
        if filter == AckFilter::Off {
            return;
        }
        let store = &mut self.tins[place.tin].flows[place.queue].store;
        let needless = ack::needless(store, filter).and_then(|at| store.remove(at));
        if let Some(stored) = needless {
            self.took(place, &stored);
            self.drop_charged(place, stored, DropReason::AckFilter, now, sink);
        }
    }

    fn make_room(&mut self, now: Time, sink: &mut impl Sink<P>) {
        while self.backlog.bytes > self.memory {
            let Some(longest) = self.longest.queue() else { return };
            let place = Place { tin: longest / PLACES, queue: longest % PLACES };
            let Some(stored) = self.pop(place) else { return };
            self.tins[place.tin].overflowed(place.queue, now);
            self.drop_charged(place, stored, DropReason::Overlimit, now, sink);
        }
    }

    /// Drops a packet and charges it on ingress. Returns the bytes charged.
    fn drop_charged(
        &mut self,
        place: Place,
        stored: Stored<P>,
        reason: DropReason,
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> u64 {
        let charged = if self.params.ingress { self.params.framing.charged(&stored.packet) } else { 0 };
        if charged > 0 {
            self.tins[place.tin].clock.charge(charged, now);
            self.shaper.charge_dropped(charged);
        }
        stored.drop_into(reason, now, sink);
        charged
    }
}

impl<P: Packet> Qdisc<P> for Cake<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, sink: &mut impl Sink<P>) {
        let state = &mut *self.state;
        let tin = state.classify(&mut packet);
        let queue = state.tins[tin].queue_of(&packet, state.params.isolation, state.salt);
        let (place, len) = (Place { tin, queue }, packet.len());
        state.wake(tin, now);
        state.push(place, packet, now);
        state.filter_acks(place, now, sink);
        if state.params.autorate
            && let Some(rate) = state.estimator.arrived(len, now)
        {
            state.set_rate(rate, now);
        }
        state.tins[tin].filled(queue);
        state.make_room(now, sink);
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.state.dequeue(now, sink)
    }
    fn next_ready(&self, now: Time) -> Option<Time> {
        let state = &*self.state;
        (state.backlog.packets > 0).then(|| state.shaper.ready_at().max(now))
    }
    fn backlog(&self) -> Backlog {
        self.state.backlog
    }
}
