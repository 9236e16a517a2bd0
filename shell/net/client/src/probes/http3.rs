//! Probes with new connections of QUIC, one request by HTTP/3 on each.
use super::channel::Target;
use super::{Context, ProbeMachine, series_of};
use crate::peer::{Exchange, ExchangeStage, StartExchange, WebProbe, udp_socket};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::PollFd;
use fathom_os::socket::set_dscp;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::{ProbeKind, ProbeSeries};
use fathom_run::{Metric, NotSent, Note};
use fathom_units::{Duration, Time};
use socket2::SockRef;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

/// After this time without a response, a connection ends: longer than the largest delay of buffers
/// in homes with one repetition. At two per second, at most 60 are open.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer than any datagram of QUIC that is accepted without probing the path.
const BUFFER_BYTES: usize = 2_048;

/// Indices of the series, as in the list of probes.
const HANDSHAKES: usize = 0;
const REQUESTS: usize = 1;

pub(crate) struct Http3Prober {
    target: Target,
    start: StartExchange,
    series: [ProbeSeries; 2],
    flying: Vec<Flying>,
    has_noted: bool,
}

struct Flying {
    socket: UdpSocket,
    exchange: Box<dyn Exchange>,
    started: Time,
    handshake: u32,
    request: Option<u32>,
}

impl Http3Prober {
    pub(crate) fn new(web: Option<WebProbe>, dscp: u8) -> Result<Self, String> {
        let (address, start) = web.and_then(|web| web.http3).ok_or_else(String::new)?;
        let series = series_of(ProbeKind::Http3);
        let target = Target { address, dscp };
        Ok(Http3Prober { target, start, series, flying: Vec::new(), has_noted: false })
    }
    /// Takes what arrived. Whether the connection is still needed.
    fn advance(&mut self, flying: &mut Flying, context: &mut Context) -> Result<bool, String> {
        let mut buffer = [0; BUFFER_BYTES];
        loop {
            let (datagram, at) = match receive(flying.socket.as_fd(), &mut buffer) {
                Ok(got) => (Some(&buffer[..got.length.min(BUFFER_BYTES)]), context.arrival(got.stamp)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => (None, context.now()),
                Err(error) => return Err(without_code(&error)),
            };
            let stage = flying.exchange.advance(datagram)?;
            if stage > ExchangeStage::Handshake && flying.request.is_none() {
                flying.request = Some(self.series[REQUESTS].sent(context.now()));
                self.answered(HANDSHAKES, flying.handshake, at, context);
            }
            flying.flush();
            if let (ExchangeStage::Answered, Some(request)) = (stage, flying.request) {
                self.answered(REQUESTS, request, at, context);
                return Ok(false);
            }
            if datagram.is_none() {
                return Ok(context.now().saturating_since(flying.started) < PATIENCE);
            }
        }
    }
    fn answered(&mut self, series: usize, sequence: u32, at: Time, context: &Context) {
        let metric: Metric = ProbeKind::Http3.spec().series[series];
        if let Some(observation) = self.series[series].reply(sequence, at) {
            context.answered(ProbeKind::Http3, metric, observation);
        }
    }
    /// Records what is unanswered.
    fn give_up(&mut self, flying: &Flying, now: Time) {
        self.series[HANDSHAKES].give_up(flying.handshake, now);
        if let Some(request) = flying.request {
            self.series[REQUESTS].give_up(request, now);
        }
    }
}

/// A socket for the datagrams of a connection.
pub(super) fn open_socket(Target { address, dscp }: Target) -> io::Result<UdpSocket> {
    let socket = udp_socket(address)?;
    set_dscp(&SockRef::from(&socket), address.is_ipv6(), dscp)?;
    socket.set_nonblocking(true)?;
    enable(socket.as_fd(), Stamping::Arrivals)?;
    Ok(socket)
}

impl ProbeMachine for Http3Prober {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.extend(self.flying.iter().map(|flying| PollFd::readable(flying.socket.as_fd())));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let socket = open_socket(self.target).map_err(|e| NotSent::System(without_code(&e)))?;
        let exchange = (self.start)().map_err(NotSent::System)?;
        let started = context.now();
        let handshake = self.series[HANDSHAKES].sent(started);
        let mut flying = Flying { socket, exchange, started, handshake, request: None };
        flying.flush();
        self.flying.push(flying);
        Ok(started)
    }
    fn receive(&mut self, context: &mut Context) {
        for mut flying in std::mem::take(&mut self.flying) {
            match self.advance(&mut flying, context) {
                Ok(true) => self.flying.push(flying),
                Ok(false) => self.give_up(&flying, context.now()),
                Err(message) => {
                    // It may explain the end to the server.
                    flying.flush();
                    self.give_up(&flying, context.now());
                    if !std::mem::replace(&mut self.has_noted, true) {
                        context.note(Note::ProbeConnectionFailed { message });
                    }
                }
            }
        }
    }
}

impl Flying {
    /// Sends what is ready. What the kernel refuses is lost, as on the path, and repeated.
    fn flush(&mut self) {
        while let Some(datagram) = self.exchange.take_output() {
            let _ = self.socket.send(&datagram);
        }
    }
}
