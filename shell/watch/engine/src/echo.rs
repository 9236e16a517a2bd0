//! The thread of ICMP echo: all targets on a few sockets, in batches, timed by the kernel.
use crate::ask::{Asked, Command};
use crate::departure::Departures;
use crate::lane::{Lane, LaneKey, without_code};
use crate::pulse::Pulse;
use crate::told::{Place, Teller};
use fathom_os::clock::Clock;
use fathom_os::mmsg::Letter;
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::raise_priority;
use fathom_os::timestamp::both_clocks;
use fathom_probe::{Book, Due, EchoPayload, LossPolicy, ReplyKind, Schedule, StampConverter, tick};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::Outcome;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};

/// The thread looks at its commands at least this often.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// With nothing to send for so long, it waits for answers themselves; else they wait for the next tick, stamped as they are.
const IDLE_FOR: Duration = Duration::from_millis(16);
/// A packet that takes so long to be sent left while this thread was kept from running: nobody knows when.
const DISTURBED: Duration = Duration::from_millis(1);
/// All targets are looked through for losses within this time.
const SWEEP: Duration = Duration::from_secs(1);

/// Counts that tell how much to believe.
#[derive(Default, Debug)]
pub(crate) struct EchoCounts {
    /// Answers without the kernel's timestamp, timed by the program instead, and departures at which the program was disturbed.
    pub(crate) unstamped: AtomicU64,
    /// Answers from an address that was not asked, or to nothing that was asked.
    pub(crate) strangers: AtomicU64,
    /// Slots that passed before anyone looked.
    pub(crate) missed: AtomicU64,
}

/// A target: what each probe and each answer needs. The rest lies elsewhere, so that 100,000 of them stay in the caches.
struct Kept {
    place: Place,
    size: u16,
    /// Which socket, and where to; `None` while it cannot be asked.
    way: Option<(usize, IpAddr)>,
    book: Book<WallTime>,
    rest: Box<Rest>,
}

struct Rest {
    asked: Asked,
    problem: Option<String>,
}

impl Kept {
    fn new(asked: Asked) -> Self {
        let (place, size) = (asked.place, asked.target.form.size);
        let book = Book::new(LossPolicy::after(asked.target.timeout));
        let rest = Box::new(Rest { asked, problem: None });
        Kept { place, size, way: None, book, rest }
    }
    fn is_from(&self, from: Option<SocketAddr>) -> bool {
        let asked = self.way.map(|(_, address)| address);
        (asked.is_some() && asked == from.map(|f| f.ip())) || self.rest.asked.whereabouts.is_from(from)
    }
    /// Why it cannot be asked.
    fn reason(&self) -> &str {
        let unresolved = self.rest.asked.whereabouts.address().err();
        self.rest.problem.as_deref().or(unresolved).unwrap_or("it has no address")
    }
}

/// All that the thread has.
pub(crate) struct EchoThread {
    clock: Clock,
    commands: Receiver<Command>,
    teller: Teller,
    counts: Arc<EchoCounts>,
    pulse: Pulse,
    token: u64,
    targets: Vec<Option<Kept>>,
    lanes: Vec<Lane>,
    schedule: Schedule,
    due: Vec<Due>,
    stamps: StampConverter,
    departures: Departures,
    /// The packets that are sent now are not the first of their row.
    in_row: bool,
    /// The clock's reading before the packet that was sent last, if only the program's clock tells when it left.
    last_read: Option<Time>,
    tick: Duration,
    packets_per_second: f64,
    swept: usize,
}

impl EchoThread {
    pub(crate) fn new(
        clock: Clock,
        commands: Receiver<Command>,
        teller: Teller,
        counts: Arc<EchoCounts>,
        lateness: Place,
        (seed, token): (u64, u64),
    ) -> Self {
        EchoThread {
            clock,
            commands,
            teller,
            counts,
            pulse: Pulse::new(lateness),
            token,
            targets: Vec::new(),
            lanes: Vec::new(),
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

    /// Runs until it is told to stop.
    pub(crate) fn run(mut self) {
        // Without the privilege it wakes a little later, and says how late.
        let _ = raise_priority();
        let _ = poll::set_precise_timers();
        while self.obey() {
            self.send_due();
            self.sweep();
            let now = self.clock.now();
            self.pulse.tell(now, &mut self.teller);
            self.teller.hand_over(now);
            self.counts.missed.store(self.schedule.missed(), Ordering::Relaxed);
            self.wait(now);
        }
        self.drain_all();
        self.teller.hand_over_all();
    }

    /// False once it is to stop.
    fn obey(&mut self) -> bool {
        let mut has_removed = false;
        let goes_on = loop {
            match self.commands.try_recv() {
                Ok(Command::Add(asked)) => self.add(asked),
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
    fn add(&mut self, asked: Asked) {
        let (number, pace) = (asked.number, asked.target.pace);
        self.schedule.add(number, &pace, self.clock.now());
        self.packets_per_second += pace.per_second();
        self.tick = tick(self.packets_per_second);
        let index = number as usize;
        if self.targets.len() <= index {
            self.targets.resize_with(index + 1, || None);
        }
        let mut kept = Kept::new(asked);
        self.find_way(&mut kept);
        if let Some(slot) = self.targets.get_mut(index) {
            *slot = Some(kept);
        }
    }
    fn remove(&mut self, number: u32) {
        let gone = self.targets.get_mut(number as usize).and_then(Option::take);
        if let Some(kept) = gone {
            self.packets_per_second =
                (self.packets_per_second - kept.rest.asked.target.pace.per_second()).max(0.0);
            self.tick = tick(self.packets_per_second);
        }
    }
    fn resolved(&mut self, number: u32, found: Result<IpAddr, String>) {
        let Some(mut kept) = self.targets.get_mut(number as usize).and_then(Option::take) else { return };
        if kept.rest.asked.whereabouts.take(found) {
            self.find_way(&mut kept);
        }
        if let Some(slot) = self.targets.get_mut(number as usize) {
            *slot = Some(kept);
        }
    }
    /// The socket that serves a target, opened if need be.
    fn find_way(&mut self, kept: &mut Kept) {
        let Ok(address) = kept.rest.asked.whereabouts.address() else { return };
        let key = LaneKey::of(&kept.rest.asked.target.form, address.is_ipv6());
        let place = self.lanes.iter().position(|lane| lane.key == key).map_or_else(
            || {
                self.lanes.push(Lane::open(key, self.token)?);
                Ok(self.lanes.len() - 1)
            },
            Ok,
        );
        match place {
            Ok(place) => (kept.way, kept.rest.problem) = (Some((place, address)), None),
            Err(problem) => (kept.way, kept.rest.problem) = (None, Some(problem)),
        }
    }

    fn send_due(&mut self) {
        let (wall, now) = both_clocks(self.clock);
        let mut due = std::mem::take(&mut self.due);
        self.schedule.take_due(now, &mut due);
        for one in due.drain(..) {
            let late = now.saturating_since(one.slot);
            // The slot's own time, so that samples lie on an even grid; it is earlier than the sending by a tick at most.
            let at = WallTime(wall.0.saturating_sub(late.as_nanos()));
            if let Some(lane) = self.send(one.target, at) {
                self.end_row();
                self.drain(lane);
            }
        }
        self.end_row();
        self.due = due;
        // What came since the last tick is taken with the answers that are as fast as this: one look serves both.
        self.drain_all();
    }
    /// Sends a probe. Returns its socket if the answers that wait there are to be taken now.
    fn send(&mut self, number: u32, at: WallTime) -> Option<usize> {
        let read = self.clock.now();
        self.watch_last(read);
        let kept = self.targets.get_mut(number as usize)?.as_mut()?;
        let Some((lane_number, address)) = kept.way else {
            self.teller.failed(kept.place, at, kept.reason());
            return None;
        };
        let lane = self.lanes.get_mut(lane_number)?;
        let probe = kept.book.send(at, read + self.departures.lag());
        let is_stamped = if std::mem::replace(&mut self.in_row, true) {
            self.departures.picks((number, probe.sequence, read), self.packets_per_second)
        } else {
            self.departures.begins();
            true
        };
        self.last_read = (!is_stamped).then_some(read);
        let to = (SocketAddr::new(address, 0), kept.size);
        if let Err(error) = lane.send(to, &EchoPayload { target: number, probe }, is_stamped) {
            kept.book.cancel(probe.sequence);
            self.teller.failed(kept.place, at, &without_code(&error));
        }
        lane.is_full().then_some(lane_number)
    }
    /// Counts the packet before this reading if this thread was disturbed at it.
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
        (0..self.lanes.len()).for_each(|lane| self.drain(lane));
        self.departures.looked();
    }
    /// Departures first: an answer is timed from its own.
    fn drain(&mut self, number: usize) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        let (targets, codec) = (&mut self.targets, lane.codec);
        let mut reader = Reader {
            targets,
            teller: &mut self.teller,
            counts: &self.counts,
            stamps: &mut self.stamps,
            departures: &mut self.departures,
            clocks: both_clocks(self.clock),
        };
        if reader.departures.awaits() {
            lane.departures(|letter| {
                if let Some(payload) = codec.read_request(letter.bytes) {
                    reader.departed(&payload, letter);
                }
            });
            reader.clocks = both_clocks(self.clock);
        }
        lane.arrivals(|letter| {
            // A raw socket hears all ICMP of the host: what is not ours is nobody's fault.
            if let Some(payload) = codec.read_reply(letter.bytes) {
                reader.replied(&payload, letter);
            }
        });
    }
    /// Looks through a share of the targets for probes that have waited too long.
    fn sweep(&mut self) {
        let count = self.targets.len();
        let share = (count as u64 * self.tick.as_nanos() / SWEEP.as_nanos()) as usize + 1;
        let now = self.clock.now();
        for _ in 0..share.min(count) {
            self.swept = if self.swept + 1 < count { self.swept + 1 } else { 0 };
            let Some(kept) = self.targets.get_mut(self.swept).and_then(Option::as_mut) else { continue };
            while let Some(lost) = kept.book.expire(now) {
                self.teller.sample(kept.place, lost.at, Outcome::Lost);
            }
        }
    }
    fn wait(&mut self, now: Time) {
        let next = self.schedule.next_slot().map_or(now + LOOK_EVERY, |slot| slot.max(now + self.tick));
        let next = next.min(now + LOOK_EVERY);
        let length = next.saturating_since(now);
        let watched = if length > IDLE_FOR { self.lanes.as_slice() } else { &[] };
        let mut fds: Vec<PollFd<'_>> = watched.iter().map(Lane::interest).collect();
        let woken = poll::wait(&mut fds, Some(length)).is_ok_and(|found| found > 0);
        let (wall, woke) = both_clocks(self.clock);
        self.stamps.watch(wall, woke);
        if !woken {
            self.pulse.beat(woke.saturating_since(next));
        }
    }
}

/// What is needed to take a letter.
struct Reader<'t> {
    targets: &'t mut Vec<Option<Kept>>,
    teller: &'t mut Teller,
    counts: &'t EchoCounts,
    stamps: &'t mut StampConverter,
    departures: &'t mut Departures,
    clocks: (WallTime, Time),
}

impl Reader<'_> {
    fn kept(&mut self, target: u32) -> Option<&mut Kept> {
        self.targets.get_mut(target as usize)?.as_mut()
    }
    fn time(&mut self, letter: &Letter<'_>) -> Option<Time> {
        let converted = self.stamps.convert(letter.stamp, self.clocks.0, self.clocks.1);
        if converted.is_none() {
            self.counts.unstamped.fetch_add(1, Ordering::Relaxed);
        }
        converted
    }
    fn departed(&mut self, &EchoPayload { target, probe }: &EchoPayload, letter: &Letter<'_>) {
        let Some(at) = self.time(letter) else { return };
        self.departures.stamped(target, probe.sequence, at);
        // A stamp before the call that sent the packet is none.
        if at + self.departures.lag() >= probe.sent {
            self.kept(target).into_iter().for_each(|kept| kept.book.departed(probe.sequence, at));
        }
    }
    fn replied(&mut self, payload: &EchoPayload, letter: &Letter<'_>) {
        let received = self.time(letter).unwrap_or(self.clocks.1);
        let is_asked = |kept: &&mut Kept| kept.is_from(letter.from);
        let Some(kept) = self.kept(payload.target).filter(is_asked) else {
            self.counts.strangers.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let reply = kept.book.reply(&payload.probe, received);
        let place = kept.place;
        self.teller.reply(place, &reply);
        if reply.kind == ReplyKind::Unknown {
            self.counts.strangers.fetch_add(1, Ordering::Relaxed);
        }
    }
}
