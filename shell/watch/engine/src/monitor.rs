//! Starts, reloads and stops the engine.
use crate::alerts::{self, AlertBackend, JudgeMessage, Outlets, ToJudge};
use crate::echo::{EchoCounts, EchoThread};
use crate::history::{Event, HistoryWriter};
use crate::host::HostThread;
use crate::live::LiveState;
use crate::register::{PlannedSeries, Register, THIS_HOST};
use crate::report::{Report, Reporter, SeriesSlot};
use crate::resolver::{Asker, Moved, Resolver};
use crate::sockets::SocketThread;
use crate::target::{Command, ProbedTarget, ResolvedAddress};
use crate::writer;
use fathom_os::clock::Clock;
use fathom_os::echo::{EchoSocketError, echo_socket};
use fathom_units::{Duration, WallTime};
use fathom_watch_plan::{Family, Plan, Protocol, TEST_BUFFERS, TEST_DELAYS, TEST_RATES, Target, TargetNow};
use fathom_watch_samples::{Level, Outcome, Sample, Tally, Unit};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::JoinHandle;

/// Changes made by a new plan.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Changes {
    /// Unchanged targets.
    pub unchanged: usize,
    /// New or changed targets.
    pub started: usize,
    /// Removed or changed targets.
    pub stopped: usize,
}

/// Measurement quality.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Health {
    /// Replies and departures without a kernel timestamp: the program timed them, with an error of
    /// microseconds to milliseconds.
    pub unstamped: u64,
    /// ICMP replies from an address that was not probed, or to no probe.
    pub strangers: u64,
    /// Probes not sent because the program was not scheduled in time.
    pub missed: u64,
}

/// Results of a test.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct TestValues {
    /// Delays in the order of [`TEST_DELAYS`].
    pub delays: [Option<Duration>; TEST_DELAYS.len()],
    /// Rates in bit/s, then buffers in bytes, in the order of [`Target::levels`].
    pub levels: [Option<f64>; TEST_RATES.len() + TEST_BUFFERS.len()],
}

#[derive(Debug)]
struct Running {
    target: Arc<Target>,
    number: u32,
    slot: SeriesSlot,
}

/// The running engine.
#[derive(Debug)]
pub struct Monitor {
    live: Arc<LiveState>,
    register: Register,
    running: Vec<Running>,
    slots: Arc<std::sync::Mutex<BTreeMap<u32, Vec<SeriesSlot>>>>,
    next_number: u32,
    next_slot: SeriesSlot,
    to_echo: Sender<Command>,
    to_sockets: Sender<Command>,
    to_host: Sender<Vec<String>>,
    to_writer: Sender<Vec<Report>>,
    /// The alert thread, if any.
    judge: Option<(ToJudge, JoinHandle<()>)>,
    resolver: Option<Resolver>,
    counts: Arc<EchoCounts>,
    problems: Receiver<String>,
    threads: Vec<JoinHandle<()>>,
    writer: JoinHandle<()>,
}

/// Checks whether this process may send the probes of `plan`.
///
/// # Errors
/// What is missing, and what to try.
pub fn permitted(plan: &Plan) -> Result<(), String> {
    let needs = plan.targets.iter().any(|t| matches!(t.protocol, Protocol::Icmp | Protocol::Hops));
    // If IPv6 is unavailable, only its targets fail.
    match if needs { echo_socket(false) } else { return Ok(()) } {
        Err(error @ EchoSocketError::NotPermitted) => Err(error.to_string()),
        Err(EchoSocketError::Io(error)) => Err(format!("ICMP socket: {error}")),
        Ok(_) => Ok(()),
    }
}

impl Monitor {
    /// Starts probing without alerts. Check the plan with [`permitted`] first.
    ///
    /// # Errors
    /// If the system provides no random number.
    pub fn start(plan: &Plan, history: Box<dyn HistoryWriter>) -> Result<Monitor, String> {
        Monitor::start_with(plan, history, None)
    }
    /// Starts probing. With `alerting`, evaluates the plan's alerts.
    ///
    /// # Errors
    /// If the system provides no random number.
    pub fn start_with(
        plan: &Plan,
        history: Box<dyn HistoryWriter>,
        backend: Option<Box<dyn AlertBackend>>,
    ) -> Result<Monitor, String> {
        let token = token()?;
        // If the limit cannot be raised, connections beyond it fail and report that.
        let _ = fathom_os::files::raise_limit();
        let clock = Clock::start();
        let (live, register) = (Arc::new(LiveState::default()), Register::default());
        let (to_writer, reports) = channel();
        let (problem, problems) = sync_channel(16);
        let judge = backend.map(|backend| judge(backend, &register, &live, &to_writer));
        let to_judge = judge.as_ref().map(|(to, _)| to.clone());
        let writer =
            writer::start(history, register.clone(), Arc::clone(&live), reports, (problem, to_judge));
        let (to_echo, echo_commands) = channel();
        let (to_sockets, socket_commands) = channel();
        let (to_host, host_commands) = channel();
        let counts = Arc::new(EchoCounts::default());
        let addressed: Arc<std::sync::Mutex<BTreeMap<u32, Vec<SeriesSlot>>>> = Arc::default();
        let reporter = || Reporter::new(to_writer.clone());
        // Slots start with the lateness of each probing thread, then the host thread's series.
        let echo =
            EchoThread::new(clock, echo_commands, reporter(), Arc::clone(&counts), 0, (plan.seed, token));
        let sockets = SocketThread::new(clock, socket_commands, reporter(), 1, (plan.seed, token));
        let host = HostThread::new(host_commands, reporter(), register.clone());
        for (slot, probe) in [(0, "lateness of icmp"), (1, "lateness of the others")] {
            let target = THIS_HOST.to_owned();
            register.open(PlannedSeries {
                slot,
                target,
                probe: probe.to_owned(),
                unit: Unit::Seconds,
                now: None,
            });
        }
        let threads = vec![
            std::thread::spawn(move || echo.run()),
            std::thread::spawn(move || sockets.run()),
            std::thread::spawn(move || host.run()),
        ];
        let resolver = Resolver::start(clock, to_writer.clone(), &moved(&addressed, &register, &live));
        let mut monitor = Monitor {
            live,
            register,
            running: Vec::new(),
            slots: addressed,
            next_number: 0,
            next_slot: crate::host::SLOTS_END,
            to_echo,
            to_sockets,
            to_host,
            to_writer,
            judge,
            resolver: Some(resolver),
            counts,
            problems,
            threads,
            writer,
        };
        monitor.reload(plan);
        Ok(monitor)
    }
    /// The current state of all targets.
    #[must_use]
    pub fn live(&self) -> Arc<LiveState> {
        Arc::clone(&self.live)
    }
    /// Measurement quality so far.
    #[must_use]
    pub fn health(&self) -> Health {
        let read = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
        Health {
            unstamped: read(&self.counts.unstamped),
            strangers: read(&self.counts.strangers),
            missed: read(&self.counts.missed),
        }
    }
    /// Problems of the history since the last call.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.problems.try_iter().collect()
    }
    /// Applies a new plan. Unchanged targets are not touched: none of their slots moves.
    pub fn reload(&mut self, plan: &Plan) -> Changes {
        let _ = self.to_host.send(plan.interfaces.clone());
        self.tell_judge(|| JudgeMessage::Rules(plan.alerts.clone()));
        let mut wanted: BTreeMap<(&str, &str), &Target> = plan.targets.iter().map(|t| (t.key(), t)).collect();
        let (stay, gone): (Vec<Running>, Vec<Running>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|one| wanted.get(&one.target.key()).is_some_and(|new| **new == *one.target));
        gone.iter().for_each(|one| self.stop_one(one));
        for one in &stay {
            wanted.remove(&one.target.key());
        }
        let new: Vec<&Target> = plan.targets.iter().filter(|t| wanted.contains_key(&t.key())).collect();
        let changes = Changes { unchanged: stay.len(), started: new.len(), stopped: gone.len() };
        self.running = stay;
        new.into_iter().for_each(|target| self.start_one(target));
        self.tell_judge(|| JudgeMessage::Settled);
        changes
    }
    fn tell_judge(&self, what: impl FnOnce() -> JudgeMessage) {
        if let Some((to, _)) = &self.judge {
            to.send(what());
        }
    }
    fn start_one(&mut self, target: &Target) {
        let target = Arc::new(target.clone());
        let (number, slot) = (self.next_number, self.next_slot);
        let names = target.series();
        self.next_number += 1;
        self.next_slot += slots(&target);
        let literal = target.host.parse::<IpAddr>().ok();
        for (index, probe) in names.into_iter().enumerate() {
            let now = Some(row(&target, &probe, literal));
            let name = target.name.clone();
            let slot = slot + index as SeriesSlot;
            self.register.open(PlannedSeries { slot, target: name, probe, unit: Unit::Seconds, now });
            self.lock_slots().entry(number).or_default().push(slot);
        }
        for (own, (probe, unit)) in (slot + target.series().len() as SeriesSlot..).zip(target.levels()) {
            let (target, probe) = (target.name.clone(), probe.to_owned());
            self.register.open(PlannedSeries { slot: own, target, probe, unit, now: None });
        }
        for (info, own) in target.series_info().into_iter().zip(slot..) {
            self.tell_judge(|| JudgeMessage::Open(own, info));
        }
        if target.protocol == Protocol::Test {
            // Its series are shown before its first result, which may be hours away.
            let opened =
                (slot..slot + slots(&target)).map(|own| Report::Reason(own, "no test so far".into()));
            let _ = self.to_writer.send(opened.collect());
        } else {
            self.probe(&target, (number, slot), literal);
        }
        self.running.push(Running { target, number, slot });
    }
    /// Starts to probe a target.
    fn probe(&self, target: &Arc<Target>, (number, slot): (u32, SeriesSlot), literal: Option<IpAddr>) {
        let mut resolved = ResolvedAddress::default();
        if let Some(address) = literal {
            resolved.take(suits(address, target.family));
        }
        let to = self.thread_of(target.protocol).clone();
        let probed = ProbedTarget { number, target: Arc::clone(target), slot, resolved };
        let _ = to.send(Command::Add(probed));
        if let (None, Some(resolver)) = (literal, &self.resolver) {
            resolver.add(&target.host, target.family, Asker { number, to });
        }
    }
    /// Records the result of a test at the time of its end: the delays of [`TEST_DELAYS`] in
    /// seconds, the levels of [`Target::levels`]. A test without any delay has failed for `reason`.
    pub fn record_test(&self, name: &str, at: WallTime, result: &TestValues, reason: &str) {
        let is_it = |one: &&Running| one.target.protocol == Protocol::Test && one.target.name == name;
        let Some(one) = self.running.iter().find(is_it) else { return };
        let has_failed = result.delays.iter().all(Option::is_none);
        let mut reports = Vec::new();
        for (slot, delay) in (one.slot..).zip(result.delays) {
            let outcome = delay.map(Outcome::Answered).or(has_failed.then_some(Outcome::Failed));
            if has_failed {
                reports.push(Report::Reason(slot, reason.to_owned()));
            }
            reports.extend(outcome.map(|outcome| Report::Sample(slot, Sample { at, outcome })));
        }
        for (slot, value) in (one.slot + TEST_DELAYS.len() as SeriesSlot..).zip(result.levels) {
            reports.extend(value.map(|value| Report::Level(slot, Level { at, value: Some(value) })));
        }
        let _ = self.to_writer.send(reports);
        let values = TEST_DELAYS.iter().zip(result.delays.map(|delay| delay.map(|d| d.as_secs_f64())));
        let levels = one.target.levels().into_iter().zip(result.levels);
        let known =
            values.map(|(probe, value)| (*probe, value)).chain(levels.map(|((probe, _), v)| (probe, v)));
        self.live.set_test(name, known.filter_map(|(probe, value)| Some((probe, value?))).collect());
    }
    fn stop_one(&self, one: &Running) {
        if one.target.protocol == Protocol::Test {
            self.live.remove_test(&one.target.name);
        } else {
            let _ = self.thread_of(one.target.protocol).send(Command::Remove(one.number));
            self.resolver.iter().for_each(|resolver| resolver.remove(one.number));
        }
        // Its reports so far are recorded before its series are removed.
        self.lock_slots().remove(&one.number);
        for slot in one.slot..one.slot + slots(&one.target) {
            self.tell_judge(|| JudgeMessage::Close(slot));
            self.register.close(slot, &self.live);
        }
    }
    const fn thread_of(&self, protocol: Protocol) -> &Sender<Command> {
        match protocol {
            Protocol::Icmp => &self.to_echo,
            _ => &self.to_sockets,
        }
    }
    fn lock_slots(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, Vec<SeriesSlot>>> {
        self.slots.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
    /// Records an event from outside the engine.
    pub fn remember(&self, event: Event) {
        let _ = self.to_writer.send(vec![Report::Event(event, None)]);
    }
    /// Waits until all reports so far are in the history and in the live state.
    pub fn sync(&self) {
        let (done, wait) = channel();
        if self.to_writer.send(vec![Report::Sync(done)]).is_ok() {
            let _ = wait.recv();
        }
    }
    /// Stops and flushes the history. Returns its problems.
    #[must_use]
    pub fn stop(self) -> Vec<String> {
        for to in [&self.to_echo, &self.to_sockets] {
            let _ = to.send(Command::Stop);
        }
        drop((self.to_host, self.resolver));
        for thread in self.threads {
            let _ = thread.join();
        }
        if let Some((to, thread)) = self.judge {
            // It may be blocked reading the past from disk.
            to.send(JudgeMessage::Stop);
            let _ = thread.join();
        }
        // Resolver threads may hold a sender for as long as a name server does not answer.
        let (done, wait) = channel();
        let _ = self.to_writer.send(vec![Report::End(done)]);
        let _ = wait.recv();
        drop(self.writer);
        self.problems.try_iter().collect()
    }
}

/// Number of series of a target.
fn slots(target: &Target) -> SeriesSlot {
    (target.series().len() + target.levels().len()) as SeriesSlot
}

fn judge(
    backend: Box<dyn AlertBackend>,
    register: &Register,
    live: &Arc<LiveState>,
    to_writer: &Sender<Vec<Report>>,
) -> (ToJudge, JoinHandle<()>) {
    let (register, live, to_writer) = (register.clone(), Arc::clone(live), to_writer.clone());
    alerts::start(Outlets { backend, register, live, to_writer })
}

fn moved(
    slots: &Arc<std::sync::Mutex<BTreeMap<u32, Vec<SeriesSlot>>>>,
    register: &Register,
    live: &Arc<LiveState>,
) -> Moved {
    let (slots, register, live) = (Arc::clone(slots), register.clone(), Arc::clone(live));
    Arc::new(move |number, address| {
        let own = slots.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for slot in own.get(&number).into_iter().flatten() {
            register.address(*slot, address, &live);
        }
    })
}

fn row(target: &Target, probe: &str, address: Option<IpAddr>) -> TargetNow {
    TargetNow {
        name: target.name.clone(),
        group: target.group.clone(),
        host: target.host.clone(),
        address,
        probe: probe.to_owned(),
        series: 0,
        last: None,
        last_at: None,
        tally: Tally::default(),
        median: None,
        p95: None,
        failing_since: None,
        alerts: Vec::new(),
    }
}

fn suits(address: IpAddr, family: Family) -> Result<IpAddr, String> {
    match family {
        Family::V4 if address.is_ipv6() => Err(format!("invalid IPv4 address {address}")),
        Family::V6 if address.is_ipv4() => Err(format!("invalid IPv6 address {address}")),
        _ => Ok(address),
    }
}

/// A random number that identifies this run.
fn token() -> Result<u64, String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|e| format!("random numbers: {e}"))?;
    Ok(u64::from_ne_bytes(bytes))
}
