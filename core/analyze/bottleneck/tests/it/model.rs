//! Simulates TCP flows at a bottleneck; returns the packets captured on the path, and the truth.
use fathom_bottleneck::{QueueWatch, Queues};
use fathom_capture::{Address, Packet, Stamps, TcpHeader, Transport};
use fathom_flow::{Times, Tracer};
use fathom_qdisc::{AnyQdisc, DropReason, Ecn, MarkReason, Qdisc, Spec};
use fathom_tcp::{
    Ack, AnyControl, ControlConfig, ControlKind, Data, Receiver, ReceiverConfig, Sender, SenderConfig,
};
use fathom_units::{Bytes, Duration, Rate, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Point {
    /// On the sender's side of the queue.
    Before,
    /// Between the queue and the receiver.
    Behind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TickClock {
    pub(crate) hertz: f64,
    pub(crate) skew_ppm: f64,
    pub(crate) offset: u32,
    pub(crate) restarts_s: Option<f64>,
}

impl TickClock {
    pub(crate) const MILLIS: TickClock =
        TickClock { hertz: 1000.0, skew_ppm: 0.0, offset: 0xffff_f000, restarts_s: None };
    fn value(&self, at: u64) -> u32 {
        let ticks = at as f64 / 1e9 * self.hertz / (1.0 + self.skew_ppm / 1e6);
        let is_anew = self.restarts_s.is_some_and(|from| at as f64 >= from * 1e9);
        let offset = if is_anew { self.offset ^ 0x5a5a_5a5a } else { self.offset };
        offset.wrapping_add(ticks as u64 as u32)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowPlan {
    pub(crate) control: ControlKind,
    pub(crate) starts_s: f64,
    /// Bytes to send; a sparse flow sends `bytes` every `every_s`.
    pub(crate) bytes: u64,
    pub(crate) every_s: Option<f64>,
    pub(crate) is_captured: bool,
}

impl FlowPlan {
    pub(crate) fn bulk(control: ControlKind) -> Self {
        FlowPlan { control, starts_s: 0.1, bytes: 1 << 50, every_s: None, is_captured: true }
    }
    pub(crate) fn sparse() -> Self {
        let every_s = Some(0.05);
        FlowPlan { control: ControlKind::Reno, starts_s: 0.02, bytes: 100, every_s, is_captured: true }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rate_bits: u64,
    pub(crate) queue: &'static str,
    pub(crate) rtt_ms: f64,
    pub(crate) secs: f64,
    pub(crate) point: Point,
    pub(crate) flows: Vec<FlowPlan>,
    pub(crate) clocks: [TickClock; 2],
    pub(crate) has_stamps: bool,
    pub(crate) has_ecn: bool,
    pub(crate) captured_from_s: f64,
    pub(crate) change: Option<(f64, u64)>,
}

impl Plan {
    pub(crate) fn new(rate_bits: u64, queue: &'static str) -> Self {
        Plan {
            rate_bits,
            queue,
            rtt_ms: 20.0,
            secs: 30.0,
            point: Point::Before,
            flows: vec![FlowPlan::bulk(ControlKind::Cubic)],
            clocks: [TickClock::MILLIS; 2],
            has_stamps: true,
            has_ecn: false,
            captured_from_s: 0.0,
            change: None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    pub(crate) max_ns: f64,
    /// Sojourn times of the first flow: departure time and duration, ns.
    pub(crate) sojourns: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Carried {
    flow: usize,
    data: Data,
    echo: Option<u64>,
    ecn: Ecn,
    wire: u32,
}

impl fathom_qdisc::Packet for Carried {
    fn len(&self) -> Bytes {
        Bytes(u64::from(self.wire))
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow_hash(&self, salt: u64) -> u64 {
        (self.flow as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt
    }
}

impl fathom_qdisc::Sink<Carried> for Truth {
    fn dropped(&mut self, _: Carried, _: DropReason, _: Duration, _: Time) {
        self.drops += 1;
    }
    fn marked(&mut self, _: &Carried, _: MarkReason, _: Time) {
        self.marks += 1;
    }
}

#[derive(Clone, Copy, Debug)]
enum Happens {
    Data(Carried),
    /// Flow, ACK and send time.
    Ack(usize, Ack, u64),
    Serve,
    Timer(usize),
    Write(usize),
}

struct Ends {
    plan: FlowPlan,
    sender: Sender,
    receiver: Receiver,
    /// Send time of the last ACK received.
    echo: Option<u64>,
    /// Time of the next wake-up; other timers are stale.
    wakes_at: u64,
}

enum Seen {
    Data(usize, Data, Ecn, Option<u64>),
    Ack(usize, Ack, u64),
}

struct Model {
    plan: Plan,
    now: u64,
    agenda: BinaryHeap<Reverse<(u64, u64)>>,
    happens: Vec<Happens>,
    ends: Vec<Ends>,
    queue: AnyQdisc<Carried>,
    busy_until: u64,
    truth: Truth,
    seen: Vec<(u64, Seen)>,
}

pub(crate) fn run(plan: &Plan) -> (Queues, Truth) {
    let mut model = Model::new(plan.clone());
    model.run();
    (observe(plan, model.seen), model.truth)
}

fn header(plan: &Plan) -> u32 {
    if plan.has_stamps { 52 } else { 40 }
}

impl Model {
    fn new(plan: Plan) -> Self {
        let ends = plan.flows.iter().map(|flow| {
            let control =
                AnyControl::new(flow.control, &ControlConfig { mss: mss(&plan), ..ControlConfig::default() });
            let config = SenderConfig { mss: mss(&plan), ecn: plan.has_ecn, ..SenderConfig::default() };
            let at = Time::from_nanos((flow.starts_s * 1e9) as u64);
            // Requests are acknowledged at once.
            let delayed_ack = Duration::from_millis(if flow.every_s.is_some() { 0 } else { 40 });
            let max_delayed_ack = delayed_ack * 5;
            let receiver =
                ReceiverConfig { mss: mss(&plan), delayed_ack, max_delayed_ack, ..ReceiverConfig::default() };
            Ends {
                plan: *flow,
                sender: Sender::new(config, control, at),
                receiver: Receiver::new(receiver),
                echo: None,
                wakes_at: u64::MAX,
            }
        });
        let mut model = Model {
            now: 0,
            agenda: BinaryHeap::new(),
            happens: Vec::new(),
            ends: ends.collect(),
            queue: plan.queue.parse::<Spec>().unwrap().build(7),
            busy_until: 0,
            truth: Truth::default(),
            seen: Vec::new(),
            plan,
        };
        for flow in 0..model.ends.len() {
            let at = (model.ends[flow].plan.starts_s * 1e9) as u64;
            model.at(at, Happens::Write(flow));
        }
        model
    }
    fn at(&mut self, at: u64, what: Happens) {
        self.agenda.push(Reverse((at, self.happens.len() as u64)));
        self.happens.push(what);
    }
    fn half(&self) -> u64 {
        (self.plan.rtt_ms * 0.5e6) as u64
    }
    fn run(&mut self) {
        let end = (self.plan.secs * 1e9) as u64;
        while let Some(Reverse((at, number))) = self.agenda.pop() {
            if at > end {
                break;
            }
            self.now = at;
            match self.happens[number as usize] {
                Happens::Data(carried) => self.arrive(carried),
                Happens::Ack(flow, ack, sent) => {
                    self.ends[flow].echo = Some(sent);
                    self.ends[flow].sender.on_ack(&ack, Time::from_nanos(at));
                    self.send(flow);
                }
                Happens::Serve => self.serve(),
                Happens::Timer(flow) => self.timer(flow),
                Happens::Write(flow) => self.write(flow),
            }
        }
    }
    fn write(&mut self, flow: usize) {
        let FlowPlan { bytes, every_s, .. } = self.ends[flow].plan;
        self.ends[flow].sender.write(bytes);
        if let Some(every) = every_s {
            self.at(self.now + (every * 1e9) as u64, Happens::Write(flow));
        }
        self.send(flow);
    }
    fn timer(&mut self, flow: usize) {
        if self.ends[flow].wakes_at != self.now {
            return;
        }
        self.ends[flow].wakes_at = u64::MAX;
        let now = Time::from_nanos(self.now);
        let held = self.ends[flow].receiver.on_timer(now);
        self.reply(flow, held);
        self.ends[flow].sender.on_timer(now);
        self.send(flow);
    }
    fn wake(&mut self, flow: usize) {
        let ends = &self.ends[flow];
        let wakes = [ends.sender.next_timer(), ends.receiver.next_timer()];
        let at = wakes.into_iter().flatten().min().map_or(u64::MAX, |at| at.as_nanos().max(self.now));
        if at != ends.wakes_at {
            self.ends[flow].wakes_at = at;
            self.at(at, Happens::Timer(flow));
        }
    }
    /// Segments enter the queue immediately: the sender is next to it.
    fn send(&mut self, flow: usize) {
        while let Some(data) = self.ends[flow].sender.poll_transmit(Time::from_nanos(self.now)) {
            let ecn = data.ecn;
            let wire = data.len + header(&self.plan) + 14;
            let echo = self.ends[flow].echo;
            if self.plan.point == Point::Before {
                self.seen.push((self.now, Seen::Data(flow, data, ecn, echo)));
            }
            let now = Time::from_nanos(self.now);
            self.queue.enqueue(Carried { flow, data, echo, ecn, wire }, now, &mut self.truth);
            self.serve();
        }
        self.wake(flow);
    }
    fn rate(&self) -> Rate {
        let bits = match self.plan.change {
            Some((from, bits)) if self.now as f64 >= from * 1e9 => bits,
            _ => self.plan.rate_bits,
        };
        Rate::from_bits_per_second(bits)
    }
    fn serve(&mut self) {
        let now = Time::from_nanos(self.now);
        if self.busy_until > self.now {
            return;
        }
        match self.queue.dequeue(now, &mut self.truth) {
            Some((carried, sojourn)) => {
                self.truth.max_ns = self.truth.max_ns.max(sojourn.as_nanos() as f64);
                if carried.flow == 0 {
                    self.truth.sojourns.push((self.now, sojourn.as_nanos()));
                }
                let takes = self.rate().serialization_time(Bytes(u64::from(carried.wire))).as_nanos();
                self.busy_until = self.now + takes;
                self.at(self.busy_until + self.half(), Happens::Data(carried));
                self.at(self.busy_until, Happens::Serve);
            }
            None => {
                if let Some(at) = self.queue.next_ready(now) {
                    self.at(at.as_nanos().max(self.now + 1), Happens::Serve);
                }
            }
        }
    }
    fn arrive(&mut self, Carried { flow, data, echo, ecn, .. }: Carried) {
        if self.plan.point == Point::Behind {
            self.seen.push((self.now, Seen::Data(flow, data, ecn, echo)));
        }
        let ack = self.ends[flow].receiver.on_data(&data, ecn == Ecn::Ce, Time::from_nanos(self.now));
        self.reply(flow, ack);
        self.wake(flow);
    }
    fn reply(&mut self, flow: usize, ack: Option<Ack>) {
        let Some(ack) = ack else { return };
        let there = self.now + self.half();
        let at = if self.plan.point == Point::Behind { self.now } else { there };
        self.seen.push((at, Seen::Ack(flow, ack, self.now)));
        self.at(there, Happens::Ack(flow, ack, self.now));
    }
}

fn mss(plan: &Plan) -> u32 {
    1500 - header(plan)
}

fn observe(plan: &Plan, mut seen: Vec<(u64, Seen)>) -> Queues {
    seen.sort_by_key(|(at, _)| *at);
    let mut tracer = Tracer::new(QueueWatch::new());
    let from = (plan.captured_from_s * 1e9) as u64;
    let kept = seen.into_iter().filter(|(at, _)| *at >= from);
    let mut frame = 0;
    for (at, what) in kept {
        let (Seen::Data(flow, ..) | Seen::Ack(flow, ..)) = what;
        if plan.flows[flow].is_captured {
            frame += 1;
            give(&mut tracer, plan, Times { at: at as i64 + 1_700_000_000_000_000_000, frame }, &what);
        }
    }
    tracer.finish().1.finish()
}

const SYN: u16 = 2;
const ACK: u16 = 16;
const ECE: u16 = 64;

fn give(tracer: &mut Tracer<QueueWatch>, plan: &Plan, times: Times, what: &Seen) {
    let mut options = Vec::new();
    let stamp = |value: u32, echo: u32| plan.has_stamps.then_some(Stamps { value, echo });
    let (flow, is_reply, flags, sequence, number, payload, stamps, ecn) = match what {
        Seen::Data(flow, data, ecn, echo) => {
            let echo = echo.map_or(0, |sent| plan.clocks[1].value(sent));
            let stamps = stamp(plan.clocks[0].value(data.sent_at.as_nanos()), echo);
            let flags = if data.syn { SYN } else { ACK };
            let sequence = if data.syn { 0 } else { 1 + data.seq };
            (*flow, false, flags, sequence, 1, data.len, stamps, *ecn as u8)
        }
        Seen::Ack(flow, ack, sent) => {
            let stamps = stamp(plan.clocks[1].value(*sent), plan.clocks[0].value(ack.echo.as_nanos()));
            let flags = ACK | if ack.syn { SYN } else { 0 } | if ack.ece { ECE } else { 0 };
            sack(&mut options, ack);
            (*flow, true, flags, u64::from(!ack.syn), 1 + ack.ack, 0, stamps, 0)
        }
    };
    if flags & SYN != 0 {
        options.extend([2, 4, 5, 180, 4, 2, 1, 3, 3, 14]);
    }
    let ends = [(Address::v4([192, 0, 2, 1]), 40000 + flow as u16), (Address::v4([198, 51, 100, 2]), 80)];
    let (from, to) = if is_reply { (ends[1], ends[0]) } else { (ends[0], ends[1]) };
    let tcp = TcpHeader {
        source_port: from.1,
        destination_port: to.1,
        sequence: sequence as u32,
        acknowledgement: number as u32,
        flags,
        window: 65535,
        payload_bytes: payload,
        stamps,
        options: &options,
        payload: &[],
    };
    let ip_bytes = payload + header(plan);
    let packet = Packet {
        source: from.0,
        destination: to.0,
        hop_limit: 64,
        dscp: 0,
        ecn,
        identification: None,
        ip_bytes,
        wire_bytes: ip_bytes + 14,
        transport: Transport::Tcp(tcp),
    };
    tracer.packet(times, &packet);
}

fn sack(options: &mut Vec<u8>, ack: &Ack) {
    let blocks: Vec<_> = ack.sack.iter().filter(|block| block.end > block.start).collect();
    if blocks.is_empty() {
        return;
    }
    options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
    for block in blocks {
        options.extend((1 + ack.ack as u32 + block.start).to_be_bytes());
        options.extend((1 + ack.ack as u32 + block.end).to_be_bytes());
    }
}
