//! Load flows: one thread each, which only transfers bytes.
use crate::resolve::Limits;
use fathom_os::clock::Clock;
use fathom_os::error::without_code;
use fathom_os::socket::{congestion_control, discard, memory_file, send_file, set_congestion_control};
use fathom_os::tcp_info::{TcpInfo, tcp_info};
use fathom_probe::protocol::{CongestionControl, FIRST_LINE_LIMIT_BYTES, FlowAnswer, FlowRequest, Ticket};
use fathom_units::{Direction, Duration, Rng};
use socket2::Socket;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Bytes per send call, and size of the payload file. The content is pseudo-random, so it cannot be
/// compressed on the path.
const LOAD_FILE_BYTES: usize = 1 << 20;
/// Bytes per receive call.
const DISCARD_BYTES: usize = 1 << 22;

/// Events of a flow's thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FlowEvent {
    /// The load started; the sender's kernel reports this congestion control.
    Began { number: u32, congestion_control: String },
    /// The flow could not start, or ended on its own.
    Failed { number: u32, reason: String },
}

/// Settings of all flows.
#[derive(Clone)]
pub(crate) struct FlowSettings {
    pub(crate) address: SocketAddr,
    pub(crate) session: Ticket,
    pub(crate) congestion_control: String,
    pub(crate) segment_bytes: Option<u16>,
    pub(crate) clock: Clock,
    pub(crate) patience: Duration,
    /// Payload of up flows.
    pub(crate) payload: Arc<File>,
}

/// Creates the payload file of up flows.
pub(crate) fn payload() -> io::Result<File> {
    // The seed does not matter; the bytes must only be incompressible.
    let mut rng = Rng::new(3279);
    let bytes: Vec<u8> = (0..LOAD_FILE_BYTES / 8).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
    memory_file(&bytes)
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
    received_bytes: AtomicU64,
    socket: Mutex<Option<Arc<Socket>>>,
}

impl Shared {
    fn socket(&self) -> Option<Arc<Socket>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        self.shared.received_bytes.load(Ordering::Relaxed)
    }
    /// The sender's TCP_INFO, for an up flow that has started.
    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        tcp_info(self.shared.socket()?.as_fd()).ok()
    }
    /// Makes the thread end. [`Flow::join`] resets the connection.
    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // Wakes a thread that is blocked in the kernel.
        self.shared.socket().map(|s| s.shutdown(Shutdown::Both));
    }
    /// Waits for the thread to end and resets the connection, so that no buffered data remains as
    /// load.
    pub(crate) fn join(self) {
        drop(self.thread.join());
    }
}

fn run(
    settings: &FlowSettings,
    number: u32,
    direction: Direction,
    shared: &Shared,
    report: &impl Fn(FlowEvent),
) -> Result<(), String> {
    let limits = Limits { stop: &shared.stop, clock: settings.clock, patience: settings.patience };
    let (socket, actual) = open(settings, number, direction, &limits)?;
    let socket = Arc::new(socket);
    *shared.socket.lock().unwrap_or_else(PoisonError::into_inner) = Some(socket.clone());
    // A caller of `stop` that did not see the socket yet has set the flag.
    if shared.stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    report(FlowEvent::Began { number, congestion_control: actual });
    match direction {
        Direction::Up => send(&socket, &settings.payload),
        Direction::Down => receive(&socket, &shared.received_bytes),
    }
}

/// Connects and requests the flow. Returns the congestion control reported by the sender's kernel.
fn open(
    settings: &FlowSettings,
    number: u32,
    direction: Direction,
    limits: &Limits<'_>,
) -> Result<(Socket, String), String> {
    let wanted = settings.congestion_control.as_str();
    let choose = |socket: &Socket| {
        settings.segment_bytes.map_or(Ok(()), |bytes| socket.set_tcp_mss(u32::from(bytes)))?;
        match direction {
            // If the algorithm is missing or not permitted, the flow uses the default, and the
            // record says what the kernel reports.
            Direction::Up if wanted != "-" => set_congestion_control(socket, wanted).map(drop).or(Ok(())),
            _ => Ok(()),
        }
    };
    let socket = limits.connect(settings.address, choose).map_err(|e| e.to_string())?;
    let requested: Option<CongestionControl> = if wanted == "-" {
        None
    } else {
        Some(wanted.parse().map_err(|_| format!("invalid congestion control \"{wanted}\""))?)
    };
    let session = settings.session;
    let request =
        FlowRequest { session: session.id, number, direction, congestion_control: requested, mac: None };
    let mac = session.key.map(|key| key.of_flow(&request));
    let request = FlowRequest { mac, ..request };
    (&socket).write_all(format!("{request}\n").as_bytes()).map_err(|e| without_code(&e))?;
    match FlowAnswer::parse(&read_answer(&socket, settings.address, limits)?) {
        Ok(FlowAnswer::Ok { congestion_control: theirs }) => {
            let actual = match direction {
                Direction::Up => congestion_control(&socket).map_err(|e| without_code(&e))?,
                Direction::Down => theirs.as_str().to_owned(),
            };
            Ok((socket, actual))
        }
        Ok(FlowAnswer::Err { code, message }) => {
            Err(format!("the server refused the flow: {code}: {message}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Reads byte by byte, because the load follows immediately.
fn read_answer(mut socket: &Socket, address: SocketAddr, limits: &Limits<'_>) -> Result<Vec<u8>, String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < FIRST_LINE_LIMIT_BYTES {
        limits.readable(socket, address, "response to a load flow").map_err(|e| e.to_string())?;
        match socket.read(&mut byte) {
            Ok(0) => return Err("the server closed the connection".to_owned()),
            Ok(_) if byte[0] == b'\n' => return Ok(line),
            Ok(_) => line.push(byte[0]),
            Err(error) => return Err(without_code(&error)),
        }
    }
    Err("unexpected response from the server".to_owned())
}

fn send(socket: &Socket, payload: &File) -> Result<(), String> {
    let mut offset = 0;
    loop {
        let sent = send_file(socket.as_fd(), payload.as_fd(), offset as u64, LOAD_FILE_BYTES - offset);
        offset = (offset + sent.map_err(|e| without_code(&e))?) % LOAD_FILE_BYTES;
    }
}

fn receive(socket: &Socket, received_bytes: &AtomicU64) -> Result<(), String> {
    loop {
        match discard(socket.as_fd(), DISCARD_BYTES) {
            Ok(0) => return Err("the server closed the connection".to_owned()),
            Ok(length) => received_bytes.fetch_add(length as u64, Ordering::Relaxed),
            Err(error) => return Err(without_code(&error)),
        };
    }
}
