//! DualPI2, RFC 9332 (coupled dual-queue AQM for L4S), and Linux's of 6.17.
mod pi;

use crate::store::{Store, Stored};
use crate::{Backlog, DropReason, Ecn, MarkReason, Packet, Qdisc, Sink, Variant};
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Ratio, Rng, Time};
use pi::Pi;

/// An Ethernet interface's MTU with its header: scales the scheduler's credit, and in Linux twice this much backlog is
/// no standing queue.
const MTU: Bytes = ETHERNET_FULL_FRAME;

/// Parameters of [`DualPi2`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualPi2Params {
    /// Whose rules: see [`DualPi2`].
    pub variant: Variant,
    /// Packets that both queues hold together; default 10000.
    pub limit_packets: u64,
    /// Delay to hold in the Classic queue; default 15 ms.
    pub target: Duration,
    /// Time between two updates of the probability; default 15 ms, with Linux's rules 16 ms.
    pub tupdate: Duration,
    /// Weight of the delay's distance from target, in 1/s; default 0.15, Linux 0.16.
    pub alpha: f64,
    /// Weight of the delay's change, in 1/s; default 3, Linux 3.2.
    pub beta: f64,
    /// L4S marks are this many times as likely as the root of the Classic probability (k); default 2.
    pub coupling_factor: u32,
    /// The RFC's ramp: no L4S mark up to this sojourn; default 800 us.
    pub min_th: Duration,
    /// The ramp's width: every L4S packet is marked from `min_th` + `range` on; default 400 us.
    pub range: Duration,
    /// Linux's step: L4S packets are marked above this sojourn; default 1 ms.
    pub step_thresh: Duration,
    /// Share of the link that the Classic queue keeps while both have packets; default 10 %.
    pub classic_protection: Ratio,
    /// When L4S marks reach 100 %, drop L4S packets too, to keep the delay; else both queues grow up to the limit.
    pub drop_on_overload: bool,
}

/// The two queues, in the order of their stores.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Queue {
    L4s = 0,
    Classic = 1,
}

/// What becomes of a packet at the head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pass,
    Mark(MarkReason),
    Drop,
}

/// A queue for ECT(1) and CE packets, which are marked early and often, and one for all others, where the same controller
/// gives signals with the square of its probability p, so that both kinds of flows get about the same rate.
///
/// Both decide when a packet leaves. The L4S queue goes first, but for the Classic queue's share by weighted round robin
/// (RFC 9332 section 4.2.2 leaves the scheduler open; this is Linux's).
///
/// - RFC 9332 appendix A: L4S packets are marked with the larger of a ramp in their own sojourn and k p; signals are
///   spread evenly by adding up probabilities. Overload (k p of 1 or more) drops from both queues, ECN or not. (Here a
///   packet that leaves nothing behind is not dropped, as the link would find nothing in its place.)
/// - Linux: marks with k p and, besides, above a step; signals by chance, Classic ones by two rolls; nothing with less
///   than two packets of 1514 bytes left, but for the step.
pub struct DualPi2<P> {
    params: DualPi2Params,
    pi: Pi,
    stores: [Store<P>; 2],
    /// Added-up probabilities of each queue.
    sums: [f64; 2],
    /// Above zero it is the Classic queue's turn.
    credit: f64,
    rng: Rng,
}

impl<P: Packet> DualPi2<P> {
    /// Empty queues; `seed` sets which packets get a signal with Linux's rules.
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

    /// The queue whose turn it is, and the credit that each byte sent is worth: none if it is alone.
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

    /// True for a share `probability` of its calls on a queue, evenly spread.
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

    /// The packet, unless it is dropped here.
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

/// In favour of the queue with the larger weight, by one full packet.
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
