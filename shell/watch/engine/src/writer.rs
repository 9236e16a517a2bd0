//! The thread that keeps: the only one that touches the history.
use crate::alerts::ToJudge;
use crate::board::Board;
use crate::host::PLACES_END;
use crate::keep::Keep;
use crate::told::{Place, Told};
use fathom_os::clock::{Clock, wall_now};
use fathom_units::{Duration, Time};
use fathom_watch_plan::TargetNow;
use fathom_watch_samples::{Outcome, Unit};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// A series that may come to be.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) place: Place,
    pub(crate) target: String,
    pub(crate) probe: String,
    pub(crate) unit: Unit,
    /// How it is shown; `None` for series that are no target's.
    pub(crate) now: Option<TargetNow>,
}

/// Which series there are: set by the thread that reads the plan, looked at by the one that keeps.
#[derive(Clone, Default, Debug)]
pub(crate) struct Register {
    openings: Arc<Mutex<BTreeMap<Place, Opening>>>,
}

impl Register {
    pub(crate) fn open(&self, opening: Opening) {
        self.lock().insert(opening.place, opening);
    }
    pub(crate) fn close(&self, place: Place, board: &Board) {
        self.lock().remove(&place);
        board.hold().close(place);
    }
    pub(crate) fn address(&self, place: Place, address: IpAddr, board: &Board) {
        if let Some(now) = self.lock().get_mut(&place).and_then(|o| o.now.as_mut()) {
            now.address = Some(address);
        }
        board.hold().address(place, address);
    }
    pub(crate) fn get(&self, place: Place) -> Option<Opening> {
        self.lock().get(&place).cloned()
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Place, Opening>> {
        self.openings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the thread. It ends when nobody can tell it anything any more; `problems` gets what the history could not do.
pub(crate) fn start(
    keep: Box<dyn Keep>,
    register: Register,
    board: Arc<Board>,
    told: Receiver<Vec<Told>>,
    (problems, judge): (SyncSender<String>, Option<ToJudge>),
) -> JoinHandle<()> {
    let writer = Writer { keep, register, board, series: Vec::new(), problems, judge };
    std::thread::spawn(move || writer.run(&told))
}

struct Writer {
    keep: Box<dyn Keep>,
    register: Register,
    board: Arc<Board>,
    /// The history's numbers by place. A series is made when the first sample comes, so that a path of eight routers has eight.
    series: Vec<Option<u32>>,
    problems: SyncSender<String>,
    /// Who hears all of it too.
    judge: Option<ToJudge>,
}

impl Writer {
    fn run(mut self, told: &Receiver<Vec<Told>>) {
        let clock = Clock::start();
        let mut flushed = Time::ZERO;
        loop {
            match told.recv_timeout(std::time::Duration::from_nanos(FLUSH_EVERY.as_nanos())) {
                Ok(reports) => {
                    if let Some(done) = self.take(reports) {
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
        if let Err(problem) = self.keep.flush(wall_now(), last) {
            self.problem(problem);
        }
    }
    /// A full queue of problems has enough of them: nothing waits for its reader.
    fn problem(&self, problem: String) {
        let _ = self.problems.try_send(problem);
    }
    /// Whom to answer when all is kept, if these are the last reports.
    fn take(&mut self, reports: Vec<Told>) -> Option<Sender<()>> {
        let mut end = None;
        for report in &reports {
            self.keep_one(report);
        }
        self.judge.iter().for_each(|judge| judge.pass_on(&reports));
        let mut board = self.board.hold();
        for report in reports {
            match report {
                Told::Sample(place, sample) => board.sample(place, sample),
                Told::Amend(place, sample) => board.amend(place, sample),
                Told::Count { place, at, duplicates, reordered } => {
                    board.count(place, at, duplicates, reordered)
                }
                Told::Reason(place, reason) => board.reason(place, &reason),
                Told::Address(place, address) => board.address(place, address),
                Told::Sync(done) => drop(done.send(())),
                Told::End(done) => end = Some(done),
                Told::Level(..) | Told::Event(..) => {}
            }
        }
        end
    }
    fn keep_one(&mut self, report: &Told) {
        match report {
            Told::Sample(place, sample) => {
                if let Some(series) = self.series(*place) {
                    self.keep.record(series, std::slice::from_ref(sample));
                }
                if let (true, Outcome::Answered(lateness)) = (*place < PLACES_END, sample.outcome) {
                    self.board.host_value(*place, sample.at, lateness.as_secs_f64());
                }
            }
            Told::Amend(place, sample) => {
                if let Some(series) = self.series(*place) {
                    self.keep.amend(series, *sample);
                }
            }
            Told::Count { place, at, duplicates, reordered } => {
                if let Some(series) = self.series(*place) {
                    self.keep.count(series, *at, *duplicates, *reordered);
                }
            }
            Told::Level(place, level) => {
                if let Some(series) = self.series(*place) {
                    self.keep.level(series, *level);
                }
                level.value.into_iter().for_each(|value| self.board.host_value(*place, level.at, value));
            }
            Told::Event(event, place) => {
                let series = place.and_then(|place| self.series(place));
                self.keep.event(event, series);
            }
            Told::Reason(place, _) | Told::Address(place, _) => {
                self.series(*place);
            }
            Told::Sync(_) | Told::End(_) => {}
        }
    }
    fn series(&mut self, place: Place) -> Option<u32> {
        if let Some(known) = self.series.get(place as usize).copied().flatten() {
            return Some(known);
        }
        self.open(place)
    }
    /// `None` for a series that was closed while its last samples were on their way.
    fn open(&mut self, place: Place) -> Option<u32> {
        let opening = self.register.get(place)?;
        let number = match self.keep.series(&opening.target, &opening.probe, opening.unit) {
            Ok(number) => number,
            Err(problem) => {
                self.problem(format!("series {} {}: {problem}", opening.target, opening.probe));
                return None;
            }
        };
        match opening.now {
            Some(now) => self.board.hold().open(place, TargetNow { series: number, ..now }),
            None => self.board.open_host(place, opening.probe),
        }
        let index = place as usize;
        if self.series.len() <= index {
            self.series.resize(index + 1, None);
        }
        self.series.get_mut(index).into_iter().for_each(|slot| *slot = Some(number));
        Some(number)
    }
}
