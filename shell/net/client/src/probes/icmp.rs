//! ICMP echo.
use super::departures::Departures;
use super::{Context, book};
use crate::resolve::without_code;
use fathom_os::poll::PollFd;
use fathom_os::socket::{EchoSocket, echo_socket};
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::protocol::SessionId;
use fathom_probe::{Answer, Book, EchoSession, IcmpVersion, ProbeKind};
use fathom_run::Metric;
use fathom_units::Time;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

pub(crate) struct IcmpProber {
    socket: EchoSocket,
    session: EchoSession,
    pub(crate) book: Book,
    departures: Departures,
}

impl IcmpProber {
    pub(crate) fn open(to: IpAddr, session: SessionId) -> Result<Self, String> {
        let version = if to.is_ipv6() { IcmpVersion::V6 } else { IcmpVersion::V4 };
        let socket = echo_socket(to.is_ipv6()).map_err(|e| e.to_string())?;
        // Connected, so that only packets of this address arrive.
        socket.socket.connect(&SocketAddr::new(to, 0).into()).map_err(|e| without_code(&e))?;
        enable(socket.socket.as_fd(), Stamping::Both).map_err(|e| without_code(&e))?;
        let token = session.0[..8].iter().fold(0, |token, byte| token << 8 | u64::from(*byte));
        let echo = EchoSession { version, token };
        Ok(IcmpProber {
            socket,
            session: echo,
            book: book(Metric::IcmpRtt),
            departures: Departures::default(),
        })
    }
    pub(crate) fn interest(&self) -> PollFd<'_> {
        PollFd::readable(self.socket.socket.as_fd())
    }
    pub(crate) fn send(&mut self, context: &mut Context) -> Result<Time, String> {
        let request = self.session.request(self.book.next_sequence());
        let now = context.now();
        if let Err(error) = self.socket.socket.send(&request) {
            self.departures.failed();
            return Err(without_code(&error));
        }
        self.book.sent(now);
        self.departures.sent(now);
        Ok(now)
    }
    pub(crate) fn receive(&mut self, context: &mut Context) {
        self.departures.collect(self.socket.socket.as_fd(), context);
        let mut buffer = [0; 256];
        while let Ok(got) = receive(self.socket.socket.as_fd(), &mut buffer) {
            let Some(sequence) = self.session.reply(&buffer[..got.length.min(buffer.len())]) else {
                continue;
            };
            let arrival = context.arrival(got.stamp);
            let Some(left) = self.departures.of(sequence) else { continue };
            if let Answer::First(observation) = self.book.answered(sequence, arrival.saturating_since(left)) {
                context.answered(ProbeKind::Icmp, Metric::IcmpRtt, observation);
            }
        }
    }
}
