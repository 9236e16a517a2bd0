//! DualPI2, RFC 9332 (coupled dual-queue AQM for L4S), and the variant in Linux 6.17.
mod pi;

use crate::store::{Store, Stored};
use crate::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink, Variant};
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Ratio, Rng, Time};
use pi::Pi;

/// MTU of an Ethernet interface plus the header. It scales the scheduler's credit. In Linux, a
/// backlog of up to twice this is not a standing queue.
const MTU: Bytes = ETHERNET_FULL_FRAME;

/// Parameters of [`DualPi2`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualPi2Params {
    /// Which rules to follow: see [`DualPi2`].
    pub variant: Variant,
    /// Limit in packets, over both queues; default 10000.
    pub limit_packets: u64,
    /// Target delay of the Classic queue; default 15 ms.
    pub target: Duration,
    /// Update interval of the probability; default 15 ms, in the Linux variant 16 ms.
    pub tupdate: Duration,
    /// Integral gain: weight of the delay's distance from target, in 1/s; default 0.15, Linux 0.16.
    pub alpha: f64,
    /// Proportional gain: weight of the delay's change, in 1/s; default 3, Linux 3.2.
    pub beta: f64,
    /// Coupling factor k: L4S marks have k times the root of a Classic signal's probability;
    /// default 2.
    pub coupling_factor: u32,
    /// Lower end of the RFC's ramp: no L4S marks up to this sojourn; default 800 us.
    pub min_th: Duration,
    /// Width of the ramp: every L4S packet is marked from `min_th` + `range` on; default 400 us.
    pub range: Duration,
    /// Linux's step threshold: L4S packets are marked above this sojourn; default 1 ms.
    pub step_thresh: Duration,
    /// Share of the link for the Classic queue while both have packets; default 10 %.
    pub classic_protection: Ratio,
    /// When all L4S packets are marked, drop some too; if false, both queues grow up to the limit.
    pub drop_on_overload: bool,
}

/// The two queues, in the order of `stores`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Queue {
    L4s = 0,
    Classic = 1,
}

/// The decision on a head packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pass,
    Mark(MarkReason),
    Drop,
}

/// One queue for ECT(1) and CE packets, which are marked early and often, and one for all others,
/// which get signals with probability p^2. Thus both kinds of flows get about the same rate.
///
/// Signals are decided at dequeue. The L4S queue has priority, except for the Classic queue's share
/// by weighted round robin (RFC 9332 section 4.2.2 leaves the scheduler open; this is Linux's).
///
/// - RFC 9332 appendix A: L4S packets are marked with the larger of k p and a ramp over their own
///   sojourn. Signals are spread evenly by accumulating probabilities. On overload (k p of 1 or
///   more) both queues drop, ECN or not. (Here the only packet left is not dropped, since the link
///   would have nothing to send in its place.)
/// - Linux: L4S packets are marked with probability k p, and always above a step threshold. Signals
///   are random; Classic ones take two random draws. Except for the step there are no signals with
///   less than two packets of 1514 bytes left.
pub struct DualPi2<P> {
    params: DualPi2Params,
    pi: Pi,
    stores: [Store<P>; 2],
    /// Accumulated probability of each queue.
    sums: [f64; 2],
    /// Above zero, the Classic queue is next.
    credit: f64,
    rng: Rng,
}

impl<P: Packet> DualPi2<P> {
    /// Creates empty queues. `seed` determines which packets get a signal in the Linux variant.
    pub fn new(params: DualPi2Params, seed: u64) -> Self {
        DualPi2 {
            params,
            pi: Pi::new(&params),
            stores: [Store::new(), Store::new()],
            sums: [0.0; 2],
            credit: initial_credit(&params),
            rng: Rng::stream(seed, "dualpi2"),
        }
    }

    fn catch_up(&mut self, now: Time) {
        let heads = [0, 1].map(|queue| self.stores[queue].head().map(|stored| stored.arrived));
        self.pi.catch_up(&self.params, heads, now);
    }

    fn has(&self, queue: Queue) -> bool {
        self.stores[queue as usize].head().is_some()
    }

    /// The next queue, and its credit per byte sent: zero if the other queue is empty.
    fn turn(&self) -> Option<(Queue, f64)> {
        let classic = self.params.classic_protection.0;
        match (self.has(Queue::L4s), self.has(Queue::Classic)) {
            (false, false) => None,
            (true, false) => Some((Queue::L4s, 0.0)),
            (false, true) => Some((Queue::Classic, 0.0)),
            (true, true) if self.credit <= 0.0 => Some((Queue::L4s, classic)),
            (true, true) => Some((Queue::Classic, classic - 1.0)),
        }
    }

    fn verdict(&mut self, queue: Queue, packet: &P, sojourn: Duration) -> Verdict {
        match self.params.variant {
            Variant::Rfc => self.verdict_rfc(queue, packet, sojourn),
            Variant::Linux => self.verdict_linux(queue, packet, sojourn),
        }
    }

    /// True for a fraction `probability` of the calls for a queue, evenly spaced.
    fn recurs(&mut self, queue: Queue, probability: f64) -> bool {
        let sum = &mut self.sums[queue as usize];
        *sum += probability;
        let is_due = *sum > 1.0;
        *sum -= f64::from(u8::from(is_due));
        is_due
    }

    fn verdict_rfc(&mut self, queue: Queue, packet: &P, sojourn: Duration) -> Verdict {
        let (p, coupled) = (self.pi.probability(), self.pi.coupled(&self.params));
        let is_overload = coupled >= 1.0 && self.params.drop_on_overload;
        if (queue == Queue::Classic || is_overload) && self.recurs(queue, p * p) {
            let may_mark = queue == Queue::Classic && packet.ecn() != Ecn::NotEct && !is_overload;
            let is_last = self.backlog().packets == 0;
            return match may_mark {
                true => Verdict::Mark(MarkReason::Aqm),
                false if is_last => Verdict::Pass,
                false => Verdict::Drop,
            };
        }
        if queue == Queue::Classic {
            return Verdict::Pass;
        }
        let native = if is_overload { 0.0 } else { self.ramp(sojourn) };
        let is_due = self.recurs(queue, coupled.max(native).min(1.0));
        if is_due { Verdict::Mark(MarkReason::Aqm) } else { Verdict::Pass }
    }

    fn ramp(&self, sojourn: Duration) -> f64 {
        let above = sojourn.saturating_sub(self.params.min_th).as_secs_f64();
        (above / self.params.range.as_secs_f64()).min(1.0)
    }

    fn verdict_linux(&mut self, queue: Queue, packet: &P, sojourn: Duration) -> Verdict {
        let is_standing = self.backlog().bytes.get() >= 2 * MTU.get();
        let verdict = if is_standing { self.roll(queue, packet) } else { Verdict::Pass };
        let is_late = queue == Queue::L4s && sojourn > self.params.step_thresh;
        if verdict == Verdict::Pass && is_late && packet.ecn() != Ecn::Ce {
            return Verdict::Mark(MarkReason::Threshold);
        }
        verdict
    }

    fn roll(&mut self, queue: Queue, packet: &P) -> Verdict {
        let (p, coupled) = (self.pi.probability(), self.pi.coupled(&self.params));
        let is_overload = coupled > 1.0;
        if queue == Queue::L4s && !is_overload {
            let is_due = self.rng.chance(coupled);
            return if is_due { Verdict::Mark(MarkReason::Aqm) } else { Verdict::Pass };
        }
        let is_due = self.rng.chance(p) && self.rng.chance(p);
        match (queue, is_due) {
            (Queue::L4s, false) => Verdict::Mark(MarkReason::Aqm),
            (Queue::Classic, false) => Verdict::Pass,
            (Queue::Classic, true) if !is_overload && packet.ecn() != Ecn::NotEct => {
                Verdict::Mark(MarkReason::Aqm)
            }
            _ => Verdict::Drop,
        }
    }

    /// Marks or drops the packet as decided. Returns it unless it was dropped.
    fn apply(
        &mut self,
        queue: Queue,
        mut stored: Stored<P>,
        now: Time,
        sink: &mut impl Sink<P>,
    ) -> Option<Stored<P>> {
        match self.verdict(queue, &stored.packet, stored.sojourn(now)) {
            Verdict::Pass => {}
            Verdict::Mark(reason) => {
                stored.packet.set_ce();
                sink.marked(&stored.packet, reason, now);
            }
            Verdict::Drop => {
                stored.drop_into(DropReason::Aqm, now, sink);
                return None;
            }
        }
        Some(stored)
    }
}

/// Favors the queue with the larger weight by one full packet.
fn initial_credit(params: &DualPi2Params) -> f64 {
    MTU.get() as f64 * (2.0 * params.classic_protection.0 - 1.0)
}

impl<P: Packet> Qdisc<P> for DualPi2<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.catch_up(now);
        if self.backlog().packets >= self.params.limit_packets {
            return sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
        let is_l4s = matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce);
        let queue = if is_l4s { Queue::L4s } else { Queue::Classic };
        self.stores[queue as usize].push(packet, now);
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.catch_up(now);
        while let Some((queue, worth)) = self.turn() {
            let stored = self.stores[queue as usize].pop()?;
            if let Some(stored) = self.apply(queue, stored, now, sink) {
                self.credit += worth * stored.packet.len().get() as f64;
                return Some(stored.leave(now));
            }
        }
        self.credit = initial_credit(&self.params);
        None
    }
    fn backlog(&self) -> Backlog {
        let [l4s, classic] = [0, 1].map(|queue| self.stores[queue].backlog());
        Backlog { bytes: l4s.bytes + classic.bytes, packets: l4s.packets + classic.packets }
    }
}
