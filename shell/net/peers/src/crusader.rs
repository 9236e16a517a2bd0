//! Load and UDP probes with a crusader server: one client of it for the whole test, and streams for
//! each phase with load.
use crate::{Connector, load_of};
use fathom_client::{
    FlowPlan, Limits, OpenFlow, Peer, Terms, TestConfig, TestError, UdpEncoding, UdpProbes, UdpReply,
    payload_bytes, udp_socket,
};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::UDP_PROBE_BYTES;
use fathom_probe::{Arrivals, ProbeKind};
use fathom_protocol::crusader::{
    self, Arrival, Connection, CrusaderError, DEFAULT_PORT, Output, Stream, end_of_test, schedule,
};
use fathom_units::{Direction, Duration, PerDirection, Time};
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use url::Url;

/// Time that the server has to prepare an upload after its last message: a stream that is not
/// waiting yet misses the start.
const START_AFTER: std::time::Duration = std::time::Duration::from_millis(200);
/// Wait for the server to close the connection after the test.
const END_WAIT: std::time::Duration = std::time::Duration::from_secs(1);

pub(crate) struct CrusaderPeer {
    address: SocketAddr,
    payload: Arc<Vec<u8>>,
    /// Longest load of a stream.
    duration: Duration,
    /// Number of this client.
    client: u64,
    control: Arc<Socket>,
    /// Starts of load, or why there will be none.
    starts: Mutex<Receiver<Result<(), CrusaderError>>>,
    reader: Option<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
    seen: Arc<Mutex<Seen>>,
    /// Number of the next group of streams.
    next_group: AtomicU32,
    /// Streams that no flow uses yet.
    streams: Mutex<PerDirection<VecDeque<Socket>>>,
}

/// UDP probes that were sent, and that the server reported.
#[derive(Default)]
struct Seen {
    sent: u32,
    arrivals: Arrivals,
}

impl Seen {
    /// Adds an arrival, unless it is that of a duplicate, or of no probe.
    fn add(&mut self, arrival: Arrival) {
        let count = self.arrivals.len() as u64 + 1;
        if let Ok(sequence) = u32::try_from(arrival.index)
            && sequence < self.sent
        {
            self.arrivals.entry(sequence).or_insert((count, arrival.at_us.saturating_mul(1_000)));
        }
    }
}

/// Makes this host a client of the server.
pub(crate) fn connect(
    url: &Url,
    config: &TestConfig,
    connector: &Connector<'_>,
) -> Result<CrusaderPeer, TestError> {
    let fail = |problem: String| TestError::Server { server: url.to_string(), problem };
    let (address, control) = connector.reach_host(url, DEFAULT_PORT, "crusader serve")?;
    let limits = &connector.limits;
    control.set_tcp_nodelay(true).map_err(|e| TestError::Host(format!("TCP socket: {e}")))?;
    let control = Arc::new(control);
    let mut machine = Connection::new(None);
    let client = loop {
        match next_output(&control, &mut machine, limits) {
            Ok(Output::Joined(client)) => break client,
            Ok(Output::Failed(error)) => return Err(fail(error.to_string())),
            Ok(_) => {}
            Err(_) if limits.stop.load(Ordering::Relaxed) => return Err(TestError::Stopped),
            Err(reason) => return Err(fail(reason)),
        }
    };
    let (is_over, seen) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Seen>>::default());
    let (starter, starts) = std::sync::mpsc::sync_channel(1);
    let (socket, over, theirs) = (control.clone(), is_over.clone(), seen.clone());
    let (clock, patience) = (limits.clock, limits.patience);
    let reader = std::thread::spawn(move || {
        let stop = Limits { stop: &over, clock, patience };
        listen(&socket, machine, &stop, &theirs, &starter);
    });
    Ok(CrusaderPeer {
        address,
        payload: Arc::new(payload_bytes()),
        duration: config.longest(),
        client,
        control,
        starts: Mutex::new(starts),
        reader: Some(reader),
        is_over,
        seen,
        next_group: AtomicU32::default(),
        streams: Mutex::default(),
    })
}

/// Reads the control connection until it ends. Its messages may wait behind the load for longer
/// than other answers.
fn listen(
    socket: &Socket,
    mut machine: Connection,
    limits: &Limits<'_>,
    seen: &Mutex<Seen>,
    starter: &SyncSender<Result<(), CrusaderError>>,
) {
    while !limits.stop.load(Ordering::Relaxed) {
        match next_output(socket, &mut machine, limits) {
            Ok(Output::Arrived(arrivals)) => {
                let mut known = seen.lock().unwrap_or_else(PoisonError::into_inner);
                arrivals.into_iter().for_each(|arrival| known.add(arrival));
            }
            // At most one start is awaited.
            Ok(Output::Scheduled) => drop(starter.try_send(Ok(()))),
            Ok(Output::Failed(error)) => return drop(starter.try_send(Err(error))),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Sends what the machine has to send, and waits for what it learns.
fn next_output(mut socket: &Socket, machine: &mut Connection, limits: &Limits<'_>) -> Result<Output, String> {
    let since = limits.clock.now();
    let ready = |turn| Ok(poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(turn))? > 0);
    let mut buffer = [0; 4_096];
    loop {
        match machine.poll_output() {
            Some(Output::Send(bytes)) => socket.write_all(&bytes).map_err(|e| without_code(&e))?,
            Some(output) => return Ok(output),
            None if !limits.wait(ready, since).map_err(|e| without_code(&e))? => {
                return Err(format!("no answer from crusader within {}", limits.patience));
            }
            None => match socket.read(&mut buffer) {
                Ok(0) | Err(_) => machine.handle_close(),
                Ok(length) => machine.handle_input(&buffer[..length]),
            },
        }
    }
}

impl Peer for CrusaderPeer {
    fn protocol(&self) -> &'static str {
        "crusader"
    }
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn carries(&self, _direction: Direction) -> bool {
        true
    }
    /// The times of probes that are sent at once would be known too late.
    fn terms(&self) -> Terms {
        Terms { shortest_interval: Some(Duration::ZERO), ..Terms::default() }
    }
    /// It logs an error for each connection without a message.
    fn probes(&self) -> Vec<ProbeKind> {
        vec![ProbeKind::Icmp, ProbeKind::Udp]
    }
    fn udp_probes(&self, _class: Option<u8>) -> Result<UdpProbes, String> {
        let socket = udp_socket(self.address).map_err(|e| without_code(&e))?;
        let encoding = Encoding { client: self.client, seen: self.seen.clone() };
        Ok(UdpProbes { socket, encoding: Box::new(encoding) })
    }
    fn arrivals(&self) -> Option<Arrivals> {
        Some(self.seen.lock().unwrap_or_else(PoisonError::into_inner).arrivals.clone())
    }
    fn begin(
        &self,
        loads: &[Direction],
        plan: &FlowPlan,
        flows: u32,
        limits: &Limits<'_>,
    ) -> Result<(), String> {
        let group = self.next_group.fetch_add(1, Ordering::Relaxed);
        let wanted = loads.iter().flat_map(|direction| (0..flows).map(move |_| *direction));
        let opened = std::thread::scope(|scope| {
            let opening: Vec<_> = wanted
                .zip(0..)
                .map(|(direction, number)| {
                    let Self { client, duration, .. } = *self;
                    let stream = Stream { client, group, number, direction, duration };
                    scope.spawn(move || Ok((direction, self.open_stream(stream, plan, limits)?)))
                })
                .collect();
            let results =
                opening.into_iter().map(|thread| thread.join().map_err(|_| "no thread".to_owned())?);
            results.collect::<Result<Vec<_>, String>>()
        })?;
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        *streams = PerDirection::default();
        opened.into_iter().for_each(|(direction, socket)| streams[direction].push_back(socket));
        std::thread::sleep(START_AFTER);
        (&*self.control).write_all(&schedule(group)).map_err(|e| without_code(&e))?;
        let patience = std::time::Duration::from_nanos(limits.patience.as_nanos());
        match self.starts.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(patience) {
            Ok(start) => start.map_err(|error| error.to_string()),
            Err(RecvTimeoutError::Disconnected) => Err(CrusaderError::Closed.to_string()),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("no answer from crusader within {}", limits.patience))
            }
        }
    }
    fn open(&self, flow: &FlowPlan, _limits: &Limits<'_>) -> Result<OpenFlow, String> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = streams[flow.direction].pop_front().ok_or("no stream of crusader")?;
        Ok(load_of(flow.direction, socket, &self.payload, None))
    }
}

impl CrusaderPeer {
    /// Opens a stream, which then waits for the start of its group.
    fn open_stream(&self, stream: Stream, plan: &FlowPlan, limits: &Limits<'_>) -> Result<Socket, String> {
        let plan = FlowPlan { direction: stream.direction, ..plan.clone() };
        let socket = limits.connect(self.address, |s| plan.prepare(s)).map_err(|e| e.to_string())?;
        let mut machine = Connection::new(Some(stream));
        loop {
            match next_output(&socket, &mut machine, limits)? {
                Output::Ready => return Ok(socket),
                Output::Failed(error) => return Err(error.to_string()),
                _ => {}
            }
        }
    }
}

/// Without these messages, the server measures for this client until it is restarted.
impl Drop for CrusaderPeer {
    fn drop(&mut self) {
        drop((&*self.control).write_all(&end_of_test()));
        drop(self.control.shutdown(Shutdown::Write));
        // A reset could overtake the messages, so the server ends the connection. Then the reader
        // ends, and nothing more can start.
        let starts = self.starts.get_mut().unwrap_or_else(PoisonError::into_inner);
        while starts.recv_timeout(END_WAIT).is_ok() {}
        self.is_over.store(true, Ordering::Relaxed);
        drop(self.reader.take().map(JoinHandle::join));
    }
}

struct Encoding {
    client: u64,
    seen: Arc<Mutex<Seen>>,
}

impl UdpEncoding for Encoding {
    fn probe(&self, sequence: u32, _now: Time) -> Vec<u8> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).sent = sequence.saturating_add(1);
        crusader::probe(self.client, sequence, UDP_PROBE_BYTES)
    }
    fn reply(&mut self, datagram: &[u8]) -> Option<UdpReply> {
        let sequence = crusader::reply(datagram, self.client)?;
        Some(UdpReply { sequence, server_received_ns: 0, server_sent_ns: 0, received: 0, class: None })
    }
}
