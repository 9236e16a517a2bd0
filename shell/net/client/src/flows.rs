//! Load flows: one thread each, which only transfers bytes.
mod bursts;
mod datagrams;
mod fathom;

use crate::error::CLOSED;
use crate::peer::{FlowPlan, Meter, OpenFlow, Peer};
use crate::resolve::Limits;
use fathom_os::clock::Clock;
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::socket::{MemoryFile, discard, end_calls};
use fathom_os::tcp_info::{TcpInfo, tcp_info};
use fathom_probe::protocol::{FlowLoad, Reception};
use fathom_run::Observation;
use fathom_units::{Direction, Duration, Ecn, Rng};
use socket2::Socket;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

pub(crate) use bursts::{Seen, run as run_burst};
pub use datagrams::{load_socket, receive_datagrams, send_datagrams};
pub(crate) use fathom::{Answer, FathomPeer, accepted, flow_request};

/// Bytes per send call, and size of the payload file.
const LOAD_FILE_BYTES: usize = 1 << 20;
/// Bytes per receive call.
const DISCARD_BYTES: usize = 1 << 22;
/// Smallest transfer on a connection that can be called a load: less is a start of a connection
/// only, 25 to 70 segments.
const SMALLEST_TRANSFER_BYTES: u64 = 100_000;

/// Events of a flow's thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FlowEvent {
    /// The load started; the sender's kernel reports this congestion control, if the peer says so.
    Began { number: u32, congestion_control: Option<String> },
    /// The flow could not start, or ended on its own.
    Failed { number: u32, reason: String },
}

/// Settings of all flows.
#[derive(Clone)]
pub(crate) struct FlowSettings {
    pub(crate) peer: Arc<dyn Peer>,
    pub(crate) congestion_control: String,
    pub(crate) segment_bytes: Option<u16>,
    pub(crate) dscp: u8,
    /// DSCP of what the server sends.
    pub(crate) reply_dscp: u8,
    /// ECN codepoint of datagrams.
    pub(crate) ecn: Ecn,
    /// Of each flow.
    pub(crate) load: Option<FlowLoad>,
    pub(crate) clock: Clock,
    pub(crate) patience: Duration,
}

impl FlowSettings {
    pub(crate) fn plan(&self, number: u32, direction: Direction) -> FlowPlan {
        let (congestion_control, segment_bytes) = (self.congestion_control.clone(), self.segment_bytes);
        let is_udp = matches!(self.load, Some(FlowLoad::Datagrams(_)));
        let ecn = if is_udp { self.ecn.bits() } else { 0 };
        FlowPlan {
            number,
            direction,
            congestion_control,
            segment_bytes,
            class: self.dscp << 2 | ecn,
            reply_class: self.reply_dscp << 2 | ecn,
            load: self.load,
        }
    }
}

/// Payload of uploads: pseudo-random, so that it cannot be compressed on the path.
#[must_use]
pub fn payload_bytes() -> Vec<u8> {
    // The seed does not matter.
    let mut rng = Rng::new(3279);
    (0..LOAD_FILE_BYTES / 8).flat_map(|_| rng.next_u64().to_le_bytes()).collect()
}

/// Creates the payload file of up flows.
fn payload() -> io::Result<MemoryFile> {
    MemoryFile::new(&payload_bytes())
}

/// A running flow.
pub(crate) struct Flow {
    pub(crate) number: u32,
    pub(crate) direction: Direction,
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    meter: Meter,
    connections: Mutex<Connections>,
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connections of a flow: one after the other. Readers see the end of one and the begin of the
/// next as one step, so no byte counts twice or goes missing between them.
#[derive(Default)]
struct Connections {
    open: Option<Arc<Socket>>,
    /// The last state of the sender, with the bytes of all connections that ended.
    ended: Option<TcpInfo>,
}

impl Connections {
    fn sender(&self) -> Option<TcpInfo> {
        let Some(socket) = &self.open else { return self.ended };
        let info = tcp_info(socket.as_fd()).ok()?;
        let earlier = self.ended.and_then(|last| last.bytes_acked).unwrap_or(0);
        Some(TcpInfo { bytes_acked: info.bytes_acked.map(|bytes| bytes.saturating_add(earlier)), ..info })
    }
    /// Ends the open connection; returns the bytes that were acknowledged on it.
    fn end(&mut self) -> u64 {
        let bytes = |info: Option<TcpInfo>| info.and_then(|info| info.bytes_acked).unwrap_or(0);
        let earlier = bytes(self.ended);
        self.ended = self.sender().or(self.ended);
        self.open = None;
        bytes(self.ended) - earlier
    }
}

impl Flow {
    /// Starts a flow; its thread calls `report`.
    pub(crate) fn start(
        settings: FlowSettings,
        number: u32,
        direction: Direction,
        report: impl Fn(FlowEvent) + Send + 'static,
    ) -> Flow {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let thread = std::thread::spawn(move || {
            let failed = run(&settings, number, direction, &theirs, &report).err();
            if let Some(reason) = failed.filter(|_| !theirs.stop.load(Ordering::Relaxed)) {
                report(FlowEvent::Failed { number, reason });
            }
        });
        Flow { number, direction, shared, thread }
    }
    /// Bytes received from a down flow.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.shared.meter.received_bytes()
    }
    /// The congestion control that the server reported since the last call.
    pub(crate) fn take_congestion_control(&self) -> Option<String> {
        self.shared.meter.take_congestion_control()
    }
    /// The requests on the connection of the load since the last call.
    pub(crate) fn take_probes(&self) -> Vec<Observation> {
        self.shared.meter.take_probes()
    }
    /// What has arrived of a down flow of datagrams.
    pub(crate) fn datagrams(&self) -> Reception {
        self.shared.meter.datagrams()
    }
    /// The sender's TCP_INFO, for an up flow that has started. Its acknowledged bytes are those of
    /// all connections of the flow.
    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        self.shared.connections().sender()
    }
    /// Makes the thread end. [`Flow::join`] resets the connection.
    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Wakes a thread that is blocked in the kernel.
        self.shared.connections().open.as_ref().map(|socket| end_calls(socket));
    }
    /// Waits for the thread to end and resets the connection, so that no buffered data remains as
    /// load. Returns the last requests on the connection of the load.
    pub(crate) fn join(self) -> Vec<Observation> {
        drop(self.thread.join());
        self.shared.meter.take_probes()
    }
}

/// Transfers load on one connection after the other: some servers end a connection after each
/// transfer.
fn run(
    settings: &FlowSettings,
    number: u32,
    direction: Direction,
    shared: &Shared,
    report: &impl Fn(FlowEvent),
) -> Result<(), String> {
    let limits = Limits { stop: &shared.stop, clock: settings.clock, patience: settings.patience };
    let plan = settings.plan(number, direction);
    let mut has_begun = false;
    loop {
        let OpenFlow { socket, congestion_control, transfer } = settings.peer.open(&plan, &limits)?;
        shared.connections().open = Some(socket);
        // A caller of `stop` that did not see the socket yet has set the flag.
        if shared.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !std::mem::replace(&mut has_begun, true) {
            report(FlowEvent::Began { number, congestion_control });
        }
        let before = shared.meter.received_bytes();
        transfer(&shared.meter)?;
        let acknowledged = shared.connections().end();
        let received = shared.meter.received_bytes() - before;
        if acknowledged.max(received) < SMALLEST_TRANSFER_BYTES {
            return Err(format!(
                "the server ended a connection after {} bytes (at least {SMALLEST_TRANSFER_BYTES})",
                acknowledged.max(received)
            ));
        }
    }
}

/// Sends load until the connection ends.
///
/// # Errors
/// Always: the reason of the end.
pub fn send_load(mut socket: &Socket, payload: &[u8]) -> Result<(), String> {
    loop {
        socket.write_all(payload).map_err(|e| without_code(&e))?;
    }
}

/// Receives load until the connection ends, and counts its bytes.
///
/// # Errors
/// Always: the reason of the end.
pub fn receive_load(socket: &Socket, meter: &Meter) -> Result<(), String> {
    loop {
        match discard(socket.as_fd(), DISCARD_BYTES) {
            Ok(0) => return Err(CLOSED.to_owned()),
            Ok(length) => meter.add_received(length as u64),
            Err(error) => return Err(without_code(&error)),
        }
    }
}
