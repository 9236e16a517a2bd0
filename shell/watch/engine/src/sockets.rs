//! The thread of all probes with their own sockets: connections, queries, UDP, routers.
use crate::connection_probe::{ConnectionProbe, Progress};
use crate::history::Event;
use crate::hops::HopProber;
use crate::lateness::LatenessMonitor;
use crate::report::{Report, Reporter, SeriesSlot};
use crate::target::{Command, ProbedTarget};
use crate::udp::UdpProber;
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::raise_priority;
use fathom_probe::{Due, RETENTION, Schedule, StampConverter};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_plan::Protocol;
use fathom_watch_samples::{Outcome, Sample};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Wait for commands when there is nothing to probe; each check is a wake-up.
const LOOK_IDLE: std::time::Duration = std::time::Duration::from_secs(1);
/// Maximum probes of one target kept beyond their timeout in case of a late answer: each is a
/// socket.
const MAX_OVERDUE: usize = 8;

struct TargetState {
    probed: ProbedTarget,
    overdue: usize,
    certificate: Option<String>,
}

/// State of the thread.
pub(crate) struct SocketThread {
    clock: Clock,
    commands: Receiver<Command>,
    reporter: Reporter,
    lateness: LatenessMonitor,
    targets: BTreeMap<u32, TargetState>,
    connections: Vec<ConnectionProbe>,
    paths: Vec<HopProber>,
    servers: Vec<UdpProber>,
    token: u64,
    schedule: Schedule,
    due: Vec<Due>,
    stamps: StampConverter,
}

impl SocketThread {
    pub(crate) fn new(
        clock: Clock,
        commands: Receiver<Command>,
        reporter: Reporter,
        lateness: SeriesSlot,
        (seed, token): (u64, u64),
    ) -> Self {
        SocketThread {
            clock,
            commands,
            reporter,
            lateness: LatenessMonitor::new(lateness),
            targets: BTreeMap::new(),
            connections: Vec::new(),
            paths: Vec::new(),
            servers: Vec::new(),
            token,
            schedule: Schedule::new(seed),
            due: Vec::new(),
            stamps: StampConverter::default(),
        }
    }
    /// Runs until the stop command.
    pub(crate) fn run(mut self) {
        // Without the privilege it wakes up slightly later, and reports how late.
        let _ = raise_priority();
        let _ = poll::set_precise_timers();
        while self.process_commands() {
            self.probe_due();
            let ready = self.wait();
            self.advance(&ready);
            self.trace_paths();
            self.tend_servers();
            self.time_out();
            let now = self.clock.now();
            self.lateness.report(now, &mut self.reporter);
            self.reporter.hand_over(now);
        }
        self.reporter.hand_over_all();
    }
    /// Processes waiting commands. Returns false after the stop command.
    fn process_commands(&mut self) -> bool {
        loop {
            match self.next_command() {
                Ok(Command::Add(probed)) => {
                    self.schedule.add(probed.number, &probed.target.pace, self.clock.now());
                    self.targets.insert(probed.number, TargetState { probed, overdue: 0, certificate: None });
                }
                Ok(Command::Remove(number)) => {
                    self.targets.remove(&number);
                    self.connections.retain(|connection| connection.number != number);
                    self.paths.retain(|path| path.number != number);
                    self.servers.retain(|server| server.number() != number);
                    self.schedule.remove(|target| target == number);
                }
                Ok(Command::Address(number, found)) => {
                    let state = self.targets.get_mut(&number);
                    let has_moved = state.is_some_and(|state| state.probed.resolved.take(found));
                    if has_moved {
                        // Another address is another path, which starts over.
                        self.paths.retain(|path| path.number != number);
                        self.servers.retain(|server| server.number() != number);
                    }
                }
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => return false,
                Err(TryRecvError::Empty) => return true,
            }
        }
    }
    /// The next command; blocks if there is nothing to probe.
    fn next_command(&self) -> Result<Command, TryRecvError> {
        if !self.is_idle() {
            return self.commands.try_recv();
        }
        self.commands.recv_timeout(LOOK_IDLE).map_err(|why| match why {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        })
    }
    fn is_idle(&self) -> bool {
        self.targets.is_empty() && self.connections.is_empty()
    }
    fn probe_due(&mut self) {
        let (wall, now) = both_clocks(self.clock);
        let mut due = std::mem::take(&mut self.due);
        self.schedule.take_due(now, &mut due);
        for one in due.drain(..) {
            let late = now.saturating_since(one.slot);
            self.probe(one.target, WallTime(wall.0.saturating_sub(late.as_nanos())));
        }
        self.due = due;
    }
    fn probe(&mut self, number: u32, at: WallTime) {
        let Some(state) = self.targets.get(&number) else { return };
        match state.probed.target.protocol {
            Protocol::Hops => return self.begin_round(number, at),
            Protocol::Udp => return self.probe_server(number, at),
            _ => {}
        }
        match ConnectionProbe::begin(&state.probed, at, self.clock) {
            Ok(connection) => self.connections.push(connection),
            Err(reason) => self.reporter.failed(state.probed.slot, at, &reason),
        }
    }
    fn begin_round(&mut self, number: u32, at: WallTime) {
        let now = self.clock.now();
        if let Some(path) = self.paths.iter_mut().find(|path| path.number == number) {
            return path.begin(at, now);
        }
        let Some(state) = self.targets.get(&number) else { return };
        match HopProber::open(&state.probed, self.token) {
            Ok(mut path) => {
                path.begin(at, now);
                self.paths.push(path);
            }
            Err(reason) => self.reporter.failed(state.probed.slot, at, &reason),
        }
    }
    fn probe_server(&mut self, number: u32, at: WallTime) {
        let known = self.servers.iter().position(|server| server.number() == number);
        if known.is_none() {
            let probed = self.targets.get(&number).map(|state| state.probed.clone());
            self.servers.extend(probed.map(UdpProber::new));
        }
        let index = known.unwrap_or(self.servers.len().saturating_sub(1));
        if let Some(server) = self.servers.get_mut(index) {
            server.send(at, self.clock, &mut self.reporter);
        }
    }
    fn tend_servers(&mut self) {
        let now = self.clock.now();
        for server in &mut self.servers {
            server.receive(self.clock, &mut self.stamps, &mut self.reporter);
            server.time_out(now, &mut self.reporter);
            server.tend(self.clock);
        }
    }
    fn trace_paths(&mut self) {
        let now = self.clock.now();
        for path in &mut self.paths {
            path.send_due(self.clock, &mut self.reporter);
            path.receive(self.clock, &mut self.stamps, &mut self.reporter);
            path.time_out(now, &mut self.reporter);
        }
    }
    /// Waits for answers or the next slot. Returns which connections are ready.
    fn wait(&mut self) -> Vec<bool> {
        if self.is_idle() {
            return Vec::new();
        }
        let now = self.clock.now();
        let hops = self.paths.iter().filter_map(HopProber::next_at).min();
        let slots = self.schedule.next_slot().into_iter().chain(hops);
        let next = slots.fold(now + LOOK_EVERY, Time::min);
        let mut fds: Vec<PollFd<'_>> = self.connections.iter().map(ConnectionProbe::interest).collect();
        fds.extend(self.paths.iter().map(HopProber::interest));
        fds.extend(self.servers.iter().flat_map(UdpProber::interests));
        let found = poll::wait(&mut fds, Some(next.saturating_since(now))).unwrap_or(0);
        let ready = fds.iter().take(self.connections.len()).map(PollFd::is_ready).collect();
        let (wall, woke) = both_clocks(self.clock);
        self.stamps.watch(wall, woke);
        if found == 0 {
            self.lateness.woke_late(woke.saturating_since(next));
        }
        ready
    }
    fn advance(&mut self, ready: &[bool]) {
        let mut keep = Vec::with_capacity(self.connections.len());
        for (mut connection, is_ready) in std::mem::take(&mut self.connections).into_iter().zip(ready) {
            let goes_on = !is_ready || self.look_at(&mut connection);
            if goes_on {
                keep.push(connection);
            }
        }
        self.connections = keep;
    }
    /// Processes the progress of a connection. Returns false if it has ended.
    fn look_at(&mut self, connection: &mut ConnectionProbe) -> bool {
        loop {
            match connection.advance(self.clock, &mut self.stamps) {
                Progress::Waiting => return true,
                Progress::Part(part, took) => {
                    self.part(connection, part, took);
                    if connection.is_over_after(part) {
                        self.done(connection, self.clock.now());
                        return false;
                    }
                    if part == 2 {
                        // Data after the handshake may already have arrived.
                        continue;
                    }
                    return true;
                }
                Progress::Done(at) => {
                    self.done(connection, at);
                    return false;
                }
                Progress::Broken(reason) => {
                    self.broken(connection, &reason);
                    return false;
                }
            }
        }
    }
    fn part(&mut self, connection: &ConnectionProbe, part: u32, took: Duration) {
        let outcome = if connection.is_overdue { Outcome::Late(took) } else { Outcome::Answered(took) };
        let problem = connection.certificate_problem();
        let Some(state) = self.targets.get_mut(&connection.number) else { return };
        let slot = state.probed.slot;
        self.reporter.sample(slot + part, connection.at, outcome);
        if part == 2 && state.certificate != problem {
            let name = &state.probed.target.name;
            let text = problem.as_ref().map_or_else(
                || format!("{name}: the certificate is valid again"),
                |problem| format!("{name}: invalid certificate: {problem}"),
            );
            state.certificate = problem;
            self.reporter
                .report(Report::Event(Event { at: connection.at, kind: "certificate", text }, Some(slot)));
        }
    }
    fn done(&mut self, connection: &ConnectionProbe, at: Time) {
        let Some(state) = self.targets.get_mut(&connection.number) else { return };
        let (slot, timeout) = (state.probed.slot, state.probed.target.timeout);
        let took = at.saturating_since(connection.started);
        // From the request to the first byte of the response.
        let answer = match state.probed.target.protocol {
            Protocol::Http => Some(2),
            Protocol::Https => Some(3),
            _ => None,
        };
        if let Some(part) = answer {
            let whole = at.saturating_since(connection.stage_began());
            let outcome = if connection.is_overdue { Outcome::Late(whole) } else { Outcome::Answered(whole) };
            self.reporter.sample(slot + part, connection.at, outcome);
        }
        if connection.is_overdue {
            state.overdue = state.overdue.saturating_sub(1);
            let sample = Sample { at: connection.at, outcome: Outcome::Late(took) };
            self.reporter.report(Report::Amend(slot, sample));
        } else {
            let outcome = if took > timeout { Outcome::Late(took) } else { Outcome::Answered(took) };
            self.reporter.sample(slot, connection.at, outcome);
        }
    }
    fn broken(&mut self, connection: &ConnectionProbe, reason: &str) {
        let Some(state) = self.targets.get_mut(&connection.number) else { return };
        let slot = state.probed.slot;
        if connection.is_overdue {
            state.overdue = state.overdue.saturating_sub(1);
        } else {
            self.reporter.failed(slot, connection.at, reason);
        }
    }
    /// Reports timed-out probes, and drops those that are too old or too many.
    fn time_out(&mut self) {
        let now = self.clock.now();
        let mut keep = Vec::with_capacity(self.connections.len());
        for mut connection in std::mem::take(&mut self.connections) {
            if self.stays(&mut connection, now) {
                keep.push(connection);
            }
        }
        self.connections = keep;
    }
    fn stays(&mut self, connection: &mut ConnectionProbe, now: Time) -> bool {
        let Some(state) = self.targets.get_mut(&connection.number) else { return false };
        let waited = now.saturating_since(connection.started);
        if connection.is_overdue {
            if waited > RETENTION {
                state.overdue = state.overdue.saturating_sub(1);
            }
            return waited <= RETENTION;
        }
        if waited <= state.probed.target.timeout {
            return true;
        }
        connection.is_overdue = true;
        let slot = state.probed.slot;
        self.reporter.sample(slot, connection.at, Outcome::Lost);
        let has_room = state.overdue < MAX_OVERDUE;
        if has_room {
            state.overdue += 1;
        } else if let Some(part) = connection.part() {
            self.reporter.sample(slot + part, connection.at, Outcome::Lost);
        }
        has_room
    }
}
