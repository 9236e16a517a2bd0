//! UDP probes with four timestamps.
use super::departures::Departures;
use super::{Context, ProbeEvent, book};
use crate::resolve::without_code;
use fathom_os::poll::PollFd;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::protocol::{SessionId, UDP_PROBE_BYTES, UdpKind, UdpProbe};
use fathom_probe::{Answer, Book, FourStamps, ProbeKind, UdpAnswer};
use fathom_run::Metric;
use fathom_units::{Duration, Time};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

pub(crate) struct UdpProber {
    socket: UdpSocket,
    session: SessionId,
    pub(crate) book: Book,
    departures: Departures,
    pub(crate) answers: Vec<UdpAnswer>,
}

impl UdpProber {
    pub(crate) fn open(to: SocketAddr, session: SessionId) -> Result<Self, String> {
        let any: SocketAddr = if to.is_ipv6() { ([0_u16; 8], 0).into() } else { ([0_u8; 4], 0).into() };
        let open = || {
            let socket = UdpSocket::bind(any)?;
            socket.connect(to)?;
            socket.set_nonblocking(true)?;
            enable(socket.as_fd(), Stamping::Both)?;
            Ok(socket)
        };
        let socket = open().map_err(|e: std::io::Error| without_code(&e))?;
        let (book, departures) = (book(Metric::UdpRtt), Departures::default());
        Ok(UdpProber { socket, session, book, departures, answers: Vec::new() })
    }
    pub(crate) fn interest(&self) -> PollFd<'_> {
        PollFd::readable(self.socket.as_fd())
    }
    pub(crate) fn send(&mut self, context: &mut Context) -> Result<Time, String> {
        let now = context.now();
        let request = UdpProbe::request(self.session, self.book.next_sequence(), now.as_nanos()).encode();
        // An ICMP error about an earlier probe is told by the next call, which then sends nothing.
        let sent = self.socket.send(&request).or_else(|_| self.socket.send(&request));
        if let Err(error) = sent {
            self.departures.failed();
            return Err(without_code(&error));
        }
        self.book.sent(now);
        self.departures.sent(now);
        Ok(now)
    }
    pub(crate) fn receive(&mut self, context: &mut Context) {
        self.departures.collect(self.socket.as_fd(), context);
        let mut buffer = [0; UDP_PROBE_BYTES + 1];
        while let Ok(got) = receive(self.socket.as_fd(), &mut buffer) {
            let probe = UdpProbe::decode(&buffer[..got.length.min(buffer.len())]);
            let ours = |p: &UdpProbe| p.kind == UdpKind::Reply && p.session == self.session;
            if let Some(probe) = probe.ok().filter(ours) {
                let arrival = context.arrival(got.stamp);
                self.take(&probe, arrival, context);
            }
        }
    }
    fn take(&mut self, probe: &UdpProbe, received: Time, context: &Context) {
        let Some(sent) = self.departures.of(probe.sequence) else { return };
        let stamps = FourStamps {
            sent,
            server_received_ns: probe.server_receive_ns,
            server_sent_ns: probe.server_send_ns,
            received,
        };
        if let Answer::First(observation) = self.book.answered(probe.sequence, stamps.round_trip()) {
            self.answers.push(UdpAnswer { sequence: probe.sequence, stamps, received: probe.received });
            (context.tell)(ProbeEvent::Stamps(stamps));
            context.answered(ProbeKind::Udp, Metric::UdpRtt, observation);
        }
    }
    /// Time sent of each probe, and how long it was waited for until `end`.
    pub(crate) fn waited(&self, end: Time) -> Vec<(Time, Duration)> {
        let sent = (0..self.book.next_sequence()).filter_map(|n| self.book.sent_at(n));
        sent.map(|at| (at, end.saturating_since(at))).collect()
    }
}
