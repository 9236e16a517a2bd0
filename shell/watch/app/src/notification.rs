//! Notifications of a watch: receivers, saved alert states, and the history that alert rules
//! compare with.
use crate::{Events, WatchEvent};
use fathom_os::clock::{utc_offset_s, wall_now};
use fathom_units::WallTime;
use fathom_watch_alert::{AlertState, Change, Evidence, Past, PastHour, Transition};
use fathom_watch_engine::{AlertBackend, Event, Monitor, THIS_HOST};
use fathom_watch_notify::{AlertStateFile, Dispatcher, Report};
use fathom_watch_plan::{OwnTrouble, Plan};
use fathom_watch_samples::Column;
use fathom_watch_store::{HistoryError, HistoryReader, SeriesId};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// With too few weeks of history, rules compare with the last day: its hours.
const DAY_HOURS: usize = 24;

/// Delivers notifications. The thread that evaluates alerts shares the dispatcher.
pub(super) struct NotificationService {
    dispatcher: Arc<Mutex<Dispatcher>>,
    events: Events,
    /// Problems of the program itself of which the receivers were notified.
    notified: Vec<OwnTrouble>,
    receivers: Vec<String>,
}

/// Handles the alerts of the thread that evaluates them.
struct AlertHandler {
    dispatcher: Arc<Mutex<Dispatcher>>,
    events: Events,
    memory: AlertStateFile,
    store: PathBuf,
    reader: Option<HistoryReader>,
    trouble: Option<String>,
}

/// Starts the notifications of a plan. Their files are in the directory of the history.
pub(super) fn start(
    plan: &Plan,
    store: &Path,
    events: &Events,
) -> (NotificationService, Box<dyn AlertBackend>) {
    let dispatcher = Arc::new(Mutex::new(Dispatcher::start(&plan.receivers, Some(store))));
    let handler = AlertHandler {
        dispatcher: Arc::clone(&dispatcher),
        events: Arc::clone(events),
        memory: AlertStateFile::in_dir(store),
        store: store.to_owned(),
        reader: None,
        trouble: None,
    };
    let events = Arc::clone(events);
    let service = NotificationService { dispatcher, events, notified: Vec::new(), receivers: names(plan) };
    (service, Box::new(handler))
}

fn names(plan: &Plan) -> Vec<String> {
    plan.receivers.iter().map(|receiver| receiver.name.clone()).collect()
}

fn hold(dispatcher: &Mutex<Dispatcher>) -> MutexGuard<'_, Dispatcher> {
    dispatcher.lock().unwrap_or_else(PoisonError::into_inner)
}

impl NotificationService {
    /// Replaces the receivers with those of another plan.
    pub(super) fn reload(&mut self, plan: &Plan) {
        self.receivers = names(plan);
        hold(&self.dispatcher).replan(&plan.receivers);
    }
    /// Notifies all receivers of new problems of the program itself, and of their ends.
    pub(super) fn notify_own(&mut self, troubles: Vec<OwnTrouble>) {
        let is_among = |one: &OwnTrouble, all: &[OwnTrouble]| {
            all.iter().any(|other| (other.kind, other.since) == (one.kind, one.since))
        };
        for new in troubles.iter().filter(|one| !is_among(one, &self.notified)) {
            self.notify(new, Change::Raised);
        }
        for ended in self.notified.iter().filter(|one| !is_among(one, &troubles)) {
            self.notify(ended, Change::Cleared);
        }
        self.notified = troubles;
    }
    fn notify(&self, trouble: &OwnTrouble, change: Change) {
        let OwnTrouble { kind, since, text } = trouble;
        hold(&self.dispatcher).notify(&Transition {
            at: wall_now(),
            change,
            alert: format!("fathom watch: {kind}"),
            condition: kind,
            target: THIS_HOST.to_owned(),
            group: String::new(),
            probe: (*kind).to_owned(),
            series: None,
            raised_at: *since,
            evidence: Evidence { text: text.clone(), value: None, limit: None },
            to: self.receivers.clone(),
            note: String::new(),
        });
    }
    /// Reports the outcomes of deliveries and records them in the history.
    pub(super) fn report(&self, monitor: &Monitor) {
        for Report { at, text, is_trouble } in hold(&self.dispatcher).reports() {
            (self.events)(WatchEvent::Delivery(text.clone()));
            if is_trouble {
                monitor.remember(Event { at, kind: "delivery", text });
            }
        }
    }
    /// Delivers what is possible within some seconds. The rest waits for the next start. The engine
    /// must have stopped.
    pub(super) fn close(self) {
        if let Some(dispatcher) = Arc::into_inner(self.dispatcher) {
            let dispatcher = dispatcher.into_inner().unwrap_or_else(PoisonError::into_inner);
            dispatcher.stop().into_iter().for_each(|report| (self.events)(WatchEvent::Delivery(report.text)));
        }
    }
}

impl AlertBackend for AlertHandler {
    fn load_states(&mut self) -> Vec<AlertState> {
        self.memory.load().unwrap_or_else(|why| {
            (self.events)(WatchEvent::AlertsNotLoaded(why));
            Vec::new()
        })
    }
    fn save_states(&mut self, all: &[AlertState]) {
        let trouble = self.memory.save(all).err();
        if let Some(why) = trouble.as_ref().filter(|why| self.trouble.as_ref() != Some(why)) {
            (self.events)(WatchEvent::AlertsNotSaved(why.clone()));
        }
        self.trouble = trouble;
    }
    fn notify(&mut self, one: &Transition) {
        (self.events)(WatchEvent::Alert(Box::new(one.clone())));
        hold(&self.dispatcher).notify(one);
    }
    fn remind(&mut self, standing: &[Transition]) {
        hold(&self.dispatcher).remind(standing);
    }
    fn past(&mut self, series: u32, percentile: u64, hour: WallTime) -> Past {
        if self.reader.is_none() {
            self.reader = HistoryReader::open(&self.store).ok();
        }
        let read = self.reader.as_mut().map(|reader| past(reader, SeriesId(series), percentile, hour));
        // Without a readable history, the rule does not fire.
        read.and_then(Result::ok).unwrap_or(Past { hour, ..Past::default() })
    }
}

/// Reads from the history how a series behaved at this hour of earlier weeks, in local time, and on
/// the last day.
pub(super) fn past(
    reader: &mut HistoryReader,
    series: SeriesId,
    percentile: u64,
    hour: WallTime,
) -> Result<Past, HistoryError> {
    let one_hour = Past::hour().as_nanos();
    let mut weeks = Vec::new();
    for from in Past::weeks_before(hour, utc_offset_s) {
        weeks.extend(reader.columns(series, from, WallTime(from.0 + one_hour), 1)?);
    }
    let day = WallTime(hour.0.saturating_sub(one_hour * DAY_HOURS as u64));
    let day = reader.columns(series, day, hour, DAY_HOURS)?;
    let known = |column: Column| {
        let (from, count) = (column.from, column.sketch.count());
        column.sketch.quantile(percentile as f64 / 100.0).map(|value| PastHour { from, count, value })
    };
    let [weeks, day] = [weeks, day].map(|columns| columns.into_iter().filter_map(known).collect());
    Ok(Past { hour, weeks, day })
}
