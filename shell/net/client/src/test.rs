//! The sequence of a test: phases, their ends, and all incoming events.
use crate::bursts::{check_buffers, lost_size};
use crate::control::{Control, ControlInput};
use crate::flows::{FathomPeer, Flow, FlowEvent, FlowSettings};
use crate::peer::{Peer, takes_train};
use crate::probes::{self, ProbeEvent};
use crate::record::Record;
use crate::resolve::Limits;
use crate::{Event, TestConfig, applications, carries_load, estimate_cost};
use fathom_load::{Ledger, Observe as _, Sender};
use fathom_os::clock::Clock;
use fathom_os::cpu::cpu_times;
use fathom_probe::protocol::{FlowLoad, FlowReport};
use fathom_probe::session::SessionEvent;
use fathom_probe::{
    ClockFit, ClockTracker, Course, CpuReading, FourStamps, ProbeKind, RRUL_CLASSES, ReturnPath, Step, Train,
    UdpRecord, codepoint_series, one_way_observations, probe_codepoints,
};
use fathom_run::{
    Burst, Fact, Interruption, Load, Metric, Note, Observation, Phase, PhaseEnd, PhaseKind, SeriesKey, Value,
};
use fathom_units::{Bytes, Direction, Duration, PerDirection, Rate, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};

/// Maximum interval between checks for due work.
const TURN: Duration = Duration::from_millis(10);
/// Interval of byte counts of down flows.
const COUNT_EVERY: Duration = Duration::from_millis(100);
/// Interval of CPU load samples: the kernel counts in ticks of 10 ms.
const CPU_EVERY: Duration = Duration::from_millis(250);
/// Shortest interval of fits of the server's clock: each half second contributes one sample.
const FIT_EVERY: Duration = Duration::from_millis(500);
/// Longest wait for the responses to the probes sent at once: twice the round trip to a satellite
/// in geostationary orbit, and the train itself.
const TRAIN_WAIT: Duration = Duration::from_secs(2);
/// Interval of the decision whether a phase is over.
const DECIDE_EVERY: Duration = Duration::from_millis(100);

/// Messages from the threads.
pub(crate) enum Message {
    Probe(ProbeEvent),
    Flow(FlowEvent),
    Control(ControlInput),
}

/// Times at which work is due.
struct Due {
    senders: Time,
    count: Time,
    cpu: Time,
    decide: Time,
}

/// Flows of this phase: running, started and failed, and the reported congestion controls.
#[derive(Default)]
struct FlowState {
    running: Vec<Flow>,
    began: BTreeMap<u32, Direction>,
    failed: BTreeSet<u32>,
    congestion_controls: BTreeSet<String>,
}

pub(crate) struct Test<'a> {
    pub(crate) config: &'a TestConfig,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) clock: Clock,
    pub(crate) record: Record<'a>,
    pub(crate) inbox: Receiver<Message>,
    pub(crate) outbox: mpsc::Sender<Message>,
    pub(crate) probes: Arc<probes::Shared>,
    settings: FlowSettings,
    ledger: Ledger,
    flows: FlowState,
    next_number: u32,
    server_clock: ClockTracker,
    train: Train,
    /// The train is over, and the phases have begun.
    has_begun: bool,
    course: Course,
    phase_start: Time,
    heard: Time,
    reported: Time,
    due: Due,
    cpu: Option<CpuReading>,
    pub(crate) peer: Arc<dyn Peer>,
    /// Sends bursts, if the server answers them.
    pub(crate) burst_peer: Option<Arc<FathomPeer>>,
    /// The session, if the server runs `fathom serve`.
    pub(crate) control: Option<Control>,
    /// The server's final count of received UDP probes.
    pub(crate) udp_received: Option<u64>,
    /// Requests on the connections of the load.
    pub(crate) load_probes: Vec<Observation>,
    /// Most sessions of others that had load at the server at the same time.
    pub(crate) most_others: u32,
    /// Payload bytes after which the load ends.
    byte_limit: u64,
    /// Applications that are measured, and one that is the load.
    pub(crate) applications: Arc<applications::Shared>,
    pub(crate) load_application: Arc<applications::Shared>,
    /// Number of the load application among the flows of the phase, and its bytes before that.
    load_number: Option<u32>,
    load_before: u64,
    /// The routers of the way back, if the server probes them.
    pub(crate) return_path: ReturnPath,
    /// TCP flows that ended: those that used ECN, and all.
    pub(crate) tcp_ecn: (u32, u32),
}

/// Share of the server's byte limit that a test uses, because the server ends a session that
/// exceeds it.
const SERVER_BYTES_PERCENT: u64 = 90;

impl<'a> Test<'a> {
    pub(crate) fn new(
        config: &'a TestConfig,
        stop: &'a AtomicBool,
        peer: Arc<dyn Peer>,
        control: Option<Control>,
        record: Record<'a>,
    ) -> Self {
        let clock = config.clock;
        let settings = FlowSettings {
            peer: peer.clone(),
            congestion_control: config.congestion_control.clone(),
            segment_bytes: config.segment_bytes,
            dscp: config.load_dscp,
            reply_dscp: 0,
            ecn: config.ecn.unwrap_or_default(),
            load: config.load_rate.map(|load| load.divided(config.flows)),
            clock,
            patience: config.patience,
        };
        let (outbox, inbox) = mpsc::channel();
        let allowed = control.as_ref().map(|c| c.hello.limits.bytes / 100 * SERVER_BYTES_PERCENT);
        let byte_limit = config.max_bytes.map_or(u64::MAX, Bytes::get).min(allowed.unwrap_or(u64::MAX));
        // Without load, nothing has to drain.
        let carries_load = carries_load(peer.as_ref());
        let carried = |kind: PhaseKind| match kind {
            PhaseKind::Drain => carries_load,
            _ => kind.loads().iter().all(|direction| peer.carries(*direction)),
        };
        let phases = config.phases.iter().filter(|phase| carried(phase.kind)).copied().collect();
        let now = clock.now();
        Test {
            config,
            stop,
            clock,
            record,
            inbox,
            outbox,
            probes: Arc::default(),
            settings,
            ledger: Ledger::default(),
            flows: FlowState::default(),
            next_number: 1,
            server_clock: ClockTracker::new(FIT_EVERY),
            train: Train::default(),
            has_begun: false,
            course: Course::new(phases, byte_limit),
            phase_start: now,
            heard: now,
            reported: now,
            due: Due { senders: now, count: now, cpu: now, decide: now },
            cpu: None,
            peer,
            burst_peer: None,
            control,
            udp_received: None,
            load_probes: Vec::new(),
            most_others: 0,
            byte_limit,
            applications: Arc::default(),
            load_application: Arc::default(),
            load_number: None,
            load_before: 0,
            return_path: ReturnPath::default(),
            tcp_ecn: (0, 0),
        }
    }

    /// Runs all phases. The error says why the test was cut short.
    pub(crate) fn run(&mut self) -> Result<(), Interruption> {
        let ended = self.follow_course();
        if ended.is_err()
            && let Some(kind) = self.course.abort()
        {
            self.end_phase(kind, PhaseEnd::Aborted);
        }
        ended
    }
    /// Waits for the responses to the probes sent at once, which show how many probes the line can
    /// carry.
    fn await_train(&mut self) -> Result<(), Interruption> {
        let until = self.clock.now() + TRAIN_WAIT.min(self.config.patience / 2);
        let is_sent = self.config.probes.contains(&ProbeKind::Udp) && takes_train(self.peer.as_ref());
        while is_sent && !self.train.is_complete() && self.clock.now() < until {
            self.turn()?;
        }
        self.has_begun = true;
        self.probes.begin(self.train.rates());
        Ok(())
    }
    fn follow_course(&mut self) -> Result<(), Interruption> {
        self.await_train()?;
        loop {
            match self.next_step() {
                Some(Step::Start(kind)) => self.start_phase(kind)?,
                Some(Step::End(kind, end)) => self.end_phase(kind, end),
                Some(Step::Omit(phase)) => self.record.note(Note::PhaseLeftOut { phase }),
                Some(Step::Queued(phase, waited)) => {
                    self.record.note(Note::QueueNotEmpty { phase, waited_s: waited.as_secs_f64() });
                }
                Some(Step::Finish) => return Ok(()),
                None => self.turn()?,
            }
        }
    }
    fn next_step(&mut self) -> Option<Step> {
        let now = self.clock.now();
        if now < self.due.decide {
            return None;
        }
        let step = self.course.poll(now, |kind| self.probes.oldest(kind));
        if step.is_none() {
            self.due.decide = now + DECIDE_EVERY;
        }
        step
    }
    fn start_phase(&mut self, kind: PhaseKind) -> Result<(), Interruption> {
        let loads = kind.loads();
        if let Some(first) = loads.first().filter(|_| self.config.flows > 0) {
            let limits = Limits { stop: self.stop, clock: self.clock, patience: self.config.patience };
            let plan = self.settings.plan(self.next_number, *first);
            let begun = self.peer.begin(loads, &plan, self.config.flows, &limits);
            begun.map_err(|message| Interruption::NoFlowLeft { direction: *first, message })?;
        }
        let now = self.clock.now();
        (self.phase_start, self.reported, self.heard) = (now, now, now);
        self.record.event(Event::PhaseStarted { kind, at: now });
        self.start_flows(loads);
        self.start_applications(kind);
        Ok(())
    }
    /// The first idle phase has no applications, so that it shows the latency of the line alone.
    fn start_applications(&mut self, kind: PhaseKind) {
        let is_second = || self.record.phases.iter().any(|phase| phase.kind == PhaseKind::Idle);
        let runs = kind.is_loaded() || (kind == PhaseKind::Idle && is_second());
        self.applications.runs.store(runs, Ordering::Relaxed);
        if self.config.load_application.is_some() && kind.is_loaded() {
            self.load_application.runs.store(true, Ordering::Relaxed);
            let number = self.next_number;
            self.next_number += 1;
            self.ledger.open(number, Direction::Down, self.record.phases.len(), None);
            self.flows.began.insert(number, Direction::Down);
            (self.load_number, self.load_before) = (Some(number), self.load_application.moved().down);
        }
    }
    fn end_phase(&mut self, kind: PhaseKind, end: PhaseEnd) {
        if end == PhaseEnd::ByteLimit {
            self.note_byte_limit();
        }
        self.stop_flows();
        self.close_phase(kind, end);
    }
    fn close_phase(&mut self, kind: PhaseKind, end: PhaseEnd) {
        let state = std::mem::take(&mut self.flows);
        let count = |direction| {
            let began = state.began.iter().filter(|(_, d)| **d == direction).count();
            u32::try_from(began).unwrap_or(u32::MAX)
        };
        let number = self.record.phases.len();
        let load = kind.is_loaded().then(|| Load {
            flows_up: count(Direction::Up),
            flows_down: count(Direction::Down),
            congestion_control: state.congestion_controls.iter().cloned().collect::<Vec<_>>().join(", "),
            delivered_up_bytes: self.ledger.delivered(Direction::Up, Some(number)),
            delivered_down_bytes: self.ledger.delivered(Direction::Down, Some(number)),
        });
        let (start_ns, end_ns) = (self.phase_start.as_nanos(), self.clock.now().as_nanos());
        let phase = Phase { kind, start_ns, end_ns, end, load };
        self.record.phases.push(phase.clone());
        self.record.event(Event::PhaseEnded(phase));
    }
    /// Bursts that check the sizes of buffers. None after a queue that did not empty.
    pub(crate) fn check_buffers(&mut self) -> Vec<Burst> {
        let is_empty = self.record.phases.last().is_some_and(|last| last.end == PhaseEnd::Settled);
        let Some(peer) = self.burst_peer.clone().filter(|_| is_empty) else { return Vec::new() };
        let moved = Direction::BOTH.map(|direction| self.ledger.delivered(direction, None));
        let left = moved.iter().fold(self.byte_limit, |left, moved| left.saturating_sub(*moved));
        let bursts = check_buffers(self, &peer, Bytes(left));
        lost_size(&bursts).into_iter().for_each(|note| self.record.note(note));
        bursts
    }
    /// Counts what was reported after the end of the phase.
    pub(crate) fn settle_accounts(&mut self) {
        let reports = self.peer.reports();
        for number in 0..self.record.phases.len() {
            // The last time within the phase.
            let at = self.record.phases[number].end_ns.saturating_sub(1);
            let of_phase = |report: &&FlowReport| self.ledger.phase_of(report.number) == Some(number);
            let flows: Vec<FlowReport> = reports.iter().filter(of_phase).copied().collect();
            if !flows.is_empty() {
                self.ledger.take_report(&flows, at, Time::from_nanos(at), &mut self.record);
            }
        }
        for (number, phase) in self.record.phases.iter_mut().enumerate() {
            if let Some(load) = &mut phase.load {
                load.delivered_up_bytes = self.ledger.delivered(Direction::Up, Some(number));
                load.delivered_down_bytes = self.ledger.delivered(Direction::Down, Some(number));
            }
        }
    }

    fn start_flows(&mut self, loaded: &[Direction]) {
        let phase = self.record.phases.len();
        let classes = RRUL_CLASSES.into_iter().filter(|_| self.config.classes).map(Some);
        for class in classes.chain(std::iter::repeat(None)).take(self.config.flows as usize) {
            for direction in loaded {
                let (number, outbox) = (self.next_number, self.outbox.clone());
                self.next_number += 1;
                let mut settings = self.settings.clone();
                if let Some((_, dscp)) = class {
                    (settings.dscp, settings.reply_dscp) = (dscp, dscp);
                }
                self.ledger.open(number, *direction, phase, class.map(|(name, _)| name));
                // The receiver lives as long as the test; afterwards events are not needed.
                let report = move |event| drop(outbox.send(Message::Flow(event)));
                self.flows.running.push(Flow::start(settings, number, *direction, report));
            }
        }
    }
    fn stop_flows(&mut self) {
        self.count_load();
        self.load_application.runs.store(false, Ordering::Relaxed);
        self.load_number = None;
        let running = std::mem::take(&mut self.flows.running);
        let is_tcp = !self.sends_datagrams();
        for info in running.iter().filter_map(Flow::tcp_info).filter(|_| is_tcp) {
            self.tcp_ecn.0 += u32::from(info.has_ecn);
            self.tcp_ecn.1 += 1;
        }
        if !running.is_empty() {
            self.peer.end();
        }
        running.iter().for_each(Flow::stop);
        running.into_iter().for_each(|flow| self.take_load_probes(flow.join()));
    }

    /// Waits briefly for messages, processes them, and does what is due.
    fn turn(&mut self) -> Result<(), Interruption> {
        self.pump(TURN)?;
        self.take_session_events()?;
        let now = self.clock.now();
        self.sample(now);
        if self.stop.load(Ordering::Relaxed) {
            return Err(Interruption::Stopped);
        }
        self.check_silence(now)
    }
    /// Processes messages for up to `wait`, at least all that are queued.
    pub(crate) fn pump(&mut self, wait: Duration) -> Result<(), Interruption> {
        match self.inbox.recv_timeout(std::time::Duration::from_nanos(wait.as_nanos())) {
            Ok(message) => self.take(message)?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
        }
        while let Ok(message) = self.inbox.try_recv() {
            self.take(message)?;
        }
        Ok(())
    }
    fn take(&mut self, message: Message) -> Result<(), Interruption> {
        match message {
            Message::Probe(event) => self.take_probe(event),
            Message::Flow(event) => return self.take_flow(event),
            Message::Control(input) => {
                self.heard = self.clock.now();
                if let Some(control) = &mut self.control {
                    control.handle_input(input);
                }
                return self.take_session_events();
            }
        }
        Ok(())
    }
    fn take_probe(&mut self, event: ProbeEvent) {
        match event {
            ProbeEvent::Note(note) => self.record.note(note),
            ProbeEvent::Refused { .. } => {}
            ProbeEvent::HopAnswered { key, observation } => self.record.show(key, observation),
            ProbeEvent::Path(hops) => self.record.event(Event::Path(hops)),
            // The server reports its times apart from its replies: see `add_arrivals`.
            ProbeEvent::Stamps(stamps) if stamps.server_received_ns == 0 => {}
            ProbeEvent::Stamps(stamps) if self.has_begun => self.take_stamps(&stamps),
            ProbeEvent::Stamps(stamps) => self.train.add(&stamps),
            // The probes of the train waited for each other.
            ProbeEvent::Answered { .. } if !self.has_begun => self.heard = self.clock.now(),
            ProbeEvent::Answered { kind, metric, observation } => {
                if kind.is_of_server() {
                    self.heard = self.clock.now();
                }
                // The gateway is before the line, so its delay says nothing about a phase.
                if let Value::Observed(delay_s) = observation.value
                    && kind != ProbeKind::Gateway
                    && kind.spec().series.first() == Some(&metric)
                {
                    self.course.answered(kind, observation.at, delay_s);
                }
                self.record.show(SeriesKey::of(metric), observation);
            }
        }
    }
    fn take_stamps(&mut self, stamps: &FourStamps) {
        let Some(fit) = self.server_clock.add(stamps) else { return };
        let observations = one_way_observations(&fit, stamps.sent, stamps);
        for (direction, observation) in observations {
            self.record.show(SeriesKey::directed(Metric::OneWayDelay, direction), observation);
        }
    }
    /// Completes the UDP probes if the server reports their arrivals apart from its replies.
    pub(crate) fn add_arrivals(&mut self, udp: &mut UdpRecord) {
        let Some(arrivals) = self.peer.arrivals() else { return };
        self.udp_received = udp.add_arrivals(&arrivals);
        for answer in &udp.answers {
            self.server_clock.add(&answer.stamps);
        }
    }
    /// Records the ECN codepoints of what arrived, and the use of ECN by TCP, if asked for.
    pub(crate) fn add_ecn(&mut self, udp: Option<&UdpRecord>) {
        let Some(sent) = self.config.ecn else { return };
        self.record.fact(Fact::Ecn, sent.name());
        if let (used, all @ 1..) = self.tcp_ecn {
            self.record.fact(Fact::TcpEcn, format!("{used} of {all} flows"));
        }
        for direction in Direction::BOTH {
            let phases = || self.record.phases.iter().enumerate();
            let loaded = phases().filter(|(_, p)| p.kind.loads().contains(&direction));
            let load = loaded.map(|(n, p)| (p.start_ns, self.ledger.codepoints(direction, n)));
            let probes = |of| phases().map(move |(_, p)| (p.start_ns, probe_codepoints(of, direction, p)));
            let load: Vec<_> = load.filter(|_| self.sends_datagrams()).collect();
            let probes: Vec<_> = udp.into_iter().flat_map(probes).collect();
            self.record.add(codepoint_series(Metric::EcnLoad, direction, &load));
            self.record.add(codepoint_series(Metric::EcnProbes, direction, &probes));
        }
    }
    /// The fit of the server's clock over all samples.
    pub(crate) fn final_fit(&self) -> Option<ClockFit> {
        self.server_clock.refit()
    }
    fn take_session_events(&mut self) -> Result<(), Interruption> {
        while let Some(event) = self.control.as_mut().and_then(Control::next_event) {
            self.take_session_event(event)?;
        }
        Ok(())
    }
    fn take_session_event(&mut self, event: SessionEvent) -> Result<(), Interruption> {
        let now = self.clock.now();
        match event {
            SessionEvent::Report { at_ns, flows, others } => {
                self.most_others = self.most_others.max(others);
                self.reported = now;
                let at = self.server_clock.fit().map_or(now, |fit| fit.local(at_ns).min(now));
                self.ledger.take_report(&flows, at_ns, at, &mut self.record);
                self.course.delivered(Direction::Up, at, self.ledger.moved(Direction::Up));
                self.report_senders(now);
                self.learn_capacity();
            }
            SessionEvent::Hops(replies) => {
                for reply in &replies {
                    let Some(key) = self.return_path.learn(reply) else { continue };
                    let at = self.server_clock.fit().map_or(now, |fit| fit.local(reply.sent_ns).min(now));
                    self.record.observe(key, at, f64::from(reply.rtt_us) / 1e6);
                }
            }
            SessionEvent::Bye { udp_received } => self.udp_received = Some(udp_received),
            SessionEvent::SecondHello => self.record.note(Note::SecondHello),
            SessionEvent::Ended(error) => {
                let server = self.peer.address().to_string();
                return Err(Interruption::SessionEnded { server, message: error.to_string() });
            }
            // The session opened before the test.
            SessionEvent::Opened(_) => {}
        }
        Ok(())
    }
    fn take_flow(&mut self, event: FlowEvent) -> Result<(), Interruption> {
        match event {
            FlowEvent::Began { number, congestion_control } => {
                self.heard = self.clock.now();
                if let Some(flow) = self.flows.running.iter().find(|f| f.number == number) {
                    self.flows.began.insert(number, flow.direction);
                }
                if let Some(used) = congestion_control {
                    self.take_congestion_control(used);
                }
                Ok(())
            }
            FlowEvent::Failed { number, reason } => self.flow_failed(number, &reason),
        }
    }
    fn take_congestion_control(&mut self, used: String) {
        let wanted = &self.config.congestion_control;
        if *wanted != used && wanted != "-" {
            let (requested, used) = (wanted.clone(), used.clone());
            self.record.note(Note::CongestionControlReplaced { requested, used });
        }
        self.flows.congestion_controls.insert(used);
    }
    /// A failed flow is a note; if none is left, the test ends.
    fn flow_failed(&mut self, number: u32, reason: &str) -> Result<(), Interruption> {
        let Some(direction) = self.flows.running.iter().find(|f| f.number == number).map(|f| f.direction)
        else {
            return Ok(());
        };
        self.flows.failed.insert(number);
        self.record.note(Note::FlowFailed { direction, message: reason.to_owned() });
        let mut same = self.flows.running.iter().filter(|f| f.direction == direction);
        if same.all(|f| self.flows.failed.contains(&f.number)) {
            return Err(Interruption::NoFlowLeft { direction, message: reason.to_owned() });
        }
        Ok(())
    }

    fn sample(&mut self, now: Time) {
        if now >= self.due.senders {
            self.due.senders = now + self.config.tcp_info_every;
            self.sample_senders();
        }
        if now >= self.due.count {
            self.due.count = now + COUNT_EVERY;
            self.count_load();
        }
        if now >= self.due.cpu {
            self.due.cpu = now + CPU_EVERY;
            self.sample_cpu(now);
        }
    }
    fn sample_senders(&mut self) {
        // The TCP connection of a flow of datagrams carries no load.
        if self.sends_datagrams() {
            return;
        }
        let mut is_counted = false;
        for flow in self.flows.running.iter().filter(|f| f.direction == Direction::Up) {
            let Some(info) = flow.tcp_info() else { continue };
            let sender = Sender {
                rtt_us: info.rtt_us,
                cwnd_bytes: info.cwnd_bytes,
                retransmits: info.retransmits,
                delivered_bytes: info.bytes_acked.unwrap_or(0).saturating_add(info.bytes_sacked),
                receiver_limited_us: info.receiver_limited_us,
                unsent_bytes: None,
            };
            self.ledger.note_sender(flow.number, sender, self.clock.now(), &mut self.record);
            is_counted |= info.bytes_acked.is_some();
        }
        let now = self.clock.now();
        if is_counted {
            self.ledger.count_acknowledged(Direction::Up, now.as_nanos(), now, &mut self.record);
        }
        self.report_senders(now);
        if !self.has_reports() {
            self.sample_receivers(now);
        }
    }
    /// Records what shows the losses of downloads whose sender reports none.
    fn sample_receivers(&mut self, now: Time) {
        for flow in self.flows.running.iter().filter(|f| f.direction == Direction::Down) {
            let directed = SeriesKey::directed(Metric::FlowOutOfOrder, Direction::Down);
            let key = SeriesKey { flow: Some(flow.number), ..directed };
            if let Some(count) = flow.tcp_info().and_then(|info| info.out_of_order) {
                self.record.observe(key, now, f64::from(count));
            }
        }
    }
    /// Counts the bytes that this end knows to be delivered: those received, and, if the server
    /// reports none, those that its TCP acknowledged.
    fn count_load(&mut self) {
        self.ledger.set_beside(self.applications.moved());
        self.count(Direction::Down, |flow| Some(flow.received_bytes()));
        if self.sends_datagrams() {
            self.count_datagrams();
        }
        let used: Vec<String> = self.flows.running.iter().filter_map(Flow::take_congestion_control).collect();
        used.into_iter().for_each(|used| self.take_congestion_control(used));
        let probes: Vec<Observation> = self.flows.running.iter().flat_map(Flow::take_probes).collect();
        self.take_load_probes(probes);
        if !self.has_reports() {
            self.count(Direction::Up, |flow| flow.tcp_info()?.bytes_acked);
        }
        self.learn_capacity();
    }
    /// Of the probes on the connections of the load.
    pub(crate) fn load_probe_key(&self) -> SeriesKey {
        SeriesKey::of(if self.peer.loads_by_quic() { Metric::Http3Loaded } else { Metric::HttpLoaded })
    }
    fn take_load_probes(&mut self, probes: Vec<Observation>) {
        let key = self.load_probe_key();
        for probe in &probes {
            self.record.show(key.clone(), *probe);
        }
        self.load_probes.extend(probes);
    }
    fn sends_datagrams(&self) -> bool {
        matches!(self.config.load_rate, Some(FlowLoad::Datagrams(_)))
    }
    fn count_datagrams(&mut self) {
        let down = self.flows.running.iter().filter(|f| f.direction == Direction::Down);
        let arrived: Vec<_> =
            down.map(|f| (f.number, f.datagrams())).filter(|(_, c)| c.received > 0).collect();
        let now = self.clock.now();
        self.ledger.note_datagrams(Direction::Down, arrived.into_iter(), now, &mut self.record);
    }
    /// Whether the server reports the load.
    fn has_reports(&self) -> bool {
        self.control.is_some() && self.config.load.is_none()
    }
    fn count(&mut self, direction: Direction, bytes: impl Fn(&Flow) -> Option<u64>) {
        let now = self.clock.now();
        let began = |f: &&Flow| f.direction == direction && self.flows.began.contains_key(&f.number);
        let of_flow = |f: &Flow| Some((f.number, bytes(f)?));
        let of_application = self.load_number.filter(|_| direction == Direction::Down);
        let of_application = of_application.map(|number| (number, self.load_bytes()));
        let flows = self.flows.running.iter().filter(began).filter_map(of_flow);
        let counts: Vec<(u32, u64)> = flows.chain(of_application).collect();
        let before = self.ledger.delivered(direction, None);
        self.ledger.count(direction, counts.into_iter(), now.as_nanos(), now, &mut self.record);
        let total = self.ledger.delivered(direction, None);
        if total > before {
            self.heard = now;
        }
        self.course.delivered(direction, now, self.ledger.moved(direction));
    }
    /// Payload of the load application in this phase.
    fn load_bytes(&self) -> u64 {
        self.load_application.moved().down - self.load_before
    }
    fn sample_cpu(&mut self, now: Time) {
        let Ok(times) = cpu_times() else { return };
        let reading = CpuReading { total: times.total, idle: times.idle, steal: times.steal };
        let share = self.cpu.replace(reading).and_then(|before| reading.since(&before));
        if let Some(share) = share {
            self.record.observe(SeriesKey::of(Metric::CpuBusy), now, share.busy);
            self.record.observe(SeriesKey::of(Metric::CpuSteal), now, share.steal);
        }
    }
    fn report_senders(&mut self, now: Time) {
        let (window, retransmits) = self.ledger.senders(self.record.phases.len());
        self.course.senders(now, window, retransmits);
    }
    /// Passes new capacity estimates to the probes, and the resulting traffic estimate to the user.
    fn learn_capacity(&mut self) {
        let idle = self.course.idle();
        let rates = PerDirection::from_fn(|d| self.ledger.capacity(d, idle).unwrap_or_default());
        let is_new = PerDirection::from_fn(|d| self.probes.set_capacity(d, rates[d]));
        if is_new.down {
            let fastest = report_interval(self.config.flows, rates.down);
            if let Some(control) = &mut self.control {
                control.report_every(self.config.tcp_info_every.max(fastest));
            }
        }
        if is_new.up || is_new.down {
            self.record.event(Event::Cost(estimate_cost(self.config, rates.up, rates.down)));
        }
    }

    fn check_silence(&self, now: Time) -> Result<(), Interruption> {
        let (address, patience) = (self.peer.address(), self.config.patience);
        if now.saturating_since(self.heard) > patience {
            let waited_s = patience.as_secs_f64();
            return Err(Interruption::ServerSilent { server: address.to_string(), waited_s });
        }
        let up = self.flows.running.iter().any(|f| f.direction == Direction::Up);
        // Reports may wait in the queue being measured.
        let late = patience + Duration::from_secs_f64(2.0 * self.course.longest_s());
        if up && self.has_reports() && now.saturating_since(self.reported) > late {
            let waited_s = late.as_secs_f64();
            return Err(Interruption::NoReports { server: address.to_string(), waited_s });
        }
        Ok(())
    }
    /// Notes if the server's limit instead of the user's ended the load.
    fn note_byte_limit(&mut self) {
        let is_the_servers = self.config.max_bytes.is_none_or(|own| own.get() > self.byte_limit);
        if self.course.is_out_of_bytes() && is_the_servers {
            let limit_ratio = SERVER_BYTES_PERCENT as f64 / 100.0;
            self.record.note(Note::ServerByteLimit { limit_ratio, payload_bytes: self.course.moved() });
        }
    }
}

/// Shortest interval at which the server's reports use at most 1 % of the downlink.
fn report_interval(flows: u32, down: Rate) -> Duration {
    // Measured: 100 bytes of JSON per flow and 40 for the line; TCP, IP and Ethernet headers take
    // 66.
    let bytes = Bytes(u64::from(flows) * 2 * 100 + 40 + 66);
    Rate::from_bits_per_second(down.as_bits_per_second() / 100).serialization_time(bytes)
}
