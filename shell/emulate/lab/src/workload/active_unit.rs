//! TCP behavior of each unit type: the counterparts of the simulator's `unit/*.rs`.
use crate::workload::life::lock;
use crate::workload::stage::Stage;
use crate::workload::unit::Unit;
use crate::workload::wire::Wire;
use fathom_run::{Metric, Note};
use fathom_scenario::{PAGE_REQUEST, PagePlan, Playback, WorkloadKind};
use fathom_units::{Bytes, Direction, Duration, Rng, Time};
use std::collections::VecDeque;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::{io, thread};

/// More than any run can send.
const ENDLESS: u64 = 1 << 60;
/// Interval at which waiting threads check for their end.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(50);

/// Runs a unit in its own thread.
pub(crate) struct Player<'a> {
    pub(crate) stage: &'a Arc<Stage>,
    pub(crate) unit: &'a Arc<Unit>,
    pub(crate) rng: Rng,
}

impl Player<'_> {
    /// Runs until the work is done or the unit's lifetime ends; errors after that are ignored.
    pub(crate) fn play(&mut self, kind: WorkloadKind) -> io::Result<()> {
        match kind {
            WorkloadKind::Bulk { bytes } => self.transfer(bytes),
            WorkloadKind::Swarm { churn } => self.peer(churn),
            WorkloadKind::Web(page) => self.pages(page),
            WorkloadKind::Rpc { request, response, interval } => self.rpc(request, response, interval),
            WorkloadKind::Incast { block, interval, spread } => self.incast(block, interval, spread),
            WorkloadKind::Segments { rate, every } => self.segments(rate.bytes_in(every), every),
            WorkloadKind::Adaptive(video) => {
                let mut playback = Playback::new(video);
                let watched = self.watch(&mut playback);
                lock(&self.stage.videos).push((self.unit.clone(), playback));
                watched
            }
            WorkloadKind::Call
            | WorkloadKind::Game { .. }
            | WorkloadKind::Camera { .. }
            | WorkloadKind::Datagrams { .. } => self.datagrams(kind),
        }
    }
    fn now(&self) -> Time {
        self.stage.clock.now()
    }
    /// Opens a flow whose other end reads all bytes; `tell` receives the running total.
    fn flow(&self, mut tell: impl FnMut(u64) + Send + 'static) -> io::Result<Wire> {
        let wire = Wire::open(self.stage, self.unit, self.unit.way, move |far| {
            let mut total = 0;
            while let Ok(taken) = far.take(ENDLESS) {
                total += taken;
                tell(total);
            }
        })?;
        wire.watch();
        Ok(wire)
    }
    /// Opens a connection whose other end answers each request.
    fn channel(&self, request: Bytes, response: Bytes) -> io::Result<Wire> {
        Wire::open(self.stage, self.unit, Direction::Up, move |far| {
            while far.take_all(request.get()).and_then(|()| far.write(response.get())).is_ok() {}
        })
    }
    fn transfer(&self, bytes: Option<Bytes>) -> io::Result<()> {
        let Some(bytes) = bytes else { return self.flow(|_| {})?.write(ENDLESS) };
        let timing = self.stage.begin(Metric::FlowCompletion, self.unit, self.unit.way);
        let (stage, unit) = (self.stage.clone(), self.unit.clone());
        let flow = self.flow(move |total| {
            if total >= bytes.get() {
                stage.finish(timing);
                unit.life.end();
            }
        })?;
        flow.write(bytes.get())?;
        // Written data is still in flight, and the connection would be reset.
        self.unit.life.sleep_until(Time::MAX);
        Ok(())
    }
    fn peer(&mut self, churn: Option<Duration>) -> io::Result<()> {
        loop {
            let flow = self.flow(|_| {})?;
            let Some(mean) = churn else { return flow.write(ENDLESS) };
            let until = self.now() + Duration::from_nanos(self.rng.exponential(mean.as_nanos()));
            let lives = thread::scope(|scope| {
                // It ends when the peer leaves, which is not a failure.
                scope.spawn(|| drop(flow.write(ENDLESS)));
                let lives = self.unit.life.sleep_until(until);
                flow.end();
                lives
            });
            if !lives {
                return Ok(());
            }
        }
    }
    /// Waits for the next round after the one that began at `began`; false if there is none.
    fn next(&self, began: Time, interval: Duration) -> bool {
        self.unit.life.sleep_until((began + interval).max(self.now()))
    }
    fn rpc(&self, request: Bytes, response: Bytes, interval: Duration) -> io::Result<()> {
        let (mut channel, mut lives) = (None, true);
        while lives {
            let began = self.now();
            let timing = self.stage.begin(Metric::Request, self.unit, Direction::Down);
            let wire = match channel.take() {
                Some(open) => open,
                None => self.channel(request, response)?,
            };
            wire.write(request.get())?;
            wire.take_all(response.get())?;
            self.stage.finish(timing);
            channel = Some(wire);
            lives = self.next(began, interval);
        }
        Ok(())
    }
    fn pages(&self, page: PagePlan) -> io::Result<()> {
        loop {
            let began = self.now();
            let timing = self.stage.begin(Metric::PageLoad, self.unit, Direction::Down);
            thread::scope(|scope| {
                let connections =
                    (0..page.connections * page.shards).map(|_| scope.spawn(|| self.fetch(page)));
                let connections: Vec<_> = connections.collect();
                let failed = || io::Error::other("a thread failed");
                connections.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| Err(failed())))
            })?;
            self.stage.finish(timing);
            if !page.interval.is_some_and(|interval| self.next(began, interval)) {
                return Ok(());
            }
        }
    }
    /// Fetches the objects of one connection.
    fn fetch(&self, page: PagePlan) -> io::Result<()> {
        let channel = self.channel(PAGE_REQUEST, page.bytes)?;
        (0..page.objects).try_for_each(|_| {
            channel.write(PAGE_REQUEST.get())?;
            channel.take_all(page.bytes.get())
        })
    }
    /// Plays a video; the other end learns the size of each segment inside this process.
    fn watch(&self, playback: &mut Playback) -> io::Result<()> {
        let (tell, told) = mpsc::channel::<Bytes>();
        let channel = Wire::open(self.stage, self.unit, Direction::Up, move |far| {
            let mut segments = told.iter();
            while far.take_all(PAGE_REQUEST.get()).is_ok() {
                let Some(segment) = segments.next() else { return };
                if far.write(segment.get()).is_err() {
                    return;
                }
            }
        })?;
        while self.unit.life.sleep_until(playback.due()) {
            let segment = playback.request(self.now());
            // If the other end is gone, writing fails too.
            let _ = tell.send(segment);
            channel.write(PAGE_REQUEST.get())?;
            channel.take_all(segment.get())?;
            playback.arrived(self.now());
        }
        Ok(())
    }
    fn segments(&self, bytes: Bytes, every: Duration) -> io::Result<()> {
        let bytes = bytes.get().max(1);
        let under_way: Arc<Mutex<VecDeque<(u64, usize)>>> = Arc::default();
        let (arriving, stage) = (under_way.clone(), self.stage.clone());
        let arrived = move |total| {
            let mut segments = lock(&arriving);
            while let Some((_, timing)) = segments.front().copied().filter(|(end, _)| *end <= total) {
                stage.finish(timing);
                segments.pop_front();
            }
        };
        let (due, written) = mpsc::channel::<u64>();
        thread::scope(|scope| {
            // A segment is due whether or not the previous one was written.
            let writer = scope.spawn(move || {
                let flow = self.flow(arrived)?;
                written.iter().try_for_each(|segment| flow.write(segment))?;
                self.unit.life.sleep_until(Time::MAX);
                Ok(())
            });
            let mut at = self.now();
            for number in 1.. {
                let timing = self.stage.begin(Metric::Request, self.unit, self.unit.way);
                lock(&under_way).push_back((number * bytes, timing));
                at += every;
                if due.send(bytes).is_err() || !self.unit.life.sleep_until(at) {
                    break;
                }
            }
            drop(due);
            writer.join().unwrap_or_else(|_| Err(io::Error::other("a thread failed")))
        })
    }
    fn incast(&self, block: Bytes, interval: Duration, spread: Duration) -> io::Result<()> {
        let (arrived, arrivals) = mpsc::channel();
        let (senders, mut rng) = (self.stage.plan(self.unit).flows, self.rng.clone());
        thread::scope(|scope| {
            let mut timing = self.stage.begin(Metric::Request, self.unit, self.unit.way);
            let mut began = self.now();
            let tell: Vec<Sender<Time>> =
                (0..senders).map(|_| self.incast_sender(scope, block.get(), arrived.clone())).collect();
            loop {
                for sender in &tell {
                    let late = Duration::from_nanos(rng.below(spread.as_nanos()));
                    // If its connection failed, that was reported.
                    let _ = sender.send(began + late);
                }
                if !self.wait_for(tell.len(), &arrivals) {
                    return;
                }
                self.stage.finish(timing);
                if !self.next(began, interval) {
                    return;
                }
                timing = self.stage.begin(Metric::Request, self.unit, self.unit.way);
                began = self.now();
            }
        });
        Ok(())
    }
    /// Starts a thread that sends a block at each time received, on one connection.
    fn incast_sender<'s>(
        &'s self,
        scope: &'s thread::Scope<'s, '_>,
        block: u64,
        arrived: Sender<()>,
    ) -> Sender<Time> {
        let (tell, told) = mpsc::channel::<Time>();
        scope.spawn(move || {
            let mut blocks = 0;
            let sent = self.flow(move |total| {
                for _ in blocks..total / block {
                    // At the end, nobody waits for it.
                    let _ = arrived.send(());
                }
                blocks = total / block;
            });
            let sent = sent.and_then(|flow| {
                told.iter().try_for_each(|at| {
                    self.unit.life.sleep_until(at);
                    flow.write(block)
                })
            });
            self.report(sent);
        });
        tell
    }
    /// Waits for `count` arrivals; false if the lifetime ended first.
    fn wait_for(&self, mut count: usize, arrivals: &mpsc::Receiver<()>) -> bool {
        while count > 0 && !self.unit.life.is_over() {
            match arrivals.recv_timeout(LOOK_EVERY) {
                Ok(()) => count -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        count == 0
    }
    /// Notes a failure, unless the lifetime has ended.
    pub(crate) fn report(&self, outcome: io::Result<()>) {
        if let Err(message) = outcome.map_err(|e| e.to_string())
            && !self.unit.life.is_over()
        {
            let workload = self.stage.plan(self.unit).name.clone();
            self.stage.note(Note::WorkloadEndedEarly { workload, message });
        }
    }
}
