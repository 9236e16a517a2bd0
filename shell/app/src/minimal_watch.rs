//! A watch without a history, for routers: probes hosts, and sends their counts to a receiver.
mod resolver;

use crate::{AppError, CancelToken};
use fathom_client::{MonitorConfig, PingEvent, monitor};
use fathom_os::clock::{Clock, wall_now};
use fathom_os::process::host_name;
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_minimal::{News, PeriodConfig, Periods};
use fathom_watch_plan::{Protocol, Url, check_label};
pub use fathom_watch_post::PostFormat;
use fathom_watch_post::{Destination, Poster};
use resolver::Resolver;

/// As `fathom watch` has it without a configuration.
const TIMEOUT: Duration = Duration::from_secs(5);
/// As `fathom watch` has it with this timeout, so that the same replies count.
const SETTLE: Duration = Duration::from_secs(20);
const SEED: u64 = 1;
/// Limits of the interval of probes, as those of `fathom watch`.
const PROBE_INTERVALS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(86_400)];
/// Limits of the interval of points, as those of `fathom watch`.
const PUSH_INTERVALS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(600)];
/// Bytes of requests that wait in memory while the receiver is away: 10 hours of one target
/// and more, which most routers have room for.
const QUEUE_BYTES: usize = 1_000_000;

/// What is watched, and who gets the counts.
#[derive(Clone, Debug)]
pub struct MinimalWatchRequest {
    /// Hosts.
    pub targets: Vec<String>,
    /// Time between two probes to the same host.
    pub interval: Duration,
    /// URL of the receiver.
    pub push: String,
    /// The format that it takes.
    pub format: PostFormat,
    /// Histograms as one counter for each power of two.
    pub has_classic_histograms: bool,
    /// Time between two points of a series.
    pub push_interval: Duration,
    /// Additional labels of all series.
    pub labels: Vec<(String, String)>,
    /// Additional headers of all requests.
    pub headers: Vec<(String, String)>,
}

/// An event of a watch.
#[derive(Debug)]
pub enum MinimalWatchEvent<'a> {
    /// A target cannot be probed.
    NotProbed(&'a str, &'a fathom_run::NotSent),
    /// News of the receiver.
    Push(News),
}

/// Checks the settings of a watch.
///
/// # Errors
/// The first that is wrong.
pub fn checked(request: &MinimalWatchRequest) -> Result<Destination, AppError> {
    let wrong = |what: String| AppError::WatchPlan(what);
    let url = Url::parse(&request.push).map_err(wrong)?;
    if url.protocol == Protocol::Https {
        return Err(wrong(format!(
            "{}: this small build has no TLS\n  try: http:// to a local receiver or proxy",
            request.push
        )));
    }
    let intervals = [
        ("interval", request.interval, PROBE_INTERVALS),
        ("push-interval", request.push_interval, PUSH_INTERVALS),
    ];
    for (flag, given, [low, high]) in intervals {
        if given < low || given > high {
            return Err(wrong(format!("--{flag}: invalid value {given} (expected {low} to {high})")));
        }
    }
    request.labels.iter().try_for_each(|(name, _)| check_label(name)).map_err(wrong)?;
    Ok(Destination {
        url,
        format: request.format,
        has_classic_histograms: request.has_classic_histograms,
        headers: request.headers.clone(),
        instance: host_name(),
        labels: request.labels.clone(),
    })
}

/// Watches until `cancel`, then sends the last counts.
///
/// # Errors
/// If a setting is wrong, or this process may not send ICMP.
pub fn run(
    request: &MinimalWatchRequest,
    cancel: &CancelToken,
    events: &mut dyn FnMut(MinimalWatchEvent<'_>),
) -> Result<(), AppError> {
    let destination = checked(request)?;
    let (clock, targets) = (Clock::start(), &request.targets);
    let (resolver, located) = Resolver::start(targets.clone(), clock);
    let config = MonitorConfig {
        clock,
        targets: u32::try_from(targets.len()).unwrap_or(u32::MAX),
        interval: request.interval,
        remembered: SETTLE,
        seed: SEED,
    };
    let period = PeriodConfig { interval: request.push_interval, timeout: TIMEOUT, settle: SETTLE };
    let mut watch = Watch {
        targets,
        clock,
        periods: Periods::new(period, targets.len(), wall_now()),
        poster: Poster::start(destination.clone(), QUEUE_BYTES),
        destination,
        problems: vec![None; targets.len()],
        events,
    };
    let ended = monitor(&config, located, cancel.flag(), &mut |event| watch.take(&event));
    drop(resolver);
    watch.finish();
    ended.map_err(AppError::from)
}

/// The state of a running watch.
struct Watch<'a> {
    targets: &'a [String],
    clock: Clock,
    periods: Periods,
    poster: Poster,
    destination: Destination,
    /// Why a target was not probed when that was last reported.
    problems: Vec<Option<fathom_run::NotSent>>,
    events: &'a mut dyn FnMut(MinimalWatchEvent<'_>),
}

impl Watch<'_> {
    fn take(&mut self, event: &PingEvent) {
        let (now, wall) = (self.clock.now(), wall_now());
        match event {
            PingEvent::Sent { target, at } => {
                self.periods.sent(*target, *at, before(wall, now, *at));
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
        let (destination, since_ms) = (&self.destination, self.periods.since_ms());
        let (poster, targets) = (&self.poster, self.targets);
        let send = &mut |_, counted: &[_]| poster.send(destination.pack(targets, since_ms, counted));
        self.periods.complete(now, wall, send);
        self.poster.news().into_iter().for_each(|news| (self.events)(MinimalWatchEvent::Push(news)));
    }
    fn report_once(&mut self, target: usize, reason: &fathom_run::NotSent) {
        let Some((problem, name)) = self.problems.get_mut(target).zip(self.targets.get(target)) else {
            return;
        };
        if problem.as_ref() != Some(reason) {
            *problem = Some(reason.clone());
            (self.events)(MinimalWatchEvent::NotProbed(name, reason));
        }
    }
    fn finish(self) {
        let Watch { targets, clock, mut periods, poster, destination, events, .. } = self;
        let since_ms = periods.since_ms();
        periods.finish(clock.now(), wall_now(), &mut |_, counted| {
            poster.send(destination.pack(targets, since_ms, counted));
        });
        poster.stop().into_iter().for_each(|news| events(MinimalWatchEvent::Push(news)));
    }
}

/// The time of day at `at`, if it is `wall` now.
fn before(wall: WallTime, now: Time, at: Time) -> WallTime {
    WallTime(wall.0.saturating_sub(now.saturating_since(at).as_nanos()))
}
