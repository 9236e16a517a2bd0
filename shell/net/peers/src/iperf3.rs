//! Load with an iperf3 server: one of its tests for each phase with load.
use crate::{Connector, load_of};
use fathom_client::{FlowPlan, Limits, OpenFlow, Peer, TestError, payload_bytes};
use fathom_os::clock::Clock;
use fathom_os::error::without_code;
use fathom_os::poll::{self, PollFd};
use fathom_probe::ProbeKind;
use fathom_protocol::iperf3::{COOKIE_BYTES, Client, Cookie, DEFAULT_PORT, Iperf3Error, Mode, Output, Plan};
use fathom_units::{Direction, Duration, PerDirection, Time};
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use url::Url;

/// A server that has just ended a test closes its port for a moment, or still refuses others.
const RETRY_FOR: Duration = Duration::from_secs(3);
const RETRY_EVERY: std::time::Duration = std::time::Duration::from_millis(100);
/// Wait for the server's response to the end of a test before the streams are reset. The load goes
/// on meanwhile, so a longer wait would extend the phase.
const END_WAIT: Duration = Duration::from_millis(250);

pub(crate) struct Iperf3Peer {
    address: SocketAddr,
    payload: Arc<Vec<u8>>,
    clock: Clock,
    patience: Duration,
    test: Mutex<State>,
}

#[derive(Default)]
enum State {
    /// No test was started.
    #[default]
    New,
    /// Boxed, because the other states are small.
    Running(Box<Running>),
    /// The thread exchanges results with the server.
    Ending(JoinHandle<()>),
}

/// A test that the server leads.
struct Running {
    control: Socket,
    machine: Client,
    /// Streams that no flow uses yet.
    streams: PerDirection<VecDeque<Socket>>,
    congestion_control: Option<String>,
}

/// Finds the server, without a test.
pub(crate) fn connect(url: &Url, connector: &Connector<'_>) -> Result<Iperf3Peer, TestError> {
    let (address, _) = connector.reach_host(url, DEFAULT_PORT, "iperf3 -s")?;
    let Limits { clock, patience, .. } = connector.limits;
    Ok(Iperf3Peer { address, payload: Arc::new(payload_bytes()), clock, patience, test: Mutex::default() })
}

impl Peer for Iperf3Peer {
    fn protocol(&self) -> &'static str {
        "iperf3"
    }
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn carries(&self, _direction: Direction) -> bool {
        true
    }
    /// A connection to its port would count as a stream, or as another test.
    fn probes(&self) -> Vec<ProbeKind> {
        vec![ProbeKind::Icmp]
    }
    fn begin(
        &self,
        loads: &[Direction],
        plan: &FlowPlan,
        flows: u32,
        limits: &Limits<'_>,
    ) -> Result<(), String> {
        let mut test = self.test.lock().unwrap_or_else(PoisonError::into_inner);
        let mode = match loads {
            [Direction::Up] => Mode::Forward,
            [Direction::Down] => Mode::Reverse,
            _ => Mode::Bidirectional,
        };
        let mut wanted = Some(plan.congestion_control.clone()).filter(|name| name != "-");
        let is_first = matches!(&*test, State::New);
        std::mem::take(&mut *test).wait();
        let since = limits.clock.now();
        loop {
            match self.start(&Streams { mode, plan, count: flows }, wanted.clone(), limits) {
                Ok(running) => {
                    *test = State::Running(Box::new(running));
                    return Ok(());
                }
                // Its kernel may lack the congestion control, or not permit it.
                Err(Failure::Server(_)) if wanted.is_some() => wanted = None,
                Err(failure) => {
                    let waited = limits.clock.now().saturating_since(since);
                    if is_first || waited >= RETRY_FOR || limits.stop.load(Ordering::Relaxed) {
                        return Err(failure.to_string());
                    }
                    std::thread::sleep(RETRY_EVERY);
                }
            }
        }
    }
    fn end(&self) {
        let mut test = self.test.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Running(mut running) = std::mem::take(&mut *test) else { return };
        running.machine.finish();
        let (clock, patience) = (self.clock, self.patience);
        running.complete(clock, END_WAIT);
        // The rest may have to wait for the queue to drain.
        *test = State::Ending(std::thread::spawn(move || running.complete(clock, patience)));
    }
    fn open(&self, flow: &FlowPlan, _limits: &Limits<'_>) -> Result<OpenFlow, String> {
        let mut test = self.test.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Running(running) = &mut *test else { return Err("no iperf3 test".to_owned()) };
        let socket = running.streams[flow.direction].pop_front().ok_or("no iperf3 test")?;
        Ok(load_of(flow.direction, socket, &self.payload, running.congestion_control.clone()))
    }
}

/// Streams of a test.
struct Streams<'a> {
    mode: Mode,
    plan: &'a FlowPlan,
    /// In each direction.
    count: u32,
}

/// Why a test does not start.
enum Failure {
    /// The server reports an error.
    Server(Iperf3Error),
    Other(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Server(error) => write!(f, "{error}"),
            Failure::Other(reason) => write!(f, "{reason}"),
        }
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Failure::Other(reason)
    }
}

impl Iperf3Peer {
    /// Starts a test and opens its streams. When it returns, the server sends and receives.
    fn start(
        &self,
        streams: &Streams<'_>,
        congestion_control: Option<String>,
        limits: &Limits<'_>,
    ) -> Result<Running, Failure> {
        let mut random = [0; COOKIE_BYTES - 1];
        getrandom::fill(&mut random).map_err(|e| format!("random numbers: {e}"))?;
        let cookie = Cookie::new(random);
        let control = limits.connect(self.address, |s| s.set_tcp_nodelay(true)).map_err(|e| e.to_string())?;
        let (mode, count) = (streams.mode, streams.count);
        let plan = Plan { mode, streams: count, congestion_control: congestion_control.clone() };
        let machine = Client::new(plan, &cookie);
        let mut running = Running { control, machine, streams: PerDirection::default(), congestion_control };
        let mut is_running = false;
        while !is_running {
            match running.next_output(limits, limits.clock.now())? {
                Output::OpenStreams => running.streams = self.open_streams(streams, &cookie, limits)?,
                Output::Running => is_running = true,
                Output::Failed(error @ Iperf3Error::Server(..)) => return Err(Failure::Server(error)),
                Output::Failed(error) => return Err(Failure::Other(error.to_string())),
                Output::Send(_) | Output::Results(_) => {}
            }
        }
        Ok(running)
    }
    /// The server takes the first streams for uploads, in the order in which they arrive.
    fn open_streams(
        &self,
        streams: &Streams<'_>,
        cookie: &Cookie,
        limits: &Limits<'_>,
    ) -> Result<PerDirection<VecDeque<Socket>>, String> {
        let directions: &[Direction] = match streams.mode {
            Mode::Forward => &[Direction::Up],
            Mode::Reverse => &[Direction::Down],
            Mode::Bidirectional => &[Direction::Up, Direction::Down],
        };
        let mut open: PerDirection<VecDeque<Socket>> = PerDirection::default();
        for direction in directions {
            for _ in 0..streams.count {
                let plan = FlowPlan { direction: *direction, ..streams.plan.clone() };
                let socket = limits.connect(self.address, |s| plan.prepare(s)).map_err(|e| e.to_string())?;
                (&socket).write_all(cookie.bytes()).map_err(|e| without_code(&e))?;
                open[*direction].push_back(socket);
            }
        }
        Ok(open)
    }
}

impl Running {
    /// Exchanges results with the server, for at most `patience`, and waits until it has closed the
    /// connection.
    fn complete(&mut self, clock: Clock, patience: Duration) {
        let stop = AtomicBool::new(false);
        let limits = Limits { stop: &stop, clock, patience };
        let since = clock.now();
        while !self.machine.is_over() {
            if self.next_output(&limits, since).is_err() {
                return;
            }
        }
        // The last message; then the end of the connection. A reset could overtake it.
        while let Some(output) = self.machine.poll_output() {
            if let Output::Send(bytes) = output {
                drop((&self.control).write_all(&bytes));
            }
        }
        drop(self.control.shutdown(Shutdown::Write));
        while self.read(&limits, since).is_ok_and(|is_open| is_open) {}
    }
    /// Sends what the machine has to send, and waits for its next request.
    fn next_output(&mut self, limits: &Limits<'_>, since: Time) -> Result<Output, String> {
        loop {
            match self.machine.poll_output() {
                Some(Output::Send(bytes)) => {
                    (&self.control).write_all(&bytes).map_err(|e| without_code(&e))?;
                }
                Some(output) => return Ok(output),
                None => drop(self.read(limits, since)?),
            }
        }
    }
    /// Receives bytes; false at the end of the connection.
    fn read(&mut self, limits: &Limits<'_>, since: Time) -> Result<bool, String> {
        let ready = |turn| Ok(poll::wait(&mut [PollFd::readable(self.control.as_fd())], Some(turn))? > 0);
        if !limits.wait(ready, since).map_err(|e| without_code(&e))? {
            return Err(format!("no answer from iperf3 within {}", limits.patience));
        }
        let mut buffer = [0; 4096];
        match (&self.control).read(&mut buffer) {
            Ok(0) => {
                self.machine.handle_close();
                Ok(false)
            }
            Ok(length) => {
                self.machine.handle_input(&buffer[..length]);
                Ok(true)
            }
            Err(error) => Err(without_code(&error)),
        }
    }
}

impl State {
    /// Waits until the server has ended the test.
    fn wait(self) {
        if let State::Ending(thread) = self {
            drop(thread.join());
        }
    }
}

impl Drop for Iperf3Peer {
    fn drop(&mut self) {
        std::mem::take(self.test.get_mut().unwrap_or_else(PoisonError::into_inner)).wait();
    }
}
