//! Streams of UDP: each is a socket that is connected to the client, at the port of the listener.
use crate::datagrams::{BATCH, connected};
use crate::echo::{Request, Responder};
use crate::flow::Flow;
use crate::limited::TICK;
use crate::session::Session;
use crate::shared::Shared;
use crate::stats::Refusal;
use crate::sync::lock;
use fathom_os::fd::AsFd;
use fathom_os::mmsg::Inbox;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_probe::protocol::{LoadSender, Receiver};
use fathom_protocol::iperf3::datagrams::{ANSWER, Jitter, LONGEST_BYTES, OPENING, sent_us};
use fathom_protocol::iperf3::server::UdpStreams;
use fathom_units::{Rate, Time};
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// What a stream carried.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Arrivals {
    /// Datagrams that the sender sent, as far as this end knows.
    pub(crate) datagrams: u64,
    pub(crate) lost: u64,
    pub(crate) jitter_s: f64,
}

/// Opens the streams of tests that wait for some.
pub(crate) struct Openings;

impl Responder for Openings {
    const LONGEST_BYTES: usize = LONGEST_BYTES as usize;

    fn answer(&mut self, shared: &Arc<Shared>, request: &Request<'_>) -> Result<(), Refusal> {
        let client = request.from.ip();
        if request.bytes.len() != OPENING.len() {
            // Load that was in a queue when its stream ended.
            return if shared.sessions.has(client) { Ok(()) } else { Err(Refusal::DatagramForm) };
        }
        if !shared.iperf3.awaits_udp(client) {
            return Err(Refusal::DatagramSession);
        }
        let mut local = request.to.ok_or(Refusal::DatagramAddress)?;
        local.set_port(shared.config.iperf3_port.unwrap_or_default());
        let socket = connected(local, request.from, 0).map_err(|_| Refusal::Descriptors)?;
        socket.send(&ANSWER).map_err(|_| Refusal::DatagramUnsent)?;
        shared.iperf3.deliver_udp(client, (socket, shared.take_slot()));
        Ok(())
    }
}

/// Sends until the test ends, at the rate that the client chose.
pub(super) fn send(
    shared: &Shared,
    session: &Session,
    flow: &Flow,
    (udp, rate): (UdpStreams, Rate),
    arrivals: &Mutex<Arrivals>,
) -> io::Result<()> {
    // Without it, datagrams leave 50 us later.
    let _ = set_precise_timers();
    let (clock, length) = (shared.clock, udp.length as usize);
    let mut sender = LoadSender::whole(rate, length, clock.now());
    while !flow.interrupted.load(Relaxed) {
        for _ in 0..BATCH {
            let head = |before, now: Time, datagram: &mut [u8]| {
                udp.numbers.write(before, now.as_nanos(), datagram);
            };
            let Some(datagram) = sender.take_with(clock.now(), head) else { break };
            // An error belongs to an earlier datagram, or the queue of this host is full: it is
            // lost.
            let _ = flow.socket.send(datagram);
            flow.received.fetch_add(length as u64, Relaxed);
            lock(arrivals).datagrams += 1;
            if !session.count(length) {
                return Ok(());
            }
        }
        let now = clock.now();
        let pause = sender.wake(now).saturating_since(now).min(TICK);
        poll::wait(&mut [PollFd::readable(shared.stop.fd())], Some(pause))?;
    }
    Ok(())
}

/// Receives until the test ends.
pub(super) fn receive(
    shared: &Shared,
    session: &Session,
    flow: &Flow,
    udp: UdpStreams,
    arrivals: &Mutex<Arrivals>,
) -> io::Result<()> {
    let mut inbox = Inbox::new(BATCH, udp.length as usize);
    let (mut receiver, mut jitter) = (Receiver::default(), Jitter::default());
    while !flow.interrupted.load(Relaxed) {
        let ready = poll::wait(&mut [PollFd::readable(flow.socket.as_fd())], Some(TICK))?;
        // An error belongs to an earlier datagram; reading it clears it.
        if ready == 0 || inbox.receive(flow.socket.as_fd()).is_err() {
            continue;
        }
        let arrived_us = shared.clock.now().as_nanos() / 1_000;
        for message in inbox.iter() {
            if let Some(before) = udp.numbers.before(message.bytes) {
                receiver.add(before, None);
                sent_us(message.bytes).into_iter().for_each(|sent| jitter.add(sent, arrived_us));
            }
            flow.received.fetch_add(message.bytes.len() as u64, Relaxed);
            if !session.count(message.bytes.len()) {
                return Ok(());
            }
        }
        let counts = receiver.counts();
        let datagrams = counts.received + counts.lost;
        *lock(arrivals) = Arrivals { datagrams, lost: counts.lost, jitter_s: jitter.seconds() };
    }
    Ok(())
}
