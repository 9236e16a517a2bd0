//! A socket to one host, and its outstanding probes.
use crate::ReflectedDelay;
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::echo::{echo_socket, timestamp_socket};
use fathom_os::error::without_code;
use fathom_os::poll::PollFd;
use fathom_os::timestamp::{Departure, QueueEntry, SentStamp, Stamping, enable, queue_entry, receive};
use fathom_probe::protocol::{Ticket, UdpKind, UdpProbe};
use fathom_probe::{
    Book, EchoCodec, EchoPayload, IcmpVersion, LossPolicy, Probe, StampConverter, TimestampCodec,
    TimestampReply,
};
use fathom_units::{Duration, PerDirection, Time, WallTime};
use socket2::Socket;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

/// Timeout of probes: longer than any queue holds a packet.
const OPEN: LossPolicy = LossPolicy { timeout: Duration::from_secs(30), retention: Duration::from_secs(30) };
/// A timestamp further than this from the send call belongs to another datagram.
const PLAUSIBLE: Duration = Duration::from_secs(10);
/// If the clocks differ by more, the host has no usable time, or sends it in another byte order, as
/// Windows does.
const SAME_CLOCK_NS: i64 = 3_600_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;

/// Encoding of the probes.
enum Encoding {
    Udp(Ticket),
    Echo(EchoCodec),
    /// `midnight_ns`: UTC midnight minus the time of our clock, in ns.
    Timestamp {
        codec: TimestampCodec,
        midnight_ns: i64,
    },
}

/// A socket that is reopened after each failure, so that the kernel's packet numbers match ours.
pub(super) struct ProbeSocket {
    socket: Socket,
    encoding: Encoding,
    book: Book<WallTime>,
    arrivals: StampConverter,
    departures: StampConverter,
}

impl ProbeSocket {
    /// Opens a socket for UDP probes of a session.
    pub(super) fn by_udp(to: SocketAddr, session: Ticket) -> Result<ProbeSocket, String> {
        let any: SocketAddr = if to.is_ipv6() { ([0_u16; 8], 0).into() } else { ([0_u8; 4], 0).into() };
        let socket = UdpSocket::bind(any).and_then(|socket| socket.connect(to).map(|()| socket));
        let socket = socket.map_err(|error| without_code(&error))?;
        ProbeSocket::over(Socket::from(socket), Encoding::Udp(session))
    }
    /// Opens a socket for ICMP echo.
    pub(super) fn by_echo(to: IpAddr, token: u64) -> Result<ProbeSocket, String> {
        let version = if to.is_ipv6() { IcmpVersion::V6 } else { IcmpVersion::V4 };
        let socket = echo_socket(to.is_ipv6()).map_err(|error| error.to_string())?.socket;
        socket.connect(&SocketAddr::new(to, 0).into()).map_err(|error| without_code(&error))?;
        ProbeSocket::over(socket, Encoding::Echo(EchoCodec::new(version, token)))
    }
    /// Opens a socket for ICMP timestamps, which only IPv4 has.
    pub(super) fn by_timestamp(to: Ipv4Addr, identifier: u16, clock: Clock) -> Result<ProbeSocket, String> {
        let socket = timestamp_socket().map_err(|error| without_code(&error))?;
        socket.connect(&SocketAddr::new(to.into(), 0).into()).map_err(|error| without_code(&error))?;
        let (wall, now) = both_clocks(clock);
        let midnight_ns = wall.0 as i64 - now.as_nanos() as i64;
        ProbeSocket::over(socket, Encoding::Timestamp { codec: TimestampCodec { identifier }, midnight_ns })
    }
    fn over(socket: Socket, encoding: Encoding) -> Result<ProbeSocket, String> {
        let ready = socket.set_nonblocking(true).and_then(|()| enable(socket.as_fd(), Stamping::Both));
        ready.map_err(|error| without_code(&error))?;
        let (arrivals, departures) = (StampConverter::default(), StampConverter::default());
        Ok(ProbeSocket { socket, encoding, book: Book::new(OPEN), arrivals, departures })
    }
    pub(super) fn interest(&self) -> PollFd<'_> {
        PollFd::readable(self.socket.as_fd())
    }
    /// Sends one probe.
    pub(super) fn send(&mut self, clock: Clock) -> Result<(), String> {
        let (wall, now) = both_clocks(clock);
        while self.book.expire(now).is_some() {}
        let probe = self.book.send(wall, now);
        let sent = match &self.encoding {
            Encoding::Udp(session) => {
                let request = UdpProbe::request(session.id, u64::from(probe.sequence), now.as_nanos());
                self.socket.send(session.seal(&request).bytes())
            }
            Encoding::Echo(codec) => self.socket.send(&codec.request(&EchoPayload { target: 0, probe })),
            Encoding::Timestamp { codec, .. } => self.socket.send(&codec.request(probe.sequence as u16)),
        };
        if let Err(error) = sent {
            self.book.cancel(probe.sequence);
            return Err(without_code(&error));
        }
        Ok(())
    }
    /// Reads replies and the error queue. It must be emptied: otherwise every wait on the socket
    /// returns immediately.
    pub(super) fn take(&mut self, clock: Clock, mut report: impl FnMut(ReflectedDelay)) {
        self.take_departures(clock);
        let mut buffer = [0; 256];
        while let Ok(got) = receive(self.socket.as_fd(), &mut buffer) {
            let (wall, now) = both_clocks(clock);
            let arrival = self.arrivals.convert(got.stamp, wall, now).unwrap_or(now);
            if let Some(delay) = self.delay(&buffer[..got.length.min(buffer.len())], arrival) {
                report(delay);
            }
        }
    }
    fn take_departures(&mut self, clock: Clock) {
        while let Ok(entry) = queue_entry(self.socket.as_fd(), &mut []) {
            // Of the timestamps at both ends of the interface queue, the second counts: the queue
            // is our own.
            let QueueEntry::Stamp(sent @ SentStamp { departure: Departure::Sent, .. }) = entry else {
                continue;
            };
            let (wall, now) = both_clocks(clock);
            let Some(at) = self.departures.convert(Some(sent.stamp), wall, now) else { continue };
            let called = self.book.sent_at(sent.id);
            if let Some(called) = called.filter(|called| at.saturating_since(*called) < PLAUSIBLE) {
                self.book.departed(sent.id, at.max(called));
            }
        }
    }
    fn delay(&mut self, bytes: &[u8], arrival: Time) -> Option<ReflectedDelay> {
        match &self.encoding {
            Encoding::Udp(session) => {
                let probe = session.open(bytes).filter(|probe| probe.kind == UdpKind::Reply)?;
                let sequence = u32::try_from(probe.sequence).ok()?;
                let left = self.close(sequence, arrival)?;
                let since = |to: u64, from: u64| to.wrapping_sub(from) as i64;
                let up = since(probe.server_receive_ns, left.as_nanos());
                Some(ReflectedDelay::OneWay(PerDirection {
                    up,
                    down: since(arrival.as_nanos(), probe.server_send_ns),
                }))
            }
            Encoding::Echo(codec) => {
                let sequence = codec.read_reply(bytes)?.probe.sequence;
                let left = self.close(sequence, arrival)?;
                Some(ReflectedDelay::RoundTrip(arrival.saturating_since(left)))
            }
            Encoding::Timestamp { codec, midnight_ns } => {
                let (reply, midnight_ns) = (codec.reply(bytes)?, *midnight_ns);
                let left = self.close(newest_like(reply.sequence, self.book.next_sequence()), arrival)?;
                one_way(reply, [left, arrival], midnight_ns)
            }
        }
    }
    /// Send time of an outstanding probe; `None` for a duplicate reply.
    fn close(&mut self, sequence: u32, arrival: Time) -> Option<Time> {
        let sent = self.book.sent_at(sequence)?;
        self.book.reply(&Probe { sequence, at: WallTime(0), sent }, arrival);
        Some(sent)
    }
}

/// The highest sequence number below `next` with these low bits. Fewer probes are outstanding than
/// there are 16-bit numbers.
const fn newest_like(low_bits: u16, next: u32) -> u32 {
    let last = next.wrapping_sub(1);
    last.wrapping_sub((last as u16).wrapping_sub(low_bits) as u32)
}

/// One-way delays up and down, if the host's clock is within an hour of ours. Its resolution is 1
/// ms, so its times are up to 1 ms too early.
fn one_way(reply: TimestampReply, ours: [Time; 2], midnight_ns: i64) -> Option<ReflectedDelay> {
    let [left, arrival] = ours.map(|at| at.as_nanos() as i64 + midnight_ns);
    let of_day = |ms: u32| i64::from(ms) * 1_000_000;
    let delays = PerDirection {
        up: nearest_day(of_day(reply.received_ms) - left),
        down: nearest_day(arrival - of_day(reply.sent_ms)),
    };
    delays.iter().all(|(_, ns)| ns.abs() < SAME_CLOCK_NS).then_some(ReflectedDelay::OneWay(delays))
}

/// The difference between two times of day: -12 to 12 hours.
const fn nearest_day(ns: i64) -> i64 {
    (ns + DAY_NS / 2).rem_euclid(DAY_NS) - DAY_NS / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-22 00:00 UTC in seconds.
    const MIDNIGHT_S: i64 = 1_795_305_600;
    const MS: i64 = 1_000_000;

    fn at(left_ms: i64, stamps_ms: [u32; 2]) -> Option<ReflectedDelay> {
        let reply = TimestampReply { sequence: 0, received_ms: stamps_ms[0], sent_ms: stamps_ms[1] };
        let ours = [0, 30].map(|ms| Time::from_nanos((5_000 + ms) as u64 * MS as u64));
        one_way(reply, ours, MIDNIGHT_S * 1000 * MS + (left_ms - 5_000) * MS)
    }

    #[test]
    fn timestamps_give_one_way_delays_over_midnight_too() {
        let ways = |up, down| Some(ReflectedDelay::OneWay(PerDirection { up: up * MS, down: down * MS }));
        assert_eq!(at(40_000_000, [40_000_010, 40_000_010]), ways(10, 20));
        // Its clock is 2 s behind.
        assert_eq!(at(40_000_000, [39_998_010, 39_998_010]), ways(-1990, 2020));
        assert_eq!(at(86_399_995, [5, 5]), ways(10, 20));
        assert_eq!(at(3, [86_399_990, 86_399_990]), ways(-13, 43));
    }

    #[test]
    fn low_bits_name_the_newest_probe() {
        for (low_bits, next, expected) in
            [(0, 1, 0), (5, 6, 5), (4, 6, 4), (0, 65_537, 65_536), (65_535, 65_537, 65_535)]
        {
            assert_eq!(newest_like(low_bits, next), expected, "{low_bits} below {next}");
        }
    }

    #[test]
    fn a_clock_with_another_time_gives_none() {
        assert_eq!(at(40_000_000, [40_000_010_u32.swap_bytes(), 40_000_010_u32.swap_bytes()]), None);
        assert_eq!(at(40_000_000, [0, 0]), None);
    }
}
