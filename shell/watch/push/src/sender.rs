//! The thread of one destination.
use crate::cursor::{Cursor, Loaded};
use crate::destination::Destination;
use crate::feed::{Feed, NANOS_PER_MILLI, Stretch};
use crate::lines::{Halt, Labels, Maker, ran};
use crate::post::{format_of, post};
use crate::role::Names;
use crate::routers::{KnownRouters, Routers};
use fathom_os::clock::wall_now;
use fathom_units::WallTime;
use fathom_watch_metrics::{Backoff, Line, Otlp, Reply, Request, WireFormat, Write1, Write2};
use fathom_watch_plan::PushHistogram;
use fathom_watch_store::{SeriesId, SeriesKey};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// Series read at once: with 30 columns each, they take some megabytes.
const READ_AT_ONCE: usize = 500;
/// Request size at which it is sent, in bytes before compression; like the limit of points,
/// accepted by receivers with default settings.
const MAX_REQUEST_BYTES: usize = 1 << 20;
const MAX_REQUEST_POINTS: u64 = 10_000;
/// Interval of checks for new data in the history.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Pause after the history could not be read.
const HISTORY_PAUSE: Duration = Duration::from_secs(10);
/// Reasons of one outage that are reported.
const MAX_REASONS: usize = 4;
/// Age from which a rejection may be due to the age of the points.
const OLD: Duration = Duration::from_secs(600);
/// How far a cursor may be ahead of the clock before this is reported: the clock was set back.
const AHEAD_MS: u64 = 600_000;

/// A message that is also recorded as an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// When it happened.
    pub at: WallTime,
    /// Description.
    pub text: String,
}

/// What was reported, so that it is reported once.
#[derive(Default)]
struct Reported {
    /// Start of the current outage.
    unreachable: Option<WallTime>,
    /// Its reasons: after an outage of the network, the token may be refused.
    reasons: BTreeSet<String>,
    /// Points rejected since the last accepted ones.
    refused: u64,
    /// Rejected native histograms.
    classic: bool,
    unsaved: bool,
    unreadable: bool,
    ahead: bool,
}

/// Sends to one destination.
pub(crate) struct Worker {
    to: Destination,
    path: PathBuf,
    names: Arc<RwLock<Arc<Names>>>,
    routers: Routers,
    stop: Receiver<()>,
    notes: Sender<Note>,
    feed: Feed,
    cursor: Cursor,
    labels: Arc<Labels>,
    form: WireFormat,
    /// Whether the receiver is known to support this format.
    known: bool,
    /// Whether the current stretch has classic histograms.
    is_classic: bool,
    reported: Reported,
    backoff: Backoff,
}

impl Worker {
    pub(crate) fn new(
        to: Destination,
        store: &std::path::Path,
        (names, routers): (Arc<RwLock<Arc<Names>>>, Routers),
        stop: Receiver<()>,
        notes: Sender<Note>,
    ) -> Worker {
        let seed = wall_now().0;
        Worker {
            path: Cursor::path(store, &to.push.name),
            names,
            routers,
            stop,
            notes,
            feed: Feed::new(store),
            cursor: Cursor::default(),
            labels: Arc::new(to.labels()),
            form: format_of(to.push.kind),
            known: false,
            is_classic: to.push.histogram == PushHistogram::Classic,
            reported: Reported::default(),
            backoff: Backoff::new(seed),
            to,
        }
    }
    /// Sends until stopped.
    pub(crate) fn run(mut self) {
        self.load();
        loop {
            let pause = match self.advance() {
                Ok(true) => Duration::ZERO,
                Ok(false) => LOOK_EVERY,
                Err(Halt::Stop) => return,
                Err(Halt::Again | Halt::Classic) => {
                    self.load();
                    Duration::ZERO
                }
                Err(Halt::History(error)) => {
                    if !std::mem::replace(&mut self.reported.unreadable, true) {
                        self.note(&format!("cannot read the history: {error}; will retry"));
                    }
                    self.load();
                    HISTORY_PAUSE
                }
            };
            if self.pause(pause).is_err() {
                return;
            }
        }
    }
    /// Loads the cursor after the last complete stretch; without one, starts now.
    fn load(&mut self) {
        match Cursor::load(&self.path) {
            Loaded::Cursor(cursor) => self.cursor = cursor,
            Loaded::None => self.begin(),
            Loaded::Damaged { why, kept } => {
                let kept = kept.map_or_else(String::new, |kept| format!("; saved as {}", kept.display()));
                self.note(&format!(
                    "cannot read the cursor {} ({why}){kept}. Sending continues from now, with counts from zero",
                    self.path.display()
                ));
                self.begin();
            }
        }
    }
    fn begin(&mut self) {
        self.cursor = Cursor { upto_ms: now_ms(), ..Cursor::default() };
        self.save();
    }
    fn save(&mut self) {
        match self.cursor.save(&self.path) {
            Ok(()) => self.reported.unsaved = false,
            Err(error) => {
                if !std::mem::replace(&mut self.reported.unsaved, true) {
                    self.note(&format!(
                        "cannot write the cursor {}: {error}. Sending continues; after a restart, data since then is sent again",
                        self.path.display()
                    ));
                }
            }
        }
    }
    /// Sends the next stretch if it is complete; returns whether it was.
    fn advance(&mut self) -> Result<bool, Halt> {
        let push = &self.to.push;
        let (interval_ms, settle_ms) =
            (push.interval.as_nanos() / NANOS_PER_MILLI, push.settle.as_nanos() / NANOS_PER_MILLI);
        let now = now_ms();
        self.report_if_ahead(now);
        // Not over yet: the history need not be read.
        if Stretch::next(self.cursor.upto_ms, now.saturating_sub(settle_ms), interval_ms).is_none() {
            return Ok(false);
        }
        let names = self.names();
        let horizon = self.feed.written_ms(&names)?.min(now).saturating_sub(settle_ms);
        let Some(stretch) = Stretch::next(self.cursor.upto_ms, horizon, interval_ms) else {
            return Ok(false);
        };
        let routers = KnownRouters::at(wall_now(), (self.routers)());
        self.send_as_accepted((&names, &routers), &stretch)?;
        self.cursor.upto_ms = stretch.to_ms;
        self.save();
        self.reported.unreadable = false;
        for fault in self.feed.faults() {
            self.note(&format!("skipped a damaged part of the history: {fault}"));
        }
        Ok(true)
    }
    /// Sends a stretch, and if its native histograms are rejected, once more with classic ones.
    fn send_as_accepted(&mut self, known: (&Names, &KnownRouters), stretch: &Stretch) -> Result<(), Halt> {
        let before = self.may_need_classic(stretch).then(|| self.cursor.clone());
        match (self.send(known, stretch), before) {
            (Err(Halt::Classic), Some(before)) => self.cursor = before,
            (result, _) => return result,
        }
        self.is_classic = true;
        let result = self.send(known, stretch);
        self.is_classic = false;
        result
    }
    fn send(&mut self, (names, routers): (&Names, &KnownRouters), stretch: &Stretch) -> Result<(), Halt> {
        // Series numbers are in order of age. This host's own come first and show when the watch
        // ran.
        let mut all = self.feed.series()?;
        all.retain(|(_, key)| names.role(key).is_some());
        all.sort_by_key(|(id, key)| (!names.is_this_host(key), *id));
        let mut ran = vec![false; stretch.steps as usize];
        let mut request = self.request();
        for some in all.chunks(READ_AT_ONCE) {
            self.send_some((names, routers), stretch, some, &mut ran, request.as_mut())?;
        }
        self.flush(request.as_mut(), stretch)
    }
    fn send_some(
        &mut self,
        (names, routers): (&Names, &KnownRouters),
        stretch: &Stretch,
        some: &[(SeriesId, SeriesKey)],
        known: &mut Vec<bool>,
        request: &mut dyn Request,
    ) -> Result<(), Halt> {
        let labels = Arc::clone(&self.labels);
        let ids: Vec<SeriesId> = some.iter().map(|(id, _)| *id).collect();
        let all = self.feed.columns(&ids, stretch)?;
        ran(known, &all);
        for ((_, key), columns) in some.iter().zip(&all) {
            let mut cursor = std::mem::take(&mut self.cursor);
            let mut maker = Maker { names, routers, labels: &labels, cursor: &mut cursor, ran: known };
            let result = maker.each_line(key, columns, |line| self.add(request, line, stretch));
            self.cursor = cursor;
            result?;
        }
        Ok(())
    }
    fn add(&mut self, request: &mut dyn Request, line: &Line<'_>, stretch: &Stretch) -> Result<(), Halt> {
        request.add(line);
        let is_full = request.len() >= MAX_REQUEST_BYTES || request.points() >= MAX_REQUEST_POINTS;
        if is_full { self.flush(request, stretch) } else { Ok(()) }
    }
    fn request(&self) -> Box<dyn Request> {
        match self.form {
            WireFormat::Write1 => Box::new(Write1::new(self.is_classic)),
            WireFormat::Write2 => Box::new(Write2::new(self.is_classic)),
            WireFormat::Otlp => {
                let version = env!("CARGO_PKG_VERSION");
                let resource = [
                    ("service.name", "fathom"),
                    ("service.instance.id", self.to.instance.as_str()),
                    ("service.version", version),
                ];
                Box::new(Otlp::new(&resource, ("fathom watch", version)))
            }
        }
    }
    /// Sends the request, with retries until it succeeds or is rejected.
    fn flush(&mut self, request: &mut dyn Request, stretch: &Stretch) -> Result<(), Halt> {
        if request.is_empty() {
            return Ok(());
        }
        let points = request.points();
        let body = request.take();
        self.backoff.reset();
        loop {
            match post(&self.to, self.form, &body) {
                Reply::Accepted => {
                    self.accepted();
                    return Ok(());
                }
                Reply::PartlyAccepted(rejected, why) => {
                    self.accepted();
                    self.refused(rejected, &why, stretch);
                    return Ok(());
                }
                Reply::UnknownFormat(why) if !self.known => return self.fall_back(&why),
                Reply::UnknownFormat(why) | Reply::Rejected(why) => {
                    self.arrived();
                    if self.may_need_classic(stretch) {
                        return self.use_classic(&why);
                    }
                    self.refused(points, &why, stretch);
                    return Ok(());
                }
                Reply::Retry { why, after } => {
                    self.unreachable(&why);
                    let pause = self.backoff.pause(after);
                    self.pause(Duration::from_nanos(pause.as_nanos()))?;
                }
            }
        }
    }
    fn fall_back(&mut self, why: &str) -> Result<(), Halt> {
        self.note(&format!("{} does not support remote-write 2.0 ({why}): using 1.0", self.to.push.url));
        self.form = WireFormat::Write1;
        self.known = true;
        Err(Halt::Again)
    }
    /// Prometheus 2 rejects native histograms that are an hour late even within its out-of-order
    /// window, which admits classic ones: they are counters.
    fn may_need_classic(&self, stretch: &Stretch) -> bool {
        self.form != WireFormat::Otlp && !self.is_classic && age(stretch) >= OLD
    }
    fn use_classic(&mut self, why: &str) -> Result<(), Halt> {
        if !std::mem::replace(&mut self.reported.classic, true) {
            self.note(&format!(
                "{} rejected old native histograms ({why}): sending classic ones",
                self.to.push.url
            ));
        }
        Err(Halt::Classic)
    }
    fn accepted(&mut self) {
        self.known = true;
        self.reported.classic &= self.is_classic;
        self.arrived();
        let refused = std::mem::take(&mut self.reported.refused);
        if refused > 0 {
            self.note(&format!(
                "{} accepts points again; {refused} were rejected and will not be sent again",
                self.to.push.url
            ));
        }
    }
    /// Handles a response.
    fn arrived(&mut self) {
        self.reported.reasons.clear();
        if let Some(since) = self.reported.unreachable.take() {
            self.note(&format!("{} is reachable again, after failing since {since}", self.to.push.url));
        }
    }
    fn unreachable(&mut self, why: &str) {
        self.reported.unreachable.get_or_insert_with(wall_now);
        let is_new =
            self.reported.reasons.len() < MAX_REASONS && self.reported.reasons.insert(why.to_owned());
        if is_new {
            self.note(&format!(
                "{} is not accepting data: {why}. Will retry; the history keeps the data",
                self.to.push.url
            ));
        }
    }
    /// Rejected data is not sent again: it would block everything after it.
    fn refused(&mut self, points: u64, why: &str, stretch: &Stretch) {
        if self.reported.refused == 0 {
            let old = if age(stretch) >= OLD {
                let minutes = age(stretch).as_secs() / 60;
                format!(
                    ". They are {minutes} min old: see storage.tsdb.out_of_order_time_window of Prometheus"
                )
            } else {
                String::new()
            };
            self.note(&format!(
                "{} rejected {points} points, which are skipped: {why}{old}",
                self.to.push.url
            ));
        }
        self.reported.refused += points;
    }
    fn report_if_ahead(&mut self, now: u64) {
        let ahead = self.cursor.upto_ms > now + AHEAD_MS;
        if ahead && !self.reported.ahead {
            let upto = WallTime(self.cursor.upto_ms * NANOS_PER_MILLI);
            self.note(&format!(
                "the cursor is in the future ({upto}), so nothing is sent until then (remove {} to start now)",
                self.path.display()
            ));
        }
        self.reported.ahead = ahead;
    }
    /// Pauses; returns an error if stopped.
    fn pause(&self, time: Duration) -> Result<(), Halt> {
        match self.stop.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(Halt::Stop),
        }
    }
    fn names(&self) -> Arc<Names> {
        Arc::clone(&self.names.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
    /// If nobody listens, the note is dropped.
    fn note(&self, text: &str) {
        let _ = self.notes.send(Note { at: wall_now(), text: format!("push {}: {text}", self.to.push.name) });
    }
}

fn age(stretch: &Stretch) -> Duration {
    Duration::from_millis(now_ms().saturating_sub(stretch.to_ms))
}

fn now_ms() -> u64 {
    wall_now().0 / NANOS_PER_MILLI
}
