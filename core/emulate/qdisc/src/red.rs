//! RED: Floyd and Jacobson 1993, with gentle mode (Floyd 2000) and adaptive RED (Floyd, Gummadi,
//! Shenker 2001), and the variant in Linux.
mod classic;
mod linux;

use crate::store::Store;
use crate::timer::Timer;
use crate::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink, Variant};
use classic::Classic;
use fathom_units::{Bytes, Duration, Rate, Ratio, Rng, Time};
use linux::Linux;

/// Interval of adaptive RED's changes. Source: Floyd 2001 section 4; Linux uses the same.
const ADAPT_EVERY: Duration = Duration::from_millis(500);
/// The averaging weight is 2^-n with n below this.
const MAX_WEIGHT_LOG: u32 = 32;

/// Parameters of [`Red`], in tc's terms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedParams {
    /// Which rules to follow: `Rfc` means the papers (no RFC specifies RED; RFC 2309
    /// recommends it), `Linux` means `sch_red` with the parameters that tc derives. See [`Red`].
    pub variant: Variant,
    /// Hard limit in bytes, whatever the average.
    pub limit: Bytes,
    /// Average backlog below which no packet gets a signal.
    pub min: Bytes,
    /// Average backlog from which every packet gets a signal, unless `gentle`.
    pub max: Bytes,
    /// Packet size that `burst` and the idle decay assume.
    pub avpkt: Bytes,
    /// Packets until an empty queue's average reaches `min`; sets the averaging weight.
    pub burst: u32,
    /// Probability of a signal just below `max`; with `adaptive`, the initial value.
    pub probability: Ratio,
    /// Rate of the link, for the decay of the average while the link is idle.
    pub rate: Rate,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Drop from `max` on even with `ecn`.
    pub harddrop: bool,
    /// Let the probability grow to 1 between `max` and twice `max`. Linux has no such mode.
    pub gentle: bool,
    /// Adjust the probability to keep the average within the middle fifth between `min` and `max`.
    pub adaptive: bool,
}

impl RedParams {
    /// The exponent n of the averaging weight 2^-n, as tc derives it: the largest weight with which
    /// `burst` packets into an empty queue leave the average at `min` or below. `None` if there is
    /// none, as when `burst` packets are fewer than `min` holds.
    pub(crate) fn weight_log(&self) -> Option<u32> {
        let burst = f64::from(self.burst);
        let needed = burst + 1.0 - self.min.get() as f64 / self.avpkt.get() as f64;
        let reaches = |log: &u32| {
            let weight = 1.0 / (1_u64 << log) as f64;
            needed <= (1.0 - libm::pow(1.0 - weight, burst)) / weight
        };
        (1..MAX_WEIGHT_LOG).find(reaches).filter(|_| needed >= 1.0)
    }
}

/// The decision based on the average.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signal {
    None,
    Early,
    Forced,
}

/// The two variants.
enum Law {
    Classic(Classic),
    Linux(alloc::boxed::Box<Linux>),
}

/// Random early detection on the average backlog in bytes, which is updated at each arrival.
///
/// The papers: the average has the weight w = 2^-n (n from `burst`, as tc derives it). After an
/// idle time t it decays by (1 - w)^m, with m = t * rate / avpkt packets that could have been sent.
/// Signals are spread evenly by p / (1 - count p). Packets count equally, whatever their size.
///
/// Linux uses the same rules in integers. The idle decay comes from a table of 256 shifts. A signal
/// is due when count * (avg - min) exceeds a random number drawn at the last one. tc computes:
/// - Wlog, the n above.
/// - Scell_log, the smallest k for which 512 * 2^k ticks of 64 ns shift by more than 31.
/// - The table: entry i is i * 2^k ticks over the time of one packet, times -ln(1 - w), truncated,
///   at most 31. (A shift is a power of two, the exponent is natural, so Linux forgets faster.)
/// - Plog, which kernels since 3.3 ignore, because tc sends the probability itself.
pub struct Red<P> {
    params: RedParams,
    law: Law,
    timer: Timer,
    /// Start of the current idle period; `None` while busy.
    idle_since: Option<Time>,
    rng: Rng,
    store: Store<P>,
}

impl<P: Packet> Red<P> {
    /// Creates an empty queue. `seed` determines which packets get a signal.
    pub fn new(params: RedParams, seed: u64) -> Self {
        let law = match params.variant {
            Variant::Rfc => Law::Classic(Classic::new(&params)),
            Variant::Linux => Law::Linux(alloc::boxed::Box::new(Linux::new(&params))),
        };
        Red {
            params,
            law,
            timer: Timer::new(Time::ZERO + ADAPT_EVERY, ADAPT_EVERY),
            idle_since: Some(Time::ZERO),
            rng: Rng::stream(seed, "red"),
            store: Store::new(),
        }
    }

    /// Runs the adaptations due since the last call.
    fn catch_up(&mut self, now: Time) {
        while self.params.adaptive && self.timer.is_due(now) {
            let idle = self.idle_since.map(|since| (since, self.timer.last()));
            match &mut self.law {
                Law::Classic(law) => law.adapt(&self.params, idle),
                Law::Linux(law) => law.adapt(idle),
            }
        }
    }

    fn signal(&mut self, now: Time) -> Signal {
        let (backlog, idle) = (self.store.bytes(), self.idle_since.map(|since| (since, now)));
        match &mut self.law {
            Law::Classic(law) => law.on_arrival(&self.params, backlog, idle, &mut self.rng),
            Law::Linux(law) => law.on_arrival(backlog, idle, &mut self.rng),
        }
    }

    /// Drops an arrival. If the link was idle, it remains idle.
    fn refuse(&mut self, packet: P, reason: DropReason, now: Time, sink: &mut impl Sink<P>) {
        self.idle_since = self.idle_since.map(|_| now);
        sink.dropped(packet, reason, Duration::ZERO, now);
    }
}

impl<P: Packet> Qdisc<P> for Red<P> {
    fn enqueue(&mut self, mut packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.catch_up(now);
        let signal = self.signal(now);
        if signal != Signal::None {
            let may_mark = self.params.ecn && !(self.params.harddrop && signal == Signal::Forced);
            if !may_mark || packet.ecn() == Ecn::NotEct {
                return self.refuse(packet, DropReason::Aqm, now, sink);
            }
        }
        if self.store.bytes() + packet.len() > self.params.limit {
            return self.refuse(packet, DropReason::Overlimit, now, sink);
        }
        if signal != Signal::None {
            packet.set_ce();
            sink.marked(&packet, MarkReason::Aqm, now);
        }
        self.idle_since = None;
        self.store.push(packet, now);
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.catch_up(now);
        let Some(stored) = self.store.pop() else {
            self.idle_since.get_or_insert(now);
            return None;
        };
        Some(stored.leave(now))
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}
