//! Buffers sized by the measured time of service, for Wi-Fi: eBDP and A* of Li, Leith and Malone 2011
//! (arXiv:1101.0562).
use crate::store::Store;
use crate::timer::Timer;
use crate::{Backlog, DropReason, Packet, Qdisc, Sink};
use fathom_units::{Duration, Time};

/// Weight of the newest service time in the average.
const SERVICE_WEIGHT: f64 = 0.001;
/// How often A* moves its second limit.
const TUNE_EVERY: Duration = Duration::from_secs(1);
/// Packets that it grows by for each second in which there was nothing to send.
const IDLE_GAIN: f64 = 10.0;
/// Packets that it shrinks by for each second in which there was: with 10 to 1 the link is busy for 10 / 11 of the time.
const BUSY_LOSS: f64 = 1.0;
/// A* does not go below this: the extra packets of eBDP, which a link with aggregation needs.
const LEAST: f64 = 5.0;

/// Parameters of [`Ebdp`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EbdpParams {
    /// Delay that a full queue may make (T_max); default 200 ms, the largest usual RTT.
    pub delay: Duration,
    /// Packets beyond those (c), for service that comes in bursts; default 5.
    pub extra_packets: u64,
    /// Packets it holds at most; default 400.
    pub limit_packets: u64,
}

/// Parameters of [`Astar`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AstarParams {
    /// Those of its first limit.
    pub ebdp: EbdpParams,
}

/// The mean time that the link takes for a packet, contention and retries included.
#[derive(Clone, Copy, Default, Debug)]
struct Service {
    /// When the packet that is being sent was taken.
    since: Option<Time>,
    /// Seconds.
    mean: Option<f64>,
}

impl Service {
    /// The link asks for the next packet, and there is one: the service of the last has just ended.
    fn on_dequeue(&mut self, has_backlog: bool, now: Time) {
        let since = self.since.take();
        let Some(since) = since.filter(|_| has_backlog) else { return };
        self.since = Some(now);
        let newest = (now - since).as_secs_f64();
        self.mean = Some(self.mean.map_or(newest, |mean| mean + SERVICE_WEIGHT * (newest - mean)));
    }
}

/// Drop-tail with a limit of `delay` / (mean service time) + `extra_packets`.
///
/// Service time is from a dequeue that gave a packet to the next dequeue, if there was backlog then; before the first
/// such measurement the limit is `limit_packets`.
pub struct Ebdp<P> {
    params: EbdpParams,
    service: Service,
    store: Store<P>,
}

impl<P: Packet> Ebdp<P> {
    /// An empty queue. Nothing is left to chance, so the seed does not matter.
    pub fn new(params: EbdpParams, _seed: u64) -> Self {
        Ebdp { params, service: Service::default(), store: Store::new() }
    }

    fn limit(&self) -> u64 {
        let EbdpParams { delay, extra_packets, limit_packets } = self.params;
        let Some(mean) = self.service.mean else { return limit_packets };
        // A float to integer cast saturates.
        ((delay.as_secs_f64() / mean) as u64).saturating_add(extra_packets).min(limit_packets)
    }

    /// Takes `packet` in if there are fewer than `limit` and than its own limit allows.
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

/// A*: the smaller of eBDP's limit and one that is tuned (ALT): each second it grows by 10 packets for every second in
/// which there was nothing to send and shrinks by 1 for every second in which there was, so that flows which share a
/// link get along with less than a delay-bandwidth product.
///
/// It begins at `limit_packets`, which is also its upper bound; 5 packets are the lower.
pub struct Astar<P> {
    queue: Ebdp<P>,
    tuned: f64,
    timer: Timer,
    /// Since when there has been nothing to send.
    idle_since: Option<Time>,
    /// Idle time since the limit was last moved.
    idle: Duration,
}

impl<P: Packet> Astar<P> {
    /// An empty queue. Nothing is left to chance, so the seed does not matter.
    pub fn new(params: AstarParams, seed: u64) -> Self {
        Astar {
            tuned: params.ebdp.limit_packets as f64,
            queue: Ebdp::new(params.ebdp, seed),
            timer: Timer::new(Time::ZERO + TUNE_EVERY, TUNE_EVERY),
            idle_since: Some(Time::ZERO),
            idle: Duration::ZERO,
        }
    }

    /// The moves of the limit that have become due since the last call.
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

    /// Adds the idle time up to `until`, if it is idle.
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
