//! Load with an iperf3 server: one of its tests for each phase with load.
use crate::{Connector, load_of};
use fathom_client::{
    FlowLoad, FlowPlan, Limits, OpenFlow, Peer, TestError, Transfer, load_socket, payload_bytes,
    receive_datagrams, send_datagrams,
};
use fathom_os::clock::Clock;
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::local;
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::segment_bytes;
use fathom_probe::ProbeKind;
use fathom_probe::protocol::{FlowReport, LoadSender, Reception};
use fathom_protocol::iperf3::datagrams::{Numbers, OPENING, is_answer};
use fathom_protocol::iperf3::{
    COOKIE_BYTES, Client, Cookie, DEFAULT_PORT, Iperf3Error, Mode, Output, Plan, Results, StreamResult, Udp,
};
use fathom_units::{Direction, Duration, FULL_TCP_PAYLOAD, PerDirection, Rate, Time};
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// What the server received of uploads of datagrams.
    reports: Arc<Mutex<Vec<FlowReport>>>,
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
    /// The flows that use its streams of uploads, in the order of the latter.
    uploads: Vec<u32>,
    udp: Option<Udp>,
    congestion_control: Option<String>,
}

/// Finds the server, without a test.
pub(crate) fn connect(url: &Url, connector: &Connector<'_>) -> Result<Iperf3Peer, TestError> {
    let (address, _) = connector.reach_host(url, DEFAULT_PORT, "iperf3 -s")?;
    let Limits { clock, patience, .. } = connector.limits;
    let (payload, test, reports) = (Arc::new(payload_bytes()), Mutex::default(), Arc::default());
    Ok(Iperf3Peer { address, payload, clock, patience, test, reports })
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
    fn takes(&self, load: FlowLoad) -> bool {
        matches!(load, FlowLoad::Datagrams(_))
    }
    fn reports(&self) -> Vec<FlowReport> {
        std::mem::take(&mut *lock(&self.test)).wait();
        lock(&self.reports).clone()
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
        let mut test = lock(&self.test);
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
        let mut test = lock(&self.test);
        let State::Running(mut running) = std::mem::take(&mut *test) else { return };
        running.machine.finish();
        let (clock, patience) = (self.clock, self.patience);
        let mut results = running.complete(clock, END_WAIT);
        let reports = self.reports.clone();
        // The rest may have to wait for the queue to drain.
        *test = State::Ending(std::thread::spawn(move || {
            results = running.complete(clock, patience).or(results);
            if let (Some(results), Some(_)) = (results, running.udp) {
                let received = running.uploads.iter().zip(&results.streams);
                lock(&reports).extend(received.map(|(number, stream)| report(*number, stream)));
            }
        }));
    }
    fn open(&self, flow: &FlowPlan, _limits: &Limits<'_>) -> Result<OpenFlow, String> {
        let mut test = lock(&self.test);
        let State::Running(running) = &mut *test else { return Err("no iperf3 test".to_owned()) };
        let socket = running.streams[flow.direction].pop_front().ok_or("no iperf3 test")?;
        if flow.direction == Direction::Up {
            running.uploads.push(flow.number);
        }
        if let Some(udp) = running.udp {
            return datagrams(flow.direction, socket, udp, self.clock).map_err(|e| without_code(&e));
        }
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
        let udp = match streams.plan.load {
            // As long as a segment, whose length fits the path.
            Some(FlowLoad::Datagrams(rate)) => Some(Udp {
                bits_per_second: rate.as_bits_per_second(),
                length: segment_bytes(&control).unwrap_or(u32::MAX).min(FULL_TCP_PAYLOAD.get() as u32),
            }),
            _ => None,
        };
        let wanted = congestion_control.clone().filter(|_| udp.is_none());
        let machine = Client::new(Plan { mode, streams: count, congestion_control: wanted, udp }, &cookie);
        let (streams_of, uploads) = (PerDirection::default(), Vec::new());
        let mut running = Running { control, machine, streams: streams_of, uploads, udp, congestion_control };
        let mut is_running = false;
        while !is_running {
            match running.next_output(limits, limits.clock.now())? {
                Output::OpenStreams => {
                    let of_udp = running.udp.is_some().then_some(&running.control);
                    running.streams = self.open_streams(streams, &cookie, of_udp, limits)?;
                }
                Output::Running => is_running = true,
                Output::Failed(error @ Iperf3Error::Server(..)) => return Err(Failure::Server(error)),
                Output::Failed(error) => return Err(Failure::Other(error.to_string())),
                Output::Send(_) | Output::Results(_) => {}
            }
        }
        Ok(running)
    }
    /// The server takes the first streams for uploads, in the order in which they arrive. Those of
    /// UDP have the address of the control connection.
    fn open_streams(
        &self,
        streams: &Streams<'_>,
        cookie: &Cookie,
        control: Option<&Socket>,
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
                let socket = match control {
                    Some(control) => self.open_udp(control, plan.class, limits)?,
                    None => {
                        let connected = limits.connect(self.address, |s| plan.prepare(s));
                        let socket = connected.map_err(|e| e.to_string())?;
                        (&socket).write_all(cookie.bytes()).map_err(|e| without_code(&e))?;
                        socket
                    }
                };
                open[*direction].push_back(socket);
            }
        }
        Ok(open)
    }
}

impl Iperf3Peer {
    /// Opens a stream of UDP. The server expects one after the other, and the first datagram only
    /// once, so that a lost one cannot be repeated.
    fn open_udp(&self, control: &Socket, class: u8, limits: &Limits<'_>) -> Result<Socket, String> {
        let socket = load_socket(control, self.address, class).map_err(|e| without_code(&e))?;
        socket.send(&OPENING).map_err(|e| without_code(&e))?;
        let since = limits.clock.now();
        let ready = |turn| Ok(poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(turn))? > 0);
        loop {
            if !limits.wait(ready, since).map_err(|e| without_code(&e))? {
                return Err(format!("no answer from iperf3 by UDP within {}", limits.patience));
            }
            let mut buffer = [0; 64];
            let length = (&socket).read(&mut buffer).map_err(|e| without_code(&e))?;
            if is_answer(&buffer[..length]) {
                return Ok(socket);
            }
        }
    }
}

/// A flow of datagrams. Its end is that of a socket next to it: that of UDP has none.
fn datagrams(direction: Direction, udp: Socket, plan: Udp, clock: Clock) -> std::io::Result<OpenFlow> {
    let (socket, other) = local::pair()?;
    let (socket, other) = (Arc::new(Socket::from(socket)), Socket::from(other));
    let ends = (socket.clone(), other);
    let transfer: Transfer = match direction {
        Direction::Up => Box::new(move |_| {
            // Both: the end of the other one would be that of the flow.
            let (open, _other) = &ends;
            let rate = Rate::from_bits_per_second(plan.bits_per_second);
            let sender = LoadSender::whole(rate, plan.length as usize, clock.now());
            send_datagrams((open, &udp), sender, clock, |number, now, bytes| {
                Numbers::Wide.write(number, now.as_nanos(), bytes);
            })
        }),
        Direction::Down => Box::new(move |meter| {
            let (open, _other) = &ends;
            receive_datagrams((open, &udp), meter, 0, |datagram| Numbers::Wide.before(datagram))
        }),
    };
    Ok(OpenFlow { socket, congestion_control: None, transfer })
}

/// What the server received of a flow.
fn report(number: u32, stream: &StreamResult) -> FlowReport {
    let lost = stream.errors.min(stream.packets);
    let datagrams = Reception { received: stream.packets - lost, lost, ..Reception::default() };
    FlowReport { number, bytes: stream.bytes, datagrams: Some(datagrams), ..FlowReport::default() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Exchanges results with the server, for at most `patience`, and waits until it has closed the
    /// connection. Returns the results.
    fn complete(&mut self, clock: Clock, patience: Duration) -> Option<Results> {
        let mut results = None;
        let stop = AtomicBool::new(false);
        let limits = Limits { stop: &stop, clock, patience };
        let since = clock.now();
        while !self.machine.is_over() {
            match self.next_output(&limits, since) {
                Ok(Output::Results(all)) => results = Some(all),
                Ok(_) => {}
                Err(_) => return results,
            }
        }
        // The last message; then the end of the connection. A reset could overtake it.
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Send(bytes) => drop((&self.control).write_all(&bytes)),
                Output::Results(all) => results = Some(all),
                _ => {}
            }
        }
        drop(self.control.shutdown(Shutdown::Write));
        while self.read(&limits, since).is_ok_and(|is_open| is_open) {}
        results
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
