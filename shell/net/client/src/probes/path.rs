//! The thread of a path: probes of all its hops, and ICMP echo to its end.
use super::channel::Target;
use super::hops::HopProber;
use super::icmp::IcmpProber;
use super::{Context, ProbeEvent, ProbeMachine};
use crate::path::PathConfig;
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::raise_priority;
use fathom_probe::protocol::SessionId;
use fathom_probe::{HopRates, ProbeKind, ProbeSeries, SelfWatch};
use fathom_run::{Instrument, Path, Series};
use fathom_units::{Duration, Time};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Time between two probes of hops: 30 hops are found in 0.6 s, with 25 kbit/s.
const TURN: Duration = Duration::from_millis(20);

/// Results of the thread.
pub(crate) struct ProbedPath {
    pub(crate) path: Path,
    pub(crate) series: Vec<Series>,
    pub(crate) instrument: Instrument,
}

pub(crate) struct PathProber {
    config: PathConfig,
    context: Context,
    hops: HopProber,
    end: IcmpProber,
    start: Time,
    echoed: Option<Time>,
    watch: SelfWatch,
}

impl PathProber {
    /// Opens the sockets.
    pub(crate) fn open(
        config: PathConfig,
        address: IpAddr,
        outbox: Sender<ProbeEvent>,
    ) -> Result<Self, String> {
        let mut session = SessionId([0; 16]);
        getrandom::fill(&mut session.0).map_err(|e| format!("random numbers: {e}"))?;
        let context = Context::new(config.clock, Box::new(move |event| drop(outbox.send(event))));
        let rates = HopRates { expiring_every: config.interval, echo_every: config.interval, other_flows: 0 };
        let to = Target { address: (address, 0).into(), dscp: 0 };
        Ok(PathProber {
            hops: HopProber::open(address, rates, None, session)?,
            end: IcmpProber::open(ProbeKind::Icmp, to, session)?,
            start: config.clock.now(),
            config,
            context,
            echoed: None,
            watch: SelfWatch::default(),
        })
    }
    /// Probes until `stop`, or until all probes are sent and answered or given up.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> ProbedPath {
        // Without the privileges it wakes up slightly later, and the result says how late.
        let _ = raise_priority();
        let _ = poll::set_precise_timers();
        let (mut next, mut last) = (self.context.now(), None);
        while !stop.load(Ordering::Relaxed) {
            let now = self.context.now();
            if self.has_sent_all(now) {
                let last = *last.get_or_insert(now);
                if now.saturating_since(last) >= self.config.timeout || !self.is_waiting() {
                    break;
                }
            } else if now >= next {
                self.watch.sent(now.saturating_since(next));
                next = now + TURN;
                self.send();
            }
            self.turn(next.saturating_since(now).min(TURN));
        }
        self.result()
    }
    fn has_sent_all(&self, now: Time) -> bool {
        // The last round is over when the next one would begin.
        let rounds = self.config.count.map(|count| self.config.interval * u64::from(count));
        let is_over = |end| now.saturating_since(self.start) >= end;
        self.config.deadline.is_some_and(is_over) || rounds.is_some_and(is_over)
    }
    fn is_waiting(&mut self) -> bool {
        let is_waited_for = |one: &ProbeSeries| one.has_replies() && one.outstanding() > 0;
        self.hops.hops().is_waiting() || self.end.series().iter().any(is_waited_for)
    }
    /// A probe that cannot be sent has no reply, like one that the path loses.
    fn send(&mut self) {
        let now = self.context.now();
        if self.echoed.is_none_or(|at| now.saturating_since(at) >= self.config.interval) {
            self.echoed = Some(now);
            if let (Err(reason), Some(series)) =
                (self.end.send(&mut self.context), self.end.series().first_mut())
            {
                series.not_sent(reason, 1);
            }
        }
        let _ = self.hops.send(&mut self.context);
    }
    fn turn(&mut self, timeout: Duration) {
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        self.hops.add_interests(&mut fds);
        self.end.add_interests(&mut fds);
        self.context.wait(&mut fds, timeout, &mut self.watch);
        drop(fds);
        self.hops.receive(&mut self.context);
        self.end.receive(&mut self.context);
    }
    fn result(mut self) -> ProbedPath {
        let end = self.context.now();
        let instrument = self.context.instrument(self.watch);
        let (path, hops) = self.hops.take_hops().unwrap_or_default();
        let mut series: Vec<Series> = self.end.series().iter().map(|s| s.clone().close(end)).collect();
        series.extend(hops.into_iter().map(|one| one.close(end)));
        series.retain(|s| !s.values.is_empty() || !s.not_sent.is_empty());
        ProbedPath { path, series, instrument }
    }
}
