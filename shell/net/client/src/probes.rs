//! The probe thread: all probe types, one timer, open loop.
mod channel;
mod connect;
mod departures;
mod dns;
mod hops;
mod http3;
mod icmp;
mod path;
mod persistent;
mod ping;
mod requests;
mod udp;

use crate::peer::{Peer, takes_train};
pub(crate) use channel::{Target, start as start_connection};
use connect::ConnectProber;
pub use connect::HttpExchange;
use dns::DnsProber;
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::{Priority, raise_priority};
use fathom_probe::protocol::Ticket;
use fathom_probe::{
    Due, FourStamps, HopRates, HopStatus, IcmpError, ProbeBudget, ProbeKind, ProbeSeries, Schedule,
    SelfWatch, StampConverter, TRAIN_PROBES, UdpRecord,
};
use fathom_run::{Instrument, Metric, NotSent, Note, Observation, Path, Series, SeriesKey};
use fathom_units::{Direction, Duration, Ecn, PerDirection, Rate, Time, WallTime};
use hops::HopProber;
use http3::Http3Prober;
use icmp::{IcmpProber, gateway};
pub(crate) use path::{PathProber, ProbedPath};
use persistent::PersistentProber;
pub(crate) use ping::{Pinged, Pinger};
use portable_atomic::AtomicU64;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use udp::UdpProber;

/// Maximum interval between checks of the flags.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The wait for late replies ends after twice the largest delay seen plus this, at most
/// [`LAST_WAIT`].
const STRAGGLER_WAIT: Duration = Duration::from_secs(1);
const LAST_WAIT: Duration = Duration::from_secs(10);
const NONE: u64 = u64::MAX;

/// Settings of the thread.
pub(crate) struct ProbeSettings {
    pub(crate) peer: Arc<dyn Peer>,
    pub(crate) session: Ticket,
    pub(crate) kinds: Vec<ProbeKind>,
    pub(crate) interval: Duration,
    pub(crate) dscp: u8,
    /// DSCP of the load; `None`: several, or no TCP.
    pub(crate) load_dscp: Option<u8>,
    /// ECN codepoint of UDP probes and their replies; `None`: not ECT, and not reported.
    pub(crate) ecn: Option<Ecn>,
    /// Replies to UDP probes have the class of the probes.
    pub(crate) classes: bool,
    pub(crate) clock: Clock,
}

/// State shared with the rest of the test.
#[derive(Default)]
pub(crate) struct Shared {
    /// Send all kinds of probes. Before, only the train is sent.
    begin: AtomicBool,
    /// Stop sending, wait for late replies, then end.
    finish: AtomicBool,
    /// End immediately.
    abort: AtomicBool,
    /// Estimated capacity in bit/s; 0 if unknown.
    capacity: PerDirection<AtomicU64>,
    /// Rate that the train showed, in bit/s, for use until the capacity is known; 0 if unknown.
    first_rate: PerDirection<AtomicU64>,
    /// Send time of the oldest unanswered probe of each type, in ns.
    oldest: [AtomicU64; ProbeKind::ALL.len()],
}

impl Shared {
    /// Starts all kinds of probes on a line with these rates.
    pub(crate) fn begin(&self, first_rates: PerDirection<Option<Rate>>) {
        for (direction, rate) in first_rates {
            let bits = rate.map_or(0, Rate::as_bits_per_second);
            self.first_rate[direction].store(bits, Ordering::Relaxed);
        }
        self.begin.store(true, Ordering::Relaxed);
    }
    pub(crate) fn finish(&self) {
        self.finish.store(true, Ordering::Relaxed);
    }
    pub(crate) fn abort(&self) {
        self.abort.store(true, Ordering::Relaxed);
    }
    /// Sets the capacity of a direction; true if it was unknown.
    pub(crate) fn set_capacity(&self, direction: Direction, rate: Rate) -> bool {
        let bits = rate.as_bits_per_second();
        self.capacity[direction].swap(bits, Ordering::Relaxed) == 0 && bits > 0
    }
    fn capacity(&self, direction: Direction) -> Option<Rate> {
        let bits = match self.capacity[direction].load(Ordering::Relaxed) {
            0 => self.first_rate[direction].load(Ordering::Relaxed),
            known => known,
        };
        (bits > 0).then(|| Rate::from_bits_per_second(bits))
    }
    /// Send time of the oldest unanswered probe of `kind`.
    pub(crate) fn oldest(&self, kind: ProbeKind) -> Option<Time> {
        let nanos = self.oldest[kind as usize].load(Ordering::Relaxed);
        (nanos != NONE).then(|| Time::from_nanos(nanos))
    }
}

/// Events of the thread.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ProbeEvent {
    /// A reply.
    Answered { kind: ProbeKind, metric: Metric, observation: Observation },
    /// A reply to a probe of a hop.
    HopAnswered { key: SeriesKey, observation: Observation },
    /// The hops so far.
    Path(Vec<HopStatus>),
    /// The timestamps of a UDP reply.
    Stamps(FourStamps),
    /// A router or host refused a probe of a ping.
    Refused { sequence: u32, by: Option<IpAddr>, error: IcmpError },
    /// Something could not be measured.
    Note(Note),
}

/// Results of the thread.
pub(crate) struct ProbeResult {
    pub(crate) series: Vec<Series>,
    pub(crate) path: Option<Path>,
    pub(crate) udp: UdpRecord,
    pub(crate) watch: SelfWatch,
    pub(crate) clock_steps_s: Vec<f64>,
    pub(crate) kernel_timestamp_ratio: f64,
    pub(crate) priority: Priority,
}

type Report = Box<dyn Fn(ProbeEvent) + Send>;

/// A probe type on real sockets.
trait ProbeMachine {
    /// Its series, in the order of its [`fathom_probe::ProbeSpec`].
    fn series(&mut self) -> &mut [ProbeSeries];
    /// Whether it can send now: a persistent connection may not be established yet.
    fn is_connected(&self) -> bool {
        true
    }
    /// Sends a probe and returns the time. The error says why it was not sent.
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent>;
    /// Adds the descriptors it waits for.
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>);
    /// Processes received packets.
    fn receive(&mut self, context: &mut Context);
    /// The path and the series of its routers, if it probes them.
    fn take_hops(&mut self) -> Option<(Path, Vec<ProbeSeries>)> {
        None
    }
    /// Times of its probes in the host's queue, if the kernel reports them.
    fn take_waits(&mut self) -> Option<Series> {
        None
    }
    /// The timestamps of UDP probes until `end`, if it records them.
    fn take_record(&mut self, _end: Time) -> Option<UdpRecord> {
        None
    }
}

/// Opens the sender of a probe type.
fn open(
    kind: ProbeKind,
    settings: &ProbeSettings,
    context: &Context,
) -> Result<Box<dyn ProbeMachine>, String> {
    let ProbeSettings { peer, session, .. } = settings;
    let (address, web) = (peer.address(), peer.web_probe());
    let target = Target { address, dscp: settings.dscp };
    Ok(match kind {
        ProbeKind::Icmp => {
            let to = Target { address: (address.ip(), 0).into(), dscp: target.dscp };
            Box::new(IcmpProber::open(kind, to, session.id)?)
        }
        ProbeKind::Gateway => {
            let to = Target { address: gateway(address.ip())?, dscp: target.dscp };
            Box::new(IcmpProber::open(kind, to, session.id)?)
        }
        ProbeKind::Udp | ProbeKind::UdpBackground | ProbeKind::UdpExpedited => {
            let ecn = settings.ecn.unwrap_or_default().bits();
            let is_marked = settings.ecn.is_some() || settings.classes;
            let reply = is_marked.then(|| kind.class().unwrap_or(0) << 2 | ecn);
            let class = kind.class().unwrap_or(target.dscp) << 2 | ecn;
            Box::new(UdpProber::new(kind, peer.udp_probes(reply)?, class)?)
        }
        ProbeKind::Connect => Box::new(ConnectProber::tcp(target, web)),
        ProbeKind::Persistent => Box::new(PersistentProber::new(target, web, context.now())?),
        ProbeKind::Tls => Box::new(ConnectProber::tls(target, web)?),
        ProbeKind::Http3 => Box::new(Http3Prober::new(web, settings.dscp)?),
        ProbeKind::Dns => Box::new(DnsProber::open(session.id)?),
        ProbeKind::Hop => {
            Box::new(HopProber::open(address.ip(), HopRates::TEST, settings.load_dscp, session.id)?)
        }
    })
}

/// Empty series of a probe type.
fn series_of<const N: usize>(kind: ProbeKind) -> [ProbeSeries; N] {
    std::array::from_fn(|n| ProbeSeries::new(SeriesKey::of(kind.spec().series[n])))
}

/// State used by all probe types.
pub(crate) struct Context {
    pub(crate) clock: Clock,
    arrivals: StampConverter,
    departures: StampConverter,
    report: Report,
}

impl Context {
    fn new(clock: Clock, report: Report) -> Self {
        let (arrivals, departures) = (StampConverter::default(), StampConverter::default());
        Context { clock, arrivals, departures, report }
    }
    /// Waits for input, for at most `timeout`. Returns the time then.
    fn wait(&mut self, fds: &mut [PollFd<'_>], timeout: Duration, watch: &mut SelfWatch) -> Time {
        let due = self.now() + timeout;
        let found = poll::wait(fds, Some(timeout));
        let (wall, woke) = both_clocks(self.clock);
        if found.is_ok_and(|n| n == 0) {
            watch.woke(woke.saturating_since(due));
        }
        self.arrivals.watch(wall, woke);
        woke
    }
    /// How well the host kept time.
    fn instrument(&self, watch: SelfWatch) -> Instrument {
        Instrument {
            clock_steps_s: self.arrivals.steps_s().to_vec(),
            kernel_timestamp_ratio: self.arrivals.used_ratio(),
            ..watch.into_instrument()
        }
    }
    fn now(&self) -> Time {
        self.clock.now()
    }
    /// Time of arrival: the kernel's timestamp if there is one, otherwise now.
    fn arrival(&mut self, stamp: Option<WallTime>) -> Time {
        let (wall, now) = both_clocks(self.clock);
        self.arrivals.convert(stamp, wall, now).unwrap_or(now)
    }
    /// Time of departure from the kernel's timestamp.
    fn departure(&mut self, stamp: WallTime) -> Option<Time> {
        let (wall, now) = both_clocks(self.clock);
        self.departures.convert(Some(stamp), wall, now)
    }
    fn note(&self, note: Note) {
        (self.report)(ProbeEvent::Note(note));
    }
    fn answered(&self, kind: ProbeKind, metric: Metric, observation: Observation) {
        (self.report)(ProbeEvent::Answered { kind, metric, observation });
    }
    fn hop_answered(&self, key: &SeriesKey, observation: Observation) {
        (self.report)(ProbeEvent::HopAnswered { key: key.clone(), observation });
    }
    fn path(&self, hops: Vec<HopStatus>) {
        (self.report)(ProbeEvent::Path(hops));
    }
}

/// Starts the thread.
pub(crate) fn start(
    settings: ProbeSettings,
    shared: Arc<Shared>,
    report: impl Fn(ProbeEvent) + Send + 'static,
) -> JoinHandle<ProbeResult> {
    std::thread::spawn(move || {
        let priority = raise_priority();
        let precise = poll::set_precise_timers();
        let mut prober = Prober::new(&settings, shared, Box::new(report));
        if let Err(error) = precise {
            prober.context.note(Note::CoarseTimers { message: error.to_string() });
        }
        if takes_train(settings.peer.as_ref()) {
            prober.send_train();
        }
        prober.run();
        prober.result(priority)
    })
}

/// Probe types with the same interval.
struct Group {
    budget: ProbeBudget,
    /// Of the numbers of the types.
    schedule: Schedule,
}

impl Group {
    /// The groups of these kinds from `start` on. No two send at the same time.
    fn all(kinds: &[ProbeKind], interval: Duration, start: Time) -> [Group; 6] {
        let groups = ProbeBudget::groups(kinds, interval);
        let quick = groups[1].0.len().max(1) as u64;
        let (mut number, mut offset) = (0, Duration::ZERO);
        groups.map(|(group, budget)| {
            let targets = number..number + group.len() as u32;
            let schedule = Schedule::even(targets.clone(), budget.requested(), start + offset);
            number = targets.end;
            // Between the slots of the groups before.
            offset = if offset == Duration::ZERO { interval / (2 * quick) } else { offset / 2 };
            Group { budget, schedule }
        })
    }
}

/// A probe type and its sender.
struct Running {
    kind: ProbeKind,
    machine: Box<dyn ProbeMachine>,
}

struct Prober {
    context: Context,
    shared: Arc<Shared>,
    groups: [Group; 6],
    interval: Duration,
    has_begun: bool,
    due: Vec<Due>,
    watch: SelfWatch,
    /// Indexed by target number in the schedule.
    running: Vec<Running>,
}

impl Prober {
    fn new(settings: &ProbeSettings, shared: Arc<Shared>, report: Report) -> Self {
        let context = Context::new(settings.clock, report);
        let mut by_rank = settings.kinds.clone();
        // The order of the groups: all slow kinds are last, TLS before them and QUIC after them.
        by_rank.sort_by_key(|kind| kind.spec().rank);
        let mut running = Vec::new();
        for kind in by_rank {
            match open(kind, settings, &context) {
                Ok(machine) => running.push(Running { kind, machine }),
                // A host without a gateway or another resolver lacks nothing that the test is
                // about.
                Err(_) if !kind.is_of_server() => {}
                Err(message) => {
                    context.note(Note::ProbesUnavailable { metric: kind.spec().series[0], message })
                }
            }
        }
        let kinds: Vec<ProbeKind> = running.iter().map(|r| r.kind).collect();
        shared.oldest.iter().for_each(|o| o.store(NONE, Ordering::Relaxed));
        Prober {
            groups: Group::all(&kinds, settings.interval, context.now()),
            interval: settings.interval,
            has_begun: false,
            context,
            shared,
            due: Vec::new(),
            watch: SelfWatch::default(),
            running,
        }
    }

    fn run(&mut self) {
        let mut deadline = None;
        loop {
            let now = self.context.now();
            self.begin(now);
            if self.shared.abort.load(Ordering::Relaxed) || self.is_over(now, &mut deadline) {
                return;
            }
            let is_sending = self.has_begun && deadline.is_none();
            if is_sending {
                self.send_due();
            }
            self.wait(is_sending);
            self.running.iter_mut().for_each(|r| r.machine.receive(&mut self.context));
            self.publish();
        }
    }
    fn send_train(&mut self) {
        let udp = self.running.iter_mut().find(|running| running.kind == ProbeKind::Udp);
        let Some(running) = udp else { return };
        for _ in 0..TRAIN_PROBES {
            // A probe that cannot be sent is missing from the estimate only.
            let _ = running.machine.send(&mut self.context);
        }
    }
    fn begin(&mut self, now: Time) {
        if !self.has_begun && self.shared.begin.load(Ordering::Relaxed) {
            self.has_begun = true;
            let kinds: Vec<ProbeKind> = self.running.iter().map(|running| running.kind).collect();
            self.groups = Group::all(&kinds, self.interval, now);
        }
    }
    /// Whether all probes are answered, or the wait for late replies is over.
    fn is_over(&mut self, now: Time, deadline: &mut Option<Time>) -> bool {
        if !self.shared.finish.load(Ordering::Relaxed) {
            return false;
        }
        let largest = self.series().map(ProbeSeries::largest_delay).max().unwrap_or_default();
        let until = *deadline.get_or_insert(now + LAST_WAIT.min(largest * 2 + STRAGGLER_WAIT));
        // Probes of a type that was never answered are not waited for.
        let is_waited_for = |s: &&ProbeSeries| s.has_replies() && s.outstanding() > 0;
        let any_answered = self.series().any(ProbeSeries::has_replies);
        now >= until || (any_answered && self.series().find(is_waited_for).is_none())
    }
    fn series(&mut self) -> impl Iterator<Item = &ProbeSeries> {
        self.running.iter_mut().flat_map(|r| r.machine.series().iter())
    }
    fn send_due(&mut self) {
        let (up, down) = (self.shared.capacity(Direction::Up), self.shared.capacity(Direction::Down));
        let mut due = std::mem::take(&mut self.due);
        for Group { budget, schedule } in &mut self.groups {
            let now = self.context.now();
            schedule.set_interval(budget.interval(up, down), now);
            schedule.take_due(now, &mut due);
        }
        due.drain(..).for_each(|due| self.send(due));
        self.due = due;
    }
    fn send(&mut self, due: Due) {
        let Some(Running { machine, .. }) = self.running.get_mut(due.target as usize) else { return };
        let result = machine.send(&mut self.context);
        let Some(series) = machine.series().first_mut() else { return };
        series.not_sent(NotSent::NotRunInTime, due.missed);
        match result {
            Ok(at) => self.watch.sent(at.saturating_since(due.slot)),
            Err(reason) => series.not_sent(reason, 1),
        }
    }
    /// Waits for input or the next slot.
    fn wait(&mut self, is_sending: bool) {
        let now = self.context.now();
        let mut next = || self.groups.iter_mut().filter_map(|group| group.schedule.next_slot()).min();
        let slot = if is_sending { next() } else { None };
        let timeout = slot.map_or(LOOK_EVERY, |at| at.saturating_since(now)).min(LOOK_EVERY);
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        self.running.iter().for_each(|r| r.machine.add_interests(&mut fds));
        self.context.wait(&mut fds, timeout, &mut self.watch);
    }
    fn publish(&mut self) {
        for Running { kind, machine } in &mut self.running {
            let at = machine.series().first().and_then(ProbeSeries::oldest_outstanding);
            self.shared.oldest[*kind as usize].store(at.map_or(NONE, Time::as_nanos), Ordering::Relaxed);
        }
    }
    fn result(mut self, priority: Priority) -> ProbeResult {
        let end = self.context.now();
        let (mut udp, mut path) = (UdpRecord::default(), None);
        let mut all: Vec<Series> = Vec::new();
        for Running { kind, machine } in &mut self.running {
            udp = machine.take_record(end).unwrap_or(udp);
            // The kinds are in the order of preference.
            let is_wanted = kind.is_of_server() && all.iter().all(|s| s.key.metric != Metric::HostQueue);
            all.extend(machine.take_waits().filter(|waits| is_wanted && !waits.values.is_empty()));
            if let Some((found, hops)) = machine.take_hops() {
                path = Some(found);
                all.extend(hops.into_iter().map(|series| series.close(end)));
            }
            for (series, metric) in machine.series().iter().zip(kind.spec().series) {
                let sent = series.next_sequence();
                // A server that answers no HTTP, or a host that cannot reach its resolver, as in
                // an emulated line.
                if sent == 0 || (!kind.is_of_server() && !series.has_replies()) {
                    continue;
                }
                if !series.has_replies() {
                    let sent_packets = u64::from(sent);
                    self.context.note(Note::ProbesUnanswered { metric: *metric, sent_packets });
                }
                all.push(series.clone().close(end));
            }
        }
        ProbeResult {
            series: all,
            path,
            udp,
            watch: self.watch,
            clock_steps_s: self.context.arrivals.steps_s().to_vec(),
            kernel_timestamp_ratio: self.context.arrivals.used_ratio(),
            priority,
        }
    }
}
