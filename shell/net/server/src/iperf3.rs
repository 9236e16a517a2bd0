//! Tests of iperf3 clients: sessions whose control connection speaks iperf3.
pub(crate) mod udp;

use crate::flow::Flow;
use crate::limited::{End, FLOWS_PATIENCE, Limited, OpenSession, TICK, flush, report_end, still_open};
use crate::load;
use crate::session::Session;
use crate::shared::Shared;
use crate::stats::Refusal;
use crate::sync::{Slot, lock};
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::{congestion_control, set_pacing_rate};
use fathom_probe::protocol::{CongestionControl, ErrorCode, FlowRequest};
use fathom_protocol::iperf3::server::{Failure, Output, Request, Server, stream_id};
use fathom_protocol::iperf3::{COOKIE_BYTES, Mode, StreamResult};
use fathom_units::{Direction, Duration, Rate, Time};
use socket2::Socket;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;
use std::net::{IpAddr, Shutdown};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use udp::Arrivals;

/// Answer to a client for which there is no place (`ACCESS_DENIED`).
pub(crate) const REFUSED: u8 = 255;
/// Interval at which a test looks for its streams.
const STREAMS_TICK: Duration = Duration::from_millis(5);

/// The letters with which each connection of a test starts.
pub(crate) type Cookie = [u8; COOKIE_BYTES];
/// A connection, or a connected socket of UDP, that carries a stream.
type Stream = (Socket, Slot);

/// Tests that wait for streams.
#[derive(Default, Debug)]
pub(crate) struct Tests {
    /// Cookies are sent in clear text, so a stream must also come from the address of its test.
    tcp: Mutex<HashMap<(Cookie, IpAddr), Waiting>>,
    /// Streams of UDP have no cookie, so one test of each address waits at a time.
    udp: Mutex<HashMap<IpAddr, (Cookie, Waiting)>>,
}

#[derive(Debug)]
struct Waiting {
    missing: u32,
    streams: Sender<Stream>,
}

impl Waiting {
    /// Hands a stream to its test. Returns whether more are missing.
    fn take(&mut self, stream: Stream) -> bool {
        self.missing = self.missing.saturating_sub(1);
        // Fails if the test has ended.
        let _ = self.streams.send(stream);
        self.missing > 0
    }
}

impl Tests {
    /// Whether the next connection of `client` with this cookie is a stream.
    pub(crate) fn awaits(&self, cookie: Cookie, client: IpAddr) -> bool {
        lock(&self.tcp).contains_key(&(cookie, client))
    }
    /// Hands a stream to its test.
    pub(crate) fn deliver(&self, cookie: Cookie, client: IpAddr, stream: Stream) {
        let mut tests = lock(&self.tcp);
        if tests.get_mut(&(cookie, client)).is_some_and(|test| !test.take(stream)) {
            tests.remove(&(cookie, client));
        }
    }
    /// Whether a test of `client` waits for streams of UDP.
    fn awaits_udp(&self, client: IpAddr) -> bool {
        lock(&self.udp).contains_key(&client)
    }
    /// Hands a stream of UDP to its test.
    fn deliver_udp(&self, client: IpAddr, stream: Stream) {
        let mut tests = lock(&self.udp);
        if tests.get_mut(&client).is_some_and(|(_, test)| !test.take(stream)) {
            tests.remove(&client);
        }
    }
    /// Returns `None` if the test would wait next to another one for streams of UDP.
    fn wait_for(&self, cookie: Cookie, client: IpAddr, request: &Request) -> Option<Receiver<Stream>> {
        let (streams, received) = channel();
        let waiting = Waiting { missing: request.connections(), streams };
        if request.udp.is_none() {
            lock(&self.tcp).insert((cookie, client), waiting);
        } else if let Entry::Vacant(place) = lock(&self.udp).entry(client) {
            place.insert((cookie, waiting));
        } else {
            return None;
        }
        Some(received)
    }
    fn remove(&self, cookie: Cookie, client: IpAddr) {
        lock(&self.tcp).remove(&(cookie, client));
        lock(&self.udp).retain(|address, (of, _)| (*address, *of) != (client, cookie));
    }
}

/// Main function of the thread of a test.
pub(crate) fn run(open: OpenSession, socket: Socket, cookie: Cookie, slot: Slot) {
    let (shared, session) = (Arc::clone(&open.shared), Arc::clone(&open.session));
    let mut test = Test {
        shared: &shared,
        session: &session,
        socket: &socket,
        cookie,
        machine: Server::default(),
        limits: Limited::new(&shared, &session),
        outbox: Vec::new(),
        streams: Vec::new(),
        awaited: None,
        flows: Vec::new(),
        arrivals: Vec::new(),
        started: session.since,
    };
    let end = test.converse();
    shared.iperf3.remove(cookie, session.client);
    session.end_flows(FLOWS_PATIENCE);
    report_end(&shared, &session, &end);
    drop(slot);
}

/// Streams that a test waits for.
struct Awaited {
    request: Request,
    received: Receiver<Stream>,
}

struct Test<'a> {
    shared: &'a Arc<Shared>,
    session: &'a Arc<Session>,
    socket: &'a Socket,
    cookie: Cookie,
    machine: Server,
    limits: Limited,
    /// Output that the socket did not accept yet.
    outbox: Vec<u8>,
    streams: Vec<Stream>,
    awaited: Option<Awaited>,
    /// Kept until the end, because their sockets close with a reset.
    flows: Vec<Arc<Flow>>,
    /// What arrived of the streams of UDP, in the same order.
    arrivals: Vec<Arc<Mutex<Arrivals>>>,
    started: Time,
}

impl Test<'_> {
    fn converse(&mut self) -> End {
        loop {
            if let Err(end) = self.turn() {
                return end;
            }
        }
    }
    fn turn(&mut self) -> Result<(), End> {
        let now = self.shared.clock.now();
        if let Err(end) = self.limits.keep(now) {
            self.machine.terminate();
            let _ = self.follow();
            let _ = self.flush();
            return Err(end);
        }
        self.collect_streams();
        let ended = self.follow();
        self.flush()?;
        ended?;
        self.wait();
        self.read()
    }
    /// Does what the protocol demands.
    fn follow(&mut self) -> Result<(), End> {
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Send(bytes) => self.outbox.extend(bytes),
                Output::AwaitStreams(request) => self.await_streams(request),
                Output::Start => {}
                Output::Stop => self.stop(),
                Output::Done => return Err(End::Bye),
                Output::Failed(Failure::Closed) => return Err(End::Gone),
                Output::Failed(failure) => {
                    return Err(End::Error(Refusal::Control, ErrorCode::Malformed, failure.to_string()));
                }
            }
        }
        Ok(())
    }
    fn await_streams(&mut self, request: Request) {
        let (wanted, most) = (request.connections(), self.shared.config.max_flows);
        if wanted > most {
            self.machine.refuse_streams(most);
            return;
        }
        match self.shared.iperf3.wait_for(self.cookie, self.session.client, &request) {
            Some(received) => self.awaited = Some(Awaited { request, received }),
            None => self.machine.deny(),
        }
    }
    /// Takes the streams that have arrived, and starts the load once all have.
    fn collect_streams(&mut self) {
        let Some(Awaited { request, received }) = self.awaited.take() else { return };
        self.streams.extend(received.try_iter());
        if self.streams.len() < request.connections() as usize {
            self.awaited = Some(Awaited { request, received });
            return;
        }
        self.machine.start();
        self.started = self.shared.clock.now();
        for (nth, stream) in (0..).zip(std::mem::take(&mut self.streams)) {
            self.start_flow(nth, stream, &request);
        }
    }
    fn start_flow(&mut self, nth: u32, (socket, slot): Stream, request: &Request) {
        let direction = match request.mode {
            Mode::Forward => Direction::Up,
            Mode::Reverse => Direction::Down,
            Mode::Bidirectional if nth < request.streams => Direction::Up,
            Mode::Bidirectional => Direction::Down,
        };
        let congestion_control: Option<CongestionControl> =
            request.congestion_control.as_ref().and_then(|name| name.parse().ok());
        let id = self.session.id;
        let plan = FlowRequest {
            session: id,
            number: nth,
            direction,
            congestion_control,
            load: None,
            class: 0,
            mac: None,
        };
        let rate = request.bits_per_second.map(Rate::from_bits_per_second);
        if let (Some(rate), Direction::Down, None) = (rate, direction, request.udp) {
            // A kernel that refuses sends faster than the client asked for.
            let _ = set_pacing_rate(&socket, rate);
        }
        let flow = Arc::new(Flow::new(&plan, socket, 0, slot));
        if self.session.add(&flow, self.shared.config.max_flows).is_err() {
            return;
        }
        self.flows.push(Arc::clone(&flow));
        let (shared, session) = (Arc::clone(self.shared), Arc::clone(self.session));
        let arrivals: Arc<Mutex<Arrivals>> = Arc::default();
        self.arrivals.push(Arc::clone(&arrivals));
        let udp = request.udp;
        let life = move || {
            load::carry(&shared, &session, &flow, || match (udp, rate) {
                (None, _) => load::over_tcp(&shared, &session, &flow, plan.congestion_control.as_ref()),
                (Some(udp), Some(rate)) if direction == Direction::Down => {
                    udp::send(&shared, &session, &flow, (udp, rate), &arrivals)
                }
                (Some(udp), _) => udp::receive(&shared, &session, &flow, udp, &arrivals),
            });
        };
        if load::spawn(self.shared, "fathom-flow", life).is_err() {
            self.shared.counters.refuse(Refusal::Threads, Some(self.session.client));
        }
    }
    /// Ends the load and reports it.
    fn stop(&mut self) {
        self.session.end_flows(FLOWS_PATIENCE);
        for flow in &self.flows {
            // A client that receives reads until the end of a block, whose size it chooses, or
            // until the end of the stream. Fails if it is gone.
            let _ = flow.socket.shutdown(Shutdown::Write);
        }
        let took = self.shared.clock.now().saturating_since(self.started);
        let result = |(flow, arrivals): (&Arc<Flow>, &Arc<Mutex<Arrivals>>)| {
            let (report, arrivals) = (flow.report(), *lock(arrivals));
            StreamResult {
                id: stream_id(report.number),
                bytes: report.bytes,
                retransmits: report.retransmits.map_or(-1, i64::from),
                packets: arrivals.datagrams,
                errors: arrivals.lost,
                jitter: arrivals.jitter_s,
            }
        };
        let results: Vec<StreamResult> = self.flows.iter().zip(&self.arrivals).map(result).collect();
        let used = self.flows.first().and_then(|flow| congestion_control(&flow.socket).ok());
        self.machine.report(&results, &used.unwrap_or_default(), took.as_secs_f64());
    }
    fn flush(&mut self) -> Result<(), End> {
        flush(self.socket, &mut self.outbox)
    }
    fn wait(&self) {
        let tick = if self.awaited.is_some() { STREAMS_TICK } else { TICK };
        let mut fds = [PollFd::readable(self.socket.as_fd()), PollFd::readable(self.shared.stop.fd())];
        // After an error, the read that follows reports it.
        let _ = poll::wait(&mut fds, Some(tick));
    }
    fn read(&mut self) -> Result<(), End> {
        let mut buffer = [0; 4096];
        let mut socket = self.socket;
        match socket.read(&mut buffer) {
            Ok(0) => {
                self.machine.handle_close();
                self.follow().and(Err(End::Gone))
            }
            Ok(length) => {
                self.machine.handle_input(&buffer[..length]);
                self.session.set_active(self.shared.clock.now());
                Ok(())
            }
            Err(error) => still_open(&error),
        }
    }
}
