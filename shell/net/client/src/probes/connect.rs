//! Probes with new connections, one request on each.
use super::channel::{Target, start};
use super::{Context, ProbeMachine, series_of};
use crate::error::CLOSED;
use crate::peer::{Exchange, ExchangeStage, StartExchange, WebProbe};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_os::tcp_info::tcp_info;
use fathom_os::timestamp::receive;
use fathom_probe::{ProbeKind, ProbeSeries, Responses};
use fathom_run::{NotSent, Note};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::io::{ErrorKind, Write};
use std::sync::Arc;

/// Maximum concurrent connections: at 20 per second, enough for delays of 4 s; below the quarter of
/// 1024 that a server accepts from one address.
const IN_FLIGHT_LIMIT: usize = 192;

/// Indices of the series, as in the list of probes.
const CONNECTS: usize = 0;
const REQUESTS: usize = 1;

pub(crate) struct ConnectProber {
    target: Target,
    kind: ProbeKind,
    /// What is exchanged on each connection; without it, a probe ends with the handshake of TCP.
    start: Option<StartExchange>,
    /// Series of the handshakes and of the requests after them.
    series: [ProbeSeries; 2],
    flying: Vec<Flying>,
    has_noted: bool,
}

struct Flying {
    socket: Socket,
    exchange: Option<Box<dyn Exchange>>,
    /// What the kernel did not accept yet.
    unsent: Vec<u8>,
    started: Time,
    is_established: bool,
    connect: u32,
    request: Option<u32>,
}

impl ConnectProber {
    /// Without TLS: if the server requires it, only the handshake of TCP.
    pub(crate) fn tcp(target: Target, web: Option<WebProbe>) -> Self {
        let request = web.filter(|web| web.encryption.is_none()).and_then(|web| web.request);
        let start = request.map(|request| -> StartExchange {
            Arc::new(move || Ok(Box::new(HttpExchange::new(request.clone()))))
        });
        Self::new(target, ProbeKind::Connect, start)
    }
    /// With TLS.
    pub(crate) fn tls(target: Target, web: Option<WebProbe>) -> Result<Self, String> {
        let start = web.and_then(|web| web.tls).ok_or("no TLS")?;
        Ok(Self::new(target, ProbeKind::Tls, Some(start)))
    }
    fn new(target: Target, kind: ProbeKind, start: Option<StartExchange>) -> Self {
        let series = series_of(kind);
        ConnectProber { target, kind, start, series, flying: Vec::new(), has_noted: false }
    }
    /// Takes what happened. Whether the connection is still needed.
    fn advance(&mut self, flying: &mut Flying, context: &mut Context) -> Result<bool, String> {
        let mut buffer = [0; 8192];
        let (stage, at) = if flying.is_established {
            let got = match receive(flying.socket.as_fd(), &mut buffer) {
                Ok(got) if got.length == 0 => return Err(CLOSED.to_owned()),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(without_code(&error)),
            };
            (flying.stage(Some(&buffer[..got.length]))?, context.arrival(got.stamp))
        } else {
            let now = context.now();
            if let Some(error) = flying.socket.take_error().unwrap_or_else(Some) {
                return Err(without_code(&error));
            }
            flying.is_established = true;
            (flying.stage(None)?, flying.started + flying.handshake(now))
        };
        if stage > ExchangeStage::Handshake {
            self.answered(CONNECTS, flying.connect, at, context);
        }
        if stage == ExchangeStage::Response && flying.request.is_none() {
            flying.request = Some(self.series[REQUESTS].sent(context.now()));
        }
        flying.flush()?;
        if let (ExchangeStage::Answered, Some(request)) = (stage, flying.request) {
            self.answered(REQUESTS, request, at, context);
        }
        Ok(stage < ExchangeStage::Answered)
    }
    /// Records the end of a handshake or of a request, once.
    fn answered(&mut self, series: usize, sequence: u32, at: Time, context: &Context) {
        let is_outstanding = self.series[series].departure_of(sequence).is_some();
        if let Some(observation) = is_outstanding.then(|| self.series[series].reply(sequence, at)).flatten() {
            context.answered(self.kind, self.kind.spec().series[series], observation);
        }
    }
    fn give_up(&mut self, flying: &Flying, message: String, context: &Context) {
        self.series[CONNECTS].give_up(flying.connect, context.now());
        if let Some(request) = flying.request {
            self.series[REQUESTS].give_up(request, context.now());
        }
        if !std::mem::replace(&mut self.has_noted, true) {
            context.note(Note::ProbeConnectionFailed { message });
        }
    }
}

impl ProbeMachine for ConnectProber {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.extend(self.flying.iter().map(Flying::interest));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        if self.flying.len() >= IN_FLIGHT_LIMIT {
            return Err(NotSent::TooManyConnections);
        }
        let exchange = self.start.as_ref().map(|start| start()).transpose();
        let exchange = exchange.map_err(NotSent::System)?;
        let started = context.now();
        let socket = start(self.target).map_err(|e| NotSent::System(without_code(&e)))?;
        let connect = self.series[CONNECTS].sent(started);
        self.flying.push(Flying {
            socket,
            exchange,
            unsent: Vec::new(),
            started,
            is_established: false,
            connect,
            request: None,
        });
        Ok(started)
    }
    fn receive(&mut self, context: &mut Context) {
        let mut fds: Vec<PollFd<'_>> = self.flying.iter().map(Flying::interest).collect();
        if !poll::wait(&mut fds, Some(Duration::ZERO)).is_ok_and(|n| n > 0) {
            return;
        }
        let ready: Vec<bool> = fds.iter().map(PollFd::is_ready).collect();
        let mut keep = Vec::with_capacity(self.flying.len());
        for (mut flying, is_ready) in std::mem::take(&mut self.flying).into_iter().zip(ready) {
            match if is_ready { self.advance(&mut flying, context) } else { Ok(true) } {
                Ok(true) => keep.push(flying),
                Ok(false) => {}
                Err(reason) => self.give_up(&flying, reason, context),
            }
        }
        self.flying = keep;
    }
}

impl Flying {
    fn interest(&self) -> PollFd<'_> {
        let socket = self.socket.as_fd();
        if self.is_established { PollFd::readable(socket) } else { PollFd::writable(socket) }
    }
    fn stage(&mut self, received: Option<&[u8]>) -> Result<ExchangeStage, String> {
        self.exchange.as_mut().map_or(Ok(ExchangeStage::Answered), |exchange| exchange.advance(received))
    }
    /// Sends what the kernel accepts.
    fn flush(&mut self) -> Result<(), String> {
        while let Some(more) = self.exchange.as_mut().and_then(|exchange| exchange.take_output()) {
            self.unsent.extend(more);
        }
        while !self.unsent.is_empty() {
            match (&self.socket).write(&self.unsent) {
                Ok(length) => drop(self.unsent.drain(..length)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(without_code(&error)),
            }
        }
        Ok(())
    }
    /// The handshake time measured by the kernel; after a lost SYN, the total time.
    fn handshake(&self, now: Time) -> Duration {
        let by_clock = now.saturating_since(self.started);
        let info = tcp_info(self.socket.as_fd()).ok();
        let kernel = info.filter(|i| i.retransmits == 0 && i.rtt_us > 0);
        kernel.map_or(by_clock, |i| Duration::from_micros(u64::from(i.rtt_us)).min(by_clock))
    }
}

/// A request by HTTP/1.1.
pub struct HttpExchange {
    unsent: Vec<u8>,
    responses: Responses,
}

impl HttpExchange {
    /// An exchange of this request.
    #[must_use]
    pub const fn new(request: Vec<u8>) -> Self {
        HttpExchange { unsent: request, responses: Responses::to_probes() }
    }
}

impl Exchange for HttpExchange {
    fn advance(&mut self, received: Option<&[u8]>) -> Result<ExchangeStage, String> {
        let progress = self.responses.push(received.unwrap_or_default(), &mut |_| ());
        let is_over = progress.map_err(|error| error.to_string())?.complete > 0;
        Ok(if is_over { ExchangeStage::Answered } else { ExchangeStage::Response })
    }
    fn take_output(&mut self) -> Option<Vec<u8>> {
        (!self.unsent.is_empty()).then(|| std::mem::take(&mut self.unsent))
    }
}
