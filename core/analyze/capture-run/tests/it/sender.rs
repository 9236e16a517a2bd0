//! A queue in the sending host, captured behind it. It holds two packets per flow at a time.
use fathom_bottleneck::{Leg, Location, QueueWatch, Queues};
use fathom_capture::{Address, IcmpHeader, Packet, Stamps, TcpHeader, Transport};
use fathom_flow::{End, Flows};
use fathom_flow::{Times, Tracer};
use fathom_run::QueuePlace;
use fathom_units::Rng;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Clone, Copy, Debug)]
struct Plan {
    rate_bits: u64,
    flows: usize,
    /// Maximum number of packets of a flow in flight.
    window: u64,
    /// Maximum number of them in the queue.
    at_once: u64,
    /// Delay from the host's queue to the capture point, and from there to the receiver.
    near_ns: u64,
    far_ns: u64,
    pings_every_ns: Option<u64>,
    secs: u64,
}

/// Packets of a flow that its host's queue holds at once (TCP small queues).
const AT_ONCE: u64 = 2;
/// Payload of a packet, and its headers: IP, TCP with timestamps.
const DATA: u64 = 1448;
const HEADERS: u64 = 52;
const ETHERNET: u64 = 14;
const MS: u64 = 1_000_000;

/// A queued packet: flow (none for a ping), first byte, length, creation time, echo.
#[derive(Clone, Copy)]
struct Made {
    flow: Option<usize>,
    start: u64,
    ip_bytes: u64,
    at: u64,
    echo: u64,
}

#[derive(Clone, Copy)]
enum Happens {
    Left,
    /// Flow, acknowledgment number, time at the receiver.
    Ack(usize, u64, u64),
    Ping,
    Open(usize),
}

#[derive(Clone, Copy, Default)]
struct Flow {
    queued: u64,
    sent: u64,
    acknowledged: u64,
    /// Timestamp that the next packet echoes.
    echo: u64,
    /// Timestamp that the receiver will echo after the first of two segments, and the data it has.
    pending: Option<u64>,
}

/// A captured packet: of a flow or a ping, from the host or to it.
enum Seen {
    Data(Made),
    Reply { flow: Option<usize>, number: u64, at: u64, echo: u64 },
}

struct Host {
    plan: Plan,
    now: u64,
    agenda: BinaryHeap<Reverse<(u64, usize)>>,
    happens: Vec<Happens>,
    flows: Vec<Flow>,
    queue: VecDeque<Made>,
    pings: u64,
    seen: Vec<(u64, Seen)>,
}

impl Host {
    fn run(plan: Plan) -> Queues {
        let mut host = Host {
            plan,
            now: 0,
            agenda: BinaryHeap::new(),
            happens: Vec::new(),
            flows: vec![Flow::default(); plan.flows],
            queue: VecDeque::new(),
            pings: 0,
            seen: Vec::new(),
        };
        (0..plan.flows).for_each(|flow| host.at(500 * MS + flow as u64 * 1000, Happens::Open(flow)));
        if plan.pings_every_ns.is_some() {
            host.at(1, Happens::Ping);
        }
        while let Some(Reverse((at, number))) = host.agenda.pop() {
            if at > plan.secs * 1000 * MS {
                break;
            }
            host.now = at;
            host.happen(host.happens[number]);
        }
        host.told()
    }
    fn at(&mut self, at: u64, what: Happens) {
        self.agenda.push(Reverse((at, self.happens.len())));
        self.happens.push(what);
    }
    fn happen(&mut self, what: Happens) {
        match what {
            Happens::Open(flow) => self.make(Some(flow), 0, HEADERS + 8),
            Happens::Ping => {
                self.pings += 1;
                self.make(None, self.pings, 84);
                let every = self.plan.pings_every_ns.unwrap();
                self.at(self.now + every, Happens::Ping);
            }
            Happens::Ack(flow, stop, made) => {
                self.flows[flow].acknowledged = stop;
                self.flows[flow].echo = made;
                if stop == 1 {
                    self.make(Some(flow), 1, HEADERS);
                }
                self.send(flow);
            }
            Happens::Left => {
                let made = self.queue.pop_front().unwrap();
                self.serve();
                self.leave(made);
            }
        }
    }
    fn make(&mut self, flow: Option<usize>, start: u64, ip_bytes: u64) {
        let echo = flow.map_or(0, |flow| self.flows[flow].echo);
        self.queue.push_back(Made { flow, start, ip_bytes, at: self.now, echo });
        if self.queue.len() == 1 {
            self.serve();
        }
    }
    fn serve(&mut self) {
        if let Some(first) = self.queue.front() {
            let takes = (first.ip_bytes + ETHERNET) * 8 * 1000 * MS / self.plan.rate_bits;
            self.at(self.now + takes, Happens::Left);
        }
    }
    fn send(&mut self, flow: usize) {
        let Flow { queued, sent, acknowledged, .. } = self.flows[flow];
        if queued > 0 || sent + self.plan.at_once * DATA > acknowledged + self.plan.window * DATA {
            return;
        }
        for _ in 0..self.plan.at_once {
            self.make(Some(flow), self.flows[flow].sent, HEADERS + DATA);
            self.flows[flow].queued += 1;
            self.flows[flow].sent += DATA;
        }
    }
    fn leave(&mut self, made: Made) {
        let Plan { near_ns, far_ns, .. } = self.plan;
        let (here, there) = (self.now + near_ns, self.now + near_ns + far_ns);
        self.seen.push((here, Seen::Data(made)));
        let back = |number, echo| (there + far_ns, Seen::Reply { flow: made.flow, number, at: there, echo });
        let Some(flow) = made.flow else { return self.seen.push(back(made.start, 0)) };
        if made.ip_bytes == HEADERS {
            return;
        }
        let is_open = made.ip_bytes < DATA;
        let stop = if is_open { 1 } else { made.start + DATA };
        let first = self.flows[flow].pending.take();
        if is_open || first.is_some() {
            self.seen.push(back(stop, first.unwrap_or(made.at)));
            self.at(there + far_ns + near_ns, Happens::Ack(flow, stop, there));
        } else {
            self.flows[flow].pending = Some(made.at);
        }
        if is_open {
            self.flows[flow].sent = 1;
        } else {
            self.flows[flow].queued -= 1;
            self.send(flow);
        }
    }
    fn told(mut self) -> Queues {
        self.seen.sort_by_key(|(at, _)| *at);
        let mut tracer = Tracer::new(QueueWatch::new());
        for (frame, (at, seen)) in self.seen.iter().enumerate() {
            give(&mut tracer, Times { at: *at as i64, frame: frame as u64 + 1 }, seen);
        }
        tracer.finish().1.finish()
    }
}

fn ticks(at: u64) -> u32 {
    (at / MS) as u32
}

fn give(tracer: &mut Tracer<QueueWatch>, times: Times, seen: &Seen) {
    let ends = [Address::v4([192, 0, 2, 1]), Address::v4([198, 51, 100, 2])];
    let (flow, number, is_reply, ip, made, echo) = match seen {
        Seen::Data(made) => (made.flow, made.start, false, &made.ip_bytes, made.at, made.echo),
        Seen::Reply { flow, number, at, echo } => (*flow, *number, true, &HEADERS, *at, *echo),
    };
    let (source, destination) = if is_reply { (ends[1], ends[0]) } else { (ends[0], ends[1]) };
    let is_syn = if is_reply { number == 1 } else { number == 0 };
    let transport = match flow {
        Some(flow) => {
            let ports = [40000 + flow as u16, 80];
            Transport::Tcp(TcpHeader {
                source_port: ports[usize::from(is_reply)],
                destination_port: ports[usize::from(!is_reply)],
                sequence: if is_reply { u32::from(!is_syn) } else { number as u32 },
                acknowledgement: if is_reply { number as u32 } else { u32::from(!is_syn) },
                flags: if is_syn { 2 } else { 0 } | if is_reply || !is_syn { 16 } else { 0 },
                window: 65535,
                payload_bytes: if is_reply || *ip < DATA { 0 } else { DATA as u32 },
                stamps: Some(Stamps { value: ticks(made), echo: ticks(echo) }),
                options: &[],
                payload: &[],
            })
        }
        None => {
            let [high, low] = (number as u16).to_be_bytes();
            let kind = if is_reply { 0 } else { 8 };
            Transport::Icmp(IcmpHeader { is_v6: false, kind, code: 0, rest: [0, 7, high, low], payload: &[] })
        }
    };
    let ip_bytes = *ip as u32;
    let wire_bytes = ip_bytes + ETHERNET as u32;
    let (hop_limit, dscp, ecn, identification) = (64, 0, 0, None);
    let packet =
        Packet { source, destination, hop_limit, dscp, ecn, identification, ip_bytes, wire_bytes, transport };
    tracer.packet(times, &packet);
}

#[test]
fn a_queue_in_the_host_is_not_attributed_to_the_path_of_its_acks() {
    for seed in 1..=24 {
        let mut rng = Rng::stream(seed, "host");
        let plan = Plan {
            rate_bits: 500_000 * (1 + rng.below(20)),
            flows: 3 + rng.below(6) as usize,
            window: 8 + rng.below(16),
            at_once: AT_ONCE,
            near_ns: MS / 10 + rng.below(3 * MS),
            far_ns: 5 * MS + rng.below(20 * MS),
            pings_every_ns: rng.chance(0.5).then(|| 20 * MS + rng.below(80 * MS)),
            secs: 20,
        };
        let queues = Host::run(plan);
        let all: Vec<_> = queues.flows.iter().map(|flow| (&flow.location, flow.round_trips)).collect();
        let Some(found) = queues.bottlenecks.first() else { panic!("seed {seed}: {plan:?}: {all:?}") };
        for each in &queues.bottlenecks {
            assert_eq!(each.location, Location::Leg(Leg::From(End::A)), "seed {seed}: {plan:?}: {all:?}");
        }
        // The host's queue holds as much of a flow as it may nearly all the time.
        let full = plan.flows as u64 * AT_ONCE * (DATA + HEADERS + ETHERNET);
        let max_ns = (full * 8 * 1000 * MS / plan.rate_bits) as f64;
        let standing = found.standing.p50_ns;
        assert!(standing > 0.7 * max_ns - 2e6, "seed {seed}: {plan:?}: {standing} of {max_ns}");
    }
}

#[test]
fn pings_count_as_traffic_of_the_line() {
    for every_ms in [5, 20, 100] {
        let plan = Plan {
            rate_bits: 1_000_000,
            flows: 4,
            window: 12,
            at_once: AT_ONCE,
            near_ns: MS,
            far_ns: 9 * MS,
            pings_every_ns: Some(every_ms * MS),
            secs: 20,
        };
        let queues = Host::run(plan);
        let rate = queues.bottlenecks[0].rate.as_ref().unwrap();
        let off = rate.frame_bits_per_second / plan.rate_bits as f64 - 1.0;
        // Ethernet headers are a larger part of the smaller packets.
        let small = ETHERNET as f64 * 8000.0 / every_ms as f64 / plan.rate_bits as f64;
        assert!(off < 0.003 && off > -0.003 - small, "every {every_ms} ms: off by {off}: {rate:?}");
    }
}

#[test]
fn a_small_queue_near_the_host_is_attributed_to_the_host() {
    for (near_ns, place) in [(MS / 10, QueuePlace::InSender), (2 * MS, QueuePlace::BeforeCapture)] {
        let plan = Plan {
            rate_bits: 10_000_000,
            flows: 4,
            window: 24,
            at_once: AT_ONCE,
            near_ns,
            far_ns: 9 * MS,
            pings_every_ns: None,
            secs: 20,
        };
        assert_eq!(place_of(&Host::run(plan)), place, "{near_ns} ns to the capture");
    }
}

#[test]
fn a_large_queue_near_the_host_is_not_attributed_to_the_host() {
    let plan = Plan {
        rate_bits: 10_000_000,
        flows: 4,
        window: 96,
        at_once: 64,
        near_ns: MS / 10,
        far_ns: 9 * MS,
        pings_every_ns: None,
        secs: 20,
    };
    let queues = Host::run(plan);
    assert_eq!(queues.flows[0].near, Some(End::A), "{:?}", queues.flows[0].round_trips);
    assert_eq!(place_of(&queues), QueuePlace::BeforeCapture);
}

fn place_of(queues: &Queues) -> QueuePlace {
    let run = fathom_capture_run::run(Vec::new(), &Flows::default(), queues);
    run.capture.unwrap().queues[0].place
}
