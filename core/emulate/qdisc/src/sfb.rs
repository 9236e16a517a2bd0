//! SFB, stochastic fair BLUE (Feng, Kandlur, Saha, Shin 2001), as in Linux.
mod bins;

use crate::store::Store;
use crate::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use bins::{Bins, CERTAIN, Fullness};
use fathom_units::{Duration, Ratio, Rng, Time};

/// The penalty box accumulates tokens for at most this long.
const MAX_TOKEN_AGE: Duration = Duration::from_secs(10);

/// Parameters of [`Sfb`]. The defaults are those that tc sends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SfbParams {
    /// Limit in packets; default 1000.
    pub limit_packets: u64,
    /// Packets per flow, measured by its emptiest bin; default 25.
    pub max: u16,
    /// Packets in a bin at which its probability rises; default 20.
    pub target: u16,
    /// Added to a bin's probability at an arrival that finds `target` packets in it; default 1/2000
    /// (the kernel's own default, which tc overrides, is 1/1000). In steps of 1/65535.
    pub increment: Ratio,
    /// Subtracted at an arrival that finds it empty; default 1/20000 (the kernel's is 1/6000).
    pub decrement: Ratio,
    /// Interval of hash changes, so that flows share bins for a limited time; default 600 s.
    pub rehash: Duration,
    /// How long before a change unresponsive flows also count in the next bins; default 60 s.
    pub db: Duration,
    /// Packets per second that all flows with a probability of 1 may send together; default 10.
    pub penalty_rate: u32,
    /// Burst of these flows in packets; default 20.
    pub penalty_burst: u32,
}

/// The rate limit of unresponsive flows.
struct PenaltyBox {
    tokens: u64,
    filled: Time,
}

impl PenaltyBox {
    fn admits(&mut self, params: &SfbParams, now: Time) -> bool {
        if self.tokens == 0 {
            let age = (now - self.filled).min(MAX_TOKEN_AGE);
            let grown = age.as_nanos() * u64::from(params.penalty_rate) / Duration::from_secs(1).as_nanos();
            self.tokens = grown.min(u64::from(params.penalty_burst));
            self.filled = now;
        }
        let admits = self.tokens > 0;
        self.tokens -= u64::from(admits);
        admits
    }
}

/// A single queue. Each flow is counted in 8 of 8 * 16 bins, one per level. Each bin has a
/// probability that follows BLUE's rules for its packets. A flow gets signals with the lowest of
/// its 8, so it is affected only if it shares all of them with greedy flows.
///
/// A flow with a probability of 1 is unresponsive and is rate-limited. Above a probability of one
/// half, ECN-capable packets are dropped too, increasingly often. With these defaults a single TCP
/// flow gets about half of a 20 Mbit/s link, because a bin's target is smaller than its window.
pub struct Sfb<P> {
    params: SfbParams,
    bins: Box<[Bins; 2]>,
    /// Index of the bins that decide.
    active: usize,
    changed: Time,
    penalty: PenaltyBox,
    rng: Rng,
    store: Store<P>,
    /// For each packet in `store`, its hash in both sets of bins; 0 where it is not counted.
    hashes: VecDeque<[u32; 2]>,
}

impl<P: Packet> Sfb<P> {
    /// Creates an empty queue. `seed` determines shared bins and the random signals.
    pub fn new(params: SfbParams, seed: u64) -> Self {
        let mut rng = Rng::stream(seed, "sfb");
        let bins = Box::new(core::array::from_fn(|_| Bins::new(&params, rng.next_u64())));
        Sfb {
            params,
            bins,
            active: 0,
            changed: Time::ZERO,
            penalty: PenaltyBox { tokens: u64::from(params.penalty_burst), filled: Time::ZERO },
            rng,
            store: Store::new(),
            hashes: VecDeque::new(),
        }
    }

    /// Changes the hash when it is due. Like Linux, this happens only at arrivals.
    fn rehash(&mut self, now: Time) {
        if now - self.changed > self.params.rehash {
            self.bins[self.active].salt = self.rng.next_u64();
            self.active ^= 1;
            self.changed = now;
        }
    }

    /// True if the next bins are already being filled.
    fn is_warming(&self, now: Time) -> bool {
        now - self.changed > self.params.rehash.saturating_sub(self.params.db)
    }

    /// Decides on a packet that the emptiest bin has room for, and may mark it. True to enqueue.
    fn admits(&mut self, packet: &mut P, probability: u16, now: Time, sink: &mut impl Sink<P>) -> bool {
        let random = (self.rng.next_u64() >> 48) as u16;
        if random >= probability {
            return true;
        }
        let half = CERTAIN / 2;
        let is_crowded = probability > half && u32::from(random) < u32::from(probability - half) * 2;
        if is_crowded || packet.ecn() == Ecn::NotEct {
            return false;
        }
        packet.set_ce();
        sink.marked(packet, MarkReason::Aqm, now);
        true
    }

    /// The reason to drop `packet`, if any. Fills `hashes` with the bins to count it in.
    fn judge(
        &mut self,
        packet: &mut P,
        hashes: &mut [u32; 2],
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> Option<DropReason> {
        if self.store.backlog().packets >= self.params.limit_packets {
            return Some(DropReason::Overlimit);
        }
        self.rehash(now);
        let (active, next) = (self.active, self.active ^ 1);
        hashes[active] = self.bins[active].hash(packet);
        let Fullness { packets, probability } = self.bins[active].on_arrival(hashes[active]);
        if packets >= self.params.max {
            return Some(DropReason::Overlimit);
        }
        let may_enter = if probability == CERTAIN {
            if self.is_warming(now) {
                hashes[next] = self.bins[next].hash(packet);
                self.bins[next].on_arrival(hashes[next]);
            }
            self.penalty.admits(&self.params, now)
        } else {
            self.admits(packet, probability, now, sink)
        };
        (!may_enter).then_some(DropReason::Aqm)
    }
}

impl<P: Packet> Qdisc<P> for Sfb<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, sink: &mut impl Sink<P>) {
        let mut hashes = [0; 2];
        if let Some(reason) = self.judge(&mut packet, &mut hashes, now, sink) {
            return sink.dropped(packet, reason, Duration::ZERO, now);
        }
        self.bins.iter_mut().zip(hashes).for_each(|(bins, hash)| bins.add(hash));
        self.hashes.push_back(hashes);
        self.store.push(packet, now);
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        let stored = self.store.pop()?;
        let hashes = self.hashes.pop_front().unwrap_or_default();
        self.bins.iter_mut().zip(hashes).for_each(|(bins, hash)| bins.remove(hash));
        Some(stored.leave(now))
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
