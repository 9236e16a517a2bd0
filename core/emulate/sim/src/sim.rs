//! The event loop.
use crate::agenda::Wake;
use crate::expand::{Planned, expand};
use crate::net::Net;
use crate::queue_log::QueueLog;
use crate::record::Record;
use crate::unit::{Me, Unit};
use crate::watch::Watch;
use crate::world::{Notice, World};
use crate::{Options, Probing};
use alloc::vec::Vec;
use fathom_probe::Schedule;
use fathom_scenario::{Plan, WorkloadPlan, loads};
use fathom_units::{Direction, Duration, Rng, Time};

/// How long to wait for the last answers. With a deeper queue they count as lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// Number of the probes of hops, after UDP and ICMP.
pub(crate) const HOPS: u32 = 2;

/// Events between two questions whether to stop: about a millisecond.
const STOP_CHECK_EVENTS: u64 = 4096;

/// The boundaries of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunBoundaries {
    /// When the load starts.
    pub(crate) load: Time,
    /// When the load ends.
    pub(crate) drain: Time,
    /// When probing ends.
    pub(crate) end: Time,
}

impl RunBoundaries {
    fn of(plan: &Plan) -> Self {
        let load = Time::ZERO + plan.run.idle;
        let drain = load + plan.run.duration;
        RunBoundaries { load, drain, end: drain + plan.run.drain }
    }
    /// The boundaries of a run that was stopped at `end`.
    fn cut(self, end: Time) -> Self {
        RunBoundaries { load: self.load.min(end), drain: self.drain.min(end), end: self.end.min(end) }
    }
}

/// A unit, and whether its time is over.
pub(crate) struct ActiveUnit {
    pub(crate) unit: Unit,
    pub(crate) me: Me,
    pub(crate) stopped: bool,
}

pub(crate) struct Sim {
    pub(crate) world: World,
    pub(crate) units: Vec<ActiveUnit>,
    pub(crate) workloads: Vec<WorkloadPlan>,
    pub(crate) notes: Vec<fathom_run::Note>,
    pub(crate) record: Record,
    pub(crate) course: RunBoundaries,
    pub(crate) events: u64,
    pub(crate) is_stopped: bool,
    interval: Duration,
    /// Slots of the probes of each kind, and of those of hops.
    probe_slots: [Schedule; 3],
    /// When probing starts.
    pub(crate) probe_from: Time,
}

impl Sim {
    pub(crate) fn new(plan: &Plan, options: &Options) -> Self {
        let seed = options.seed.wrapping_add(plan.run.seed);
        let mut net = Net::new(plan.to_line(seed), Watch::new(plan.line.hops.len()));
        net.watch.log = options.log_queues.then(|| QueueLog::new(plan.line.hops.len()));
        let expanded = expand(plan, &mut net, seed);
        let loads = loads(&expanded.workloads);
        let interval = plan.run.sample_every;
        let max_flows = options.flow_series as usize;
        let record = Record::new(&plan.line, loads, max_flows, interval);
        let mut sim = Sim {
            world: World::new(net, seed),
            units: Vec::new(),
            workloads: expanded.workloads,
            notes: expanded.notes,
            record,
            course: RunBoundaries::of(plan),
            events: 0,
            is_stopped: false,
            interval,
            probe_slots: [(); 3].map(|()| Schedule::even(0..0, interval, Time::ZERO)),
            probe_from: Time::ZERO,
        };
        sim.begin(expanded.units);
        sim.begin_probes(options.probing, seed);
        sim
    }
    fn begin(&mut self, planned: Vec<Planned>) {
        let agenda = &mut self.world.net.agenda;
        for Planned { unit, me, start, stop } in planned {
            agenda.push(start, Wake::Unit(me.unit));
            agenda.push(stop, Wake::Stop(me.unit));
            self.units.push(ActiveUnit { unit, me, stopped: false });
        }
        agenda.push(Time::ZERO + self.interval, Wake::Sample);
    }
    /// The phase of the first probe depends on the seed.
    fn begin_probes(&mut self, probing: Probing, seed: u64) {
        let mut phase = Rng::stream(seed, "probes");
        let mut within = |interval: Duration| Duration::from_nanos(phase.below(interval.as_nanos()));
        match probing {
            Probing::Test => {
                let first = Time::ZERO + within(self.interval / 2);
                self.start_probing(0, self.interval, first);
                self.start_probing(1, self.interval, first + self.interval / 2);
            }
            Probing::Ping { from, every } => self.start_probing(1, every, from + within(every)),
        }
    }
    /// Sends a probe of a kind every `interval` from `first`.
    pub(crate) fn start_probing(&mut self, kind: u32, interval: Duration, first: Time) {
        self.probe_slots[kind as usize] = Schedule::even(0..1, interval, first);
        self.world.net.agenda.push(first, Wake::Probe(kind));
    }
    /// Changes the interval of the probes of a kind.
    pub(crate) fn probe_every(&mut self, kind: u32, interval: Duration) {
        let slots = &mut self.probe_slots[kind as usize];
        let before = slots.next_slot();
        slots.set_interval(interval, self.world.net.now);
        let next = slots.next_slot().filter(|next| Some(*next) != before);
        if let Some(next) = next {
            self.world.net.agenda.push(next, Wake::Probe(kind));
        }
    }

    pub(crate) fn run(&mut self, stop: &mut dyn FnMut() -> bool) {
        let last = self.course.end + PATIENCE;
        while self.step(last) {
            if self.events.is_multiple_of(STOP_CHECK_EVENTS) && stop() {
                self.is_stopped = true;
                self.course = self.course.cut(self.world.now());
                return;
            }
        }
    }
    /// Handles all events until `end`.
    pub(crate) fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.world.net.now = self.world.net.now.max(end);
    }
    /// Handles the next event; false if there is none, or none that matters.
    fn step(&mut self, last: Time) -> bool {
        let net = &mut self.world.net;
        let (line, agenda) = (net.line.next_event().unwrap_or(Time::MAX), net.agenda.next());
        let next = line.min(agenda);
        if next > last || (next > self.course.end && self.world.probes.outstanding() == 0) {
            return false;
        }
        net.now = next;
        self.events += 1;
        if line <= agenda {
            self.advance_line();
        } else if let Some(wake) = net.agenda.pop() {
            self.wake(wake);
        }
        true
    }
    fn advance_line(&mut self) {
        if let Some((travel, packet, _)) = self.world.net.poll() {
            let notice = self.world.leave_line(travel, packet);
            notice.into_iter().for_each(|notice| self.tell(notice));
        }
    }
    fn wake(&mut self, wake: Wake) {
        match wake {
            Wake::Sender(flow) => self.world.wake_sender(flow),
            Wake::Receiver(flow) => self.world.wake_receiver(flow),
            Wake::Access(number) => self.world.net.leave_access(number),
            Wake::Pipe(number) => {
                if let Some(packet) = self.world.net.leave_pipe(number) {
                    let notice = self.world.arrive(packet);
                    notice.into_iter().for_each(|notice| self.tell(notice));
                }
            }
            Wake::Unit(number) => self.wake_unit(number),
            Wake::Stop(number) => {
                let living = &mut self.units[number as usize];
                living.stopped = true;
                living.unit.stop(&mut self.world);
            }
            Wake::Probe(kind) => self.probe(kind),
            Wake::Sample => self.sample(),
        }
    }
    fn wake_unit(&mut self, number: u32) {
        let living = &mut self.units[number as usize];
        if !living.stopped {
            living.unit.wake(living.me, &mut self.world);
        }
    }
    fn tell(&mut self, notice: Notice) {
        let (Notice::Reached { flow } | Notice::Arrived { flow, .. }) = notice;
        let unit = self.world.flows[flow as usize].unit;
        let living = &mut self.units[unit as usize];
        living.unit.notice(notice, living.me, &mut self.world);
    }
    fn probe(&mut self, kind: u32) {
        let now = self.world.now();
        if now >= self.course.end {
            return;
        }
        let mut due = Vec::new();
        self.probe_slots[kind as usize].take_due(now, &mut due);
        // This wake-up was for a slot that has moved since.
        if due.is_empty() {
            return;
        }
        if now >= self.probe_from {
            self.send_probe(kind);
        }
        if let Some(next) = self.probe_slots[kind as usize].next_slot() {
            self.world.net.agenda.push(next, Wake::Probe(kind));
        }
    }
    pub(crate) fn send_probe(&mut self, kind: u32) {
        let now = self.world.net.now;
        let packet = match kind {
            HOPS => self.world.hops.as_mut().and_then(|hops| hops.send(now)),
            kind => Some(self.world.probes.send(kind, now)),
        };
        if let Some(packet) = packet {
            self.world.net.send(packet, Direction::Up, crate::net::Edge::default());
        }
    }
    fn sample(&mut self) {
        let (now, units) = (self.world.now(), &self.units);
        let in_load = self.course.load < now && now <= self.course.drain;
        let workload_of = |flow: &crate::flow::Flow| units[flow.unit as usize].me.workload;
        self.record.sample(&mut self.world.net, &self.world.flows, workload_of, in_load);
        if now < self.course.end {
            self.world.net.agenda.push(now + self.interval, Wake::Sample);
        }
    }
}
