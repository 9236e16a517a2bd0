//! The thread that probes: all kinds, one timer, open loop.
mod connect;
mod departures;
mod icmp;
mod kept;
mod udp;

use connect::ConnectProber;
use fathom_os::clock::Clock;
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::{Priority, raise_priority};
use fathom_os::timestamp::both_clocks;
use fathom_probe::protocol::SessionId;
use fathom_probe::{Book, Due, FourStamps, ProbeKind, Schedule, SelfWatch, StampConverter, UdpAnswer};
use fathom_run::{Metric, NOT_RUN_IN_TIME, Observation, Series, SeriesKey};
use fathom_units::{Duration, Rate, Time, WallTime};
use icmp::IcmpProber;
use kept::KeptProber;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use udp::UdpProber;

/// The thread looks at its flags at least this often.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Waiting for stragglers ends after twice the largest delay seen and this much, and after [`LAST_WAIT`] at the latest.
const STRAGGLER_WAIT: Duration = Duration::from_secs(1);
const LAST_WAIT: Duration = Duration::from_secs(10);
const NONE: u64 = u64::MAX;

/// What the thread needs to know.
pub(crate) struct ProbeSettings {
    pub(crate) address: SocketAddr,
    pub(crate) session: SessionId,
    pub(crate) kinds: Vec<ProbeKind>,
    pub(crate) interval: Duration,
    pub(crate) clock: Clock,
}

/// What the thread and the rest of the test share while it runs.
#[derive(Default)]
pub(crate) struct Shared {
    /// No more probes: wait for stragglers, then end.
    finish: AtomicBool,
    /// End at once.
    abort: AtomicBool,
    /// Capacity as known so far, bit/s; 0 is unknown. Up, down.
    capacity: [AtomicU64; 2],
    /// When the oldest unanswered probe of each kind was sent, ns.
    oldest: [AtomicU64; 4],
}

impl Shared {
    pub(crate) fn finish(&self) {
        self.finish.store(true, Ordering::Relaxed);
    }
    pub(crate) fn abort(&self) {
        self.abort.store(true, Ordering::Relaxed);
    }
    /// Sets the capacity of a direction; true if none was known.
    pub(crate) fn set_capacity(&self, direction: usize, rate: Rate) -> bool {
        let bits = rate.as_bits_per_second();
        self.capacity[direction].swap(bits, Ordering::Relaxed) == 0 && bits > 0
    }
    fn capacity(&self, direction: usize) -> Option<Rate> {
        let bits = self.capacity[direction].load(Ordering::Relaxed);
        (bits > 0).then(|| Rate::from_bits_per_second(bits))
    }
    /// When the oldest unanswered probe of `kind` was sent.
    pub(crate) fn oldest(&self, kind: ProbeKind) -> Option<Time> {
        let nanos = self.oldest[kind as usize].load(Ordering::Relaxed);
        (nanos != NONE).then(|| Time::from_nanos(nanos))
    }
}

/// What the thread tells while it runs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ProbeEvent {
    /// An answer.
    Answered { kind: ProbeKind, metric: Metric, observation: Observation },
    /// The timestamps of a UDP answer.
    Stamps(FourStamps),
    /// Something could not be measured.
    Note(String),
}

/// Everything it gathered.
pub(crate) struct ProbeResult {
    pub(crate) series: Vec<Series>,
    /// Time sent and time waited of each UDP probe, and the answers.
    pub(crate) udp_sent: Vec<(Time, Duration)>,
    pub(crate) udp_answers: Vec<UdpAnswer>,
    pub(crate) watch: SelfWatch,
    pub(crate) clock_steps_s: Vec<f64>,
    pub(crate) kernel_timestamp_ratio: f64,
    pub(crate) priority: Priority,
}

type Tell = Box<dyn Fn(ProbeEvent) + Send>;

/// What all probers use.
pub(crate) struct Context {
    pub(crate) clock: Clock,
    arrivals: StampConverter,
    departures: StampConverter,
    tell: Tell,
}

impl Context {
    fn now(&self) -> Time {
        self.clock.now()
    }
    /// When something arrived: by the kernel's stamp, else now.
    fn arrival(&mut self, stamp: Option<WallTime>) -> Time {
        let (wall, now) = both_clocks(self.clock);
        self.arrivals.convert(stamp, wall, now).unwrap_or(now)
    }
    /// When something left, by the kernel's stamp.
    fn departure(&mut self, stamp: WallTime) -> Option<Time> {
        let (wall, now) = both_clocks(self.clock);
        self.departures.convert(Some(stamp), wall, now)
    }
    fn note(&self, text: String) {
        (self.tell)(ProbeEvent::Note(text));
    }
    fn answered(&self, kind: ProbeKind, metric: Metric, observation: Observation) {
        (self.tell)(ProbeEvent::Answered { kind, metric, observation });
    }
}

/// Starts the thread.
pub(crate) fn start(
    settings: ProbeSettings,
    shared: Arc<Shared>,
    tell: impl Fn(ProbeEvent) + Send + 'static,
) -> JoinHandle<ProbeResult> {
    std::thread::spawn(move || {
        let priority = raise_priority();
        let precise = poll::set_precise_timers();
        let mut prober = Prober::new(settings, shared, Box::new(tell));
        if let Err(error) = precise {
            prober.context.note(format!("timers are up to 50 us late: {error}"));
        }
        prober.run();
        prober.result(priority)
    })
}

struct Prober {
    context: Context,
    shared: Arc<Shared>,
    schedule: Schedule,
    watch: SelfWatch,
    icmp: Option<IcmpProber>,
    udp: Option<UdpProber>,
    connect: Option<ConnectProber>,
    kept: Option<KeptProber>,
}

impl Prober {
    fn new(settings: ProbeSettings, shared: Arc<Shared>, tell: Tell) -> Self {
        let ProbeSettings { address, session, kinds, interval, clock } = settings;
        let context = Context {
            clock,
            arrivals: StampConverter::default(),
            departures: StampConverter::default(),
            tell,
        };
        let mut schedule = Schedule::new(&kinds, interval, clock.now());
        let mut opened = |kind, problem: Result<(), String>| {
            if let Err(problem) = problem {
                context.note(format!("no {} probes: {problem}", ProbeKind::name(kind)));
                schedule.remove(kind);
            }
        };
        let has = |kind| kinds.contains(&kind);
        let icmp = has(ProbeKind::Icmp).then(|| IcmpProber::open(address.ip(), session));
        let icmp = icmp.and_then(|r| r.map_err(|e| opened(ProbeKind::Icmp, Err(e))).ok());
        let udp = has(ProbeKind::Udp).then(|| UdpProber::open(address, session));
        let udp = udp.and_then(|r| r.map_err(|e| opened(ProbeKind::Udp, Err(e))).ok());
        let connect = has(ProbeKind::Connect).then(|| ConnectProber::new(address));
        let mut kept = has(ProbeKind::Kept).then(|| KeptProber::new(address));
        // Its first slot is a little later; what fails now is tried again then.
        kept.as_mut().map(|k| k.connect_if_due(clock.now()));
        shared.oldest.iter().for_each(|o| o.store(NONE, Ordering::Relaxed));
        Prober { context, shared, schedule, watch: SelfWatch::default(), icmp, udp, connect, kept }
    }

    fn run(&mut self) {
        let mut deadline = None;
        loop {
            let now = self.context.now();
            if self.shared.abort.load(Ordering::Relaxed) || self.is_over(now, &mut deadline) {
                return;
            }
            if deadline.is_none() {
                self.send_due();
            }
            self.wait(deadline);
            self.receive();
            self.publish();
        }
    }
    /// Whether, after the last probe, all are answered or were waited for long enough.
    fn is_over(&self, now: Time, deadline: &mut Option<Time>) -> bool {
        if !self.shared.finish.load(Ordering::Relaxed) {
            return false;
        }
        let largest = self.books().map(Book::largest_delay).max().unwrap_or_default();
        let until = *deadline.get_or_insert(now + LAST_WAIT.min(largest * 2 + STRAGGLER_WAIT));
        // A kind that was never answered will not be: for it alone nobody waits.
        let is_waited_for = |b: &&Book| b.has_answers() && b.outstanding() > 0;
        let any_answered = self.books().any(Book::has_answers);
        now >= until || (any_answered && self.books().find(is_waited_for).is_none())
    }
    fn books(&self) -> impl Iterator<Item = &Book> {
        let single = self.icmp.iter().map(|p| &p.book).chain(self.udp.iter().map(|p| &p.book));
        let http = self.connect.iter().flat_map(|p| [&p.connects, &p.requests]);
        single.chain(http).chain(self.kept.iter().map(|p| &p.book))
    }
    fn send_due(&mut self) {
        self.schedule.limit_to(self.shared.capacity(0), self.shared.capacity(1));
        while let Some(due) = self.schedule.due(self.context.now()) {
            self.send(due);
        }
    }
    fn send(&mut self, due: Due) {
        let context = &mut self.context;
        let sent = match due.kind {
            ProbeKind::Icmp => self.icmp.as_mut().map(|p| (p.send(context), &mut p.book)),
            ProbeKind::Udp => self.udp.as_mut().map(|p| (p.send(context), &mut p.book)),
            ProbeKind::Connect => self.connect.as_mut().map(|p| (p.send(context), &mut p.connects)),
            ProbeKind::Kept => self.kept.as_mut().map(|p| (p.send(context), &mut p.book)),
        };
        let Some((result, book)) = sent else { return };
        book.not_sent(NOT_RUN_IN_TIME, due.missed);
        match result {
            Ok(at) => self.watch.sent(at.saturating_since(due.slot)),
            Err(reason) => book.not_sent(&reason, 1),
        }
    }
    /// Waits for input or for the next slot.
    fn wait(&mut self, deadline: Option<Time>) {
        let now = self.context.now();
        let slot = if deadline.is_none() { self.schedule.next() } else { None };
        let timeout = slot.map_or(LOOK_EVERY, |at| at.saturating_since(now)).min(LOOK_EVERY);
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        fds.extend(self.icmp.iter().map(IcmpProber::interest));
        fds.extend(self.udp.iter().map(UdpProber::interest));
        fds.extend(self.kept.iter().filter_map(KeptProber::interest));
        fds.extend(self.connect.iter().flat_map(ConnectProber::interests));
        let found = poll::wait(&mut fds, Some(timeout));
        let woke = self.context.now();
        if found.is_ok_and(|n| n == 0) {
            self.watch.woke(woke.saturating_since(now + timeout));
        }
        let (wall, at) = both_clocks(self.context.clock);
        self.context.arrivals.watch(wall, at);
    }
    fn receive(&mut self) {
        let context = &mut self.context;
        if let Some(p) = self.icmp.as_mut() {
            p.receive(context);
        }
        if let Some(p) = self.udp.as_mut() {
            p.receive(context);
        }
        if let Some(p) = self.connect.as_mut() {
            p.receive(context);
        }
        if let Some(p) = self.kept.as_mut() {
            p.receive(context);
        }
    }
    fn publish(&self) {
        let oldest = [
            self.icmp.as_ref().map(|p| &p.book),
            self.udp.as_ref().map(|p| &p.book),
            self.connect.as_ref().map(|p| &p.connects),
            self.kept.as_ref().map(|p| &p.book),
        ];
        for (slot, book) in self.shared.oldest.iter().zip(oldest) {
            let at = book.and_then(Book::oldest_outstanding);
            slot.store(at.map_or(NONE, Time::as_nanos), Ordering::Relaxed);
        }
    }
    fn result(mut self, priority: Priority) -> ProbeResult {
        let end = self.context.now();
        for (book, name) in self.books().zip(self.names()) {
            if !book.has_answers() && book.next_sequence() > 0 {
                let sent = book.next_sequence();
                self.context
                    .note(format!("{name}: none of {sent} answered (a firewall or the server drops them)"));
            }
        }
        let udp_sent = self.udp.as_ref().map(|p| p.waited(end)).unwrap_or_default();
        let udp_answers = self.udp.as_mut().map(|p| std::mem::take(&mut p.answers)).unwrap_or_default();
        let mut series: Vec<Series> = Vec::new();
        series.extend(self.icmp.map(|p| p.book.close(end)));
        series.extend(self.udp.map(|p| p.book.close(end)));
        series.extend(self.connect.into_iter().flat_map(|p| [p.connects.close(end), p.requests.close(end)]));
        series.extend(self.kept.map(|p| p.book.close(end)));
        ProbeResult {
            series,
            udp_sent,
            udp_answers,
            watch: self.watch,
            clock_steps_s: self.context.arrivals.steps_s().to_vec(),
            kernel_timestamp_ratio: self.context.arrivals.used_ratio(),
            priority,
        }
    }
    /// Names for the books, in the same order.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let single = self.icmp.iter().map(|_| "ICMP echo").chain(self.udp.iter().map(|_| "UDP probes"));
        let http = self.connect.iter().flat_map(|_| ["TCP connections", "HTTP requests on new connections"]);
        single.chain(http).chain(self.kept.iter().map(|_| "HTTP requests on the kept connection"))
    }
}

fn book(metric: Metric) -> Book {
    Book::new(SeriesKey::of(metric))
}
