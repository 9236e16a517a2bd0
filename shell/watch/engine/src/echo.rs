//! The ICMP echo thread: all targets on a few sockets, in batches, with kernel timestamps.
use crate::departure::Departures;
use crate::lateness::LatenessMonitor;
use crate::probe_socket::{ProbeSocket, SocketKey};
use crate::report::{Reporter, SeriesSlot};
use crate::target::{Command, ProbedTarget};
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::error::without_code;
use fathom_os::mmsg::ReceivedMessage;
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::raise_priority;
use fathom_probe::{Book, Due, EchoPayload, LossPolicy, ReplyKind, Schedule, StampConverter, tick};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::Outcome;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};

/// Maximum interval between checks for commands.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// If nothing is due for this long, the thread waits for replies; otherwise they wait, timestamped,
/// for the next tick.
const IDLE_FOR: Duration = Duration::from_millis(16);
/// If a send takes this long, the thread was interrupted and the departure time is unknown.
const DISTURBED: Duration = Duration::from_millis(1);
/// All targets are checked for losses within this time.
const SWEEP: Duration = Duration::from_secs(1);

/// Counters of measurement quality.
#[derive(Default, Debug)]
pub(crate) struct EchoCounts {
    /// Replies without a kernel timestamp, timed by the program instead, and departures during
    /// which the program was interrupted.
    pub(crate) unstamped: AtomicU64,
    /// Replies from an address that was not probed, or to no probe.
    pub(crate) strangers: AtomicU64,
    /// Missed slots.
    pub(crate) missed: AtomicU64,
}

/// State needed for each probe and reply of a target. The rest is stored elsewhere, so that 100,000
/// of these fit into CPU caches.
struct TargetState {
    slot: SeriesSlot,
    size: u16,
    /// Socket and destination; `None` while the target cannot be probed.
    way: Option<(usize, IpAddr)>,
    book: Book<WallTime>,
    rest: Box<Rest>,
}

struct Rest {
    probed: ProbedTarget,
    problem: Option<String>,
}

impl TargetState {
    fn new(probed: ProbedTarget) -> Self {
        let (slot, size) = (probed.slot, probed.target.options.size);
        let book = Book::new(LossPolicy::after(probed.target.timeout));
        let rest = Box::new(Rest { probed, problem: None });
        TargetState { slot, size, way: None, book, rest }
    }
    fn is_from(&self, from: Option<SocketAddr>) -> bool {
        let probed = self.way.map(|(_, address)| address);
        (probed.is_some() && probed == from.map(|f| f.ip())) || self.rest.probed.resolved.is_from(from)
    }
    /// Why it cannot be probed.
    fn reason(&self) -> &str {
        let unresolved = self.rest.probed.resolved.address().err();
        self.rest.problem.as_deref().or(unresolved).unwrap_or("no address")
    }
}

/// State of the thread.
pub(crate) struct EchoThread {
    clock: Clock,
    commands: Receiver<Command>,
    reporter: Reporter,
    counts: Arc<EchoCounts>,
    lateness: LatenessMonitor,
    token: u64,
    targets: Vec<Option<TargetState>>,
    sockets: Vec<ProbeSocket>,
    schedule: Schedule,
    due: Vec<Due>,
    stamps: StampConverter,
    departures: Departures,
    /// Whether the next packet is not the first of its row.
    in_row: bool,
    /// Clock reading before the last packet, if its departure is known only from the program's
    /// clock.
    last_read: Option<Time>,
    tick: Duration,
    packets_per_second: f64,
    swept: usize,
}

impl EchoThread {
    pub(crate) fn new(
        clock: Clock,
        commands: Receiver<Command>,
        reporter: Reporter,
        counts: Arc<EchoCounts>,
        lateness: SeriesSlot,
        (seed, token): (u64, u64),
    ) -> Self {
        EchoThread {
            clock,
            commands,
            reporter,
            counts,
            lateness: LatenessMonitor::new(lateness),
            token,
            targets: Vec::new(),
            sockets: Vec::new(),
            schedule: Schedule::new(seed),
            due: Vec::new(),
            stamps: StampConverter::default(),
            departures: Departures::new(seed),
            in_row: false,
            last_read: None,
            tick: tick(0.0),
            packets_per_second: 0.0,
            swept: 0,
        }
    }

    /// Runs until the stop command.
    pub(crate) fn run(mut self) {
        // Without the privilege it wakes up slightly later, and reports how late.
        let _ = raise_priority();
        let _ = poll::set_precise_timers();
        while self.process_commands() {
            self.send_due();
            self.sweep();
            let now = self.clock.now();
            self.lateness.report(now, &mut self.reporter);
            self.reporter.hand_over(now);
            self.counts.missed.store(self.schedule.missed(), Ordering::Relaxed);
            self.wait(now);
        }
        self.drain_all();
        self.reporter.hand_over_all();
    }

    /// Processes waiting commands. Returns false after the stop command.
    fn process_commands(&mut self) -> bool {
        let mut has_removed = false;
        let goes_on = loop {
            match self.commands.try_recv() {
                Ok(Command::Add(probed)) => self.add(probed),
                Ok(Command::Remove(number)) => {
                    self.remove(number);
                    has_removed = true;
                }
                Ok(Command::Address(number, found)) => self.resolved(number, found),
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => break false,
                Err(TryRecvError::Empty) => break true,
            }
        };
        if has_removed {
            let targets = &self.targets;
            self.schedule.remove(|number| targets.get(number as usize).is_none_or(Option::is_none));
        }
        goes_on
    }
    fn add(&mut self, probed: ProbedTarget) {
        let (number, pace) = (probed.number, probed.target.pace);
        self.schedule.add(number, &pace, self.clock.now());
        self.packets_per_second += pace.per_second();
        self.tick = tick(self.packets_per_second);
        let index = number as usize;
        if self.targets.len() <= index {
            self.targets.resize_with(index + 1, || None);
        }
        let mut state = TargetState::new(probed);
        self.find_socket(&mut state);
        if let Some(slot) = self.targets.get_mut(index) {
            *slot = Some(state);
        }
    }
    fn remove(&mut self, number: u32) {
        let gone = self.targets.get_mut(number as usize).and_then(Option::take);
        if let Some(state) = gone {
            self.packets_per_second =
                (self.packets_per_second - state.rest.probed.target.pace.per_second()).max(0.0);
            self.tick = tick(self.packets_per_second);
        }
    }
    fn resolved(&mut self, number: u32, found: Result<IpAddr, String>) {
        let Some(mut state) = self.targets.get_mut(number as usize).and_then(Option::take) else { return };
        if state.rest.probed.resolved.take(found) {
            self.find_socket(&mut state);
        }
        if let Some(slot) = self.targets.get_mut(number as usize) {
            *slot = Some(state);
        }
    }
    /// Assigns a socket to a target, opening one if necessary.
    fn find_socket(&mut self, state: &mut TargetState) {
        let Ok(address) = state.rest.probed.resolved.address() else { return };
        let key = SocketKey::of(&state.rest.probed.target.options, address.is_ipv6());
        let index = self.sockets.iter().position(|socket| socket.key == key).map_or_else(
            || {
                self.sockets.push(ProbeSocket::open(key, self.token)?);
                Ok(self.sockets.len() - 1)
            },
            Ok,
        );
        match index {
            Ok(index) => (state.way, state.rest.problem) = (Some((index, address)), None),
            Err(problem) => (state.way, state.rest.problem) = (None, Some(problem)),
        }
    }

    fn send_due(&mut self) {
        let (wall, now) = both_clocks(self.clock);
        let mut due = std::mem::take(&mut self.due);
        self.schedule.take_due(now, &mut due);
        for one in due.drain(..) {
            let late = now.saturating_since(one.slot);
            // The slot time, so that samples lie on a regular grid; at most one tick before the
            // actual send.
            let at = WallTime(wall.0.saturating_sub(late.as_nanos()));
            if let Some(socket) = self.send(one.target, at) {
                self.end_row();
                self.drain(socket);
            }
        }
        self.end_row();
        self.due = due;
        // Replies since the last tick are read together with very fast ones: one look serves both.
        self.drain_all();
    }
    /// Sends a probe. Returns its socket if replies must be read now.
    fn send(&mut self, number: u32, at: WallTime) -> Option<usize> {
        let read = self.clock.now();
        self.watch_last(read);
        let state = self.targets.get_mut(number as usize)?.as_mut()?;
        let Some((socket_number, address)) = state.way else {
            self.reporter.failed(state.slot, at, state.reason());
            return None;
        };
        let socket = self.sockets.get_mut(socket_number)?;
        let probe = state.book.send(at, read + self.departures.lag());
        let is_stamped = if std::mem::replace(&mut self.in_row, true) {
            self.departures.picks((number, probe.sequence, read), self.packets_per_second)
        } else {
            self.departures.begins();
            true
        };
        self.last_read = (!is_stamped).then_some(read);
        let to = (SocketAddr::new(address, 0), state.size);
        if let Err(error) = socket.send(to, &EchoPayload { target: number, probe }, is_stamped) {
            state.book.cancel(probe.sequence);
            self.reporter.failed(state.slot, at, &without_code(&error));
        }
        socket.is_full().then_some(socket_number)
    }
    /// Counts the packet before this reading if the thread was interrupted during its send.
    fn watch_last(&mut self, read: Time) {
        if self.last_read.take().is_some_and(|last| read.saturating_since(last) > DISTURBED) {
            self.counts.unstamped.fetch_add(1, Ordering::Relaxed);
        }
    }
    fn end_row(&mut self) {
        self.in_row = false;
        self.watch_last(self.clock.now());
    }

    fn drain_all(&mut self) {
        (0..self.sockets.len()).for_each(|socket| self.drain(socket));
        self.departures.looked();
    }
    /// Departures first, because the timing of a reply needs its departure.
    fn drain(&mut self, number: usize) {
        let Some(socket) = self.sockets.get_mut(number) else { return };
        let (targets, codec) = (&mut self.targets, socket.codec);
        let mut reader = Reader {
            targets,
            reporter: &mut self.reporter,
            counts: &self.counts,
            stamps: &mut self.stamps,
            departures: &mut self.departures,
            clocks: both_clocks(self.clock),
        };
        if reader.departures.awaits() {
            socket.departures(|message| {
                if let Some(payload) = codec.read_request(message.bytes) {
                    reader.departed(&payload, message);
                }
            });
            reader.clocks = both_clocks(self.clock);
        }
        socket.arrivals(|message| {
            // A raw socket receives all ICMP packets of the host, so others are ignored.
            if let Some(payload) = codec.read_reply(message.bytes) {
                reader.replied(&payload, message);
            }
        });
    }
    /// Checks a share of the targets for timed-out probes.
    fn sweep(&mut self) {
        let count = self.targets.len();
        let share = (count as u64 * self.tick.as_nanos() / SWEEP.as_nanos()) as usize + 1;
        let now = self.clock.now();
        for _ in 0..share.min(count) {
            self.swept = if self.swept + 1 < count { self.swept + 1 } else { 0 };
            let Some(state) = self.targets.get_mut(self.swept).and_then(Option::as_mut) else { continue };
            while let Some(lost) = state.book.expire(now) {
                self.reporter.sample(state.slot, lost.at, Outcome::Lost);
            }
        }
    }
    fn wait(&mut self, now: Time) {
        let next = self.schedule.next_slot().map_or(now + LOOK_EVERY, |slot| slot.max(now + self.tick));
        let next = next.min(now + LOOK_EVERY);
        let length = next.saturating_since(now);
        let watched = if length > IDLE_FOR { self.sockets.as_slice() } else { &[] };
        let mut fds: Vec<PollFd<'_>> = watched.iter().map(ProbeSocket::interest).collect();
        let woken = poll::wait(&mut fds, Some(length)).is_ok_and(|found| found > 0);
        let (wall, woke) = both_clocks(self.clock);
        self.stamps.watch(wall, woke);
        if !woken {
            self.lateness.woke_late(woke.saturating_since(next));
        }
    }
}

/// Context for processing received messages.
struct Reader<'t> {
    targets: &'t mut Vec<Option<TargetState>>,
    reporter: &'t mut Reporter,
    counts: &'t EchoCounts,
    stamps: &'t mut StampConverter,
    departures: &'t mut Departures,
    clocks: (WallTime, Time),
}

impl Reader<'_> {
    fn state(&mut self, target: u32) -> Option<&mut TargetState> {
        self.targets.get_mut(target as usize)?.as_mut()
    }
    fn time(&mut self, message: &ReceivedMessage<'_>) -> Option<Time> {
        let converted = self.stamps.convert(message.stamp, self.clocks.0, self.clocks.1);
        if converted.is_none() {
            self.counts.unstamped.fetch_add(1, Ordering::Relaxed);
        }
        converted
    }
    fn departed(&mut self, &EchoPayload { target, probe }: &EchoPayload, message: &ReceivedMessage<'_>) {
        let Some(at) = self.time(message) else { return };
        self.departures.stamped(target, probe.sequence, at);
        // A timestamp before the send call is invalid.
        if at + self.departures.lag() >= probe.sent {
            self.state(target).into_iter().for_each(|state| state.book.departed(probe.sequence, at));
        }
    }
    fn replied(&mut self, payload: &EchoPayload, message: &ReceivedMessage<'_>) {
        let received = self.time(message).unwrap_or(self.clocks.1);
        let is_asked = |state: &&mut TargetState| state.is_from(message.from);
        let Some(state) = self.state(payload.target).filter(is_asked) else {
            self.counts.strangers.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let reply = state.book.reply(&payload.probe, received);
        let slot = state.slot;
        self.reporter.reply(slot, &reply);
        if reply.kind == ReplyKind::Unknown {
            self.counts.strangers.fetch_add(1, Ordering::Relaxed);
        }
    }
}
