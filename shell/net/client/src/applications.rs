//! Applications that run next to the load, or as the load, over real sockets: the counterparts of
//! the simulator's units, with the same machines. One thread for all of them.
mod connection;
mod echoes;

use crate::probes::Target;
use connection::Connection;
use echoes::Echoes;
use fathom_os::clock::Clock;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_os::sched::raise_priority;
use fathom_probe::ClockFit;
use fathom_probe::protocol::Ticket;
use fathom_run::{Metric, Note, Phase, Series, SeriesKey, Timings};
use fathom_scenario::{PageLoad, PagePlan, PageStep, Playback, WorkloadKind, WorkloadPlan};
use fathom_units::{Bytes, Direction, Duration, PerDirection, Time};
use portable_atomic::AtomicU64;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Maximum interval between checks of the flags.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Settings of the thread.
pub(crate) struct ApplicationSettings {
    pub(crate) address: SocketAddr,
    pub(crate) session: Ticket,
    pub(crate) plans: Vec<WorkloadPlan>,
    pub(crate) clock: Clock,
    /// They are the load: their requests end with its phase.
    pub(crate) is_load: bool,
    /// Number of the first connection; no other flow of the session has it or a later one.
    pub(crate) first_number: u32,
}

/// State shared with the rest of the test.
#[derive(Default)]
pub(crate) struct Shared {
    /// Pages, segments and datagrams are requested.
    pub(crate) runs: AtomicBool,
    pub(crate) finish: AtomicBool,
    /// Payload that has arrived.
    moved: PerDirection<AtomicU64>,
}

impl Shared {
    /// Payload of the applications that has arrived, in bytes.
    pub(crate) fn moved(&self) -> PerDirection<u64> {
        self.moved.as_ref().map(|bytes| bytes.load(Ordering::Relaxed))
    }
}

/// A user of a page.
struct Page {
    workload: usize,
    plan: PagePlan,
    load: PageLoad,
    connections: Vec<Connection>,
    began: Time,
}

/// A viewer of a video.
struct Viewer {
    workload: usize,
    nth: u32,
    playback: Playback,
    connection: Option<Connection>,
}

/// Results of the thread.
pub(crate) struct Played {
    plans: Vec<WorkloadPlan>,
    series: Vec<Series>,
    echoes: Echoes,
    end: Time,
    pub(crate) notes: Vec<Note>,
}

struct Player {
    settings: ApplicationSettings,
    shared: Arc<Shared>,
    next_number: u32,
    timings: Timings,
    /// An application that failed has `None`.
    pages: Vec<Option<Page>>,
    viewers: Vec<Option<Viewer>>,
    echoes: Echoes,
    notes: Vec<Note>,
}

/// Starts the thread.
pub(crate) fn start(settings: ApplicationSettings, shared: Arc<Shared>) -> JoinHandle<Played> {
    std::thread::spawn(move || {
        // Without the privilege, datagrams leave slightly later; their delay counts from then.
        let _ = raise_priority();
        drop(set_precise_timers());
        Player::new(settings, shared).run()
    })
}

impl Player {
    fn new(settings: ApplicationSettings, shared: Arc<Shared>) -> Self {
        let mut player = Player {
            next_number: settings.first_number,
            shared,
            timings: Timings::default(),
            pages: Vec::new(),
            viewers: Vec::new(),
            echoes: Echoes::new(settings.session),
            notes: Vec::new(),
            settings,
        };
        for workload in 0..player.settings.plans.len() {
            (0..player.settings.plans[workload].flows).for_each(|nth| player.add(workload, nth));
        }
        player
    }
    fn add(&mut self, workload: usize, nth: u32) {
        let plan = &self.settings.plans[workload];
        match plan.kind {
            WorkloadKind::Web(page) => self.pages.push(Some(Page {
                workload,
                plan: page,
                load: PageLoad::new(&page),
                connections: Vec::new(),
                began: Time::ZERO,
            })),
            WorkloadKind::Adaptive(video) => {
                let playback = Playback::new(video);
                self.viewers.push(Some(Viewer { workload, nth, playback, connection: None }));
            }
            kind => {
                let target = Target { address: self.settings.address, dscp: plan.edge.dscp };
                let added = self.echoes.add((workload, nth), kind, target, self.settings.clock.now());
                added.unwrap_or_else(|error| self.fail(workload, error.to_string()));
            }
        }
    }
    fn fail(&mut self, workload: usize, message: String) {
        self.notes
            .push(Note::WorkloadEndedEarly { workload: self.settings.plans[workload].name.clone(), message });
    }
    fn run(mut self) -> Played {
        while !self.shared.finish.load(Ordering::Relaxed) {
            if self.shared.runs.load(Ordering::Relaxed) {
                self.begin_due();
            } else if self.settings.is_load {
                self.abandon();
            }
            self.wait();
            let moved = self.echoes.receive(self.settings.clock);
            Direction::BOTH.into_iter().for_each(|way| self.count(way, moved));
            self.serve();
        }
        for page in self.pages.iter().flatten().filter(|page| !page.connections.is_empty()) {
            self.timings.begin(Metric::PageLoad, page.workload as u32, Direction::Down, page.began);
        }
        let end = self.settings.clock.now();
        let names: Vec<String> = self.settings.plans.iter().map(|plan| plan.name.clone()).collect();
        let videos = self.viewers.iter().flatten().flat_map(|viewer| {
            let key = |metric| key(&names[viewer.workload], viewer.nth, metric, Direction::Down);
            viewer.playback.series(key, end)
        });
        let series =
            videos.chain(self.timings.series(&names, end)).filter(|series| !series.values.is_empty());
        let series = series.collect();
        Played { plans: self.settings.plans, series, echoes: self.echoes, end, notes: self.notes }
    }
    /// Ends all requests at once, like the flows of a load.
    fn abandon(&mut self) {
        for page in self.pages.iter_mut().flatten() {
            page.connections.drain(..).for_each(Connection::reset);
        }
        for viewer in self.viewers.iter_mut().flatten() {
            if let Some(connection) = viewer.connection.take() {
                connection.reset();
                viewer.playback.abandon();
            }
        }
    }
    fn count(&self, way: Direction, bytes: u64) {
        self.shared.moved[way].fetch_add(bytes, Ordering::Relaxed);
    }
    /// Starts what is due.
    fn begin_due(&mut self) {
        let now = self.settings.clock.now();
        for number in 0..self.pages.len() {
            let is_due = |page: &Page| page.connections.is_empty() && page.due() <= now;
            if self.pages[number].as_ref().is_some_and(is_due) {
                self.begin_page(number, now);
            }
        }
        for number in 0..self.viewers.len() {
            if self.viewers[number].as_ref().is_some_and(|viewer| viewer.playback.due() <= now) {
                self.request_segment(number, now);
            }
        }
        self.echoes.send_due(self.settings.clock);
    }
    fn begin_page(&mut self, number: usize, now: Time) {
        let Some(mut page) = self.pages[number].take() else { return };
        (page.load, page.began) = (PageLoad::new(&page.plan), now);
        for _ in 0..page.plan.connections * page.plan.shards {
            match self.open(page.workload, page.plan.bytes) {
                Ok(connection) => page.connections.push(connection),
                Err(message) => return self.fail(page.workload, message),
            }
        }
        self.pages[number] = Some(page);
    }
    fn request_segment(&mut self, number: usize, now: Time) {
        let Some(mut viewer) = self.viewers[number].take() else { return };
        let bytes = viewer.playback.request(now);
        match viewer.connection.as_mut() {
            Some(connection) => connection.request(bytes),
            None => match self.open(viewer.workload, bytes) {
                Ok(connection) => viewer.connection = Some(connection),
                Err(message) => return self.fail(viewer.workload, message),
            },
        }
        self.viewers[number] = Some(viewer);
    }
    /// Opens a connection that requests an object of this size.
    fn open(&mut self, workload: usize, bytes: Bytes) -> Result<Connection, String> {
        let number = self.next_number;
        self.next_number += 1;
        let target = Target { address: self.settings.address, dscp: self.settings.plans[workload].edge.dscp };
        Connection::open(target, self.settings.session, number, bytes)
    }
    fn connections(&self) -> impl Iterator<Item = &Connection> {
        let pages = self.pages.iter().flatten().flat_map(|page| &page.connections);
        pages.chain(self.viewers.iter().flatten().flat_map(|viewer| &viewer.connection))
    }
    fn wait(&self) {
        let now = self.settings.clock.now();
        let is_running = self.shared.runs.load(Ordering::Relaxed);
        let pages = self.pages.iter().flatten().filter(|page| page.connections.is_empty()).map(Page::due);
        let viewers = self.viewers.iter().flatten().map(|viewer| viewer.playback.due());
        let due = pages.chain(viewers).chain(self.echoes.due()).min().filter(|_| is_running);
        let timeout = due.map_or(LOOK_EVERY, |due| due.saturating_since(now)).min(LOOK_EVERY);
        let mut fds: Vec<PollFd<'_>> = self.connections().filter_map(Connection::interest).collect();
        fds.extend(self.echoes.interests());
        // A failure is one of a descriptor, which reading shows.
        drop(poll::wait(&mut fds, Some(timeout)));
    }
    /// Reads what has arrived.
    fn serve(&mut self) {
        let (clock, moved) = (self.settings.clock, &self.shared.moved.down);
        let mut failures = Vec::new();
        for slot in &mut self.pages {
            let Some(page) = slot else { continue };
            match page.serve(moved) {
                Ok(true) => {
                    let timing = self.timings.begin(
                        Metric::PageLoad,
                        page.workload as u32,
                        Direction::Down,
                        page.began,
                    );
                    self.timings.finish(timing, clock.now());
                }
                Ok(false) => {}
                Err(message) => {
                    failures.push((page.workload, message));
                    *slot = None;
                }
            }
        }
        for slot in &mut self.viewers {
            let Some(Viewer { workload, playback, connection: Some(connection), .. }) = slot else {
                continue;
            };
            match connection.advance(moved) {
                Ok(true) => playback.arrived(clock.now()),
                Ok(false) => {}
                Err(message) => {
                    failures.push((*workload, message));
                    *slot = None;
                }
            }
        }
        failures.into_iter().for_each(|(workload, message)| self.fail(workload, message));
    }
}

impl Page {
    /// When the next one starts.
    fn due(&self) -> Time {
        match self.plan.interval {
            _ if self.began == Time::ZERO => Time::ZERO,
            Some(interval) => self.began + interval,
            None => Time::MAX,
        }
    }
    /// Reads what has arrived, and requests the next objects. True when the page is complete.
    fn serve(&mut self, moved: &AtomicU64) -> Result<bool, String> {
        let mut is_complete = false;
        for (number, connection) in self.connections.iter_mut().enumerate() {
            if !connection.advance(moved)? {
                continue;
            }
            match self.load.arrived(number) {
                PageStep::Request => connection.request(self.plan.bytes),
                PageStep::Wait => {}
                PageStep::Complete => is_complete = true,
            }
        }
        if is_complete {
            self.connections.clear();
        }
        Ok(is_complete)
    }
}

impl Played {
    /// Everything that was recorded. Without `fit`, the delays of datagrams are unknown.
    pub(crate) fn into_series(self, fit: Option<&ClockFit>, phases: &[Phase]) -> Vec<Series> {
        let starts: Vec<Time> = phases.iter().map(|phase| Time::from_nanos(phase.start_ns)).collect();
        let mut all = self.series;
        for ((workload, nth), logs) in fit.map(|fit| self.echoes.logs(fit)).into_iter().flatten() {
            let plan = &self.plans[workload];
            for (way, log) in logs.into_iter().filter(|(_, log)| !log.is_empty()) {
                let key = |metric| key(&plan.name, nth, metric, way);
                all.push(log.delays(key(Metric::PacketDelay), self.end));
                match plan.kind {
                    WorkloadKind::Game { deadline, .. } => {
                        all.push(log.lateness(key(Metric::UpdateLateness)));
                        all.push(log.misses(key(Metric::DeadlineMisses), deadline));
                    }
                    _ => all.push(log.quality(key(Metric::CallMos), &starts)),
                }
            }
        }
        all
    }
}

/// Flows count from 1, as in the simulator.
fn key(name: &str, nth: u32, metric: Metric, way: Direction) -> SeriesKey {
    SeriesKey { flow: Some(nth + 1), scope: Some(name.to_owned()), ..SeriesKey::directed(metric, way) }
}
