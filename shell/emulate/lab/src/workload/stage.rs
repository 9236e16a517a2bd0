//! What all threads of a player share.
use crate::workload::life::{Life, lock};
use crate::workload::senders::Senders;
use crate::workload::unit::Unit;
use fathom_os::clock::Clock;
use fathom_os::socket::memory_file;
use fathom_run::{DatagramLog, Metric, Note, Timings};
use fathom_scenario::{WorkloadPlan, loads};
use fathom_units::{Direction, PerDirection, Rng, Time};
use socket2::Socket;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::{io, thread};

/// Bytes sent by one call: pseudo-random, so that nothing on the path shrinks them.
pub(crate) const PAYLOAD_BYTES: u64 = 1 << 20;

/// What the far end of a connection does. It lives as long as the connection's unit.
pub(crate) struct Job {
    pub(crate) unit: Arc<Unit>,
    pub(crate) work: Box<dyn FnOnce(Arc<Stage>, Arc<Socket>) + Send>,
}

/// Where a side takes connections and datagrams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listeners {
    pub(crate) tcp: SocketAddr,
    pub(crate) udp: SocketAddr,
}

/// All that is shared.
pub(crate) struct Stage {
    pub(crate) clock: Clock,
    pub(crate) workloads: Vec<WorkloadPlan>,
    /// Which workloads count as load.
    loads: Vec<bool>,
    /// Ends everything.
    pub(crate) life: Life,
    /// Of the side that sends in each direction.
    pub(crate) listeners: PerDirection<OnceLock<Listeners>>,
    /// What is to be done with connections from the side that sends in each direction, by the port of the end that opened it.
    pub(crate) jobs: PerDirection<Mutex<BTreeMap<u16, Job>>>,
    /// Threads of far ends.
    pub(crate) far: Mutex<Vec<thread::JoinHandle<()>>>,
    pub(crate) payload: File,
    timings: Mutex<Timings>,
    /// One for each unit that sends datagrams.
    pub(crate) logs: Vec<(Arc<Unit>, Mutex<DatagramLog>)>,
    /// Bytes of the load's payload that arrived.
    delivered: PerDirection<AtomicU64>,
    controls: Mutex<BTreeSet<String>>,
    pub(crate) senders: Senders,
    notes: Mutex<Vec<Note>>,
}

impl Stage {
    pub(crate) fn new(clock: Clock, workloads: Vec<WorkloadPlan>, units: &[Arc<Unit>]) -> io::Result<Stage> {
        // Any seed serves: the bytes must only not compress.
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
            payload: memory_file(&bytes)?,
            timings: Mutex::default(),
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
    /// Something that is timed begins now.
    pub(crate) fn begin(&self, metric: Metric, unit: &Unit, direction: Direction) -> usize {
        let now = self.clock.now();
        lock(&self.timings).begin(metric, unit.workload, direction, now)
    }
    /// It is done.
    pub(crate) fn finish(&self, timing: usize) {
        let now = self.clock.now();
        lock(&self.timings).finish(timing, now);
    }
    /// All that was timed, in series.
    pub(crate) fn timed(&self, end: Time) -> Vec<fathom_run::Series> {
        let names: Vec<String> = self.workloads.iter().map(|workload| workload.name.clone()).collect();
        lock(&self.timings).series(&names, end)
    }
    /// Payload arrived on its way in `direction`.
    pub(crate) fn count(&self, unit: &Unit, direction: Direction, bytes: u64) {
        if self.loads[unit.workload as usize] {
            self.delivered[direction].fetch_add(bytes, Ordering::Relaxed);
        }
    }
    /// Bytes of the load's payload that have arrived so far.
    pub(crate) fn delivered(&self) -> PerDirection<u64> {
        self.delivered.as_ref().map(|bytes| bytes.load(Ordering::Relaxed))
    }
    pub(crate) fn load_workloads(&self) -> impl Iterator<Item = &WorkloadPlan> {
        self.workloads.iter().zip(&self.loads).filter(|(_, load)| **load).map(|(workload, _)| workload)
    }
    /// The congestion control of a sender, as its kernel reports it.
    pub(crate) fn note_control(&self, unit: &Unit, name: String) {
        if self.loads[unit.workload as usize] {
            lock(&self.controls).insert(name);
        }
    }
    /// A connection of which this side is the sender, if it is load.
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
