//! The echo threads, which answer UDP probes.
use crate::datagrams;
use crate::limited::TICK;
use crate::session::Session;
use crate::shared::Shared;
use crate::stats::Refusal;
use fathom_os::clock::both_clocks;
use fathom_os::datagram::send_from;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::raise_priority;
use fathom_os::timestamp::{Batch, Received};
use fathom_probe::StampConverter;
use fathom_probe::protocol::{APPLICATION_LIMIT_BYTES, LoadHeader, UDP_PROBE_BYTES, UdpKind, UdpProbe};
use fathom_units::Time;
use socket2::Socket;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Datagrams received per call.
const BATCH: usize = 16;

/// A received datagram.
pub(crate) struct Request<'a> {
    socket: &'a Socket,
    pub(crate) bytes: &'a [u8],
    pub(crate) from: SocketAddr,
    /// Address of this host to which it was sent, if the kernel says so.
    pub(crate) to: Option<SocketAddr>,
    pub(crate) hop_limit: Option<u8>,
    /// Traffic class on arrival, if the kernel says so.
    pub(crate) class: Option<u8>,
    pub(crate) at: Time,
}

impl Request<'_> {
    /// Answers from the address to which the request was sent.
    pub(crate) fn reply(&self, bytes: &[u8]) -> Result<(), Refusal> {
        self.reply_from(self.to, bytes, 0)
    }
    fn reply_from(&self, local: Option<SocketAddr>, bytes: &[u8], class: u8) -> Result<(), Refusal> {
        let sent: io::Result<usize> = match local {
            Some(local) => send_from(self.socket.as_fd(), bytes, local, self.from, class),
            None => self.socket.send_to(bytes, &self.from.into()),
        };
        sent.map(drop).map_err(|_| Refusal::DatagramUnsent)
    }
}

/// Answers the datagrams of one protocol.
pub(crate) trait Responder {
    /// Longest request.
    const LONGEST_BYTES: usize;
    fn answer(&mut self, shared: &Arc<Shared>, request: &Request<'_>) -> Result<(), Refusal>;
    /// Whether it has sessions with limits to check.
    fn has_sessions(&self) -> bool {
        false
    }
    /// Checks the limits of sessions. Called every [`TICK`] while there are some, and at the end.
    fn tick(&mut self, _now: Time) {}
}

/// Runs until the server stops. A panic loses the current datagrams and the state of the responder,
/// but does not end the thread.
pub(crate) fn run<R: Responder>(shared: &Arc<Shared>, sockets: &[Socket], responder: impl Fn() -> R) {
    // Without the privilege it answers slightly later; the timestamps tell the client when.
    let _ = raise_priority();
    while !shared.stop.is_set() {
        let served = catch_unwind(AssertUnwindSafe(|| serve(shared, sockets, responder())));
        if served.is_err() {
            shared.counters.panicked();
        }
    }
}

fn serve<R: Responder>(shared: &Arc<Shared>, sockets: &[Socket], mut responder: R) {
    // One byte more than a request, to detect longer datagrams.
    let mut batch = Batch::new(BATCH, R::LONGEST_BYTES + 1);
    let mut stamps = StampConverter::default();
    let mut ticked = shared.clock.now();
    while !shared.stop.is_set() {
        let mut fds = vec![PollFd::readable(shared.stop.fd())];
        fds.extend(sockets.iter().map(|s| PollFd::readable(s.as_fd())));
        if poll::wait(&mut fds, responder.has_sessions().then_some(TICK)).is_err() {
            continue;
        }
        for (socket, _) in sockets.iter().zip(&fds[1..]).filter(|(_, fd)| fd.is_ready()) {
            // An error belongs to an earlier reply (ICMP); reading it clears it.
            if batch.receive(socket.as_fd()).is_err() {
                continue;
            }
            let (wall, now) = both_clocks(shared.clock);
            for (bytes, datagram) in batch.iter() {
                let at = stamps.convert(datagram.stamp, wall, now).unwrap_or(now);
                let answered = match datagram.from.filter(|_| bytes.len() <= R::LONGEST_BYTES) {
                    Some(from) => {
                        let Received { to, hop_limit, class, .. } = datagram;
                        responder.answer(shared, &Request { socket, bytes, from, to, hop_limit, class, at })
                    }
                    None => Err(Refusal::DatagramForm),
                };
                if let Err(reason) = answered {
                    shared.counters.refuse(reason, datagram.from.map(|from| from.ip()));
                }
            }
        }
        let now = shared.clock.now();
        if now.saturating_since(ticked) >= TICK {
            responder.tick(now);
            ticked = now;
        }
    }
    responder.tick(shared.clock.now());
}

/// Fathom's own probes.
pub(crate) struct OwnProbes;

impl Responder for OwnProbes {
    const LONGEST_BYTES: usize = datagrams::LONGEST_BYTES;

    fn answer(&mut self, shared: &Arc<Shared>, datagram: &Request<'_>) -> Result<(), Refusal> {
        if shared.take_of_page(datagram.bytes, (datagram.from, datagram.to), datagram.at) {
            return Ok(());
        }
        // Load that was in a queue when its flow ended.
        if LoadHeader::decode(datagram.bytes).is_some() && shared.sessions.has(datagram.from.ip()) {
            return Ok(());
        }
        let probe = datagram.bytes.get(..UDP_PROBE_BYTES).and_then(|probe| UdpProbe::decode(probe).ok());
        let named = probe.filter(|probe| probe.kind != UdpKind::Reply).ok_or(Refusal::DatagramForm)?;
        let session = session_of(shared, &named, datagram.from)?;
        let ticket = session.ticket();
        let is_application = named.kind == UdpKind::Application;
        let length = if is_application { ticket.probe_bytes() } else { datagram.bytes.len() };
        let whole = datagram.bytes.get(..length).and_then(|bytes| ticket.open(bytes));
        let request = whole.ok_or(Refusal::DatagramForm)?;
        if !session.probes.admit(datagram.at) {
            return Err(Refusal::DatagramRate);
        }
        if request.kind == UdpKind::Proof {
            let is_valid = session.prove(request.sequence, request.received, datagram.from);
            return if is_valid { Ok(()) } else { Err(Refusal::DatagramSession) };
        }
        // Requests and replies of applications are traffic, unlike the few bytes of probes.
        if is_application && !session.count(2 * datagram.bytes.len()) {
            return Err(Refusal::Limit);
        }
        let wanted = request.class.unwrap_or(0);
        let counter = if is_application {
            &session.application_received
        } else {
            session.udp_received.fetch_add(1, Relaxed);
            &session.received_in_class[usize::from(wanted)]
        };
        let received = counter.fetch_add(1, Relaxed) + 1;
        let server_receive_ns = datagram.at.as_nanos();
        let class = request.class.and(datagram.class);
        let mut reply = UdpProbe { kind: UdpKind::Reply, server_receive_ns, received, class, ..request };
        reply.server_send_ns = shared.clock.now().as_nanos();
        let (sealed, mut padded) = (ticket.seal(&reply), [0; APPLICATION_LIMIT_BYTES]);
        padded[..length].copy_from_slice(sealed.bytes());
        let bytes = padded.get(..datagram.bytes.len()).ok_or(Refusal::DatagramForm)?;
        datagram.reply_from(Some(session.local), bytes, wanted)?;
        shared.counters.udp_answered.fetch_add(1, Relaxed);
        Ok(())
    }
}

/// The open session named in `request`, if the probe came from that session's client.
fn session_of(shared: &Shared, request: &UdpProbe, from: SocketAddr) -> Result<Arc<Session>, Refusal> {
    let session = shared.sessions.get(request.session).ok_or(Refusal::DatagramSession)?;
    if session.client != from.ip() {
        session.udp_refused.fetch_add(1, Relaxed);
        return Err(Refusal::DatagramAddress);
    }
    Ok(session)
}
