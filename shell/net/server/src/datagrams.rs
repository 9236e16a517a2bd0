//! Load flows of UDP datagrams at the rate that the client chose. A TCP connection opens a flow and
//! ends it. Datagrams are sent to an address only after a proof came from there.
use crate::bursts;
use crate::flow::Flow;
use crate::session::Session;
use crate::shared::Shared;
use crate::sync::lock;
use fathom_os::fd::AsFd;
use fathom_os::mmsg::Inbox;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_os::socket::{segment_bytes, set_class, set_receive_buffer, set_send_buffer, share_port};
use fathom_os::timestamp::enable_class;
use fathom_probe::protocol::{
    DATAGRAM_HEADER_BYTES, FIRST_LINE_TIMEOUT, FlowAnswer, FlowLoad, LoadHeader, LoadSender, Receiver,
    Reception,
};
use fathom_units::{Bytes, Direction, Duration, FULL_TCP_PAYLOAD, Rate};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

/// Datagrams sent without a look at the connection, or received per call.
pub(crate) const BATCH: usize = 64;
/// Interval of looks for a proof.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Space for what arrives while the thread does not run.
const RECEIVE_BUFFER_BYTES: u32 = 8 << 20;
/// Longest datagram of load.
pub(crate) const LONGEST_BYTES: usize = DATAGRAM_HEADER_BYTES + FULL_TCP_PAYLOAD.get() as usize;

/// State of a flow of datagrams.
#[derive(Debug)]
pub(crate) struct Datagrams {
    /// What a proof must contain.
    pub(crate) token: u64,
    /// The address that a proof came from.
    pub(crate) client: Mutex<Option<SocketAddr>>,
    /// What has arrived.
    pub(crate) counts: Mutex<Reception>,
    /// Traffic class of what is sent.
    class: u8,
}

impl Datagrams {
    pub(crate) fn new(class: u8) -> io::Result<Self> {
        let mut token = [0; 8];
        getrandom::fill(&mut token).map_err(|error| io::Error::other(error.to_string()))?;
        let (client, counts) = (Mutex::default(), Mutex::default());
        Ok(Datagrams { token: u64::from_be_bytes(token), client, counts, class })
    }
}

/// Carries the load once the client has proven its address, until the connection or the session
/// ends.
pub(crate) fn serve(
    shared: &Shared,
    session: &Session,
    flow: &Flow,
    (datagrams, load): (&Datagrams, FlowLoad),
) -> io::Result<()> {
    let say = |line: &str| (&flow.socket).write_all(format!("{line}\n").as_bytes());
    say(&FlowAnswer::Udp { token: datagrams.token }.to_string())?;
    let until = shared.clock.now() + FIRST_LINE_TIMEOUT;
    let client = loop {
        if let Some(client) = *lock(&datagrams.client) {
            break client;
        }
        if shared.clock.now() >= until || has_ended(flow, LOOK_EVERY)? {
            return Ok(());
        }
    };
    let udp = connected(session.local, client, datagrams.class)?;
    say("READY")?;
    match (flow.direction, load) {
        (Direction::Up, FlowLoad::Burst(_)) => bursts::receive(shared, session, flow, &udp),
        (Direction::Down, FlowLoad::Burst(plan)) => {
            bursts::send(shared, session, flow, (&udp, datagrams.class), plan)
        }
        (Direction::Up, _) => receive(session, flow, &udp, &datagrams.counts),
        (Direction::Down, FlowLoad::Datagrams(rate)) => send(shared, session, flow, &udp, rate),
        // These are TCP.
        (Direction::Down, FlowLoad::Paced(_) | FlowLoad::Objects) => Ok(()),
    }
}

/// A socket with the port of a listener, so that firewalls and NAT let the load pass. The kernel
/// prefers it to the listener for datagrams from `client`. A probe of others that arrives between
/// the two calls is lost.
pub(crate) fn connected(local: SocketAddr, client: SocketAddr, class: u8) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    share_port(&socket)?;
    socket.bind(&local.into())?;
    socket.connect(&client.into())?;
    set_class(&socket, local.is_ipv6(), class)?;
    enable_class(socket.as_fd(), local.is_ipv6())?;
    // Smaller ones lose datagrams only while this thread does not run, or delay it.
    let _ = set_receive_buffer(&socket, RECEIVE_BUFFER_BYTES);
    let _ = set_send_buffer(&socket, RECEIVE_BUFFER_BYTES);
    Ok(socket)
}

/// Waits; returns whether the flow was interrupted, or the client closed its connection.
pub(crate) fn has_ended(flow: &Flow, wait: Duration) -> io::Result<bool> {
    let found = poll::wait(&mut [PollFd::readable(flow.socket.as_fd())], Some(wait))?;
    Ok(found > 0 || flow.interrupted.load(Relaxed))
}

fn send(shared: &Shared, session: &Session, flow: &Flow, udp: &Socket, rate: Rate) -> io::Result<()> {
    // Without it, datagrams leave 50 us later.
    let _ = set_precise_timers();
    let clock = shared.clock;
    // As long as a segment, whose length fits the path.
    let segment = segment_bytes(&flow.socket).map_or(FULL_TCP_PAYLOAD, |bytes| Bytes(bytes.into()));
    let mut sender = LoadSender::new(rate, segment.min(FULL_TCP_PAYLOAD), clock.now());
    loop {
        for _ in 0..BATCH {
            let payload = sender.payload_bytes();
            let Some(datagram) = sender.take(clock.now()) else { break };
            // An error belongs to an earlier datagram, or the queue of this host is full: it is
            // lost.
            let _ = udp.send(datagram);
            flow.received.fetch_add(payload as u64, Relaxed);
            if !session.count(payload) {
                return Ok(());
            }
        }
        let now = clock.now();
        if has_ended(flow, sender.wake(now).saturating_since(now))? {
            return Ok(());
        }
    }
}

fn receive(session: &Session, flow: &Flow, udp: &Socket, counts: &Mutex<Reception>) -> io::Result<()> {
    let (mut inbox, mut receiver) = (Inbox::new(BATCH, LONGEST_BYTES), Receiver::default());
    loop {
        let mut fds = [PollFd::readable(flow.socket.as_fd()), PollFd::readable(udp.as_fd())];
        poll::wait(&mut fds, None)?;
        // An error belongs to an earlier datagram; reading it clears it.
        if fds[1].is_ready() && inbox.receive(udp.as_fd()).is_ok() {
            for message in inbox.iter() {
                let header = LoadHeader::decode(message.bytes);
                let payload = message.bytes.len().saturating_sub(DATAGRAM_HEADER_BYTES);
                if header.is_some_and(|header| receiver.add(header.sequence, message.class)) {
                    flow.received.fetch_add(payload as u64, Relaxed);
                }
                if !session.count(payload) {
                    return Ok(());
                }
            }
            *lock(counts) = receiver.counts();
        }
        if fds[0].is_ready() || flow.interrupted.load(Relaxed) {
            return Ok(());
        }
    }
}
