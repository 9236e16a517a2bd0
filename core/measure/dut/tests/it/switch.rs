//! A switch in virtual time, written independently of the queue disciplines of the emulator.
use fathom_dut::{InPort, Outcome, Planner, Record, Schedule, Sent, Setup, Tail, Traffic, Trouble};
use fathom_run::Spacing;
use fathom_units::{Duration, Rate};
use std::collections::VecDeque;

/// Where frames wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Buffers {
    /// Each port has this many frames.
    Packets(usize),
    /// Each port has this many bytes.
    Bytes(u64),
    /// All ports share these bytes.
    Shared(u64),
    /// All ports have one queue of this many frames: head-of-line blocking.
    OneQueue(usize),
}

/// Delay of the links, ns.
const LINK_NS: u64 = 10_000;

/// A switch whose ports that receive have one rate.
pub(crate) struct Switch {
    pub(crate) buffers: Buffers,
    pub(crate) bits_per_second: f64,
    /// When the transmission of each waiting frame begins, and its bytes, by port.
    waiting: Vec<VecDeque<(u64, u64)>>,
    free_ns: Vec<u64>,
}

impl Switch {
    pub(crate) fn new(buffers: Buffers, bits_per_second: f64, outs: usize) -> Self {
        Switch { buffers, bits_per_second, waiting: vec![VecDeque::new(); outs], free_ns: vec![0; outs] }
    }
    /// When a frame that arrives at `now` is delivered; `None` if it is dropped.
    fn forward(&mut self, now: u64, out: usize, bytes: u64) -> Option<u64> {
        for queue in &mut self.waiting {
            while queue.front().is_some_and(|(start, _)| *start <= now) {
                queue.pop_front();
            }
        }
        let out = if let Buffers::OneQueue(_) = self.buffers { 0 } else { out };
        let held = |queue: &VecDeque<(u64, u64)>| queue.iter().map(|(_, of)| of).sum::<u64>();
        let has_room = match self.buffers {
            Buffers::Packets(most) | Buffers::OneQueue(most) => self.waiting[out].len() < most,
            Buffers::Bytes(most) => held(&self.waiting[out]) + bytes <= most,
            Buffers::Shared(most) => self.waiting.iter().map(held).sum::<u64>() + bytes <= most,
        };
        let start = self.free_ns[out].max(now);
        if start > now {
            if !has_room {
                return None;
            }
            self.waiting[out].push_back((start, bytes));
        }
        self.free_ns[out] = start + (8e9 * bytes as f64 / self.bits_per_second) as u64;
        Some(self.free_ns[out] + LINK_NS)
    }
    /// Sends traffic from `start` on.
    fn run(&mut self, traffic: &Traffic, ins: usize, start: u64, seed: u64) -> Record {
        let mut record = Record::new(traffic);
        let mut schedules: Vec<Schedule> = (0..ins).map(|from| Schedule::new(traffic, from, seed)).collect();
        let mut tails = vec![Tail::default(); traffic.streams.len()];
        // A delivery is known to the sender once it has happened.
        let mut under_way: Vec<(u64, usize, u64)> = Vec::new();
        record.load_end_ns = u64::MAX;
        loop {
            let next = schedules.iter_mut().filter(|one| one.due().is_some()).min_by_key(|one| one.due());
            let Some((due, schedule)) = next.map(|one| (one.due().unwrap(), one)) else { break };
            let (stream, number) = schedule.take().unwrap();
            let plan = traffic.streams[stream];
            let sent = start + due.as_nanos();
            record.streams[stream].sent(number, sent);
            let frame = u64::from(plan.payload_bytes) + 42;
            if let Some(at) = self.forward(sent, plan.to - ins, frame) {
                record.streams[stream].received(number, at);
                record.streams[stream].returned(number, LINK_NS);
                under_way.push((at, stream, sent));
            }
            if !schedules.iter().any(Schedule::has_load)
                && due >= traffic.lasts
                && record.load_end_ns == u64::MAX
            {
                record.load_end_ns = sent;
            }
            let end = record.load_end_ns;
            under_way.retain(|(at, of, from)| {
                if *at <= sent {
                    let when = if *from > end { Sent::After } else { Sent::Apart };
                    tails[*of].arrived(i128::from(at - from), when);
                }
                *at > sent
            });
            record.end_ns = sent;
            let is_empty = |(of, tail): (&fathom_dut::StreamPlan, &Tail)| !of.has_tail() || tail.is_empty();
            if end < u64::MAX && traffic.streams.iter().zip(&tails).all(is_empty) {
                break;
            }
        }
        record
    }
    /// All tests.
    pub(crate) fn measure(&mut self, setup: Setup, seed: u64) -> Result<Outcome, Trouble> {
        let (ins, mut planner, mut now) = (setup.ins.len(), Planner::new(setup), 1_000_000_000);
        while let Some((_, traffic)) = planner.next_traffic()? {
            let record = self.run(&traffic, ins, now, seed);
            now = record.end_ns + 100_000_000;
            planner.add(&record);
        }
        Ok(planner.outcome())
    }
}

/// Two ports of 1 Gbit/s that send, and as many that receive.
pub(crate) fn setup(ins: usize, outs: usize, spacing: Spacing) -> Setup {
    Setup {
        ins: vec![InPort { rate: Some(Rate::from_bits_per_second(1_000_000_000)) }; ins],
        outs,
        rate: None,
        load_ratio: 1.1,
        spacing,
        hold: Duration::from_secs(5),
    }
}
