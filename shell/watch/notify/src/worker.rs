//! The thread of one receiver.
use crate::alertmanager::{self, RESEND_EVERY};
use crate::notice::Notice;
use crate::outbox::Outbox;
use crate::transport::{Transport, deliver};
use fathom_units::WallTime;
use fathom_watch_alert::Change;
use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Maximum age of an undelivered notification: older ones are not news.
const GIVE_UP_AFTER: Duration = Duration::from_secs(3_600);

/// Report about a delivery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Time.
    pub at: WallTime,
    /// Description.
    pub text: String,
    /// Whether it needs attention.
    pub is_trouble: bool,
}

/// State shared by the thread and the dispatcher.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    outbox: Outbox,
    is_over: bool,
    is_done: bool,
}

impl Shared {
    pub(crate) fn new(outbox: Outbox) -> Arc<Shared> {
        let state = Mutex::new(State { outbox, is_over: false, is_done: false });
        Arc::new(Shared { state, changed: Condvar::new() })
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Adds a notification. Returns false if the oldest was dropped.
    pub(crate) fn push(&self, notice: Notice) -> bool {
        let fits = self.lock().outbox.push(notice);
        self.changed.notify_all();
        fits
    }
    /// Ends the thread after one more attempt for what waits.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }
    /// Waits until the thread ends or until `until`.
    pub(crate) fn wait(&self, until: Instant) {
        let mut state = self.lock();
        while !state.is_done {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// State of the thread.
pub(crate) struct Worker {
    pub(crate) transport: Transport,
    pub(crate) shared: Arc<Shared>,
    pub(crate) reports: Sender<Report>,
    raised: BTreeMap<(String, String, String), Notice>,
    reminded: Instant,
    failures: u32,
    not_before: Instant,
}

impl Worker {
    pub(crate) fn new(transport: Transport, shared: Arc<Shared>, reports: Sender<Report>) -> Worker {
        let (reminded, not_before) = (Instant::now(), Instant::now());
        Worker { transport, shared, reports, raised: BTreeMap::new(), reminded, failures: 0, not_before }
    }
    pub(crate) fn run(mut self) {
        while let Some(next) = self.wait() {
            match next {
                Some(notice) => self.attempt(&notice),
                None => self.remind(),
            }
        }
        self.shared.lock().is_done = true;
        self.shared.changed.notify_all();
    }
    /// The next task: a notification, or a reminder (`Some(None)`). `None` at the end.
    fn wait(&self) -> Option<Option<Notice>> {
        let mut state = self.shared.lock();
        loop {
            let now = Instant::now();
            // At the end, what waits is tried once more, unless the last attempt failed; the next
            // start continues with it.
            if state.is_over && (state.outbox.waiting.is_empty() || self.failures > 0) {
                return None;
            }
            let mut due = self.reminder();
            if let Some(first) = state.outbox.waiting.front() {
                if self.not_before <= now {
                    return Some(Some(first.clone()));
                }
                due = due.min(self.not_before);
            }
            let left = due.saturating_duration_since(now);
            if left.is_zero() {
                return Some(None);
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
    /// Time of the next reminder; far in the future if none is needed.
    fn reminder(&self) -> Instant {
        let every = Duration::from_nanos(RESEND_EVERY.as_nanos());
        let pause = if self.raised.is_empty() { LONGEST_PAUSE } else { every };
        self.reminded + pause
    }
    fn remind(&mut self) {
        self.reminded = Instant::now();
        if !self.raised.is_empty() {
            let answer = self.transport.remind(self.raised.values(), now());
            // The next reminder includes it.
            self.note(answer.map(drop), "the raised alerts");
        }
    }
    fn attempt(&mut self, notice: &Notice) {
        if self.transport.is_reminded() {
            match notice.change {
                Change::Cleared => drop(self.raised.remove(&alertmanager::key(notice))),
                _ => drop(self.raised.insert(alertmanager::key(notice), notice.clone())),
            }
        }
        let answer = deliver(&self.transport, notice, now());
        let is_stale = Duration::from_nanos(now().0.saturating_sub(notice.at.0)) > GIVE_UP_AFTER;
        let title = notice.title();
        match (&answer, is_stale) {
            (Ok(_), _) => self.shared.lock().outbox.done(notice),
            (Err(why), true) => {
                self.shared.lock().outbox.done(notice);
                self.report(format!("dropped after an hour of retries: {title}: {why}"), true);
            }
            (Err(_), false) => {}
        }
        self.note(answer.map(drop), &title);
    }
    /// Counts consecutive failures; reports the first one and the recovery.
    fn note(&mut self, answer: Result<(), String>, what: &str) {
        match answer {
            Ok(()) => {
                if self.failures > 0 {
                    self.report("works again".to_owned(), false);
                }
                (self.failures, self.not_before) = (0, Instant::now());
            }
            Err(why) => {
                let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(16)).min(LONGEST_PAUSE);
                self.not_before = Instant::now() + pause;
                if self.failures == 0 {
                    self.report(format!("cannot deliver {what}: {why} (will retry)"), true);
                }
                self.failures = self.failures.saturating_add(1);
            }
        }
    }
    fn report(&self, what: String, is_trouble: bool) {
        let receiver = &self.transport.receiver;
        let text = format!("receiver {} ({}): {what}", receiver.name, receiver.route.name());
        let _ = self.reports.send(Report { at: now(), text, is_trouble });
    }
}

/// Current time.
pub(crate) fn now() -> WallTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    WallTime(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
