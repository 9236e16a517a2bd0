//! Sends bursts through an emulated link.
use fathom_burst::{Buffer, BurstPlan, BurstPlanner, estimate, responses};
use fathom_link::{Bottleneck, BottleneckParams, Event, ImpairmentParams, Observer, TransmitterParams};
use fathom_qdisc::Packet;
use fathom_run::Burst;
use fathom_units::{Bytes, Direction, Duration, Ecn, Rate, Rng, Time};

#[derive(Clone, Debug)]
pub(crate) struct Datagram {
    /// `None`: of another flow.
    pub(crate) number: Option<usize>,
    pub(crate) len: u64,
    pub(crate) flow: u64,
    pub(crate) ecn: Ecn,
}

impl Packet for Datagram {
    fn len(&self) -> Bytes {
        Bytes(self.len)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow_hash(&self, salt: u64) -> u64 {
        self.flow ^ salt
    }
}

pub(crate) struct Nobody;
impl Observer<Datagram> for Nobody {
    fn event(&mut self, _: Event<'_, Datagram>, _: Time) {}
}

/// Offset of the receiver's clock.
const OFFSET_NS: u64 = 5_000_000_000;

/// A link whose packets have 14 more bytes than those of IP, and 10 ms of delay.
pub(crate) fn link(queue: &str, rate: &str, loss: &str, seed: u64) -> Bottleneck<Datagram> {
    let params = BottleneckParams {
        transmitter: TransmitterParams::Fixed(Some(rate.parse().unwrap())),
        delay: Duration::from_millis(10),
        queue: queue.parse().unwrap(),
        overhead: Bytes(14),
        impairment: ImpairmentParams { loss: loss.parse().unwrap(), ..ImpairmentParams::default() },
    };
    Bottleneck::new(&params, seed)
}

/// Such links in a row, behind which the receiver records arrivals.
pub(crate) struct Path {
    links: Vec<Bottleneck<Datagram>>,
    /// Of the first link.
    rate: Rate,
    /// Longest IP packet that passes.
    pub(crate) mtu: u64,
    /// The sender pauses for 10 ms this often, and then sends what is due at once, ns.
    pub(crate) stalls_every: u64,
    /// It pauses after it sent a datagram, and before it reads its clock.
    pub(crate) stamps_late: bool,
    now: u64,
    pub(crate) sent_bytes: u64,
}

impl Path {
    pub(crate) fn new(queue: &str, rate: &str) -> Self {
        Self::lossy(queue, rate, "0%", 7)
    }
    /// As `new`, behind which a share of all packets is lost.
    pub(crate) fn lossy(queue: &str, rate: &str, loss: &str, seed: u64) -> Self {
        let (link, rate) = (link(queue, rate, loss, seed), rate.parse().unwrap());
        Path {
            links: vec![link],
            rate,
            mtu: u64::MAX,
            stalls_every: u64::MAX,
            stamps_late: false,
            now: 0,
            sent_bytes: 0,
        }
    }
    /// As this path, with another link behind it.
    pub(crate) fn then(mut self, queue: &str, rate: &str) -> Self {
        self.links.push(link(queue, rate, "0%", 7));
        self
    }
    /// What arrives until `now`.
    fn advance(&mut self, now: Time, out: &mut impl FnMut(Datagram, Time)) {
        let mut passed = Vec::new();
        for link in &mut self.links {
            let mut next = Vec::new();
            for (datagram, at) in passed.drain(..) {
                link.advance(at, &mut Nobody, &mut |p, t| next.push((p, t)));
                link.arrive(datagram, at, &mut Nobody);
            }
            link.advance(now, &mut Nobody, &mut |p, t| next.push((p, t)));
            passed = next;
        }
        passed.into_iter().for_each(|(datagram, at)| out(datagram, at));
    }
    /// Sends a burst; probes of another flow use 1 % of the link.
    pub(crate) fn send(&mut self, plan: &BurstPlan) -> Burst {
        let sent_ns = departures(plan, self.now, self.stalls_every);
        let end = *sent_ns.last().unwrap();
        let every = (30.0 * 1442.0 * 8e9 / self.rate.as_bits_per_second() as f64).max(20e6) as u64;
        let mut all: Vec<(u64, Option<usize>)> =
            sent_ns.iter().enumerate().map(|(i, at)| (*at, Some(i))).collect();
        all.extend((self.now..end).step_by(every as usize).map(|at| (at, None)));
        all.sort_unstable();
        let (mut received_ns, mut ce) = (vec![None; sent_ns.len()], Vec::new());
        let mut out = |p: Datagram, t: Time| {
            if let Some(number) = p.number {
                received_ns[number] = Some(t.as_nanos() + OFFSET_NS);
                ce.extend((p.ecn == Ecn::Ce).then_some(number as u32));
            }
        };
        for (at, number) in all {
            let now = Time::from_nanos(at);
            self.advance(now, &mut out);
            let len = if number.is_some() { u64::from(plan.payload_bytes) + 28 } else { 92 };
            let flow = number.is_some().into();
            if len <= self.mtu {
                let ecn = number.map_or(Ecn::NotEct, |number| plan.ecn_of(number as u32));
                self.links[0].arrive(Datagram { number, len, flow, ecn }, now, &mut Nobody);
            }
        }
        self.now = end + 60_000_000_000;
        self.advance(Time::from_nanos(self.now), &mut out);
        self.sent_bytes += plan.bytes().get();
        let is_pause = |apart: u64| (9_000_000..13_000_000).contains(&apart);
        let stamp = |pair: &[u64]| if is_pause(pair[1] - pair[0]) { pair[1] } else { pair[0] };
        let stamps = match self.stamps_late {
            true => sent_ns.windows(2).map(stamp).chain(sent_ns.last().copied()).collect(),
            false => sent_ns,
        };
        Burst { ce, ..burst(plan, stamps, received_ns) }
    }
    /// The bursts that `budget` bytes in one direction allow.
    pub(crate) fn bursts(&mut self, budget: u64) -> Vec<Burst> {
        bursts(BurstPlanner::new(Bytes(budget)), |plan| self.send(plan))
    }
    /// What they show.
    pub(crate) fn measure(&mut self, budget: u64) -> Option<Buffer> {
        estimate(&responses(&self.bursts(budget)))
    }
    /// What bursts show that only fill the buffer.
    pub(crate) fn check(&mut self, budget: u64) -> Option<Buffer> {
        estimate(&responses(&bursts(BurstPlanner::check(Bytes(budget)), |plan| self.send(plan))))
    }
}

fn bursts(mut planner: BurstPlanner, mut send: impl FnMut(&BurstPlan) -> Burst) -> Vec<Burst> {
    let mut bursts = Vec::new();
    while let Some(plan) = planner.next_burst() {
        bursts.push(send(&plan));
        planner.add(&bursts[bursts.len() - 1]);
    }
    bursts
}

/// When a host sends the datagrams that starts at `start` and needs 2 us for each.
pub(crate) fn departures(plan: &BurstPlan, start: u64, stalls_every: u64) -> Vec<u64> {
    let after = (30_000_000_000 / plan.apart.as_nanos()).min(500) as u32;
    let mut at = start;
    let numbers = 0..plan.before + plan.count + after;
    let send = |number| {
        at = (start + plan.offset(number).as_nanos()).max(at + 2_000);
        let (stall, since) = (at / stalls_every, at % stalls_every);
        if stall > 0 && since < 10_000_000 {
            at = stall * stalls_every + 10_000_000;
        }
        at
    };
    numbers.map(send).collect()
}

/// The record of a burst. No more are sent when one after it hardly waits.
pub(crate) fn burst(plan: &BurstPlan, mut sent_ns: Vec<u64>, mut received_ns: Vec<Option<u64>>) -> Burst {
    let end = (plan.before + plan.count) as usize;
    let delays: Vec<Option<u64>> = sent_ns
        .iter()
        .zip(&received_ns)
        .map(|(sent, received)| received.map(|at| at.saturating_sub(*sent)))
        .collect();
    let arrived = || delays.iter().flatten();
    let (least, most) = (arrived().min().unwrap_or(&0), arrived().max().unwrap_or(&0));
    let hardly = least + ((most - least) / 10).max(2_000_000);
    let last = delays.iter().skip(end).position(|delay| delay.is_some_and(|delay| delay <= hardly));
    let length = last.map_or(sent_ns.len(), |last| end + last + 1);
    sent_ns.truncate(length);
    received_ns.truncate(length);
    Burst {
        direction: Direction::Up,
        payload_bytes: plan.payload_bytes,
        header_bytes: 28,
        before: plan.before,
        count: plan.count,
        sent_ns,
        received_ns,
        is_complete: true,
        echo_every: plan.echo_every,
        ecn: plan.ecn.bits().into(),
        ce: Vec::new(),
    }
}

/// What bursts through a policer show: a token bucket of frames, without a queue, and 0.1 ms of
/// noise.
pub(crate) fn policed(bits_per_second: f64, bucket: f64, budget: u64) -> Option<Buffer> {
    let (mut tokens, mut last, mut now) = (bucket, 0, 0);
    let mut rng = Rng::new(1);
    let sent = bursts(BurstPlanner::new(Bytes(budget)), |plan| {
        let sent_ns = departures(plan, now, u64::MAX);
        let frame = f64::from(plan.payload_bytes + 42);
        let received_ns = sent_ns.iter().map(|at| {
            tokens = (tokens + (at - last) as f64 * bits_per_second / 8e9).min(bucket);
            last = *at;
            let passes = tokens >= frame;
            tokens -= if passes { frame } else { 0.0 };
            passes.then(|| at + OFFSET_NS + rng.below(100_000))
        });
        let received_ns = received_ns.collect();
        now = last + 60_000_000_000;
        burst(plan, sent_ns, received_ns)
    });
    estimate(&responses(&sent))
}
