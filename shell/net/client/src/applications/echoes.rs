//! Datagrams of calls and games: requests at the times and of the sizes of the application, each of
//! which the server answers at once with as many bytes.
use crate::peer::udp_socket;
use crate::probes::Target;
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::fd::AsFd;
use fathom_os::poll::PollFd;
use fathom_os::socket::set_dscp;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::protocol::{APPLICATION_LIMIT_BYTES, Ticket, UdpKind, UdpProbe};
use fathom_probe::{ClockFit, FourStamps, StampConverter, UdpAnswer, UdpRecord, one_way_values};
use fathom_run::{DatagramLog, Value};
use fathom_scenario::{Timetable, UDP_HEADERS, WorkloadKind};
use fathom_units::{Duration, PerDirection, Rng, Time};
use socket2::SockRef;
use std::io;
use std::net::UdpSocket;

/// A workload, and the number of one of its users.
pub(super) type User = (usize, u32);

struct Stream {
    user: User,
    socket: UdpSocket,
    timetable: Timetable,
    /// Payload of a datagram.
    bytes: usize,
}

pub(super) struct Echoes {
    session: Ticket,
    streams: Vec<Stream>,
    /// Stream of each datagram. All streams share the sequence numbers, because the server counts
    /// them together.
    owners: Vec<usize>,
    record: UdpRecord,
    arrivals: StampConverter,
    /// The timetables of calls and games are not random.
    rng: Rng,
}

impl Echoes {
    pub(super) fn new(session: Ticket) -> Self {
        Echoes {
            session,
            streams: Vec::new(),
            owners: Vec::new(),
            record: UdpRecord::default(),
            arrivals: StampConverter::default(),
            rng: Rng::new(0),
        }
    }
    pub(super) fn add(&mut self, user: User, kind: WorkloadKind, to: Target, now: Time) -> io::Result<()> {
        let Some(timetable) = Timetable::new(kind, now) else { return Ok(()) };
        let socket = udp_socket(to.address)?;
        set_dscp(&SockRef::from(&socket), to.address.is_ipv6(), to.dscp)?;
        socket.set_nonblocking(true)?;
        enable(socket.as_fd(), Stamping::Arrivals)?;
        let bytes = usize::from(timetable.size().saturating_sub(UDP_HEADERS));
        let bytes = bytes.clamp(self.session.probe_bytes(), APPLICATION_LIMIT_BYTES);
        self.streams.push(Stream { user, socket, timetable, bytes });
        Ok(())
    }
    /// Time of the next departure.
    pub(super) fn due(&self) -> Option<Time> {
        self.streams.iter().map(|stream| stream.timetable.due()).min()
    }
    pub(super) fn interests(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.streams.iter().map(|stream| PollFd::readable(stream.socket.as_fd()))
    }
    /// Sends what is due.
    pub(super) fn send_due(&mut self, clock: Clock) {
        for (number, stream) in self.streams.iter_mut().enumerate() {
            let now = clock.now();
            if stream.timetable.take(now, &mut self.rng).single.is_none() {
                continue;
            }
            let sequence = self.owners.len() as u64;
            let sealed = self.session.seal(&UdpProbe::application(self.session.id, sequence, now.as_nanos()));
            let mut datagram = [0; APPLICATION_LIMIT_BYTES];
            datagram[..sealed.bytes().len()].copy_from_slice(sealed.bytes());
            self.owners.push(number);
            self.record.sent.push((now, Duration::ZERO));
            // One that this host does not send is lost for the application too.
            drop(stream.socket.send(&datagram[..stream.bytes]));
        }
    }
    /// Takes the replies that have arrived; returns their payload in bytes.
    pub(super) fn receive(&mut self, clock: Clock) -> u64 {
        let mut moved = 0;
        for stream in &self.streams {
            let mut buffer = [0; APPLICATION_LIMIT_BYTES];
            while let Ok(got) = receive(stream.socket.as_fd(), &mut buffer) {
                let (wall, now) = both_clocks(clock);
                let arrived = self.arrivals.convert(got.stamp, wall, now).unwrap_or(now);
                let reply = buffer.get(..self.session.probe_bytes().min(got.length));
                let reply = reply.and_then(|bytes| self.session.open(bytes));
                let Some(reply) = reply.filter(|reply| reply.kind == UdpKind::Reply) else { continue };
                let sequence = u32::try_from(reply.sequence).unwrap_or(u32::MAX);
                let Some((sent, _)) = self.record.sent.get(sequence as usize).copied() else { continue };
                let stamps = FourStamps {
                    sent,
                    server_received_ns: reply.server_receive_ns,
                    server_sent_ns: reply.server_send_ns,
                    received: arrived,
                };
                let (received, class) = (Some(reply.received), PerDirection::default());
                self.record.answers.push(UdpAnswer { sequence, stamps, received, class });
                moved += got.length as u64;
            }
        }
        moved
    }
    /// Delays of the datagrams of each user in each direction. One whose fate is unknown in a
    /// direction, because it was lost in the other, is left out there.
    pub(super) fn logs(&self, fit: &ClockFit) -> Vec<(User, PerDirection<DatagramLog>)> {
        let of = |stream: &Stream| (stream.user, PerDirection::<(u32, DatagramLog)>::default());
        let mut logs: Vec<_> = self.streams.iter().map(of).collect();
        let values = one_way_values(fit, &self.record, None);
        for ((owner, (sent, _)), delays) in self.owners.iter().zip(&self.record.sent).zip(values) {
            for (way, delay) in delays {
                let (number, log) = &mut logs[*owner].1[way];
                let Some(delay) = delay else { continue };
                log.sent(*sent);
                if let Value::Observed(seconds) = delay {
                    log.arrived(*number, Duration::from_secs_f64(seconds));
                }
                *number += 1;
            }
        }
        logs.into_iter().map(|(user, logs)| (user, logs.map(|(_, log)| log))).collect()
    }
}
