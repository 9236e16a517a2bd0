//! A second implementation of the disciplines that follows the RFCs: plain vectors, floating-point
//! seconds, no shared code. Both must agree at every step of random arrivals.
use crate::common::{Action, SPECS, TestPacket, build, dequeue, enqueue, random_actions};
use crate::oracle_aqm::{PieOracle, RedOracle};
use crate::oracle_fair::{DrrOracle, FqOracle as LinuxFqOracle, Rfc970Oracle, SfqOracle};
use crate::switch::SwitchOracle;
use fathom_qdisc::{ControlParams, DropFrom, Ecn, FifoParams, FqCodelParams, Limit, Spec, Variant};
use fathom_units::{Duration, Time};

pub(crate) type Queue = Vec<(TestPacket, f64)>;

pub(crate) fn bytes(queue: &Queue) -> u64 {
    queue.iter().map(|(packet, _)| packet.len.get()).sum()
}
pub(crate) fn take(queue: &mut Queue) -> Option<(TestPacket, f64)> {
    (!queue.is_empty()).then(|| queue.remove(0))
}

/// Nanoseconds as a float: exact up to 2^53, which is 104 days.
pub(crate) fn float(d: Duration) -> f64 {
    d.as_nanos() as f64
}

pub(crate) trait Oracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String>;
    fn dequeue(&mut self, now: f64) -> Vec<String>;
}

pub(crate) fn sent(packet: &TestPacket, sojourn: f64) -> String {
    format!("send {} {}", packet.name, Duration::from_nanos(sojourn as u64))
}

struct FifoOracle(FifoParams, Queue);

impl FifoOracle {
    fn trim(&mut self, now: f64) -> Vec<String> {
        let mut log = Vec::new();
        loop {
            let over = match self.0.limit {
                Limit::Packets(limit) => self.1.len() as u64 > limit,
                Limit::Bytes(limit) => bytes(&self.1) > limit.get(),
                Limit::Sojourn(limit) => self.1.len() > 1 && now - self.1[0].1 > float(limit),
            };
            if !over {
                return log;
            }
            log.push(format!("drop {} overlimit", self.1.remove(0).0.name));
        }
    }
}
impl Oracle for FifoOracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        let mut tried = self.1.clone();
        tried.push((packet.clone(), now));
        let full = match self.0.limit {
            Limit::Packets(limit) => tried.len() as u64 > limit,
            Limit::Bytes(limit) => bytes(&tried) > limit.get(),
            Limit::Sojourn(_) => false,
        };
        if full && self.0.drop_from == DropFrom::Tail {
            return vec![format!("drop {} overlimit", packet.name)];
        }
        self.1 = tried;
        self.trim(now)
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        let mut log = self.trim(now);
        log.push(take(&mut self.1).map_or("empty".into(), |(packet, at)| sent(&packet, now - at)));
        log
    }
}

/// RFC 8289 section 5.2 with its variable names; times in ticks, 0 for "unset".
#[derive(Default, Clone)]
struct CodelOracle {
    /// Length of a tick in nanoseconds: 1, or 1024 in the Linux variant.
    tick: f64,
    target: f64,
    interval: f64,
    ecn: bool,
    ce_threshold: Option<f64>,
    /// Linux's approximation of 1 / sqrt(count), in units of 1/65536.
    rec_inv_sqrt: i128,
    queue: Queue,
    /// Bytes of other flows, for the Linux variant.
    other: u64,
    first_above_time: f64,
    drop_next: f64,
    count: f64,
    lastcount: f64,
    dropping: bool,
}

impl CodelOracle {
    fn new(control: ControlParams) -> CodelOracle {
        let tick = if control.variant == Variant::Linux { 1024.0 } else { 1.0 };
        let ticks = |d| (float(d) / tick).floor();
        CodelOracle {
            tick,
            target: ticks(control.target),
            interval: ticks(control.interval),
            ecn: control.ecn,
            ce_threshold: control.ce_threshold.map(ticks),
            ..CodelOracle::default()
        }
    }
    fn linux(&self) -> bool {
        self.tick > 1.0
    }
    fn ticks(&self, nanos: f64) -> f64 {
        (nanos / self.tick).floor()
    }
    fn sojourn(&self, at: f64, now: f64) -> f64 {
        self.ticks(now) - self.ticks(at)
    }
    fn control_law(&self, t: f64) -> f64 {
        // The clock ticks in whole nanoseconds.
        let root = if self.linux() { 65536.0 / self.rec_inv_sqrt as f64 } else { self.count.sqrt() };
        t + (self.interval / root).floor()
    }
    /// x (3 - n x x) / 2 in units of 2^-32, truncating each product.
    fn newton(&mut self) {
        let (x, one) = (self.rec_inv_sqrt * 65536, 1_i128 << 32);
        let bracket = (3 * one - self.count as i128 * (x * x / one)).rem_euclid(1 << 64);
        let product = (bracket / 4 * x).rem_euclid(1 << 64);
        self.rec_inv_sqrt = product / (1 << 47) % 65536;
    }
    fn dodequeue(&mut self, now: f64, maxpacket: u64) -> (Option<(TestPacket, f64)>, bool) {
        let maxpacket = if self.linux() { 1514 } else { maxpacket };
        let Some((packet, at)) = take(&mut self.queue) else {
            self.first_above_time = 0.0;
            return (None, false);
        };
        let mut ok_to_drop = false;
        let sojourn = self.sojourn(at, now);
        let now = self.ticks(now);
        if sojourn < self.target || bytes(&self.queue) + self.other <= maxpacket {
            self.first_above_time = 0.0;
        } else if self.first_above_time == 0.0 {
            self.first_above_time = now + self.interval;
        } else if now > self.first_above_time || now == self.first_above_time && !self.linux() {
            ok_to_drop = true;
        }
        (Some((packet, at)), ok_to_drop)
    }
    fn dequeue(&mut self, now: f64, maxpacket: u64, log: &mut Vec<String>) -> Option<(TestPacket, f64)> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(now, maxpacket);
        let marks = |ecn: bool, p: &TestPacket| ecn && p.ecn != Ecn::NotEct;
        let (ticks, marked) = (self.ticks(now), log.len());
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && ticks >= self.drop_next {
                self.count += 1.0;
                self.newton();
                let p = packet.clone().unwrap().0;
                if marks(self.ecn, &p) {
                    log.push(format!("mark {}", p.name));
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                log.push(format!("drop {} aqm", p.name));
                (packet, ok_to_drop) = self.dodequeue(now, maxpacket);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            let p = packet.clone().unwrap().0;
            if marks(self.ecn, &p) {
                log.push(format!("mark {}", p.name));
            } else {
                log.push(format!("drop {} aqm", p.name));
                packet = self.dodequeue(now, maxpacket).0;
            }
            self.dropping = packet.is_some();
            let delta = self.count - self.lastcount;
            let stale = self.rec_inv_sqrt;
            self.count = 1.0;
            self.rec_inv_sqrt = 65535;
            if delta > 1.0 && ticks - self.drop_next < 16.0 * self.interval {
                self.count = delta;
                self.rec_inv_sqrt = stale;
                self.newton();
            }
            self.drop_next = self.control_law(ticks);
            self.lastcount = self.count;
        }
        let (packet, at) = packet?;
        let late = self.ce_threshold.is_some_and(|threshold| self.sojourn(at, now) > threshold);
        let marked = log[marked..].iter().any(|line| line.starts_with("mark"));
        if late && !marked && matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1) {
            log.push(format!("mark {} threshold", packet.name));
        }
        Some((packet, at))
    }
}

struct SingleCodel {
    codel: CodelOracle,
    limit: u64,
    maxpacket: u64,
}
impl Oracle for SingleCodel {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        self.maxpacket = self.maxpacket.max(packet.len.get());
        if self.codel.queue.len() as u64 == self.limit {
            return vec![format!("drop {} overlimit", packet.name)];
        }
        self.codel.queue.push((packet, now));
        vec![]
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        let mut log = vec![];
        let packet = self.codel.dequeue(now, self.maxpacket, &mut log);
        log.push(packet.map_or("empty".into(), |(packet, at)| sent(&packet, now - at)));
        log
    }
}

/// RFC 8290 section 4, with Linux's condition for emptied new flows.
struct FqOracle {
    params: FqCodelParams,
    flows: Vec<CodelOracle>,
    credits: Vec<i64>,
    new: Vec<usize>,
    old: Vec<usize>,
    maxpacket: u64,
}
impl FqOracle {
    fn over(&self) -> bool {
        let packets: usize = self.flows.iter().map(|flow| flow.queue.len()).sum();
        let held: u64 = self.flows.iter().map(|flow| bytes(&flow.queue)).sum();
        packets as u64 > self.params.limit_packets || held > self.params.memory.get()
    }
}
impl Oracle for FqOracle {
    fn enqueue(&mut self, packet: TestPacket, now: f64) -> Vec<String> {
        let mut log = vec![];
        self.maxpacket = self.maxpacket.max(packet.len.get());
        let flow = packet.flow as usize % self.flows.len();
        self.flows[flow].queue.push((packet, now));
        if !self.new.contains(&flow) && !self.old.contains(&flow) {
            self.new.push(flow);
            self.credits[flow] = self.params.quantum.get() as i64;
        }
        while self.over() {
            let fattest = self.flows.iter().map(|each| bytes(&each.queue)).max().unwrap();
            let fat = self.flows.iter_mut().find(|each| bytes(&each.queue) == fattest).unwrap();
            let mut dropped = 0;
            for _ in 0..64 {
                let (victim, _) = fat.queue.remove(0);
                log.push(format!("drop {} overlimit", victim.name));
                dropped += victim.len.get();
                fat.count += 1.0;
                if dropped >= fattest / 2 {
                    break;
                }
            }
        }
        log
    }
    fn dequeue(&mut self, now: f64) -> Vec<String> {
        let mut log = vec![];
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            if list.is_empty() {
                log.push("empty".into());
                return log;
            }
            let flow = list[0];
            if self.credits[flow] <= 0 {
                list.remove(0);
                self.credits[flow] += self.params.quantum.get() as i64;
                self.old.push(flow);
                continue;
            }
            let others = self.flows.iter().enumerate().filter(|(other, _)| *other != flow);
            let others: u64 = others.map(|(_, other)| bytes(&other.queue)).sum();
            self.flows[flow].other = if self.flows[flow].linux() { others } else { 0 };
            if let Some((packet, at)) = self.flows[flow].dequeue(now, self.maxpacket, &mut log) {
                self.credits[flow] -= packet.len.get() as i64;
                log.push(sent(&packet, now - at));
                return log;
            }
            list.remove(0);
            if from_new && !self.old.is_empty() {
                self.old.push(flow);
            }
        }
    }
}

/// The second implementation of `spec`, if there is one.
fn oracle(spec: Spec) -> Option<Box<dyn Oracle>> {
    Some(match spec {
        Spec::Fifo(params) => Box::new(FifoOracle(params, vec![])),
        Spec::Codel(params) => Box::new(SingleCodel {
            codel: CodelOracle::new(params.control),
            limit: params.limit_packets,
            maxpacket: 0,
        }),
        Spec::FqCodel(params) => Box::new(FqOracle {
            params,
            flows: vec![CodelOracle::new(params.control); params.flows as usize],
            credits: vec![0; params.flows as usize],
            new: vec![],
            old: vec![],
            maxpacket: 0,
        }),
        Spec::Drr(params) => Box::new(DrrOracle::new(params)),
        Spec::Switch(params) => Box::new(SwitchOracle::new(params)),
        Spec::Rfc970(params) => Box::new(Rfc970Oracle(params, vec![])),
        Spec::Sfq(params) => Box::new(SfqOracle::new(params)),
        Spec::Fq(params) => Box::new(LinuxFqOracle::new(params)),
        Spec::Red(params) => Box::new(RedOracle::new(params)),
        Spec::Pie(params) => Box::new(PieOracle::new(params)?),
        _ => return None,
    })
}

#[test]
fn the_disciplines_agree_with_the_oracle_packet_for_packet() {
    let (mut drops, mut marks) = (0, 0);
    for spec in SPECS {
        // Its running time grows with the number of queues; there are fewer than 8 flows.
        let spec =
            if spec.starts_with("fq_codel limit") { format!("{spec} flows 8") } else { (*spec).into() };
        for seed in 100..120 {
            let Some(mut expected) = oracle(spec.parse().unwrap()) else { continue };
            let mut queue = build(&spec);
            for (step, (now, action)) in random_actions(seed, 4000).into_iter().enumerate() {
                let at = now.saturating_since(Time::ZERO);
                let (got, want) = match action {
                    Action::Enqueue(packet) => {
                        (enqueue(&mut queue, packet.clone(), now), expected.enqueue(packet, float(at)))
                    }
                    Action::Dequeue => (dequeue(&mut queue, now), expected.dequeue(float(at))),
                };
                let want = if want.is_empty() { "-".to_string() } else { want.join(", ") };
                assert_eq!(got, want, "{spec}, seed {seed}, step {step} at {now}");
                drops += got.matches("aqm").count();
                marks += got.matches("mark").count();
            }
        }
    }
    // The comparison has covered enough drops and marks.
    assert!(drops > 1000 && marks > 500, "{drops} drops, {marks} marks");
}
