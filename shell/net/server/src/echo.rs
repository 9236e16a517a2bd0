//! The echo thread, which answers UDP probes.
use crate::session::Session;
use crate::shared::Shared;
use crate::stats::Refusal;
use fathom_os::datagram::send_from;
use fathom_os::poll::{self, PollFd};
use fathom_os::sched::raise_priority;
use fathom_os::timestamp::{Batch, Received, both_clocks};
use fathom_probe::StampConverter;
use fathom_probe::protocol::{AUTHENTIC_PROBE_BYTES, UDP_PROBE_BYTES, UdpKind, UdpProbe};
use fathom_units::Time;
use socket2::Socket;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Datagrams received per call.
const BATCH: usize = 16;

/// Runs until the server stops. A panic loses the current datagrams but does not end the thread.
pub(crate) fn run(shared: &Shared, sockets: &[Socket]) {
    // Without the privilege it answers slightly later; the timestamps tell the client when.
    let _ = raise_priority();
    while !shared.stop.is_set() {
        let served = catch_unwind(AssertUnwindSafe(|| serve(shared, sockets)));
        if served.is_err() {
            shared.counters.panicked();
        }
    }
}

fn serve(shared: &Shared, sockets: &[Socket]) {
    // One byte more than a probe, to detect longer datagrams.
    let mut batch = Batch::new(BATCH, AUTHENTIC_PROBE_BYTES + 1);
    let mut stamps = StampConverter::default();
    while !shared.stop.is_set() {
        let mut fds = vec![PollFd::readable(shared.stop.fd())];
        fds.extend(sockets.iter().map(|s| PollFd::readable(s.as_fd())));
        if poll::wait(&mut fds, None).is_err() {
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
                if let Err(reason) = answer(shared, socket, bytes, &datagram, at) {
                    shared.counters.refuse(reason, datagram.from.map(|from| from.ip()));
                }
            }
        }
    }
}

fn answer(
    shared: &Shared,
    socket: &Socket,
    bytes: &[u8],
    datagram: &Received,
    at: Time,
) -> Result<(), Refusal> {
    let probe = bytes.get(..UDP_PROBE_BYTES).and_then(|probe| UdpProbe::decode(probe).ok());
    let unproven = probe.filter(|probe| probe.kind == UdpKind::Request);
    let (Some(named), Some(from)) = (unproven, datagram.from) else {
        return Err(Refusal::DatagramForm);
    };
    let session = session_of(shared, &named, from)?;
    let ticket = session.ticket();
    let request = ticket.open(bytes).ok_or(Refusal::DatagramForm)?;
    if !session.probes.admit(at) {
        return Err(Refusal::DatagramRate);
    }
    let received = session.udp_received.fetch_add(1, Relaxed) + 1;
    let mut reply = UdpProbe { kind: UdpKind::Reply, server_receive_ns: at.as_nanos(), received, ..request };
    reply.server_send_ns = shared.clock.now().as_nanos();
    let sent = send_from(socket.as_fd(), ticket.seal(&reply).bytes(), session.local, from);
    sent.map_err(|_| Refusal::DatagramUnsent)?;
    shared.counters.udp_answered.fetch_add(1, Relaxed);
    Ok(())
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
