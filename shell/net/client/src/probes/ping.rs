//! The thread of a ping: one kind of probe for each of many hosts, one timer, open loop.
mod endless;

use super::channel::Target;
use super::connect::ConnectProber;
use super::dns::DnsProber;
use super::icmp::IcmpProber;
use super::persistent::PersistentProber;
use super::requests::RequestProber;
use super::udp::UdpProber;
use super::{Context, LOOK_EVERY, ProbeEvent, ProbeMachine};
use crate::ping::{Located, MonitorConfig, PingConfig, PingEvent, PingProbe, PingTarget};
use endless::Endless;
use fathom_os::echo::{EchoSocketError, echo_socket};
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::raise_priority;
use fathom_probe::protocol::SessionId;
use fathom_probe::{
    ClockTracker, Due, FourStamps, PingEnd, ProbeKind, ProbeSeries, Schedule, SelfWatch, UdpRecord,
    one_way_series,
};
use fathom_run::{Instrument, Metric, NotSent, Series, SeriesKey};
use fathom_units::{Duration, Time};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Shortest interval of fits of a server's clock.
const FIT_EVERY: Duration = Duration::from_millis(500);

/// Results of the thread: the series of each target, and how well the host kept time.
pub(crate) struct Pinged {
    pub(crate) series: Vec<Vec<Series>>,
    pub(crate) instrument: Instrument,
}

/// A target and its sender.
struct Running {
    machine: Box<dyn ProbeMachine>,
    /// Slots that were used: probes sent, and those that the system refused.
    attempts: u32,
    last: Time,
    /// The last one could not be sent.
    is_failing: bool,
    /// Arrival of the last reply.
    answered: Time,
    server_clock: ClockTracker,
}

impl Running {
    fn new(mut machine: Box<dyn ProbeMachine>) -> Self {
        machine.series().iter_mut().take(1).for_each(ProbeSeries::log_replies);
        Running {
            machine,
            attempts: 0,
            last: Time::ZERO,
            is_failing: false,
            answered: Time::ZERO,
            server_clock: ClockTracker::new(FIT_EVERY),
        }
    }
}

/// The sender of the probes to a target.
fn sender(
    target: &PingTarget,
    config: &PingConfig,
    context: &Context,
) -> Result<Box<dyn ProbeMachine>, String> {
    let session = session_id()?;
    let to = Target { address: target.address, dscp: config.dscp };
    Ok(match &target.probe {
        PingProbe::Icmp => Box::new(IcmpProber::open(ProbeKind::Icmp, to, session)?.with_errors()?),
        PingProbe::Tcp => Box::new(ConnectProber::tcp(to, None)),
        PingProbe::Dns(name) => Box::new(DnsProber::to(target.address, name, session)?),
        PingProbe::Requests(plan) => Box::new(RequestProber::new(plan.clone(), config.dscp, context.now())),
        PingProbe::Web(ProbeKind::Tls, web) => Box::new(ConnectProber::tls(to, Some(web.clone()))?),
        PingProbe::Web(_, web) => Box::new(PersistentProber::new(to, Some(web.clone()), context.now())?),
        PingProbe::Udp(peer) => {
            Box::new(UdpProber::new(ProbeKind::Udp, peer.udp_probes(None)?, config.dscp << 2)?)
        }
    })
}

/// The identifier of the probes to a target.
fn session_id() -> Result<SessionId, String> {
    let mut session = SessionId([0; 16]);
    getrandom::fill(&mut session.0).map_err(|e| format!("random numbers: {e}"))?;
    Ok(session)
}

/// A target without an address or a socket. Its probes cannot be sent.
struct Refused {
    series: [ProbeSeries; 1],
    reason: String,
}

impl Refused {
    fn machine(metric: Metric, reason: String) -> Box<dyn ProbeMachine> {
        Box::new(Refused { series: [ProbeSeries::new(SeriesKey::of(metric))], reason })
    }
}

impl ProbeMachine for Refused {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn send(&mut self, _context: &mut Context) -> Result<Time, NotSent> {
        Err(NotSent::System(self.reason.clone()))
    }
    fn add_interests<'m>(&'m self, _fds: &mut Vec<PollFd<'m>>) {}
    fn receive(&mut self, _context: &mut Context) {}
}

/// What all probes use, and what they report.
fn context(config: &PingConfig) -> (Context, Receiver<ProbeEvent>) {
    let (tell, told) = channel();
    (Context::new(config.clock, Box::new(move |event| drop(tell.send(event)))), told)
}

/// Checks that this process may send ICMP, if any target needs it.
fn check_permission(targets: &[PingTarget]) -> Result<(), String> {
    let needs_it = |target: &&PingTarget| matches!(target.probe, PingProbe::Icmp);
    let Some(first) = targets.iter().find(needs_it) else { return Ok(()) };
    let advice =
        |error| format!("{error}\n  try: fathom ping tcp://{}, which needs no permission", first.name);
    permitted(first.address.is_ipv6()).map_err(advice)
}

fn permitted(is_ipv6: bool) -> Result<(), EchoSocketError> {
    match echo_socket(is_ipv6) {
        Err(error @ EchoSocketError::NotPermitted) => Err(error),
        _ => Ok(()),
    }
}

pub(crate) struct Pinger {
    config: PingConfig,
    endless: Option<Endless>,
    context: Context,
    /// Notes and times of servers from the probes.
    told: Receiver<ProbeEvent>,
    running: Vec<Running>,
    schedule: Schedule,
    due: Vec<Due>,
    looked: Time,
    watch: SelfWatch,
    events: Vec<PingEvent>,
    outbox: Sender<Vec<PingEvent>>,
}

impl Pinger {
    /// Opens the sockets. The error is that of the first target if none can be opened.
    pub(crate) fn open(
        config: PingConfig,
        targets: &[PingTarget],
        outbox: Sender<Vec<PingEvent>>,
    ) -> Result<Self, String> {
        let (context, told) = context(&config);
        check_permission(targets)?;
        let senders: Vec<_> = targets.iter().map(|target| sender(target, &config, &context)).collect();
        if let Some(Err(error)) = senders.iter().all(Result::is_err).then(|| senders.first()).flatten() {
            return Err(error.clone());
        }
        let machines = senders.into_iter().zip(targets).map(|(sender, target)| {
            sender.unwrap_or_else(|reason| Refused::machine(target.probe.metric(), reason))
        });
        Ok(Pinger::of(config, (context, told), machines, outbox))
    }
    /// A pinger of hosts without an address so far, which only `stop` ends.
    pub(crate) fn without_end(
        config: MonitorConfig,
        located: Receiver<Located>,
        outbox: Sender<Vec<PingEvent>>,
    ) -> Result<Self, String> {
        permitted(false).map_err(|error| error.to_string())?;
        let MonitorConfig { clock, interval, remembered, .. } = config;
        let as_ping =
            PingConfig { clock, interval, count: None, deadline: None, timeout: remembered, dscp: 0 };
        let endless = Endless::new(config, located);
        let pinger = Pinger::of(as_ping, context(&as_ping), endless.machines(), outbox);
        Ok(Pinger { endless: Some(endless), ..pinger })
    }
    fn of(
        config: PingConfig,
        (context, told): (Context, Receiver<ProbeEvent>),
        machines: impl Iterator<Item = Box<dyn ProbeMachine>>,
        outbox: Sender<Vec<PingEvent>>,
    ) -> Self {
        Pinger {
            running: machines.map(Running::new).collect(),
            config,
            endless: None,
            context,
            told,
            schedule: Schedule::even(0..0, config.interval, Time::ZERO),
            due: Vec::new(),
            looked: Time::ZERO,
            watch: SelfWatch::default(),
            events: Vec::new(),
            outbox,
        }
    }
    /// Pings until all probes are sent and answered or given up, or until `stop`.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> Pinged {
        // Without the privileges it wakes up slightly later, and the result says how late.
        let _ = raise_priority();
        let _ = poll::set_precise_timers();
        let patience = self.context.now() + self.config.timeout;
        let is_waiting = |running: &[Running]| running.iter().any(|one| !one.machine.is_connected());
        while is_waiting(&self.running) && self.context.now() < patience && !stop.load(Ordering::Relaxed) {
            self.turn(None);
        }
        let start = self.context.now();
        self.schedule = self.scheduled(start);
        while !stop.load(Ordering::Relaxed) && !self.is_over(start) {
            if let Some(endless) = &mut self.endless {
                endless.look_after(&mut self.running, self.context.now());
            }
            self.send_due();
            let slot = self.schedule.next_slot();
            self.turn(slot);
        }
        self.result()
    }
    /// The schedule of a ping, or that of a watch if there is no end.
    fn scheduled(&self, start: Time) -> Schedule {
        let even = || Schedule::even(0..self.running.len() as u32, self.config.interval, start);
        self.endless.as_ref().map_or_else(even, |endless| endless.schedule(start))
    }
    fn is_over(&mut self, start: Time) -> bool {
        if self.endless.is_some() {
            return false;
        }
        let now = self.context.now();
        let count = self.config.count.unwrap_or(u32::MAX);
        if self.config.deadline.is_some_and(|deadline| now.saturating_since(start) >= deadline) {
            return true;
        }
        let end = PingEnd { timeout: self.config.timeout, interval: self.config.interval };
        self.running.iter_mut().all(|one| {
            let series = one.machine.series().first();
            one.attempts >= count && series.is_none_or(|series| end.of(series, one.last) <= now)
        })
    }
    fn send_due(&mut self) {
        let mut due = std::mem::take(&mut self.due);
        self.schedule.take_due(self.context.now(), &mut due);
        let mut has_finished = false;
        for one in due.drain(..) {
            has_finished |= self.send(one);
        }
        self.due = due;
        if has_finished {
            let (running, count) = (&self.running, self.config.count.unwrap_or(u32::MAX));
            let is_gone = |n: u32| running.get(n as usize).is_none_or(|one| one.attempts >= count);
            self.schedule.remove(is_gone);
        }
    }
    /// Sends a probe. Whether it is the last to its target.
    fn send(&mut self, due: Due) -> bool {
        let target = due.target as usize;
        let Some(one) = self.running.get_mut(target) else { return false };
        if self.config.count.is_some_and(|count| one.attempts >= count) {
            return true;
        }
        let sent = one.machine.send(&mut self.context);
        one.attempts += 1;
        one.is_failing = sent.is_err();
        let Some(series) = one.machine.series().first_mut() else { return false };
        series.not_sent(NotSent::NotRunInTime, due.missed);
        match sent {
            Ok(at) => {
                self.watch.sent(at.saturating_since(due.slot));
                one.last = at;
                self.events.push(PingEvent::Sent { target, at });
            }
            Err(reason) => {
                series.not_sent(reason.clone(), 1);
                self.events.push(PingEvent::NotSent { target, reason });
            }
        }
        self.config.count == Some(one.attempts)
    }
    /// Waits for replies until `slot`, and reports them.
    fn turn(&mut self, slot: Option<Time>) {
        let now = self.context.now();
        let timeout = slot.map_or(LOOK_EVERY, |at| at.saturating_since(now)).min(LOOK_EVERY);
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        let mut ends = Vec::with_capacity(self.running.len());
        for one in &self.running {
            one.machine.add_interests(&mut fds);
            ends.push(fds.len());
        }
        let woke = self.context.wait(&mut fds, timeout, &mut self.watch);
        let mut start = 0;
        let ready: Vec<bool> = ends
            .into_iter()
            .map(|end| fds[std::mem::replace(&mut start, end)..end].iter().any(PollFd::is_ready))
            .collect();
        drop(fds);
        // Timers of protocols.
        let is_due = woke.saturating_since(self.looked) >= LOOK_EVERY;
        if is_due {
            self.looked = woke;
        }
        for (target, is_ready) in ready.into_iter().enumerate() {
            if is_ready || is_due {
                self.receive(target);
            }
        }
        // Each handover wakes a thread. That a probe was sent is no news by itself.
        let is_news = |event: &PingEvent| !matches!(event, PingEvent::Sent { .. });
        if !self.events.is_empty() && (is_due || self.events.iter().any(is_news)) {
            // Nobody reads them any more after the end.
            let _ = self.outbox.send(std::mem::take(&mut self.events));
        }
    }
    fn receive(&mut self, target: usize) {
        let Some(one) = self.running.get_mut(target) else { return };
        one.machine.receive(&mut self.context);
        let mut stamps: VecDeque<FourStamps> = VecDeque::new();
        for event in self.told.try_iter() {
            match event {
                ProbeEvent::Stamps(four) => stamps.push_back(four),
                ProbeEvent::Note(note) => self.events.push(PingEvent::Note { target, note }),
                ProbeEvent::Refused { sequence, by, error } => {
                    self.events.push(PingEvent::Refused { target, sequence, by, error });
                }
                ProbeEvent::Answered { .. } | ProbeEvent::HopAnswered { .. } | ProbeEvent::Path(_) => {}
            }
        }
        let replies = one.machine.series().first_mut().map(ProbeSeries::take_replies).unwrap_or_default();
        if !replies.is_empty() {
            one.answered = self.context.now();
        }
        for reply in replies {
            // The stamps are those of the first replies, in the same order.
            let four = reply.reply.is_first().then(|| stamps.pop_front()).flatten();
            let one_way = four.and_then(|times| Some(one.server_clock.add(&times)?.one_way(&times)));
            self.events.push(PingEvent::Reply { target, reply, one_way });
        }
    }
    fn result(mut self) -> Pinged {
        let end = self.context.now();
        if !self.events.is_empty() {
            let _ = self.outbox.send(std::mem::take(&mut self.events));
        }
        let instrument = self.context.instrument(self.watch);
        let mut all = Vec::new();
        for one in &mut self.running {
            let mut series: Vec<Series> = one.machine.series().iter().map(|s| s.clone().close(end)).collect();
            let record: Option<UdpRecord> = one.machine.take_record(end);
            if let Some((fit, record)) = one.server_clock.refit().zip(record) {
                series.extend(one_way_series(&fit, &record, None).into_iter().map(|(_, delays)| delays));
            }
            series.extend(one.machine.take_waits());
            series.retain(|s| !s.values.is_empty() || !s.not_sent.is_empty());
            all.push(series);
        }
        Pinged { series: all, instrument }
    }
}
