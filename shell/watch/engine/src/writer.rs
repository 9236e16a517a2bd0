//! The history writer thread, the only one that accesses the history.
use crate::alerts::ToJudge;
use crate::clock_watch::{ClockNews, ClockWatch};
use crate::history::{Event, HistoryWriter};
use crate::host::SLOTS_END;
use crate::live::LiveState;
use crate::register::Register;
use crate::report::{Report, SeriesSlot};
use fathom_os::clock::{Clock, boot_now, wall_now};
use fathom_units::{Duration, Time};
use fathom_watch_plan::{OwnState, TargetNow};
use fathom_watch_samples::Outcome;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::JoinHandle;

const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Starts the thread. It ends when all senders of reports are dropped; `problems` receives problems
/// of the history.
pub(crate) fn start(
    history: Box<dyn HistoryWriter>,
    register: Register,
    live: Arc<LiveState>,
    reports: Receiver<Vec<Report>>,
    (problems, judge): (SyncSender<String>, Option<ToJudge>),
) -> JoinHandle<()> {
    let clock_watch = ClockWatch::default();
    let writer = Writer { history, register, live, series: Vec::new(), problems, judge, clock_watch };
    std::thread::spawn(move || writer.run(&reports))
}

struct Writer {
    history: Box<dyn HistoryWriter>,
    register: Register,
    live: Arc<LiveState>,
    /// The history's series numbers by slot. A series is created with its first sample, so that a
    /// path of eight routers has eight series.
    series: Vec<Option<u32>>,
    problems: SyncSender<String>,
    /// The alert thread also receives all reports.
    judge: Option<ToJudge>,
    clock_watch: ClockWatch,
}

impl Writer {
    fn run(mut self, reports: &Receiver<Vec<Report>>) {
        let clock = Clock::start();
        let mut flushed = Time::ZERO;
        loop {
            match reports.recv_timeout(std::time::Duration::from_nanos(FLUSH_EVERY.as_nanos())) {
                Ok(batch) => {
                    if let Some(done) = self.take(batch) {
                        self.flush(true);
                        let _ = done.send(());
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if clock.now().saturating_since(flushed) >= FLUSH_EVERY {
                flushed = clock.now();
                self.flush(false);
            }
        }
        self.flush(true);
    }
    fn flush(&mut self, last: bool) {
        let now = wall_now();
        let clock = self.clock_watch.look(boot_now(), now);
        if let Some(ClockNews::Stepped(text)) = &clock {
            self.history.event(&Event { at: now, kind: "clock", text: text.clone() }, None);
        }
        if let Some(ClockNews::Stepped(text) | ClockNews::Steady(text)) = clock {
            self.problem(text);
        }
        let report = self.history.flush(now, last);
        let clock_trouble = self.clock_watch.trouble().cloned();
        self.live.set_own(OwnState {
            troubles: report.trouble.into_iter().chain(clock_trouble).collect(),
            unsaved_samples: report.unsaved_samples,
            dropped_samples: report.dropped_samples,
            clock_steps: self.clock_watch.steps,
        });
        report.news.into_iter().for_each(|news| self.problem(news));
    }
    /// Drops the problem if the queue is full: never blocks.
    fn problem(&self, problem: String) {
        let _ = self.problems.try_send(problem);
    }
    /// Processes reports. Returns whom to notify if they are the last ones.
    fn take(&mut self, reports: Vec<Report>) -> Option<Sender<()>> {
        let mut end = None;
        for report in &reports {
            self.record(report);
        }
        self.judge.iter().for_each(|judge| judge.pass_on(&reports));
        let (mut live, time) = (self.live.lock(), boot_now());
        for report in reports {
            match report {
                Report::Sample(slot, sample) => live.sample(slot, sample, time),
                Report::Amend(slot, sample) => live.amend(slot, sample),
                Report::Count { slot, at, duplicates, reordered } => {
                    live.count(slot, at, duplicates, reordered)
                }
                Report::Reason(slot, reason) => live.reason(slot, &reason),
                Report::Address(slot, address) => live.router(slot, address, time),
                Report::Sync(done) => drop(done.send(())),
                Report::End(done) => end = Some(done),
                Report::Level(..) | Report::Event(..) => {}
            }
        }
        end
    }
    fn record(&mut self, report: &Report) {
        match report {
            Report::Sample(slot, sample) => {
                if let Some(series) = self.series(*slot) {
                    self.history.record(series, std::slice::from_ref(sample));
                }
                if let (true, Outcome::Answered(lateness)) = (*slot < SLOTS_END, sample.outcome) {
                    self.live.host_value(*slot, sample.at, lateness.as_secs_f64());
                }
            }
            Report::Amend(slot, sample) => {
                if let Some(series) = self.series(*slot) {
                    self.history.amend(series, *sample);
                }
            }
            Report::Count { slot, at, duplicates, reordered } => {
                if let Some(series) = self.series(*slot) {
                    self.history.count(series, *at, *duplicates, *reordered);
                }
            }
            Report::Level(slot, level) => {
                if let Some(series) = self.series(*slot) {
                    self.history.level(series, *level);
                }
                level.value.into_iter().for_each(|value| self.live.host_value(*slot, level.at, value));
            }
            Report::Event(event, slot) => {
                let series = slot.and_then(|slot| self.series(slot));
                self.history.event(event, series);
            }
            Report::Reason(slot, _) | Report::Address(slot, _) => {
                self.series(*slot);
            }
            Report::Sync(_) | Report::End(_) => {}
        }
    }
    fn series(&mut self, slot: SeriesSlot) -> Option<u32> {
        if let Some(known) = self.series.get(slot as usize).copied().flatten() {
            return Some(known);
        }
        self.open(slot)
    }
    /// `None` for a series that was closed while its last samples were in transit.
    fn open(&mut self, slot: SeriesSlot) -> Option<u32> {
        let opening = self.register.get(slot)?;
        let number = match self.history.series(&opening.target, &opening.probe, opening.unit) {
            Ok(number) => number,
            Err(problem) => {
                self.problem(format!("series {} {}: {problem}", opening.target, opening.probe));
                return None;
            }
        };
        match opening.now {
            Some(now) => self.live.lock().open(slot, TargetNow { series: number, ..now }),
            None => self.live.open_host(slot, opening.probe),
        }
        let index = slot as usize;
        if self.series.len() <= index {
            self.series.resize(index + 1, None);
        }
        self.series.get_mut(index).into_iter().for_each(|known| *known = Some(number));
        Some(number)
    }
}
