//! The course of a test, and its run.
use crate::{Echo, Probe, Stage};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_load::{Ledger, Observations, Sender};
use fathom_probe::{
    ClockFit, ClockTracker, Course, FourStamps, PhasePlan, ProbeKind, ProbeSeries, SelfWatch, Step,
    UdpAnswer, UdpRecord, one_way_series,
};
use fathom_run::{
    Fact, Host, Instrument, Interruption, Load, Metric, NotSent, Note, Phase, PhaseEnd, PhaseKind, Run,
    SCHEMA_VERSION, Series, SeriesKey,
};
use fathom_units::{Bytes, Direction, Duration, PerDirection, Rate, Time};

/// Interval of probes on a line that carries them, as in a test by the command line.
const PROBE_EVERY: Duration = Duration::from_millis(50);
/// The same while a rate of the line is unknown: an upload of 200 kbit/s then has a tenth of it.
const CAUTIOUS_EVERY: Duration = Duration::from_millis(100);
/// A direction whose rate is unknown has at least this part of the other: cable has up to 1:28,
/// ADSL 1:16.
const MOST_ASYMMETRIC: u64 = 25;
/// Longest interval, so that a phase has enough of them.
const SLOWEST_EVERY: Duration = Duration::from_millis(500);
/// Wire bytes of a probe and of an echo: 14 Ethernet, 40 IP, 8 UDP, 37 DTLS, 28 SCTP and 48 of the
/// message; and of their acknowledgment (RFC 9260), which is a packet of 127 bytes.
const WIRE_BYTES: Bytes = Bytes(175 + 127);
/// Share of the line for probes, as `fathom_probe::ProbeBudget` has it.
const PROBES_PER_MILLE: u64 = 40;
/// Interval of the decision whether a phase is over.
const DECIDE_EVERY: Duration = Duration::from_millis(100);
/// Shortest interval of fits of the clock of the page.
const FIT_EVERY: Duration = Duration::from_millis(500);
/// A page in the background for longer ends the test: nobody waits for it.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Byte counts in shorter intervals would show the granularity of packets.
const COUNT_EVERY_US: u64 = 90_000;
/// Largest whole number of a page (ECMAScript: 2^53 - 1): 285 years, or 9 petabytes.
const MAX_NUMBER: u64 = 1 << 53;

/// Limits of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Most bytes of load, both directions together.
    pub max_bytes: Bytes,
    /// The page counts as lost when nothing comes from it for this long.
    pub patience: Duration,
}

/// How probes travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// Datagrams: a data channel of WebRTC that neither orders nor repeats.
    DataChannel,
    /// A TCP connection, where UDP is blocked.
    WebSocket,
}

impl Transport {
    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Transport::DataChannel => "WebRTC",
            Transport::WebSocket => "WebSocket",
        }
    }
    const fn metric(self) -> Metric {
        match self {
            Transport::DataChannel => Metric::UdpRtt,
            Transport::WebSocket => Metric::HttpKept,
        }
    }
    const fn probe(self) -> ProbeKind {
        match self {
            Transport::DataChannel => ProbeKind::Udp,
            Transport::WebSocket => ProbeKind::Persistent,
        }
    }
}

/// What is known of the page and of its path.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct About {
    /// The server, as the page calls it.
    pub server: String,
    /// Address of the page, as the server sees it.
    pub seen_as: String,
    /// The browser, as it names itself.
    pub browser: String,
    /// Wall-clock time of the start, RFC 3339.
    pub started: String,
    /// Version of the server.
    pub version: String,
}

/// All downloads of a phase together, as the page counts them.
#[derive(Clone, Copy, Default, Debug)]
struct Downloads {
    /// Their number in the ledger.
    number: u32,
    /// What the page had read before, which includes the end of an earlier phase.
    before: Option<u64>,
    counted_us: u64,
}

/// A test of the line of a browser. All times are of the clock of the server; times of a run start
/// with the test.
#[derive(Clone, Debug)]
pub struct BrowserTest {
    settings: Settings,
    transport: Transport,
    start: Time,
    probes: ProbeSeries,
    /// Time of each probe, and the answers, for the one-way delays.
    answers: Vec<UdpAnswer>,
    clock: ClockTracker,
    course: Course,
    ledger: Ledger,
    series: Observations,
    watch: SelfWatch,
    phases: Vec<Phase>,
    notes: Vec<Note>,
    stage: Stage,
    phase_start: Time,
    /// Number of phases that have started, with those that were taken back.
    started: usize,
    /// Since when the page is in the background.
    hidden: Option<Time>,
    /// Probes that the page had received when it last said whether it is.
    received: u32,
    /// Numbers of the flows of the current phase.
    flows: PerDirection<u32>,
    next_flow: u32,
    /// Interval of probes in this phase, unless the line is slower.
    planned: Duration,
    due: Time,
    decide: Time,
    heard: Time,
    latest: Option<(Time, Duration)>,
    rates: PerDirection<Rate>,
    downloads: Downloads,
    congestion_control: String,
    partial: Option<Interruption>,
}

impl BrowserTest {
    /// Starts a test at `now`.
    pub fn new(settings: Settings, transport: Transport, now: Time) -> Self {
        BrowserTest {
            settings,
            transport,
            start: now,
            probes: ProbeSeries::new(SeriesKey::of(transport.metric())),
            answers: Vec::new(),
            clock: ClockTracker::new(FIT_EVERY),
            course: Course::new(PhasePlan::default_sequence(), settings.max_bytes.get()),
            ledger: Ledger::default(),
            series: Observations::default(),
            watch: SelfWatch::default(),
            phases: Vec::new(),
            notes: Vec::new(),
            stage: Stage::Between,
            phase_start: Time::ZERO,
            started: 0,
            hidden: None,
            received: 0,
            flows: PerDirection::default(),
            next_flow: 1,
            planned: CAUTIOUS_EVERY,
            due: now,
            decide: now,
            heard: now,
            latest: None,
            rates: PerDirection::default(),
            downloads: Downloads::default(),
            congestion_control: String::new(),
            partial: None,
        }
    }
    /// Time of the run.
    fn at(&self, now: Time) -> Time {
        Time::from_nanos(now.saturating_since(self.start).as_nanos())
    }
    /// What the page has to do.
    pub const fn stage(&self) -> Stage {
        self.stage
    }
    /// Whether the test is over.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }
    /// Whether the current phase loads this direction.
    pub fn loads(&self, direction: Direction) -> bool {
        matches!(self.stage, Stage::Phase(kind) if kind.loads().contains(&direction))
    }
    /// When something is due.
    pub fn wake(&self) -> Time {
        self.due.min(self.decide)
    }
    /// The probe that is due at `now`, if one is. It counts as sent: see [`BrowserTest::withhold`].
    pub fn probe(&mut self, now: Time) -> Option<Probe> {
        if now < self.due {
            return None;
        }
        self.due = now.max(self.due + self.interval());
        let at = self.at(now);
        let sequence = self.probes.sent(at);
        Some(self.message(sequence, at))
    }
    /// The last message: that the test is over.
    pub fn last_message(&self, now: Time) -> Probe {
        self.message(u32::MAX, self.at(now))
    }
    fn message(&self, sequence: u32, at: Time) -> Probe {
        let ms = |time: Time| u32::try_from(time.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        let kbit = |rate: Rate| u32::try_from(rate.as_bits_per_second() / 1_000).unwrap_or(u32::MAX);
        let (answered, delay) = self.latest.unwrap_or_default();
        Probe {
            sequence,
            stage: self.stage,
            phase: u16::try_from(self.phases.len()).unwrap_or(u16::MAX),
            elapsed_ms: ms(at),
            answered_ms: ms(answered),
            delay_us: u32::try_from(delay.as_nanos() / 1_000).unwrap_or(u32::MAX),
            down_kbit_per_second: kbit(self.rates.down),
            up_kbit_per_second: kbit(self.rates.up),
            moved_kilobytes: u32::try_from(self.course.moved() / 1_000).unwrap_or(u32::MAX),
        }
    }
    /// Records when a probe left.
    pub fn departed(&mut self, sequence: u32, now: Time) {
        let at = self.at(now);
        self.probes.departed(sequence, at);
    }
    /// Records that no probe was sent, because earlier ones still wait in the channel.
    pub fn withhold(&mut self, now: Time) {
        if now >= self.due {
            self.due = now.max(self.due + self.interval());
            self.probes.not_sent(NotSent::BufferFull, 1);
        }
    }
    /// The slowest of the known rates, and how many are known. A load that delivers nothing shows
    /// none.
    fn slowest(&self) -> Option<(Rate, usize)> {
        let idle = self.course.idle();
        let rates = Direction::BOTH.map(|direction| self.ledger.capacity(direction, idle));
        let known = rates.into_iter().flatten().filter(|rate| rate.as_bits_per_second() > 0);
        Some((known.clone().min()?, known.count()))
    }
    /// The interval of a phase, so that its start has as many probes as its end.
    fn planned_interval(&self) -> Duration {
        let Some((slowest, known)) = self.slowest() else { return CAUTIOUS_EVERY };
        let bits = slowest.as_bits_per_second() / if known == 2 { 1 } else { MOST_ASYMMETRIC };
        allowed_interval(Rate::from_bits_per_second(bits)).clamp(PROBE_EVERY, CAUTIOUS_EVERY)
    }
    fn interval(&self) -> Duration {
        let allowed = self.slowest().map(|(slowest, _)| allowed_interval(slowest));
        allowed.unwrap_or_default().clamp(self.planned, SLOWEST_EVERY)
    }
    /// Takes an echo that arrived at `now`.
    pub fn take_echo(&mut self, echo: &Echo, now: Time) {
        if self.is_over() || !is_plausible(echo) {
            return;
        }
        let received = self.at(now);
        self.heard = now;
        self.take_visibility(echo, now);
        let Some(sent) = self.probes.departure_of(echo.sequence) else {
            // A second answer, or one to no probe.
            self.probes.reply(echo.sequence, received);
            return;
        };
        // The line is not to blame for the time that the page held the probe.
        let ns = |us: u64| us.saturating_mul(1_000);
        let (server_received_ns, server_sent_ns) = (ns(echo.received_us), ns(echo.sent_us));
        let stamps = FourStamps { sent, server_received_ns, server_sent_ns, received };
        let held = stamps.held().min(received.saturating_since(sent));
        let Some(observed) = self.probes.reply(echo.sequence, received.saturating_sub(held)) else { return };
        let delay = received.saturating_since(sent).saturating_sub(held);
        self.latest = Some((observed.at, delay));
        self.course.answered(self.transport.probe(), observed.at, delay.as_secs_f64());
        self.watch.woke(Duration::from_nanos(ns(echo.late_us.into())));
        let answer = UdpAnswer {
            sequence: echo.sequence,
            stamps,
            received: Some(echo.received.into()),
            class: PerDirection::default(),
        };
        self.answers.push(answer);
        if let Some(fit) = self.clock.add(&stamps) {
            self.count_downloads(echo, &fit, received);
        }
    }
    /// Pauses the test while the page is in the background: its phase starts again afterwards.
    fn take_visibility(&mut self, echo: &Echo, now: Time) {
        // Echoes may overtake each other.
        if echo.received <= self.received {
            return;
        }
        self.received = echo.received;
        match (self.hidden, echo.is_hidden) {
            (None, true) => {
                self.course.take_back();
                (self.hidden, self.stage) = (Some(now), Stage::Paused);
            }
            (Some(_), false) => (self.hidden, self.stage) = (None, Stage::Between),
            _ => {}
        }
    }
    /// Counts what the page has read.
    fn count_downloads(&mut self, echo: &Echo, fit: &ClockFit, now: Time) {
        let loads = self.loads(Direction::Down);
        let downloads = &mut self.downloads;
        if echo.counted_us < downloads.counted_us.saturating_add(COUNT_EVERY_US) || !loads {
            return;
        }
        downloads.counted_us = echo.counted_us;
        let before = *downloads.before.get_or_insert(echo.down_bytes);
        let count = [(downloads.number, echo.down_bytes.saturating_sub(before))].into_iter();
        let counted_ns = echo.counted_us.saturating_mul(1_000);
        let at = fit.local(counted_ns).min(now);
        self.ledger.count(Direction::Down, count, counted_ns, at, &mut self.series);
        self.learn(Direction::Down, at);
    }
    /// Opens a flow of the load and returns its number; `None` if the phase has none in this
    /// direction.
    pub fn open_flow(&mut self, direction: Direction) -> Option<u32> {
        if !self.loads(direction) {
            return None;
        }
        let number = self.next_flow;
        self.next_flow += 1;
        self.ledger.open(number, direction, self.started, None);
        self.flows[direction] += 1;
        Some(number)
    }
    /// Records the payload that the server has received of each upload.
    pub fn count_uploads(&mut self, flows: impl Iterator<Item = (u32, u64)>, now: Time) {
        let at = self.at(now);
        self.ledger.count(Direction::Up, flows, at.as_nanos(), at, &mut self.series);
        self.learn(Direction::Up, at);
    }
    /// Records the state of the senders of downloads, with their congestion control.
    pub fn take_senders(&mut self, senders: &[(u32, Sender)], congestion_control: &str, now: Time) {
        let at = self.at(now);
        for (number, sender) in senders {
            self.ledger.note_sender(*number, *sender, at, &mut self.series);
        }
        if !senders.is_empty() {
            self.ledger.count_acknowledged(Direction::Down, at.as_nanos(), at, &mut self.series);
            self.congestion_control = congestion_control.into();
        }
        let (window, retransmits) = self.ledger.senders(self.started);
        self.course.senders(at, window, retransmits);
    }
    fn learn(&mut self, direction: Direction, at: Time) {
        let total = self.ledger.moved(direction);
        self.course.delivered(direction, at, total);
        let key = SeriesKey::directed(Metric::Goodput, direction);
        if let Some(rate) = self.series.latest(&key) {
            self.rates[direction] = Rate::from_bits_per_second(rate as u64);
        }
    }
    /// Follows the course. Called at the time that [`BrowserTest::wake`] says, or earlier.
    pub fn poll(&mut self, now: Time) {
        while now >= self.decide && !self.is_over() {
            let patience = self.settings.patience;
            if now.saturating_since(self.heard) > patience {
                let message = alloc::format!("the page sent nothing for {} s", patience.as_secs_f64());
                return self.interrupt(ended(message), now);
            }
            if let Some(since) = self.hidden {
                if now.saturating_since(since) > LONGEST_PAUSE {
                    let minutes = LONGEST_PAUSE.as_secs_f64() / 60.0;
                    let message = alloc::format!("the page was in the background for {minutes} minutes");
                    return self.interrupt(ended(message), now);
                }
                self.decide = now + DECIDE_EVERY;
                return;
            }
            let probes = &self.probes;
            match self.course.poll(self.at(now), |_| probes.oldest_outstanding()) {
                None => self.decide = now + DECIDE_EVERY,
                Some(Step::Start(kind)) => self.start_phase(kind, now),
                Some(Step::End(kind, end)) => self.end_phase(kind, end, now),
                Some(Step::Omit(phase)) => self.notes.push(Note::PhaseLeftOut { phase }),
                Some(Step::Queued(phase, waited)) => {
                    self.notes.push(Note::QueueNotEmpty { phase, waited_s: waited.as_secs_f64() });
                }
                Some(Step::Finish) => self.stage = Stage::Over,
            }
        }
    }
    fn start_phase(&mut self, kind: PhaseKind, now: Time) {
        (self.stage, self.phase_start) = (Stage::Phase(kind), self.at(now));
        self.started += 1;
        self.planned = self.planned_interval();
        self.rates = PerDirection::default();
        self.flows = PerDirection::default();
        if self.loads(Direction::Down) {
            (self.downloads.number, self.downloads.before) = (self.next_flow, None);
            self.next_flow += 1;
            self.ledger.open(self.downloads.number, Direction::Down, self.started, None);
        }
    }
    fn end_phase(&mut self, kind: PhaseKind, end: PhaseEnd, now: Time) {
        self.stage = Stage::Between;
        let number = self.started;
        let load = kind.is_loaded().then(|| Load {
            flows_up: self.flows.up,
            flows_down: self.flows.down,
            congestion_control: self.congestion_control.clone(),
            delivered_up_bytes: self.ledger.delivered(Direction::Up, Some(number)),
            delivered_down_bytes: self.ledger.delivered(Direction::Down, Some(number)),
        });
        let (start_ns, end_ns) = (self.phase_start.as_nanos(), self.at(now).as_nanos());
        self.phases.push(Phase { kind, start_ns, end_ns, end, load });
    }
    /// Ends the test early. What was measured is kept.
    pub fn interrupt(&mut self, why: Interruption, now: Time) {
        if self.is_over() {
            return;
        }
        if let Some(kind) = self.course.abort() {
            self.end_phase(kind, PhaseEnd::Aborted, now);
        }
        self.stage = Stage::Over;
        self.partial = Some(why);
    }
    /// The run, when the test is over.
    pub fn into_run(mut self, about: About, now: Time) -> Run {
        let end = self.at(now);
        let sent = self.probes.sent_times().map(|at| (at, end.saturating_since(at))).collect();
        let record = UdpRecord { sent, answers: core::mem::take(&mut self.answers) };
        let fit = self.clock.refit();
        if let Some(fit) = &fit {
            self.series.add(one_way_of_page(fit, &record));
        }
        self.series.add([self.probes.close(end)]);
        if let Some(Interruption::SessionEnded { server, .. }) = &mut self.partial {
            server.clone_from(&about.server);
        }
        let instrument = Instrument {
            clock_offset_s: fit.map(|f| [f.offset_ns as f64 / 1e9, f.uncertainty.as_secs_f64()]),
            clock_drift_ratio: fit.map(|f| f.drift_ratio),
            kernel_timestamp_ratio: 1.0,
            ..self.watch.into_instrument()
        };
        let facts = [
            (Fact::Server, about.server.clone()),
            (Fact::SeenAs, about.seen_as),
            (Fact::Browser, about.browser),
            (Fact::Protocol, self.transport.name().into()),
            (Fact::ServerVersion, about.version.clone()),
        ];
        Run {
            schema_version: SCHEMA_VERSION,
            tool_version: about.version,
            command: "test".into(),
            started: about.started,
            title: about.server,
            host: Host::default(),
            facts: BTreeMap::from(facts),
            phases: self.phases,
            series: self.series.take(),
            instrument,
            partial: self.partial,
            capture: None,
            path: None,
            history: None,
            bursts: Vec::new(),
            switch: None,
            host_traffic: Vec::new(),
            notes: self.notes,
        }
    }
}

/// Why a test ended early. The run names the server later.
const fn ended(message: String) -> Interruption {
    Interruption::SessionEnded { server: String::new(), message }
}

/// The shortest interval at which probes use no more than their share of this rate.
fn allowed_interval(rate: Rate) -> Duration {
    let share = (rate.as_bits_per_second() / 1_000 * PROBES_PER_MILLE).max(1);
    Rate::from_bits_per_second(share).serialization_time(WIRE_BYTES)
}

/// Whether a page may have such times and counts, which others would make senseless.
fn is_plausible(echo: &Echo) -> bool {
    let numbers = [echo.received_us, echo.sent_us, echo.down_bytes, echo.counted_us];
    numbers.iter().all(|number| *number < MAX_NUMBER) && echo.received_us <= echo.sent_us
}

/// One-way delays as the page calls their directions: what the server sends goes down.
fn one_way_of_page(fit: &ClockFit, record: &UdpRecord) -> [Series; 2] {
    let PerDirection { up: to_page, down: from_page } = one_way_series(fit, record, None);
    let named = |mut series: Series, direction| {
        series.key.direction = Some(direction);
        series
    };
    [named(to_page, Direction::Down), named(from_page, Direction::Up)]
}
