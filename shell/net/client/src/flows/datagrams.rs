//! Flows of UDP datagrams at a chosen rate. A TCP connection opens a flow and ends it.
use crate::error::{CLOSED, UNEXPECTED};
use crate::peer::{FlowPlan, Meter, OpenFlow};
use crate::resolve::Limits;
use fathom_os::clock::Clock;
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::mmsg::Inbox;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_os::socket::{segment_bytes, set_class, set_receive_buffer, set_send_buffer};
use fathom_os::timestamp::enable_class;
use fathom_probe::protocol::{DATAGRAM_HEADER_BYTES, LoadHeader, LoadSender, Receiver, Ticket, UdpProbe};
use fathom_units::{Bytes, Direction, FULL_TCP_PAYLOAD, Rate, Time};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Datagrams sent without a look at the connection, or received per call.
const BATCH: usize = 64;
/// Space for what arrives while the thread does not run.
const RECEIVE_BUFFER_BYTES: u32 = 8 << 20;
const LONGEST_BYTES: usize = DATAGRAM_HEADER_BYTES + FULL_TCP_PAYLOAD.get() as usize;

pub(super) fn open(
    flow: &FlowPlan,
    rate: Rate,
    (tcp, server): (Socket, SocketAddr),
    ticket: (Ticket, u64),
    limits: &Limits<'_>,
) -> Result<OpenFlow, String> {
    let udp = prove(flow, (&tcp, server), ticket, limits)?;
    let socket = Arc::new(tcp);
    let (open, clock) = (socket.clone(), limits.clock);
    let transfer: crate::peer::Transfer = match flow.direction {
        Direction::Up => Box::new(move |_| {
            // As long as a segment, whose length fits the path.
            let segment = segment_bytes(&open).map_or(FULL_TCP_PAYLOAD, |bytes| Bytes(bytes.into()));
            let sender = LoadSender::new(rate, segment.min(FULL_TCP_PAYLOAD), clock.now());
            send_datagrams((&open, &udp), sender, clock, LoadHeader::write)
        }),
        Direction::Down => Box::new(move |meter| {
            let sequence = |datagram: &[u8]| Some(LoadHeader::decode(datagram)?.sequence);
            receive_datagrams((&open, &udp), meter, DATAGRAM_HEADER_BYTES, sequence)
        }),
    };
    Ok(OpenFlow { socket, congestion_control: None, transfer })
}

/// A UDP socket whose address is proven to the server, which then is ready for the load.
pub(super) fn prove(
    flow: &FlowPlan,
    (tcp, server): (&Socket, SocketAddr),
    (session, token): (Ticket, u64),
    limits: &Limits<'_>,
) -> Result<Socket, String> {
    let udp = load_socket(tcp, server, flow.class).map_err(|e| without_code(&e))?;
    let proof = session.seal(&UdpProbe::proof(session.id, flow.number, token));
    let ready = |turn| {
        // The next one may arrive.
        drop(udp.send(proof.bytes()));
        Ok(poll::wait(&mut [PollFd::readable(tcp.as_fd())], Some(turn))? > 0)
    };
    if !limits.wait(ready, limits.clock.now()).map_err(|e| without_code(&e))? {
        return Err(CLOSED.to_owned());
    }
    if super::fathom::read_answer(tcp, server, limits)? != b"READY" {
        return Err(UNEXPECTED.to_owned());
    }
    Ok(udp)
}

/// A UDP socket with the local address of a connection, for load to or from `server`.
///
/// # Errors
/// See `bind(2)`, `connect(2)` and `setsockopt(2)`.
pub fn load_socket(tcp: &Socket, server: SocketAddr, class: u8) -> io::Result<Socket> {
    let udp = Socket::new(Domain::for_address(server), Type::DGRAM, Some(Protocol::UDP))?;
    let mut local = tcp.local_addr()?.as_socket().ok_or(io::ErrorKind::InvalidInput)?;
    local.set_port(0);
    udp.bind(&local.into())?;
    udp.connect(&server.into())?;
    set_class(&udp, server.is_ipv6(), class)?;
    enable_class(udp.as_fd(), server.is_ipv6())?;
    // Smaller ones lose datagrams only while this thread does not run, or delay it.
    drop(set_receive_buffer(&udp, RECEIVE_BUFFER_BYTES));
    drop(set_send_buffer(&udp, RECEIVE_BUFFER_BYTES));
    Ok(udp)
}

/// Sends datagrams with headers of `head` until the connection or socket `control` ends.
///
/// # Errors
/// Always: the reason of the end.
pub fn send_datagrams(
    (control, udp): (&Socket, &Socket),
    mut sender: LoadSender,
    clock: Clock,
    head: impl Fn(u64, Time, &mut [u8]),
) -> Result<(), String> {
    // Without it, datagrams leave 50 us later.
    drop(set_precise_timers());
    loop {
        for _ in 0..BATCH {
            let Some(datagram) = sender.take_with(clock.now(), &head) else { break };
            match udp.send(datagram) {
                // An error of an earlier datagram, or a full queue of this host: it is lost.
                Err(error) if !is_of_one(&error) => return Err(without_code(&error)),
                _ => {}
            }
        }
        let now = clock.now();
        let pause = sender.wake(now).saturating_since(now);
        match poll::wait(&mut [PollFd::readable(control.as_fd())], Some(pause)) {
            Ok(0) => {}
            Ok(_) => return Err(CLOSED.to_owned()),
            Err(error) => return Err(without_code(&error)),
        }
    }
}

fn is_of_one(error: &io::Error) -> bool {
    const NO_BUFFER: i32 = 105;
    error.kind() == io::ErrorKind::ConnectionRefused || error.raw_os_error() == Some(NO_BUFFER)
}

/// Receives datagrams until the connection or socket `control` ends, and counts their payload,
/// which follows `header_bytes`. `sequence` returns how many were sent before one; `None` if it is
/// no load.
///
/// # Errors
/// Always: the reason of the end.
pub fn receive_datagrams(
    (control, udp): (&Socket, &Socket),
    meter: &Meter,
    header_bytes: usize,
    sequence: impl Fn(&[u8]) -> Option<u64>,
) -> Result<(), String> {
    let (mut inbox, mut receiver) = (Inbox::new(BATCH, LONGEST_BYTES), Receiver::default());
    loop {
        let mut fds = [PollFd::readable(control.as_fd()), PollFd::readable(udp.as_fd())];
        poll::wait(&mut fds, None).map_err(|e| without_code(&e))?;
        // An error belongs to an earlier datagram; reading it clears it.
        if fds[1].is_ready() && inbox.receive(udp.as_fd()).is_ok() {
            for message in inbox.iter() {
                if sequence(message.bytes).is_some_and(|number| receiver.add(number, message.class)) {
                    meter.add_received(message.bytes.len().saturating_sub(header_bytes) as u64);
                }
            }
            meter.set_datagrams(receiver.counts());
        }
        if fds[0].is_ready() {
            return Err(CLOSED.to_owned());
        }
    }
}
