//! Sends the traffic of a test, and records what arrives.
use crate::error::system;
use crate::{DutError, Port};
use fathom_dut::{Record, Schedule, Sent, Tail, Traffic};
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::pace::Pacer;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_os::socket::{queue_errors, set_receive_buffer, set_send_buffer};
use fathom_os::timestamp::{Batch, Stamping, enable};
use fathom_probe::StampConverter;
use fathom_probe::protocol::{DATAGRAM_HEADER_BYTES, LoadHeader};
use fathom_units::{Duration, Rng, Time};
use socket2::Socket;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Ports of the load and of pings: two flows, so that fair queueing shows.
const LOAD_PORT: u16 = 6_201;
const PING_PORT: u16 = 6_202;
/// The full buffer of a switch must not wait in the sockets of this host.
const SOCKET_BYTES: u32 = 256 << 20;
/// Datagrams received per call, and their largest size.
const BATCH: usize = 64;
const MOST_BYTES: usize = 2_048;
/// Interval of looks at the state of a test.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A test is over if nothing arrives for this time.
const PATIENCE: Duration = Duration::from_secs(3);
/// What was received after the end is still in sockets.
const SETTLE: std::time::Duration = std::time::Duration::from_millis(100);
/// A sequence number holds the stream and the number in it; the highest bit marks a reply.
const STREAM_SHIFT: u32 = 40;
const REPLY: u64 = 1 << 63;

/// Sockets of a port.
#[derive(Debug)]
struct Sockets {
    address: Ipv4Addr,
    load: UdpSocket,
    pings: UdpSocket,
}

/// What has arrived in the current test.
#[derive(Debug)]
struct Arrivals {
    record: Record,
    tails: Vec<Tail>,
    /// Ports whose load is not sent yet.
    loading: usize,
    load_end: Option<Time>,
    last: Time,
    /// Only frames sent since then belong to the test.
    start: Time,
}

/// The threads that receive, and the sockets of all ports.
pub(crate) struct Engine {
    clock: Clock,
    sockets: Vec<Arc<Sockets>>,
    arrivals: Arc<Mutex<Option<Arrivals>>>,
    ended: Arc<AtomicBool>,
    receivers: Vec<thread::JoinHandle<()>>,
}

impl Engine {
    /// Opens the sockets and starts to receive.
    pub(crate) fn start(ports: &[Port], clock: Clock) -> Result<Engine, DutError> {
        let open = |port: &Port| port.within(|| Sockets::open(port.address)).map(Arc::new);
        let sockets = ports.iter().map(open).collect::<Result<Vec<Arc<Sockets>>, DutError>>()?;
        let (arrivals, ended) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let mut engine = Engine { clock, sockets, arrivals, ended, receivers: Vec::new() };
        for own in &engine.sockets {
            let receiver = Receiver {
                clock,
                sockets: Arc::clone(own),
                arrivals: Arc::clone(&engine.arrivals),
                ended: Arc::clone(&engine.ended),
            };
            let named = thread::Builder::new().name("dut-receive".into());
            engine.receivers.push(named.spawn(move || receiver.run()).map_err(system("start a thread"))?);
        }
        Ok(engine)
    }
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }
    /// Sends the traffic until nothing waits any more, and returns what was recorded.
    pub(crate) fn run(&self, traffic: &Traffic, stop: &AtomicBool) -> Result<Record, DutError> {
        let senders: Vec<usize> =
            (0..self.sockets.len()).filter(|port| traffic.streams.iter().any(|s| s.from == *port)).collect();
        let start = self.clock.now() + LOOK_EVERY;
        *lock(&self.arrivals) = Some(Arrivals {
            record: Record::new(traffic),
            tails: vec![Tail::default(); traffic.streams.len()],
            loading: senders.len(),
            load_end: None,
            last: start,
            start,
        });
        let sent: Result<Vec<Record>, DutError> = thread::scope(|scope| {
            let all: Vec<_> = senders
                .iter()
                .map(|port| scope.spawn(move || Sender::new(self, traffic, *port, start).run(stop)))
                .collect();
            let joined = |thread: thread::ScopedJoinHandle<'_, Result<Record, DutError>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            all.into_iter().map(joined).collect()
        });
        thread::sleep(SETTLE);
        let arrived = lock(&self.arrivals).take();
        let mut record = arrived.map_or_else(|| Record::new(traffic), Arrivals::into_record);
        for (port, of_port) in senders.iter().zip(sent?) {
            for (to, from) in record.streams.iter_mut().zip(of_port.streams) {
                if from.plan.from == *port {
                    to.sent_ns = from.sent_ns;
                }
            }
        }
        record.end_ns = self.clock.now().as_nanos().max(record.end_ns);
        Ok(record)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for receiver in self.receivers.drain(..) {
            // A panic has been printed.
            let _ = receiver.join();
        }
    }
}

impl Sockets {
    /// Opens the sockets, in the namespace of the port.
    fn open(address: Ipv4Addr) -> Result<Sockets, DutError> {
        let open = |port: u16| {
            let socket = UdpSocket::bind(SocketAddrV4::new(address, port))?;
            let socket = Socket::from(socket);
            set_receive_buffer(&socket, SOCKET_BYTES)?;
            set_send_buffer(&socket, SOCKET_BYTES)?;
            // A frame that this host's own queue drops is an error, and sent again.
            queue_errors(&socket, false)?;
            enable(socket.as_fd(), Stamping::Arrivals)?;
            Ok(UdpSocket::from(socket))
        };
        let [load, pings] = [open(LOAD_PORT), open(PING_PORT)];
        Ok(Sockets {
            address,
            load: load.map_err(system("open a UDP socket"))?,
            pings: pings.map_err(system("open a UDP socket"))?,
        })
    }
}

impl Arrivals {
    /// A frame of a stream.
    fn received(&mut self, (stream, number): (usize, u32), sent: Time, at: Time) {
        let Some(tail) = self.tails.get_mut(stream).filter(|_| sent >= self.start) else { return };
        let record = &mut self.record.streams[stream];
        record.received(number, at.as_nanos());
        let when = match self.load_end {
            Some(end) if sent > end => Sent::After,
            _ if record.plan.is_load(number) => Sent::AtOnce,
            _ => Sent::Apart,
        };
        tail.arrived(i128::from(at.saturating_since(sent).as_nanos()), when);
        self.last = self.last.max(at);
    }
    /// The reply to a ping.
    fn returned(&mut self, (stream, number): (usize, u32), sent: Time, at: Time) {
        if stream < self.tails.len() && sent >= self.start {
            self.record.streams[stream].returned(number, at.saturating_since(sent).as_nanos());
        }
    }
    /// A port has sent its load.
    fn load_is_sent(&mut self, now: Time) {
        self.loading = self.loading.saturating_sub(1);
        if self.loading == 0 {
            self.load_end = Some(now);
        }
    }
    fn is_over(&self, now: Time) -> bool {
        let Some(end) = self.load_end else { return false };
        let plans = self.record.streams.iter().map(|stream| stream.plan);
        let is_empty = plans.zip(&self.tails).all(|(plan, tail)| !plan.has_tail() || tail.is_empty());
        is_empty || now.saturating_since(end.max(self.last)) > PATIENCE
    }
    fn into_record(self) -> Record {
        let end = self.load_end.unwrap_or(self.last);
        Record { load_end_ns: end.as_nanos(), end_ns: self.last.max(end).as_nanos(), ..self.record }
    }
}

/// Sends the frames of one port.
struct Sender<'a> {
    engine: &'a Engine,
    traffic: &'a Traffic,
    own: &'a Sockets,
    start: Time,
    schedule: Schedule,
    record: Record,
    payload: Vec<u8>,
}

impl<'a> Sender<'a> {
    fn new(engine: &'a Engine, traffic: &'a Traffic, port: usize, start: Time) -> Self {
        let mut payload = vec![0; MOST_BYTES];
        // Random, so that it cannot be compressed on the path.
        let mut rng = Rng::new(1);
        payload.iter_mut().for_each(|byte| *byte = rng.next_u64() as u8);
        Sender {
            engine,
            traffic,
            own: &engine.sockets[port],
            start,
            schedule: Schedule::new(traffic, port, start.as_nanos()),
            record: Record::new(traffic),
            payload,
        }
    }
    fn run(mut self, stop: &AtomicBool) -> Result<Record, DutError> {
        // Without it, frames leave 50 us later.
        drop(set_precise_timers());
        let clock = self.engine.clock;
        let (mut pacer, mut is_loading) = (Pacer::new(clock), true);
        loop {
            let due = self.schedule.due().map_or(Time::MAX, |due| self.start + due);
            if is_loading && !self.schedule.has_load() && clock.now() >= self.start + self.traffic.lasts {
                is_loading = false;
                self.look(|arrivals| arrivals.load_is_sent(clock.now()));
            }
            if let Some(wait) = pacer.next_wait(due) {
                let is_over = self.look(|arrivals| arrivals.is_over(clock.now())).unwrap_or(true);
                if is_over || stop.load(Ordering::Relaxed) {
                    return Ok(self.record);
                }
                if wait > Duration::ZERO {
                    poll::wait(&mut [], Some(wait.min(LOOK_EVERY))).map_err(system("wait"))?;
                    continue;
                }
            }
            let _ = pacer.spin_until(due);
            self.send(stop)?;
        }
    }
    fn look<R>(&self, look: impl FnOnce(&mut Arrivals) -> R) -> Option<R> {
        lock(&self.engine.arrivals).as_mut().map(look)
    }
    /// Sends the next frame.
    fn send(&mut self, stop: &AtomicBool) -> Result<(), DutError> {
        let Some((stream, number)) = self.schedule.take() else { return Ok(()) };
        let plan = self.traffic.streams[stream];
        let to = self.engine.sockets[plan.to].address;
        let (socket, port) =
            if plan.is_ping() { (&self.own.pings, PING_PORT) } else { (&self.own.load, LOAD_PORT) };
        let payload = &mut self.payload[..plan.payload_bytes as usize];
        let sequence = (stream as u64) << STREAM_SHIFT | u64::from(number);
        loop {
            let now = self.engine.clock.now();
            LoadHeader::write(sequence, now, payload);
            match socket.send_to(payload, SocketAddrV4::new(to, port)) {
                Ok(_) => {
                    self.record.streams[stream].sent(number, now.as_nanos());
                    return Ok(());
                }
                // The queue of this host is full.
                Err(error) if error.raw_os_error() == Some(ENOBUFS) && !stop.load(Ordering::Relaxed) => {}
                Err(error) => return Err(system("send a frame")(error)),
            }
        }
    }
}

/// The error of a queue of this host that dropped a frame. Source: asm-generic/errno.h.
const ENOBUFS: i32 = 105;

/// Receives the frames of one port.
struct Receiver {
    clock: Clock,
    sockets: Arc<Sockets>,
    arrivals: Arc<Mutex<Option<Arrivals>>>,
    ended: Arc<AtomicBool>,
}

impl Receiver {
    fn run(self) {
        let mut batch = Batch::new(BATCH, MOST_BYTES);
        let mut stamps = StampConverter::default();
        let sockets = Arc::clone(&self.sockets);
        while !self.ended.load(Ordering::Relaxed) {
            let both = [&sockets.load, &sockets.pings];
            let mut fds = both.map(|socket| PollFd::readable(socket.as_fd()));
            // An error would repeat: the test ends when nothing arrives.
            drop(poll::wait(&mut fds, Some(LOOK_EVERY)));
            for (socket, fd) in both.into_iter().zip(&fds) {
                if fd.is_ready() && batch.receive(socket.as_fd()).is_ok() {
                    self.take(&batch, &mut stamps);
                }
            }
        }
    }
    fn take(&self, batch: &Batch, stamps: &mut StampConverter) {
        let (wall, now) = both_clocks(self.clock);
        let mut replies = Vec::new();
        let mut arrivals = lock(&self.arrivals);
        for (bytes, received) in batch.iter() {
            let (Some(header), Some(current)) = (LoadHeader::decode(bytes), arrivals.as_mut()) else {
                continue;
            };
            let at = stamps.convert(received.stamp, wall, now).unwrap_or(now);
            let (stream, number) = ((header.sequence & !REPLY) >> STREAM_SHIFT, header.sequence as u32);
            let sent = Time::from_nanos(header.sent_ns);
            if header.sequence & REPLY > 0 {
                current.returned((stream as usize, number), sent, at);
            } else {
                current.received((stream as usize, number), sent, at);
                let is_ping = is_ping(current, stream as usize);
                replies.extend(received.from.filter(|_| is_ping).map(|from| (header.sequence | REPLY, from)));
            }
        }
        drop(arrivals);
        for (sequence, to) in replies {
            let mut reply = [0; DATAGRAM_HEADER_BYTES];
            LoadHeader::write(sequence, self.clock.now(), &mut reply);
            // A reply that cannot be sent is a lost one.
            let _ = self.sockets.pings.send_to(&reply, to);
        }
    }
}

fn is_ping(arrivals: &Arrivals, stream: usize) -> bool {
    arrivals.record.streams.get(stream).is_some_and(|stream| stream.plan.is_ping())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
