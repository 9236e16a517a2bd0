//! One socket to one host, and what is outstanding on it.
use super::ReflectedDelay;
use crate::resolve::without_code;
use fathom_os::clock::Clock;
use fathom_os::poll::PollFd;
use fathom_os::socket::echo_socket;
use fathom_os::timestamp::{Departure, Stamping, both_clocks, enable, receive, sent_stamp};
use fathom_probe::protocol::{SessionId, UDP_PROBE_BYTES, UdpKind, UdpProbe};
use fathom_probe::{EchoSession, IcmpVersion, StampConverter};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

/// Questions that may be open: at 20 a second those of half a minute, which is more than any queue holds.
const OPEN: usize = 600;
/// A stamp that is further from the call that sent the datagram belongs to another one.
const PLAUSIBLE: Duration = Duration::from_secs(10);

/// In which words it is asked.
enum Words {
    Udp(SessionId),
    Echo(EchoSession),
}

/// A socket, new after each failure, so that the kernel's count of its packets and ours are the same.
pub(super) struct Asked {
    socket: Socket,
    words: Words,
    /// Numbers of what was sent, and when it left.
    open: VecDeque<(u64, Time)>,
    next: u64,
    arrivals: StampConverter,
    departures: StampConverter,
}

impl Asked {
    /// A session of a server.
    pub(super) fn by_udp(to: SocketAddr, session: SessionId) -> Result<Asked, String> {
        let any: SocketAddr = if to.is_ipv6() { ([0_u16; 8], 0).into() } else { ([0_u8; 4], 0).into() };
        let socket = UdpSocket::bind(any).and_then(|socket| socket.connect(to).map(|()| socket));
        let socket = socket.map_err(|error| without_code(&error))?;
        Asked::over(Socket::from(socket), Words::Udp(session))
    }
    /// Any host.
    pub(super) fn by_echo(to: IpAddr, token: u64) -> Result<Asked, String> {
        let version = if to.is_ipv6() { IcmpVersion::V6 } else { IcmpVersion::V4 };
        let socket = echo_socket(to.is_ipv6()).map_err(|error| error.to_string())?.socket;
        socket.connect(&SocketAddr::new(to, 0).into()).map_err(|error| without_code(&error))?;
        Asked::over(socket, Words::Echo(EchoSession { version, token }))
    }
    fn over(socket: Socket, words: Words) -> Result<Asked, String> {
        let ready = socket.set_nonblocking(true).and_then(|()| enable(socket.as_fd(), Stamping::Both));
        ready.map_err(|error| without_code(&error))?;
        let (arrivals, departures) = (StampConverter::default(), StampConverter::default());
        Ok(Asked { socket, words, open: VecDeque::new(), next: 0, arrivals, departures })
    }
    pub(super) fn interest(&self) -> PollFd<'_> {
        PollFd::readable(self.socket.as_fd())
    }
    /// Sends one question.
    pub(super) fn ask(&mut self, clock: Clock) -> Result<(), String> {
        let now = clock.now();
        let sent = match &self.words {
            Words::Udp(session) => {
                self.socket.send(&UdpProbe::request(*session, self.next, now.as_nanos()).encode())
            }
            Words::Echo(session) => self.socket.send(&session.request(self.next)),
        };
        sent.map_err(|error| without_code(&error))?;
        self.open.push_back((self.next, now));
        self.next += 1;
        if self.open.len() > OPEN {
            self.open.pop_front();
        }
        Ok(())
    }
    /// Takes what came; the error queue must be emptied, or every wait on the socket ends at once.
    pub(super) fn take(&mut self, clock: Clock, mut tell: impl FnMut(ReflectedDelay)) {
        self.take_departures(clock);
        let mut buffer = [0; 256];
        while let Ok(got) = receive(self.socket.as_fd(), &mut buffer) {
            let (wall, now) = both_clocks(clock);
            let arrival = self.arrivals.convert(got.stamp, wall, now).unwrap_or(now);
            if let Some(delay) = self.delay(&buffer[..got.length.min(buffer.len())], arrival) {
                tell(delay);
            }
        }
    }
    fn take_departures(&mut self, clock: Clock) {
        while let Ok(told) = sent_stamp(self.socket.as_fd()) {
            // Of the stamps at the queue's two ends the second counts: the queue is our own.
            let Some(told) = told.filter(|told| told.departure == Departure::Sent) else { continue };
            let (wall, now) = both_clocks(clock);
            let Some(at) = self.departures.convert(Some(told.stamp), wall, now) else { continue };
            let open = self.open.iter_mut().find(|(number, _)| *number as u32 == told.id);
            if let Some((_, left)) = open.filter(|(_, left)| at.saturating_since(*left) < PLAUSIBLE) {
                *left = at.max(*left);
            }
        }
    }
    fn delay(&mut self, bytes: &[u8], arrival: Time) -> Option<ReflectedDelay> {
        match &self.words {
            Words::Udp(session) => {
                let longest = bytes.len().min(UDP_PROBE_BYTES + 1);
                let probe = UdpProbe::decode(&bytes[..longest]).ok()?;
                let is_ours = probe.kind == UdpKind::Reply && probe.session == *session;
                let left = is_ours.then(|| self.close(probe.sequence)).flatten()?;
                let since = |to: u64, from: u64| to.wrapping_sub(from) as i64;
                let up = since(probe.server_receive_ns, left.as_nanos());
                Some(ReflectedDelay::OneWay([up, since(arrival.as_nanos(), probe.server_send_ns)]))
            }
            Words::Echo(session) => {
                let number = session.reply(bytes)?;
                Some(ReflectedDelay::RoundTrip(arrival.saturating_since(self.close(number)?)))
            }
        }
    }
    /// When an open question left; the second answer to it is none.
    fn close(&mut self, number: u64) -> Option<Time> {
        let place = self.open.iter().position(|(open, _)| *open == number)?;
        self.open.remove(place).map(|(_, left)| left)
    }
}
