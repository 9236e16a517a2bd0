//! The thread of all probes that have a socket of their own: connections, queries, UDP, routers.
use crate::ask::{Asked, Command};
use crate::flight::{Flight, Progress};
use crate::hops::HopProber;
use crate::keep::Event;
use crate::pulse::Pulse;
use crate::told::{Place, Teller, Told};
use crate::udp::UdpProber;
use fathom_os::clock::Clock;
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::raise_priority;
use fathom_os::timestamp::both_clocks;
use fathom_probe::{Due, RETENTION, Schedule, StampConverter};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_plan::Ask;
use fathom_watch_samples::{Outcome, Sample};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// With nothing to ask, only a command can bring something: each look is a wake-up.
const LOOK_IDLE: std::time::Duration = std::time::Duration::from_secs(1);
/// Probes of one target that are kept beyond their timeout, in case they are answered after all: each is a socket.
const MOST_OVERDUE: usize = 8;

struct Kept {
    asked: Asked,
    overdue: usize,
    certificate: Option<String>,
}

/// All that the thread has.
pub(crate) struct SocketThread {
    clock: Clock,
    commands: Receiver<Command>,
    teller: Teller,
    pulse: Pulse,
    targets: BTreeMap<u32, Kept>,
    flights: Vec<Flight>,
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
        teller: Teller,
        lateness: Place,
        (seed, token): (u64, u64),
    ) -> Self {
        SocketThread {
            clock,
            commands,
            teller,
            pulse: Pulse::new(lateness),
            targets: BTreeMap::new(),
            flights: Vec::new(),
            paths: Vec::new(),
            servers: Vec::new(),
            token,
            schedule: Schedule::new(seed),
            due: Vec::new(),
            stamps: StampConverter::default(),
        }
    }
    /// Runs until it is told to stop.
    pub(crate) fn run(mut self) {
        // Without the privilege it wakes a little later, and says how late.
        let _ = raise_priority();
        let _ = poll::set_precise_timers();
        while self.obey() {
            self.ask_due();
            let ready = self.wait();
            self.advance(&ready);
            self.trace_paths();
            self.tend_servers();
            self.time_out();
            let now = self.clock.now();
            self.pulse.tell(now, &mut self.teller);
            self.teller.hand_over(now);
        }
        self.teller.hand_over_all();
    }
    /// False once it is to stop.
    fn obey(&mut self) -> bool {
        loop {
            match self.next_command() {
                Ok(Command::Add(asked)) => {
                    self.schedule.add(asked.number, &asked.target.pace, self.clock.now());
                    self.targets.insert(asked.number, Kept { asked, overdue: 0, certificate: None });
                }
                Ok(Command::Remove(number)) => {
                    self.targets.remove(&number);
                    self.flights.retain(|flight| flight.number != number);
                    self.paths.retain(|path| path.number != number);
                    self.servers.retain(|server| server.number() != number);
                    self.schedule.remove(|target| target == number);
                }
                Ok(Command::Address(number, found)) => {
                    let kept = self.targets.get_mut(&number);
                    let has_moved = kept.is_some_and(|kept| kept.asked.whereabouts.take(found));
                    if has_moved {
                        // Another end is another path: it is asked anew.
                        self.paths.retain(|path| path.number != number);
                        self.servers.retain(|server| server.number() != number);
                    }
                }
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => return false,
                Err(TryRecvError::Empty) => return true,
            }
        }
    }
    /// Without anything to ask, waits for it.
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
        self.targets.is_empty() && self.flights.is_empty()
    }
    fn ask_due(&mut self) {
        let (wall, now) = both_clocks(self.clock);
        let mut due = std::mem::take(&mut self.due);
        self.schedule.take_due(now, &mut due);
        for one in due.drain(..) {
            let late = now.saturating_since(one.slot);
            self.ask(one.target, WallTime(wall.0.saturating_sub(late.as_nanos())));
        }
        self.due = due;
    }
    fn ask(&mut self, number: u32, at: WallTime) {
        let Some(kept) = self.targets.get(&number) else { return };
        match kept.asked.target.ask {
            Ask::Hops => return self.begin_round(number, at),
            Ask::Udp => return self.ask_server(number, at),
            _ => {}
        }
        match Flight::begin(&kept.asked, at, self.clock) {
            Ok(flight) => self.flights.push(flight),
            Err(reason) => self.teller.failed(kept.asked.place, at, &reason),
        }
    }
    fn begin_round(&mut self, number: u32, at: WallTime) {
        let now = self.clock.now();
        if let Some(path) = self.paths.iter_mut().find(|path| path.number == number) {
            return path.begin(at, now);
        }
        let Some(kept) = self.targets.get(&number) else { return };
        match HopProber::open(&kept.asked, self.token) {
            Ok(mut path) => {
                path.begin(at, now);
                self.paths.push(path);
            }
            Err(reason) => self.teller.failed(kept.asked.place, at, &reason),
        }
    }
    fn ask_server(&mut self, number: u32, at: WallTime) {
        let known = self.servers.iter().position(|server| server.number() == number);
        if known.is_none() {
            let asked = self.targets.get(&number).map(|kept| kept.asked.clone());
            self.servers.extend(asked.map(UdpProber::new));
        }
        let place = known.unwrap_or(self.servers.len().saturating_sub(1));
        if let Some(server) = self.servers.get_mut(place) {
            server.send(at, self.clock, &mut self.teller);
        }
    }
    fn tend_servers(&mut self) {
        let now = self.clock.now();
        for server in &mut self.servers {
            server.receive(self.clock, &mut self.stamps, &mut self.teller);
            server.time_out(now, &mut self.teller);
            server.tend(self.clock);
        }
    }
    fn trace_paths(&mut self) {
        let now = self.clock.now();
        for path in &mut self.paths {
            path.send_due(self.clock, &mut self.teller);
            path.receive(self.clock, &mut self.stamps, &mut self.teller);
            path.time_out(now, &mut self.teller);
        }
    }
    /// Waits for answers or for the next slot. Returns which flights have something.
    fn wait(&mut self) -> Vec<bool> {
        if self.is_idle() {
            return Vec::new();
        }
        let now = self.clock.now();
        let hops = self.paths.iter().filter_map(HopProber::next_at).min();
        let slots = self.schedule.next_slot().into_iter().chain(hops);
        let next = slots.fold(now + LOOK_EVERY, Time::min);
        let mut fds: Vec<PollFd<'_>> = self.flights.iter().map(Flight::interest).collect();
        fds.extend(self.paths.iter().map(HopProber::interest));
        fds.extend(self.servers.iter().flat_map(UdpProber::interests));
        let found = poll::wait(&mut fds, Some(next.saturating_since(now))).unwrap_or(0);
        let ready = fds.iter().take(self.flights.len()).map(PollFd::is_ready).collect();
        let (wall, woke) = both_clocks(self.clock);
        self.stamps.watch(wall, woke);
        if found == 0 {
            self.pulse.beat(woke.saturating_since(next));
        }
        ready
    }
    fn advance(&mut self, ready: &[bool]) {
        let mut keep = Vec::with_capacity(self.flights.len());
        for (mut flight, is_ready) in std::mem::take(&mut self.flights).into_iter().zip(ready) {
            let goes_on = !is_ready || self.look_at(&mut flight);
            if goes_on {
                keep.push(flight);
            }
        }
        self.flights = keep;
    }
    /// Takes what came of a flight. False if it is over.
    fn look_at(&mut self, flight: &mut Flight) -> bool {
        loop {
            match flight.advance(self.clock, &mut self.stamps) {
                Progress::Waiting => return true,
                Progress::Part(part, took) => {
                    self.part(flight, part, took);
                    if flight.is_over_after(part) {
                        self.done(flight, self.clock.now());
                        return false;
                    }
                    if part == 2 {
                        // What follows the handshake may have come with it.
                        continue;
                    }
                    return true;
                }
                Progress::Done(at) => {
                    self.done(flight, at);
                    return false;
                }
                Progress::Broken(reason) => {
                    self.broken(flight, &reason);
                    return false;
                }
            }
        }
    }
    fn part(&mut self, flight: &Flight, part: u32, took: Duration) {
        let outcome = if flight.is_overdue { Outcome::Late(took) } else { Outcome::Answered(took) };
        let problem = flight.certificate_problem();
        let Some(kept) = self.targets.get_mut(&flight.number) else { return };
        let place = kept.asked.place;
        self.teller.sample(place + part, flight.at, outcome);
        if part == 2 && kept.certificate != problem {
            let name = &kept.asked.target.name;
            let text = problem.as_ref().map_or_else(
                || format!("{name}: the certificate is valid again"),
                |problem| format!("{name}: the certificate is not valid here: {problem}"),
            );
            kept.certificate = problem;
            self.teller.tell(Told::Event(Event { at: flight.at, kind: "certificate", text }, Some(place)));
        }
    }
    fn done(&mut self, flight: &Flight, at: Time) {
        let Some(kept) = self.targets.get_mut(&flight.number) else { return };
        let (place, timeout) = (kept.asked.place, kept.asked.target.timeout);
        let took = at.saturating_since(flight.started);
        // From the request to the first byte of its answer.
        let answer = match kept.asked.target.ask {
            Ask::Http => Some(2),
            Ask::Https => Some(3),
            _ => None,
        };
        if let Some(part) = answer {
            let whole = at.saturating_since(flight.stage_began());
            let outcome = if flight.is_overdue { Outcome::Late(whole) } else { Outcome::Answered(whole) };
            self.teller.sample(place + part, flight.at, outcome);
        }
        if flight.is_overdue {
            kept.overdue = kept.overdue.saturating_sub(1);
            let sample = Sample { at: flight.at, outcome: Outcome::Late(took) };
            self.teller.tell(Told::Amend(place, sample));
        } else {
            let outcome = if took > timeout { Outcome::Late(took) } else { Outcome::Answered(took) };
            self.teller.sample(place, flight.at, outcome);
        }
    }
    fn broken(&mut self, flight: &Flight, reason: &str) {
        let Some(kept) = self.targets.get_mut(&flight.number) else { return };
        let place = kept.asked.place;
        if flight.is_overdue {
            kept.overdue = kept.overdue.saturating_sub(1);
        } else {
            self.teller.failed(place, flight.at, reason);
        }
    }
    /// Tells what has waited too long, and lets go of what is too old or of one too many.
    fn time_out(&mut self) {
        let now = self.clock.now();
        let mut keep = Vec::with_capacity(self.flights.len());
        for mut flight in std::mem::take(&mut self.flights) {
            if self.stays(&mut flight, now) {
                keep.push(flight);
            }
        }
        self.flights = keep;
    }
    fn stays(&mut self, flight: &mut Flight, now: Time) -> bool {
        let Some(kept) = self.targets.get_mut(&flight.number) else { return false };
        let waited = now.saturating_since(flight.started);
        if flight.is_overdue {
            if waited > RETENTION {
                kept.overdue = kept.overdue.saturating_sub(1);
            }
            return waited <= RETENTION;
        }
        if waited <= kept.asked.target.timeout {
            return true;
        }
        flight.is_overdue = true;
        let place = kept.asked.place;
        self.teller.sample(place, flight.at, Outcome::Lost);
        let has_room = kept.overdue < MOST_OVERDUE;
        if has_room {
            kept.overdue += 1;
        } else if let Some(part) = flight.part() {
            self.teller.sample(place + part, flight.at, Outcome::Lost);
        }
        has_room
    }
}
