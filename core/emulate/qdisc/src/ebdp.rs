//! eBDP and A* for Wi-Fi of Li, Leith and Malone 2011 (arXiv:1101.0562).
use crate::store::Store;
use crate::timer::Timer;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink};
use fathom_units::{Duration, Time};

/// EWMA weight of the newest service time.
const SERVICE_WEIGHT: f64 = 0.001;
/// How often A* adjusts its second limit.
const TUNE_EVERY: Duration = Duration::from_secs(1);
/// Packets added to the limit per idle second.
const IDLE_GAIN: f64 = 10.0;
/// Packets subtracted per busy second: with 10 to 1 the link is busy 10 / 11 of the time.
const BUSY_LOSS: f64 = 1.0;
/// A*'s lower bound: the extra packets of eBDP, which a link with aggregation needs.
const LEAST: f64 = 5.0;

/// Parameters of [`Ebdp`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EbdpParams {
    /// Maximum queueing delay (T_max); default 200 ms, the largest common RTT.
    pub delay: Duration,
    /// Additional packets (c) for bursty service; default 5.
    pub extra_packets: u64,
    /// Upper bound of the limit, in packets; default 400.
    pub limit_packets: u64,
}

/// Parameters of [`Astar`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AstarParams {
    /// Parameters of its eBDP limit.
    pub ebdp: EbdpParams,
}

/// The mean time that the link needs per packet, including contention and retries.
#[derive(Clone, Copy, Default, Debug)]
struct Service {
    /// When the packet in service was dequeued.
    since: Option<Time>,
    /// In seconds.
    mean: Option<f64>,
}

impl Service {
    /// The link requests a packet. With a backlog, the service of the previous one has just ended.
    fn on_dequeue(&mut self, has_backlog: bool, now: Time) {
        let since = self.since.take();
        let Some(since) = since.filter(|_| has_backlog) else { return };
        self.since = Some(now);
        let newest = (now - since).as_secs_f64();
        self.mean = Some(self.mean.map_or(newest, |mean| mean + SERVICE_WEIGHT * (newest - mean)));
    }
}

/// Tail drop with a limit of `delay` / (mean service time) + `extra_packets`.
///
/// The service time runs from a dequeue that returned a packet to the next dequeue, if there was
/// backlog then. Before the first measurement the limit is `limit_packets`.
pub struct Ebdp<P> {
    params: EbdpParams,
    service: Service,
    store: Store<P>,
}

impl<P: Packet> Ebdp<P> {
    /// Creates an empty queue. The seed is unused: eBDP makes no random decisions.
    pub fn new(params: EbdpParams, _seed: u64) -> Self {
        Ebdp { params, service: Service::default(), store: Store::new() }
    }

    fn limit(&self) -> u64 {
        let EbdpParams { delay, extra_packets, limit_packets } = self.params;
        let Some(mean) = self.service.mean else { return limit_packets };
        // A float-to-integer cast saturates.
        ((delay.as_secs_f64() / mean) as u64).saturating_add(extra_packets).min(limit_packets)
    }

    /// Queues `packet` unless `limit` or eBDP's limit is reached.
    fn enqueue_below(&mut self, limit: u64, packet: P, now: Time, sink: &mut impl Sink<P>) {
        if self.store.backlog().packets < limit.min(self.limit()) {
            self.store.push(packet, now);
        } else {
            sink.dropped(packet, DropReason::Overlimit, Duration::ZERO, now);
        }
    }
}

impl<P: Packet> Qdisc<P> for Ebdp<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.enqueue_below(u64::MAX, packet, now, sink);
    }
    fn dequeue(&mut self, now: Time, _sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.service.on_dequeue(self.store.head().is_some(), now);
        let stored = self.store.pop()?;
        self.service.since = Some(now);
        Some(stored.leave(now))
    }
    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}

/// A*: the smaller of eBDP's limit and a tuned limit (ALT). Each second the tuned limit grows by 10
/// packets per idle second and shrinks by 1 per busy second, so that flows that share a link get
/// less buffer than one bandwidth-delay product.
///
/// It starts at `limit_packets`, which is also its upper bound; the lower bound is 5 packets.
pub struct Astar<P> {
    queue: Ebdp<P>,
    tuned: f64,
    timer: Timer,
    /// Start of the current idle period; `None` while busy.
    idle_since: Option<Time>,
    /// Idle time since the last adjustment.
    idle: Duration,
}

impl<P: Packet> Astar<P> {
    /// Creates an empty queue. The seed is unused: A* makes no random decisions.
    pub fn new(params: AstarParams, seed: u64) -> Self {
        Astar {
            tuned: params.ebdp.limit_packets as f64,
            queue: Ebdp::new(params.ebdp, seed),
            timer: Timer::new(Time::ZERO + TUNE_EVERY, TUNE_EVERY),
            idle_since: Some(Time::ZERO),
            idle: Duration::ZERO,
        }
    }

    /// Runs the adjustments due since the last call.
    fn catch_up(&mut self, now: Time) {
        while self.timer.is_due(now) {
            self.end_idle(self.timer.last());
            self.tune();
        }
    }

    fn tune(&mut self) {
        let idle = self.idle.as_secs_f64();
        let busy = TUNE_EVERY.as_secs_f64() - idle;
        let most = self.queue.params.limit_packets as f64;
        self.tuned = (self.tuned + IDLE_GAIN * idle - BUSY_LOSS * busy).max(LEAST).min(most);
        self.idle = Duration::ZERO;
    }

    /// Accounts for idle time up to `until`.
    fn end_idle(&mut self, until: Time) {
        if let Some(since) = &mut self.idle_since {
            self.idle += until.saturating_since(*since);
            *since = until;
        }
    }
}

impl<P: Packet> Qdisc<P> for Astar<P> {
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>) {
        self.catch_up(now);
        self.end_idle(now);
        self.idle_since = None;
        self.queue.enqueue_below(self.tuned as u64, packet, now, sink);
    }
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)> {
        self.catch_up(now);
        let taken = self.queue.dequeue(now, sink);
        if taken.is_none() {
            self.idle_since.get_or_insert(now);
        }
        taken
    }
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}
