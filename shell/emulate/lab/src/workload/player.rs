//! Plays workloads on both sides and collects the results.
use crate::workload::life::lock;
use crate::workload::stage::{Listeners, Stage};
use crate::workload::unit::{Unit, units};
use crate::workload::{active_unit, datagrams, wire};
use fathom_os::clock::Clock;
use fathom_run::{Load, Metric, Note, Observation, Series, SeriesKey, Value};
use fathom_scenario::{RunPlan, WorkloadPlan};
use fathom_units::{Direction, Duration, PerDirection, Rng, Time};
use socket2::{Domain, Socket, Type};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::{fs, io};

/// Plays workloads between two sides, which may be in different network namespaces.
pub struct Player {
    stage: Arc<Stage>,
    units: Vec<Arc<Unit>>,
    run: RunPlan,
    /// Signal the start of the load.
    begin: Vec<Sender<Time>>,
    threads: Vec<JoinHandle<()>>,
    meter: Option<JoinHandle<PerDirection<Series>>>,
}

/// Results.
#[derive(Clone, PartialEq, Debug)]
pub struct Played {
    /// Series of each workload, and the goodput of the load.
    pub series: Vec<Series>,
    /// Summary of the workloads that are load.
    pub load: Load,
    /// Problems.
    pub notes: Vec<Note>,
}

impl Player {
    /// Prepares to play `workloads` for the duration of `run`. [`crate::workload::refusal`] must
    /// have accepted them. Times refer to `clock`.
    ///
    /// # Errors
    /// If there is no memory for the payload.
    pub fn new(workloads: Vec<WorkloadPlan>, run: RunPlan, seed: u64, clock: Clock) -> io::Result<Player> {
        let units = units(&workloads, &run, seed, clock);
        let stage = Arc::new(Stage::new(clock, workloads, &units)?);
        Ok(Player { stage, units, run, begin: Vec::new(), threads: Vec::new(), meter: None })
    }
    /// Sets up the side that sends in direction `way`, with its own `address`. Call it once per
    /// side, in its network namespace.
    ///
    /// # Errors
    /// If the address or a thread is unavailable.
    pub fn enter(&mut self, way: Direction, address: IpAddr) -> io::Result<()> {
        let (listener, socket) = open(address)?;
        let listeners = Listeners::of(&listener, &socket)?;
        self.stage.listeners[way].set(listeners).map_err(|_| io::ErrorKind::AlreadyExists)?;
        if self.stage.workloads.iter().any(|workload| workload.is_tcp() && workload.transport.ecn) {
            // Requested by connections from this side; the other side agrees in any case.
            fs::write("/proc/sys/net/ipv4/tcp_ecn", "1")?;
        }
        self.start("play-accept", move |stage| wire::accept(stage, &listener, way.reverse()))?;
        self.start("play-receive", move |stage| {
            if let Err(error) = datagrams::receive(stage, &socket, way.reverse()) {
                stage.note(Note::DatagramsCutShort { message: error.to_string() });
            }
        })?;
        let (tell, told) = mpsc::channel();
        self.begin.push(tell);
        let own: Vec<Arc<Unit>> = self.units.iter().filter(|unit| unit.way == way).cloned().collect();
        self.start("play-conduct", move |stage| conduct(stage, &own, &told))
    }
    fn start(&mut self, name: &str, does: impl FnOnce(&Arc<Stage>) + Send + 'static) -> io::Result<()> {
        let (stage, named) = (self.stage.clone(), thread::Builder::new().name(name.to_owned()));
        self.threads.push(named.spawn(move || does(&stage))?);
        Ok(())
    }
    /// Starts the load at `at`.
    pub fn begin(&mut self, at: Time) {
        // A conductor that has ended has already received a start time.
        for conductor in self.begin.drain(..) {
            let _ = conductor.send(at);
        }
        let (stage, run) = (self.stage.clone(), self.run);
        self.meter = Some(thread::spawn(move || meter(&stage, &run, at)));
    }
    /// Stops everything and returns the results.
    #[must_use]
    pub fn finish(mut self) -> Played {
        self.end();
        let goodput = self.meter.take().and_then(|meter| meter.join().ok());
        let (stage, end) = (&self.stage, self.stage.clock.now());
        let goodput = goodput.into_iter().flatten().map(|(_, series)| series);
        let goodput = goodput.filter(|series| !series.values.is_empty());
        let senders = stage.senders.take_series();
        let workloads = stage.timed(end).into_iter().chain(datagrams::series(stage, end));
        let workloads = workloads.chain(stage.watched(end));
        let series = workloads.chain(goodput).chain(senders);
        let flows = |way| stage.load_workloads().map(|workload| workload.concurrent(way)).sum();
        let delivered = stage.delivered();
        let load = Load {
            flows_up: flows(Direction::Up),
            flows_down: flows(Direction::Down),
            congestion_control: stage.controls(),
            delivered_up_bytes: delivered.up,
            delivered_down_bytes: delivered.down,
        };
        Played { series: series.collect(), load, notes: stage.notes() }
    }
    fn end(&mut self) {
        self.begin.clear();
        // Units end before their listeners, so that a refused connection is not a failure.
        self.units.iter().for_each(|unit| unit.life.end());
        self.stage.life.end();
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
        // Jobs of connections that never arrived.
        self.stage.jobs.iter().for_each(|(_, jobs)| lock(jobs).clear());
        let far = std::mem::take(&mut *lock(&self.stage.far));
        far.into_iter().for_each(|thread| drop(thread.join()));
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.end();
    }
}

/// Opens the listeners of a side.
fn open(address: IpAddr) -> io::Result<(TcpListener, Socket)> {
    let any_port = SocketAddr::new(address, 0);
    let listener = TcpListener::bind(any_port)?;
    let socket = Socket::new(Domain::for_address(any_port), Type::DGRAM, None)?;
    socket.bind(&any_port.into())?;
    Ok((listener, socket))
}

impl Listeners {
    fn of(listener: &TcpListener, socket: &Socket) -> io::Result<Listeners> {
        let udp = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Listeners { tcp: listener.local_addr()?, udp })
    }
}

/// Starts a side's units at their times and ends them.
fn conduct(stage: &Arc<Stage>, units: &[Arc<Unit>], told: &Receiver<Time>) {
    let Ok(begin) = told.recv() else { return };
    thread::scope(|scope| {
        for unit in units {
            let at_work = move || {
                let rng = Rng::stream(unit.seed, "play");
                let mut player = active_unit::Player { stage, unit, rng };
                if unit.life.sleep_until(begin + unit.start) {
                    let outcome = player.play(stage.plan(unit).kind);
                    player.report(outcome);
                }
            };
            if let Err(error) = thread::Builder::new().name("play-unit".into()).spawn_scoped(scope, at_work) {
                let (workload, message) = (stage.plan(unit).name.clone(), error.to_string());
                stage.note(Note::WorkloadLacksFlow { workload, message });
            }
        }
        let mut by_end: Vec<&Arc<Unit>> = units.iter().collect();
        by_end.sort_by_key(|unit| unit.stop);
        for unit in by_end {
            // At the end of the player this returns immediately.
            stage.life.sleep_until(begin + unit.stop);
            unit.life.end();
        }
    });
}

/// Measures goodput of the load.
fn meter(stage: &Stage, run: &RunPlan, begin: Time) -> PerDirection<Series> {
    let mut series = PerDirection::from_fn(|way| Series::new(SeriesKey::directed(Metric::Goodput, way)));
    let (mut before, mut last) = (PerDirection::default(), begin);
    let mut due = begin + run.sample_every;
    while due <= begin + run.duration && stage.life.sleep_until(due) {
        let (now, delivered) = (stage.clock.now(), stage.delivered());
        let span = now.saturating_since(last).max(Duration::from_nanos(1)).as_secs_f64();
        for (way, of_way) in series.iter_mut() {
            if delivered[way] > 0 {
                let rate = (delivered[way] - before[way]) as f64 * 8.0 / span;
                of_way.push(Observation { at: now, value: Value::Observed(rate) });
            }
        }
        stage.senders.sample(now);
        (before, last) = (delivered, now);
        // A late sample does not cause two in a row.
        due = (due + run.sample_every).max(now);
    }
    series
}

#[cfg(test)]
impl Player {
    pub(crate) fn delivered(&self) -> PerDirection<u64> {
        self.stage.delivered()
    }
    /// Number of observations of this metric.
    pub(crate) fn timed(&self, metric: Metric) -> usize {
        let all = self.stage.timed(self.stage.clock.now());
        let of_metric = all.iter().filter(|series| series.key.metric == metric);
        of_metric.map(|series| series.values.len() - series.censored.len()).sum()
    }
}
