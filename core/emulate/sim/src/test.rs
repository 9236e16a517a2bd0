//! A `fathom test` over the line of a scenario, in virtual time: the same sequence of phases, with
//! the load of the scenario in each direction and its other workloads as cross traffic.
use crate::expand::units;
use crate::flow::{Ends, Flow};
use crate::hops::HopProbes;
use crate::probe::Answer;
use crate::record::Record;
use crate::sim::{ActiveUnit, HOPS, Sim};
use crate::unit::Me;
use crate::{Options, Outcome};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use fathom_probe::{
    Course, FourStamps, HighestRate, PhasePlan, ProbeBudget, ProbeKind, Step, TRAIN_PROBES, Train,
};
use fathom_run::{Load, Note, Phase, PhaseEnd, PhaseKind};
use fathom_scenario::{LoadPlan, Plan, START_WITHIN};
use fathom_tcp::ControlPluginParams;
use fathom_units::{Direction, Duration, PerDirection, Rate, Rng, Time};

/// Interval of the decision whether a phase is over, as in `fathom test`.
const DECIDE_EVERY: Duration = Duration::from_millis(100);
/// Longest wait for the responses to the probes sent at once, as in `fathom test`.
const TRAIN_WAIT: Duration = Duration::from_secs(2);
/// Cross traffic lasts longer than any test.
const LONGEST: Duration = Duration::from_secs(3600);
/// Flows per direction of `fathom test`, for a scenario without a load.
const FLOWS: u32 = 4;

/// Options of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct TestOptions {
    /// Seed, and number of flows with their own series.
    pub options: Options,
    /// The phases, in order.
    pub phases: Vec<PhasePlan>,
    /// Maximum payload of the load in bytes, both directions together.
    pub byte_limit: u64,
}

impl TestOptions {
    /// The default phases without a data limit.
    pub fn new(seed: u64) -> Self {
        let phases = PhasePlan::default_sequence();
        TestOptions { options: Options::new(seed), phases, byte_limit: u64::MAX }
    }
}

/// Runs a test over the line of `plan`. The same arguments give the same outcome on every machine.
pub fn test(plan: &Plan, options: &TestOptions) -> Outcome {
    let mut test = Test::new(plan, options);
    test.await_train();
    loop {
        let step = test.course.poll(test.sim.world.now(), |kind| test.sim.world.probes.oldest(kind));
        match step {
            Some(Step::Start(kind)) => test.start(kind),
            Some(Step::End(kind, end)) => test.end(kind, end),
            Some(Step::Omit(phase)) => test.sim.notes.push(Note::PhaseLeftOut { phase }),
            Some(Step::Queued(phase, waited)) => {
                test.sim.notes.push(Note::QueueNotEmpty { phase, waited_s: waited.as_secs_f64() });
            }
            Some(Step::Finish) => return test.outcome(plan),
            None => test.advance(),
        }
    }
}

struct Test {
    sim: Sim,
    train: Train,
    budgets: [ProbeBudget; 3],
    highest: PerDirection<HighestRate>,
    course: Course,
    load: PerDirection<LoadFlows>,
    /// Units of the current phase.
    running: Vec<u32>,
    start: Time,
    /// Load delivered before the current phase.
    before: PerDirection<u64>,
    phases: Vec<Phase>,
    controls: Vec<ControlPluginParams>,
    rng: Rng,
}

/// Load of one direction.
#[derive(Clone, Default)]
struct LoadFlows {
    /// Number of the workload.
    workload: u32,
    flows: u32,
}

impl Test {
    fn new(plan: &Plan, options: &TestOptions) -> Self {
        let load = plan.load.clone().unwrap_or(LoadPlan {
            up_flows: FLOWS,
            down_flows: FLOWS,
            congestion_control: "cubic".to_owned(),
            duration: LONGEST,
        });
        let mut crossed = Plan { load: None, ..plan.clone() };
        (crossed.run.idle, crossed.run.duration) = (Duration::ZERO, LONGEST);
        let mut sim = Sim::new(&crossed, &options.options);
        let mut loads = alloc::vec![false; sim.workloads.len()];
        let mut flows = PerDirection::<LoadFlows>::default();
        for workload in load.workloads() {
            flows[workload.direction] =
                LoadFlows { workload: sim.workloads.len() as u32, flows: workload.flows };
            sim.workloads.push(workload);
            loads.push(true);
        }
        let most = options.options.flow_series as usize;
        sim.record = Record::new(&plan.line, loads, most, plan.run.sample_every);
        sim.world.probes.report();
        sim.probe_from = Time::MAX;
        (sim.course.load, sim.course.drain, sim.course.end) = (Time::MAX, Time::MAX, Time::MAX);
        let kinds = [ProbeKind::Udp, ProbeKind::Icmp, ProbeKind::Hop];
        let [(_, udp), (_, icmp), _, _, _, (_, hops)] = ProbeBudget::groups(&kinds, plan.run.sample_every);
        sim.world.hops = Some(HopProbes::new(plan.line.hops.len()));
        sim.start_probing(HOPS, hops.requested(), Time::ZERO);
        Test {
            sim,
            train: Train::default(),
            budgets: [udp, icmp, hops],
            highest: PerDirection::default(),
            course: Course::new(options.phases.clone(), options.byte_limit),
            load: flows,
            running: Vec::new(),
            start: Time::ZERO,
            before: PerDirection::default(),
            phases: Vec::new(),
            controls: plan.controls.clone(),
            rng: Rng::stream(options.options.seed, "test"),
        }
    }
    fn start(&mut self, kind: PhaseKind) {
        self.start = self.sim.world.now();
        self.before = self.delivered();
        for direction in kind.loads() {
            self.start_flows(*direction);
        }
        if kind.is_loaded() {
            (self.sim.course.load, self.sim.course.drain) = (self.start, Time::MAX);
        }
    }
    fn start_flows(&mut self, direction: Direction) {
        let LoadFlows { workload, flows } = self.load[direction];
        if flows == 0 {
            return;
        }
        let plan = &self.sim.workloads[workload as usize];
        for (nth, unit) in
            units(plan, &self.controls, &mut self.sim.world.net, &mut self.rng).into_iter().enumerate()
        {
            let me = Me { unit: self.sim.units.len() as u32, workload };
            let late = if nth == 0 { 0 } else { self.rng.below(START_WITHIN.as_nanos()) };
            me.wake_at(self.start + Duration::from_nanos(late), &mut self.sim.world);
            self.running.push(me.unit);
            self.sim.units.push(ActiveUnit { unit, me, stopped: false });
        }
    }
    fn end(&mut self, kind: PhaseKind, end: PhaseEnd) {
        for number in core::mem::take(&mut self.running) {
            self.sim.stop_unit(number);
        }
        let now = self.sim.world.now();
        self.sim.course.drain = now;
        let delivered = self.delivered();
        let flows = |direction| {
            if kind.loads().contains(&direction) { self.load[direction].flows } else { 0 }
        };
        let load = kind.is_loaded().then(|| Load {
            flows_up: flows(Direction::Up),
            flows_down: flows(Direction::Down),
            congestion_control: self.congestion_control(),
            delivered_up_bytes: delivered.up - self.before.up,
            delivered_down_bytes: delivered.down - self.before.down,
        });
        let (start_ns, end_ns) = (self.start.as_nanos(), now.as_nanos());
        self.phases.push(Phase { kind, start_ns, end_ns, end, load });
    }
    fn congestion_control(&self) -> alloc::string::String {
        self.sim.workloads.last().map(|w| w.transport.congestion_control.clone()).unwrap_or_default()
    }
    /// Runs the line until the next decision, and reports what was observed.
    fn advance(&mut self) {
        let until = self.sim.world.now() + DECIDE_EVERY;
        self.sim.run_until(until);
        for answer in self.sim.world.probes.take_answers() {
            self.take_answer(&answer);
        }
        let delivered = self.delivered();
        for direction in Direction::BOTH {
            self.course.delivered(direction, until, delivered[direction]);
            self.highest[direction].add(until, delivered[direction]);
        }
        self.adapt_probes();
        let (window, retransmits) = self.senders();
        self.course.senders(until, window, retransmits);
    }
    fn take_answer(&mut self, answer: &Answer) {
        if answer.kind == ProbeKind::Udp && !self.train.is_complete() {
            let reached_ns = answer.reached.as_nanos();
            let (server_received_ns, server_sent_ns) = (reached_ns, reached_ns);
            let (sent, received) = (answer.sent, answer.received);
            self.train.add(&FourStamps { sent, server_received_ns, server_sent_ns, received });
        }
        let delay = answer.received.saturating_since(answer.sent);
        self.course.answered(answer.kind, answer.sent, delay.as_secs_f64());
    }
    /// Waits for the responses to the probes sent at once.
    fn await_train(&mut self) {
        for _ in 0..TRAIN_PROBES {
            self.sim.send_probe(0);
        }
        while !self.train.is_complete() && self.sim.world.now() < Time::ZERO + TRAIN_WAIT {
            self.advance();
        }
        self.sim.probe_from = self.sim.world.now();
    }
    fn adapt_probes(&mut self) {
        let first = self.train.rates();
        let idle = self.course.idle();
        // Before the load there is no rate.
        let known = |rate: &Rate| *rate > Rate::default();
        let rates = PerDirection::from_fn(|d| self.highest[d].rate(idle).filter(known).or(first[d]));
        for (kind, budget) in (0..).zip(self.budgets) {
            self.sim.probe_every(kind, budget.interval(rates.up, rates.down));
        }
    }
    fn is_load(&self, flow: &Flow) -> bool {
        let workload = self.sim.units[flow.unit as usize].me.workload;
        self.load[flow.direction].workload == workload && self.load[flow.direction].flows > 0
    }
    /// Payload of the load delivered so far.
    fn delivered(&self) -> PerDirection<u64> {
        let mut total = PerDirection::default();
        for flow in self.sim.world.flows.iter().filter(|flow| self.is_load(flow)) {
            total[flow.direction] += flow.total.delivered_bytes;
        }
        total
    }
    /// Total window of the running senders in bytes, and the retransmissions of the direction with
    /// fewer.
    fn senders(&self) -> (u64, u64) {
        let (mut window, mut lost) = (0, PerDirection::<Option<u64>>::default());
        for flow in self.sim.world.flows.iter().filter(|flow| self.is_load(flow)) {
            let Ends::Tcp(tcp) = &flow.ends else { continue };
            window += u64::from(tcp.sender.window().cwnd) * u64::from(tcp.sender.mss());
            *lost[flow.direction].get_or_insert(0) += tcp.sender.retransmits();
        }
        (window, [lost.up, lost.down].into_iter().flatten().min().unwrap_or(0))
    }
    fn outcome(mut self, plan: &Plan) -> Outcome {
        self.sim.course.end = self.sim.world.now();
        self.sim.run(&mut || false);
        let end = self.sim.world.now().max(self.sim.course.end);
        let hops = self.sim.world.hops.take().map(|hops| hops.finish(end));
        let mut outcome = self.sim.outcome(plan);
        if let Some((path, series)) = hops {
            outcome.run.path = Some(path);
            outcome.run.series.extend(series);
        }
        outcome.run.phases = self.phases;
        outcome
    }
}

impl Sim {
    fn stop_unit(&mut self, number: u32) {
        let active = &mut self.units[number as usize];
        active.stopped = true;
        active.unit.stop(&mut self.world);
    }
}
