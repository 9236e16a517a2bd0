//! From probes to requests.
use crate::resolver::Resolver;
use crate::{Destination, Poster};
use fathom_client::{MonitorConfig, PingEvent, TestError, monitor};
use fathom_os::clock::{Clock, wall_now};
use fathom_run::NotSent;
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_minimal::{Counted, News, Packed, PeriodConfig, Periods};
use std::sync::atomic::AtomicBool;

/// As a watch with a history has it without a configuration.
const TIMEOUT: Duration = Duration::from_secs(5);
/// As a watch with a history has it with this timeout, so that the same replies count.
const SETTLE: Duration = Duration::from_secs(20);
const SEED: u64 = 1;
/// Bytes of requests that wait in memory while the receiver is away: 10 hours of one target and
/// more, which most routers have room for.
const QUEUE_BYTES: usize = 1_000_000;

/// What is watched.
#[derive(Clone, Debug)]
pub struct WatchSettings {
    /// Hosts.
    pub targets: Vec<String>,
    /// Time between two probes to the same host.
    pub interval: Duration,
    /// Time between two points of a series.
    pub push_interval: Duration,
}

/// An event of a watch.
#[derive(Debug)]
pub enum WatchEvent<'a> {
    /// A target cannot be probed.
    NotProbed(&'a str, &'a NotSent),
    /// News of the receiver.
    Push(News),
}

/// Watches until `stop`, then sends the last counts.
///
/// # Errors
/// If this process may not send ICMP.
pub fn watch(
    settings: &WatchSettings,
    destination: &Destination,
    stop: &AtomicBool,
    events: &mut dyn FnMut(WatchEvent<'_>),
) -> Result<(), TestError> {
    let (clock, targets) = (Clock::start(), &settings.targets);
    let (resolver, located) = Resolver::start(targets.clone(), clock);
    let config = MonitorConfig {
        clock,
        targets: u32::try_from(targets.len()).unwrap_or(u32::MAX),
        interval: settings.interval,
        remembered: SETTLE,
        seed: SEED,
    };
    let period = PeriodConfig { interval: settings.push_interval, timeout: TIMEOUT, settle: SETTLE };
    let mut running = Running {
        targets,
        clock,
        periods: Periods::new(period, targets.len(), wall_now()),
        poster: Poster::start(destination.clone(), QUEUE_BYTES),
        destination,
        problems: vec![None; targets.len()],
        events,
    };
    let ended = monitor(&config, located, stop, &mut |event| running.take(&event));
    drop(resolver);
    running.finish();
    ended
}

/// The state of a running watch.
struct Running<'a> {
    targets: &'a [String],
    clock: Clock,
    periods: Periods,
    poster: Poster,
    destination: &'a Destination,
    /// Why a target was not probed when that was last reported.
    problems: Vec<Option<NotSent>>,
    events: &'a mut dyn FnMut(WatchEvent<'_>),
}

impl Running<'_> {
    fn take(&mut self, event: &PingEvent) {
        let (now, wall) = (self.clock.now(), wall_now());
        match event {
            PingEvent::Sent { target, at } => {
                self.periods.sent(*target, *at, time_of_day(*at, now, wall));
                self.problems.get_mut(*target).into_iter().for_each(|problem| *problem = None);
            }
            PingEvent::NotSent { target, reason } => {
                self.periods.failed(*target, wall);
                self.report_once(*target, reason);
            }
            PingEvent::Reply { target, reply, .. } => {
                self.periods.reply(*target, reply.sent, &reply.reply);
            }
            // A refused probe has no reply and is lost.
            PingEvent::Refused { .. } | PingEvent::Note { .. } | PingEvent::Idle => {}
        }
        let (poster, packed) =
            (&self.poster, packer(self.destination, self.targets, self.periods.since_ms()));
        self.periods.complete(now, wall, &mut |_, counted| poster.send(packed(counted)));
        self.poster.news().into_iter().for_each(|news| (self.events)(WatchEvent::Push(news)));
    }
    fn report_once(&mut self, target: usize, reason: &NotSent) {
        let Some((problem, name)) = self.problems.get_mut(target).zip(self.targets.get(target)) else {
            return;
        };
        if problem.as_ref() != Some(reason) {
            *problem = Some(reason.clone());
            (self.events)(WatchEvent::NotProbed(name, reason));
        }
    }
    fn finish(self) {
        let Running { targets, clock, mut periods, poster, destination, events, .. } = self;
        let packed = packer(destination, targets, periods.since_ms());
        periods.finish(clock.now(), wall_now(), &mut |_, counted| poster.send(packed(counted)));
        poster.stop().into_iter().for_each(|news| events(WatchEvent::Push(news)));
    }
}

/// Makes requests of counts.
fn packer<'a>(
    destination: &'a Destination,
    hosts: &'a [String],
    since_ms: u64,
) -> impl Fn(&[Counted]) -> Packed + use<'a> {
    move |counted| destination.pack(hosts, since_ms, counted)
}

/// The time of day at `at`, if it is `wall` now.
fn time_of_day(at: Time, now: Time, wall: WallTime) -> WallTime {
    WallTime(wall.0.saturating_sub(now.saturating_since(at).as_nanos()))
}
