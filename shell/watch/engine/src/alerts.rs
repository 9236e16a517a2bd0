//! The alert thread: it receives the same reports as the history writer and blocks no other thread.
use crate::history::Event;
use crate::live::LiveState;
use crate::register::{Register, THIS_HOST};
use crate::report::{Report, SeriesSlot};
use fathom_os::clock::{Clock, wall_now};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_alert::{AlertState, Link, Past, Rule, SeriesInfo, Transition, Watcher};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;

const JUDGE_EVERY: Duration = Duration::from_secs(1);
/// Interval at which windows and rounds are saved, even if no alert changes.
const SAVE_EVERY: Duration = Duration::from_secs(300);
/// Time per round for loading past delays.
const LEARN_FOR: Duration = Duration::from_millis(300);

/// Services that the alert thread needs. Calls are made from that thread and may block it.
pub trait AlertBackend: Send {
    /// Loads the states of alerts from the last run.
    fn load_states(&mut self) -> Vec<AlertState>;
    /// Saves the states of alerts.
    fn save_states(&mut self, all: &[AlertState]);
    /// Notifies the receivers of a transition.
    fn notify(&mut self, transition: &Transition);
    /// Reminds receivers that need it of alerts that were raised before the start.
    fn remind(&mut self, standing: &[Transition]);
    /// Past delays of a series (by its number in the history): the same hour of previous weeks, and
    /// the last day.
    fn past(&mut self, series: u32, percentile: u64, hour: WallTime) -> Past;
}

/// Messages to the thread.
pub(crate) enum JudgeMessage {
    /// Reports of a probing thread.
    Report(Vec<Report>),
    /// New rules.
    Rules(Vec<Rule>),
    /// A new series.
    Open(SeriesSlot, SeriesInfo),
    /// A removed series.
    Close(SeriesSlot),
    /// All series of the plan are open.
    Settled,
    /// Stop, and save all states.
    Stop,
}

/// Sends messages to the thread.
#[derive(Clone, Debug)]
pub(crate) struct ToJudge {
    to: Sender<JudgeMessage>,
    /// Whether there are rules; without any, the thread needs no reports.
    has_rules: Arc<AtomicBool>,
}

impl ToJudge {
    pub(crate) fn send(&self, what: JudgeMessage) {
        if let JudgeMessage::Rules(rules) = &what {
            self.has_rules.store(!rules.is_empty(), Ordering::Relaxed);
        }
        // If the thread has ended, nothing needs to be judged.
        let _ = self.to.send(what);
    }
    pub(crate) fn pass_on(&self, reports: &[Report]) {
        if self.has_rules.load(Ordering::Relaxed) {
            let is_relevant =
                |report: &&Report| !matches!(report, Report::Sync(_) | Report::End(_) | Report::Count { .. });
            self.send(JudgeMessage::Report(reports.iter().filter(is_relevant).cloned().collect()));
        }
    }
}

/// Outputs of the thread.
pub(crate) struct Outlets {
    pub(crate) backend: Box<dyn AlertBackend>,
    pub(crate) register: Register,
    pub(crate) live: Arc<LiveState>,
    pub(crate) to_writer: Sender<Vec<Report>>,
}

/// Starts the thread.
pub(crate) fn start(outlets: Outlets) -> (ToJudge, JoinHandle<()>) {
    let (to, messages) = channel();
    let judge = Judge {
        outlets,
        watcher: Watcher::default(),
        heads: BTreeMap::new(),
        links: BTreeMap::new(),
        shown: BTreeMap::new(),
        clock: Clock::start(),
        judged: Time::ZERO,
        saved: Time::ZERO,
        saved_states: Vec::new(),
    };
    let thread = std::thread::spawn(move || judge.run(&messages));
    (ToJudge { to, has_rules: Arc::default() }, thread)
}

struct Judge {
    outlets: Outlets,
    watcher: Watcher,
    /// The first router of each path, by target and family; the slots of its other routers follow.
    heads: BTreeMap<SeriesSlot, SeriesSlot>,
    /// Slots of this host's own throughput.
    links: BTreeMap<SeriesSlot, Option<Link>>,
    shown: BTreeMap<SeriesSlot, Vec<String>>,
    clock: Clock,
    judged: Time,
    saved: Time,
    saved_states: Vec<AlertState>,
}

impl Judge {
    fn run(mut self, messages: &Receiver<JudgeMessage>) {
        let states = self.outlets.backend.load_states();
        self.watcher.restore(states);
        loop {
            match messages.recv_timeout(std::time::Duration::from_nanos(JUDGE_EVERY.as_nanos())) {
                Ok(JudgeMessage::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(message) => self.handle(message),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.clock.now();
            if now.saturating_since(self.judged) >= JUDGE_EVERY {
                self.judged = now;
                self.judge(now);
            }
        }
        self.save();
    }
    fn handle(&mut self, message: JudgeMessage) {
        match message {
            JudgeMessage::Report(reports) => reports.into_iter().for_each(|report| self.take(report)),
            JudgeMessage::Rules(rules) => self.watcher.replan(&rules),
            JudgeMessage::Open(slot, info) => {
                // A router other than the first of its path.
                let is_router = !info.is_main && info.path.is_none();
                let before = slot.checked_sub(1).and_then(|before| self.heads.get(&before)).copied();
                self.heads.insert(slot, before.filter(|_| is_router).unwrap_or(slot));
                self.watcher.open(slot, info);
            }
            JudgeMessage::Close(slot) => {
                self.heads.remove(&slot);
                self.shown.remove(&slot);
                self.watcher.close(slot);
            }
            JudgeMessage::Settled => self.settled(),
            JudgeMessage::Stop => {}
        }
    }
    fn settled(&mut self) {
        let now = wall_now();
        let transitions = self.watcher.settle(now);
        self.pass_on(transitions);
        let standing = self.watcher.standing(now);
        self.outlets.backend.remind(&standing);
        self.save();
    }
    fn take(&mut self, report: Report) {
        // What a test of this watch does to the line raises no alert; its result may.
        let at = match &report {
            Report::Sample(_, sample) | Report::Amend(_, sample) => Some(sample.at),
            Report::Level(_, level) => Some(level.at),
            _ => None,
        };
        if at.is_some_and(|at| self.outlets.live.was_tested(at)) {
            return;
        }
        match report {
            Report::Sample(slot, sample) => self.watcher.sample(slot, sample),
            Report::Amend(slot, sample) => self.watcher.amend(slot, sample),
            Report::Reason(slot, reason) => self.watcher.reason(slot, &reason),
            Report::Level(slot, level) => {
                if let (Some(link), Some(value)) = (self.link(slot), level.value) {
                    self.watcher.throughput(level.at, link, value);
                }
            }
            Report::Event(event, Some(slot)) if event.kind == "path" => {
                let head = self.heads.get(&slot).copied().unwrap_or(slot);
                self.watcher.path_changed(head, event.at, &event.text);
            }
            _ => {}
        }
    }
    /// The direction of a host series, by its name.
    fn link(&mut self, slot: SeriesSlot) -> Option<Link> {
        if let Some(known) = self.links.get(&slot) {
            return *known;
        }
        let opening = self.outlets.register.get(slot)?;
        let link = match opening.probe.rsplit_once(' ') {
            Some((_, "received")) if opening.target == THIS_HOST => Some(Link::Received),
            Some((_, "sent")) if opening.target == THIS_HOST => Some(Link::Sent),
            _ => None,
        };
        self.links.insert(slot, link);
        link
    }
    fn judge(&mut self, now: Time) {
        let time = wall_now();
        self.learn(time);
        let transitions = self.watcher.tick(time);
        let is_news = !transitions.is_empty();
        self.pass_on(transitions);
        self.show();
        if is_news || now.saturating_since(self.saved) >= SAVE_EVERY {
            self.saved = now;
            self.save();
        }
    }
    /// Continues in the next round if it takes longer, so that no notification is delayed.
    fn learn(&mut self, time: WallTime) {
        let begun = self.clock.now();
        for request in self.watcher.history_requests(time) {
            let is_time = self.clock.now().saturating_since(begun) < LEARN_FOR;
            // A series without samples has no number yet.
            let number = self.outlets.live.lock().number(request.series);
            match number.filter(|_| is_time) {
                Some(number) => {
                    let past = self.outlets.backend.past(number, request.percentile, request.hour);
                    self.watcher.learn(request, past);
                }
                None => self.watcher.request_again(request),
            }
        }
    }
    fn pass_on(&mut self, transitions: Vec<Transition>) {
        for transition in transitions {
            let text =
                format!("{} {}: {}", transition.alert, transition.change.name(), transition.evidence.text);
            let event = Event { at: transition.at, kind: "alert", text };
            let _ = self.outlets.to_writer.send(vec![Report::Event(event, transition.series)]);
            self.outlets.backend.notify(&transition);
        }
    }
    /// Updates the raised alerts of each row. Repeated, because a series has a row only after its
    /// first sample.
    fn show(&mut self) {
        let active: BTreeMap<SeriesSlot, Vec<String>> = self.watcher.active().into_iter().collect();
        let mut live = self.outlets.live.lock();
        for slot in self.shown.keys().filter(|slot| !active.contains_key(slot)) {
            live.alerts(*slot, Vec::new());
        }
        active.iter().for_each(|(slot, names)| live.alerts(*slot, names.clone()));
        drop(live);
        self.shown = active;
    }
    /// Saves only if something changed, which is rare.
    fn save(&mut self) {
        let all = self.watcher.remembered();
        if all != self.saved_states {
            self.outlets.backend.save_states(&all);
            self.saved_states = all;
        }
    }
}
