//! Load flows: one blocking thread each.
use crate::datagrams::{self, Datagrams};
use crate::flow::Flow;
use crate::session::Session;
use crate::shared::{LOAD_BYTES, Shared};
use crate::stats::Refusal;
use crate::sync::Slot;
use fathom_os::fd::AsFd;
use fathom_os::socket::{congestion_control, discard, set_class, set_congestion_control, set_pacing_rate};
use fathom_probe::protocol::{
    CongestionControl, ErrorCode, FlowAnswer, FlowLoad, FlowRequest, LineReader, OBJECT_REQUEST_LIMIT_BYTES,
    requested_object,
};
use fathom_units::Direction;
use socket2::Socket;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

/// Maximum bytes per call: enough to make the call cheap, small enough to respect limits.
const CALL_BYTES: usize = 1 << 20;

/// Maximum time that a send call blocks. Nothing can wake a blocked sender without sending a FIN,
/// so it checks for a stop itself.
const SEND_SLICE: Duration = Duration::from_millis(100);

/// The call stacks are shallow, and untouched stack uses no memory.
const STACK_BYTES: usize = 256 * 1024;

/// Counts a flow at its end, also after a panic, and closes it with a reset.
struct Ended<'a> {
    shared: &'a Shared,
    session: &'a Session,
    flow: &'a Flow,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let bytes = self.flow.report().bytes;
        let (of_session, of_server) = match self.flow.direction {
            Direction::Up => (&self.session.up_bytes, &self.shared.counters.up_bytes),
            Direction::Down => (&self.session.down_bytes, &self.shared.counters.down_bytes),
        };
        of_session.fetch_add(bytes, Relaxed);
        of_server.fetch_add(bytes, Relaxed);
        // Fails only if the socket is already closed.
        let _ = self.flow.socket.set_linger(Some(Duration::ZERO));
        self.session.remove(self.flow);
    }
}

/// A flow's connection after its first line.
pub(crate) struct Start {
    pub(crate) request: FlowRequest,
    pub(crate) socket: Socket,
    /// Load or requests that followed the first line.
    pub(crate) early: Vec<u8>,
    pub(crate) slot: Slot,
}

/// Main function of a flow thread.
pub(crate) fn run(shared: &Shared, session: &Session, start: Start) {
    let Start { request, socket, early, slot } = start;
    let mut flow = Flow::new(&request, socket, early.len() as u64, slot);
    if let Some(FlowLoad::Datagrams(_) | FlowLoad::Burst(_)) = request.load {
        let Ok(datagrams) = Datagrams::new(request.class) else { return };
        flow.datagrams = Some(datagrams);
    }
    let flow = Arc::new(flow);
    if let Err(code) = session.add(&flow, shared.config.max_flows) {
        let reason = match code {
            ErrorCode::Number => Refusal::Number,
            ErrorCode::Full => Refusal::Flows,
            _ => Refusal::Session,
        };
        shared.counters.refuse(reason, Some(session.client));
        let refusal = FlowAnswer::Err { code, message: refusal(code, &request, shared) };
        // Fails if the client has disconnected.
        let _ = (&flow.socket).write_all(format!("{refusal}\n").as_bytes());
        return;
    }
    let _ended = Ended { shared, session, flow: &flow };
    // An error means that the connection ended: closed by the client, by `interrupt`, or lost.
    let _ = serve(shared, session, &flow, (&request, &early));
}

/// Main function of the thread of a flow that another protocol has opened: carries the load until
/// the session ends.
pub(crate) fn carry(
    shared: &Shared,
    session: &Session,
    flow: &Flow,
    transfer: impl FnOnce() -> io::Result<()>,
) {
    let _ended = Ended { shared, session, flow };
    let _ = transfer();
}

/// Carries the load of a flow of TCP.
pub(crate) fn over_tcp(
    shared: &Shared,
    session: &Session,
    flow: &Flow,
    wanted: Option<&CongestionControl>,
) -> io::Result<()> {
    prepare(flow, wanted)?;
    transfer(shared, session, flow)
}

/// Runs `life` in a thread. If none can be started, `life` is dropped.
pub(crate) fn spawn(
    shared: &Arc<Shared>,
    name: &str,
    life: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let counters = Arc::clone(shared);
    let guarded = move || {
        if catch_unwind(AssertUnwindSafe(life)).is_err() {
            counters.counters.panicked();
        }
    };
    thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(guarded).map(drop)
}

fn refusal(code: ErrorCode, request: &FlowRequest, shared: &Shared) -> String {
    match code {
        ErrorCode::Number => format!("flow {} is already open", request.number),
        ErrorCode::Full => {
            format!("the session has reached its limit of {} flows", shared.config.max_flows)
        }
        _ => "the session has ended".into(),
    }
}

fn serve(
    shared: &Shared,
    session: &Session,
    flow: &Flow,
    (request, early): (&FlowRequest, &[u8]),
) -> io::Result<()> {
    prepare(flow, request.congestion_control.as_ref())?;
    if let (Some(datagrams), Some(load)) = (&flow.datagrams, request.load) {
        return datagrams::serve(shared, session, flow, (datagrams, load));
    }
    if let (Direction::Down, Some(FlowLoad::Paced(rate))) = (flow.direction, request.load) {
        set_pacing_rate(&flow.socket, rate)?;
    }
    if request.class > 0 {
        set_class(&flow.socket, session.local.is_ipv6(), request.class)?;
    }
    let name = congestion_control(&flow.socket)?;
    let congestion_control = name.parse().map_err(|_| io::ErrorKind::InvalidData)?;
    let answer = format!("{}\n", FlowAnswer::Ok { congestion_control });
    flow.answer_bytes.store(answer.len() as u64, Relaxed);
    (&flow.socket).write_all(answer.as_bytes())?;
    match request.load {
        Some(FlowLoad::Objects) => answer_requests(shared, session, flow, early),
        _ => transfer(shared, session, flow),
    }
}

/// Sends the objects that the client requests.
fn answer_requests(shared: &Shared, session: &Session, flow: &Flow, early: &[u8]) -> io::Result<()> {
    // The end of an object does not wait for an acknowledgment.
    flow.socket.set_tcp_nodelay(true)?;
    let mut lines = LineReader::new(OBJECT_REQUEST_LIMIT_BYTES);
    lines.push(early);
    let mut buffer = [0; OBJECT_REQUEST_LIMIT_BYTES];
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    loop {
        while let Some(line) = lines.next_line().map_err(|_| invalid())? {
            let mut left = requested_object(&line).ok_or_else(invalid)?.get();
            while left > 0 {
                let length = usize::try_from(left).unwrap_or(CALL_BYTES).min(CALL_BYTES);
                let load = || shared.load.send(flow.socket.as_fd(), 0, length);
                let sent = unless_interrupted(flow, load)?;
                if sent == 0 || !session.count(sent) {
                    return Ok(());
                }
                left -= sent as u64;
            }
        }
        match unless_interrupted(flow, || (&flow.socket).read(&mut buffer))? {
            0 => return Ok(()),
            got => lines.push(&buffer[..got]),
        }
    }
}

fn prepare(flow: &Flow, wanted: Option<&CongestionControl>) -> io::Result<()> {
    flow.socket.set_nonblocking(false)?;
    flow.socket.set_write_timeout(Some(SEND_SLICE))?;
    if let (Direction::Down, Some(name)) = (flow.direction, wanted) {
        // If the kernel refuses, the response reports the actual algorithm.
        let _ = set_congestion_control(&flow.socket, name.as_str());
    }
    Ok(())
}

fn transfer(shared: &Shared, session: &Session, flow: &Flow) -> io::Result<()> {
    match flow.direction {
        Direction::Up => receive(session, flow),
        Direction::Down => send(shared, session, flow),
    }
}

fn receive(session: &Session, flow: &Flow) -> io::Result<()> {
    loop {
        let got = unless_interrupted(flow, || discard(flow.socket.as_fd(), CALL_BYTES))?;
        flow.received.fetch_add(got as u64, Relaxed);
        if got == 0 || !session.count(got) {
            return Ok(());
        }
    }
}

fn send(shared: &Shared, session: &Session, flow: &Flow) -> io::Result<()> {
    let (socket, load) = (flow.socket.as_fd(), &shared.load);
    let mut offset = 0;
    loop {
        let length = CALL_BYTES.min(LOAD_BYTES - offset);
        let sent = unless_interrupted(flow, || load.send(socket, offset as u64, length))?;
        offset = (offset + sent) % LOAD_BYTES;
        if sent == 0 || !session.count(sent) {
            return Ok(());
        }
    }
}

/// Repeats `call` after timeouts and signals; returns 0 if the flow was asked to stop.
fn unless_interrupted(flow: &Flow, mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    while !flow.interrupted.load(Relaxed) {
        match call() {
            Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            outcome => return outcome,
        }
    }
    Ok(0)
}
