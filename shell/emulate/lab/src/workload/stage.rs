//! State shared by all threads of a player.
use crate::workload::life::{Life, lock};
use crate::workload::senders::Senders;
use crate::workload::unit::Unit;
use fathom_os::clock::Clock;
use fathom_os::socket::MemoryFile;
use fathom_run::{DatagramLog, Metric, Note, Series, SeriesKey, Timings};
use fathom_scenario::{Playback, WorkloadPlan, loads};
use fathom_units::{Direction, PerDirection, Rng, Time};
use portable_atomic::AtomicU64;
use socket2::Socket;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::{io, thread};

/// Bytes per send call: pseudo-random, so that they cannot be compressed on the path.
pub(crate) const PAYLOAD_BYTES: u64 = 1 << 20;

/// What the other end of a connection does. It lives as long as the connection's unit.
pub(crate) struct Job {
    pub(crate) unit: Arc<Unit>,
    pub(crate) work: Box<dyn FnOnce(Arc<Stage>, Arc<Socket>) + Send>,
}

/// Listeners of a side for connections and datagrams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listeners {
    pub(crate) tcp: SocketAddr,
    pub(crate) udp: SocketAddr,
}

/// The shared state.
pub(crate) struct Stage {
    pub(crate) clock: Clock,
    pub(crate) workloads: Vec<WorkloadPlan>,
    /// Which workloads count as load.
    loads: Vec<bool>,
    /// Lifetime of the player.
    pub(crate) life: Life,
    /// Listeners of the side that sends in each direction.
    pub(crate) listeners: PerDirection<OnceLock<Listeners>>,
    /// Jobs for connections from the side that sends in each direction, by the port of the opener.
    pub(crate) jobs: PerDirection<Mutex<BTreeMap<u16, Job>>>,
    /// Threads that run jobs.
    pub(crate) far: Mutex<Vec<thread::JoinHandle<()>>>,
    pub(crate) payload: MemoryFile,
    timings: Mutex<Timings>,
    /// Players of adaptive video that have ended.
    pub(crate) videos: Mutex<Vec<(Arc<Unit>, Playback)>>,
    /// One log per unit that sends datagrams.
    pub(crate) logs: Vec<(Arc<Unit>, Mutex<DatagramLog>)>,
    /// Payload bytes of the load that arrived.
    delivered: PerDirection<AtomicU64>,
    controls: Mutex<BTreeSet<String>>,
    pub(crate) senders: Senders,
    notes: Mutex<Vec<Note>>,
}

impl Stage {
    pub(crate) fn new(clock: Clock, workloads: Vec<WorkloadPlan>, units: &[Arc<Unit>]) -> io::Result<Stage> {
        // The seed does not matter; the bytes must only be incompressible.
        let mut rng = Rng::new(3279);
        let bytes: Vec<u8> = (0..PAYLOAD_BYTES / 8).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
        let sources = units.iter().filter(|unit| unit.source.is_some());
        Ok(Stage {
            clock,
            loads: loads(&workloads),
            workloads,
            life: Life::new(clock),
            listeners: PerDirection::default(),
            jobs: Default::default(),
            far: Mutex::default(),
            payload: MemoryFile::new(&bytes)?,
            timings: Mutex::default(),
            videos: Mutex::default(),
            logs: sources.map(|unit| (unit.clone(), Mutex::default())).collect(),
            delivered: Default::default(),
            controls: Mutex::default(),
            senders: Senders::default(),
            notes: Mutex::default(),
        })
    }
    pub(crate) fn plan(&self, unit: &Unit) -> &WorkloadPlan {
        &self.workloads[unit.workload as usize]
    }
    /// Starts a timing.
    pub(crate) fn begin(&self, metric: Metric, unit: &Unit, direction: Direction) -> usize {
        let now = self.clock.now();
        lock(&self.timings).begin(metric, unit.workload, direction, now)
    }
    /// Ends a timing.
    pub(crate) fn finish(&self, timing: usize) {
        let now = self.clock.now();
        lock(&self.timings).finish(timing, now);
    }
    /// Series of all timings.
    pub(crate) fn timed(&self, end: Time) -> Vec<Series> {
        let names: Vec<String> = self.workloads.iter().map(|workload| workload.name.clone()).collect();
        lock(&self.timings).series(&names, end)
    }
    /// Bitrates and stalls of the videos.
    pub(crate) fn watched(&self, end: Time) -> Vec<Series> {
        let of = |(unit, playback): &(Arc<Unit>, Playback)| {
            let key = |metric| SeriesKey {
                flow: Some(unit.flow + 1),
                scope: Some(self.plan(unit).name.clone()),
                ..SeriesKey::directed(metric, Direction::Down)
            };
            playback.series(key, end)
        };
        let all = lock(&self.videos);
        all.iter().flat_map(of).filter(|series| !series.values.is_empty()).collect()
    }
    /// Counts payload that arrived in `direction`.
    pub(crate) fn count(&self, unit: &Unit, direction: Direction, bytes: u64) {
        if self.loads[unit.workload as usize] {
            self.delivered[direction].fetch_add(bytes, Ordering::Relaxed);
        }
    }
    /// Payload bytes of the load that have arrived.
    pub(crate) fn delivered(&self) -> PerDirection<u64> {
        self.delivered.as_ref().map(|bytes| bytes.load(Ordering::Relaxed))
    }
    pub(crate) fn load_workloads(&self) -> impl Iterator<Item = &WorkloadPlan> {
        self.workloads.iter().zip(&self.loads).filter(|(_, load)| **load).map(|(workload, _)| workload)
    }
    /// Records the congestion control that the sender's kernel reports.
    pub(crate) fn note_control(&self, unit: &Unit, name: String) {
        if self.loads[unit.workload as usize] {
            lock(&self.controls).insert(name);
        }
    }
    /// Samples a connection on which this side sends, if it is load.
    pub(crate) fn watch(&self, unit: &Unit, socket: &Arc<Socket>) {
        if self.loads[unit.workload as usize] {
            self.senders.add(socket, unit.way);
        }
    }
    pub(crate) fn controls(&self) -> String {
        lock(&self.controls).iter().cloned().collect::<Vec<_>>().join(", ")
    }
    pub(crate) fn note(&self, note: Note) {
        let mut notes = lock(&self.notes);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    pub(crate) fn notes(&self) -> Vec<Note> {
        lock(&self.notes).clone()
    }
}
