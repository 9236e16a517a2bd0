//! Connections of units, and the threads at their other ends.
use crate::workload::life::lock;
use crate::workload::stage::{Job, PAYLOAD_BYTES, Stage};
use crate::workload::unit::Unit;
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::{discard, set_congestion_control, set_paced, set_receive_window};
use fathom_run::Note;
use fathom_scenario::WorkloadPlan;
use fathom_units::{Direction, Duration};
use socket2::{Domain, Socket, Type};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::{io, thread};

/// Interval at which threads that cannot be woken by their unit check whether the player has ended.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// One end of a connection. When its last thread drops it, it closes with a reset, so that no load
/// lingers.
#[derive(Clone)]
pub(crate) struct Wire {
    socket: Arc<Socket>,
    stage: Arc<Stage>,
    unit: Arc<Unit>,
    /// Direction of arriving data.
    arriving: Direction,
}

impl Wire {
    /// Opens a connection from the side that sends in `way`, where the calling thread must be.
    /// `far` runs at the other end.
    pub(crate) fn open(
        stage: &Arc<Stage>,
        unit: &Arc<Unit>,
        way: Direction,
        far: impl FnOnce(Wire) + Send + 'static,
    ) -> io::Result<Wire> {
        let place = |side: Direction| stage.listeners[side].get().ok_or(io::ErrorKind::NotConnected);
        let (here, there) = (place(way)?.tcp, place(way.reverse())?.tcp);
        let socket = Arc::new(Socket::new(Domain::for_address(here), Type::STREAM, None)?);
        unit.life.keep(&socket);
        prepare(&socket, stage.plan(unit))?;
        socket.bind(&SocketAddr::new(here.ip(), 0).into())?;
        let port = socket.local_addr()?.as_socket().map_or(0, |own| own.port());
        let far_unit = unit.clone();
        let work =
            move |at, accepted| far(Wire { socket: accepted, stage: at, unit: far_unit, arriving: way });
        let job = Job { unit: unit.clone(), work: Box::new(work) };
        lock(&stage.jobs[way]).insert(port, job);
        let connected = socket.connect(&there.into()).and_then(|()| choose_control(&socket, stage, unit));
        if let Err(error) = connected {
            lock(&stage.jobs[way]).remove(&port);
            return Err(error);
        }
        Ok(Wire { socket, stage: stage.clone(), unit: unit.clone(), arriving: way.reverse() })
    }
    /// Sends `bytes` bytes.
    pub(crate) fn write(&self, bytes: u64) -> io::Result<()> {
        let mut left = bytes;
        while left > 0 {
            let most = left.min(PAYLOAD_BYTES) as usize;
            left -= self.stage.payload.send(self.socket.as_fd(), 0, most)? as u64;
        }
        Ok(())
    }
    /// Receives up to `most` bytes, at least one.
    pub(crate) fn take(&self, most: u64) -> io::Result<u64> {
        if let Some(window) = self.stage.plan(&self.unit).transport.window {
            // The kernel discards the clamp when the memory overhead of packets changes.
            set_receive_window(&self.socket, window)?;
        }
        let taken = discard(self.socket.as_fd(), usize::try_from(most).unwrap_or(usize::MAX).min(1 << 30))?;
        if taken == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.stage.count(&self.unit, self.arriving, taken as u64);
        Ok(taken as u64)
    }
    /// Receives exactly `bytes` bytes.
    pub(crate) fn take_all(&self, bytes: u64) -> io::Result<()> {
        let mut left = bytes;
        while left > 0 {
            left -= self.take(left)?;
        }
        Ok(())
    }
    /// Includes TCP_INFO of this sender in the results.
    pub(crate) fn watch(&self) {
        self.stage.watch(&self.unit, &self.socket);
    }
    /// Makes waiting threads return.
    pub(crate) fn end(&self) {
        drop(self.socket.shutdown(std::net::Shutdown::Both));
    }
}

/// Sets the socket options that the workload needs.
fn prepare(socket: &Socket, workload: &WorkloadPlan) -> io::Result<()> {
    socket.set_linger(Some(std::time::Duration::ZERO))?;
    // Data leaves immediately, as in the simulator.
    socket.set_tcp_nodelay(true)?;
    socket.set_tos_v4(u32::from(workload.edge.dscp) << 2)?;
    if let Some(window) = workload.transport.window {
        set_receive_window(socket, window)?;
    }
    if workload.transport.pacing {
        set_paced(socket)?;
    }
    Ok(())
}

/// After connecting: otherwise the route's congestion control would override it.
fn choose_control(socket: &Socket, stage: &Stage, unit: &Unit) -> io::Result<()> {
    let name = set_congestion_control(socket, &stage.plan(unit).transport.congestion_control)?;
    stage.note_control(unit, name);
    Ok(())
}

/// Accepts connections from the side that sends in `way`, until the end.
pub(crate) fn accept(stage: &Arc<Stage>, listener: &TcpListener, way: Direction) {
    while !stage.life.is_over() {
        let ready = poll::wait(&mut [PollFd::readable(listener.as_fd())], Some(LOOK_EVERY));
        if !ready.is_ok_and(|count| count > 0) {
            continue;
        }
        // A connection that was reset in the meantime is not a failure of the listener.
        let Ok((stream, from)) = listener.accept() else { continue };
        let Some(job) = lock(&stage.jobs[way]).remove(&from.port()) else { continue };
        if let Err(error) = start(stage, stream.into(), job) {
            stage.note(Note::ConnectionRefused { message: error.to_string() });
        }
    }
}

fn start(stage: &Arc<Stage>, socket: Socket, job: Job) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    let socket = Arc::new(socket);
    let Job { unit, work } = job;
    unit.life.keep(&socket);
    prepare(&socket, stage.plan(&unit))?;
    choose_control(&socket, stage, &unit)?;
    let at = stage.clone();
    let thread = thread::Builder::new().name("play-far".into()).spawn(move || work(at, socket))?;
    let mut threads = lock(&stage.far);
    threads.retain(|other| !other.is_finished());
    threads.push(thread);
    Ok(())
}
