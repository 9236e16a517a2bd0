//! Probes with new connections, one request on each.
use super::{Context, ProbeMachine, series_of};
use crate::peer::WebProbe;
use crate::resolve::tcp_socket;
use fathom_os::error::without_code;
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::start_connect;
use fathom_os::tcp_info::tcp_info;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::{ProbeKind, ProbeSeries, Responses};
use fathom_run::{Metric, NotSent, Note};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// Maximum concurrent connections: at 20 per second, enough for delays of 4 s; below the quarter of
/// 1024 that a server accepts from one address.
const IN_FLIGHT_LIMIT: usize = 192;

/// Indices of the series, as in the list of probes.
const CONNECTS: usize = 0;
const REQUESTS: usize = 1;

pub(crate) struct ConnectProber {
    address: SocketAddr,
    /// Sent on each connection; without one, a probe ends with the handshake.
    request: Option<Vec<u8>>,
    /// Series of the handshakes and of the requests after them.
    series: [ProbeSeries; 2],
    flying: Vec<Flying>,
    has_noted: bool,
}

struct Flying {
    socket: Socket,
    connect: u32,
    started: Time,
    request: Option<u32>,
    responses: Responses,
}

/// The state of a connection.
enum Progress {
    Waiting,
    Done,
    Broken(String),
}

impl ConnectProber {
    pub(crate) fn new(address: SocketAddr, web: Option<WebProbe>) -> Self {
        let request = web.filter(|web| web.encryption.is_none()).and_then(|web| web.request);
        let series = series_of(ProbeKind::Connect);
        ConnectProber { address, request, series, flying: Vec::new(), has_noted: false }
    }
    fn advance(&mut self, flying: &mut Flying, context: &mut Context) -> Progress {
        match flying.request {
            None => self.connected(flying, context),
            Some(request) => self.answered(flying, request, context),
        }
    }
    fn connected(&mut self, flying: &mut Flying, context: &mut Context) -> Progress {
        let now = context.now();
        if let Some(error) = flying.socket.take_error().unwrap_or_else(Some) {
            return Progress::Broken(without_code(&error));
        }
        let took = flying.handshake(now);
        if let Some(observation) = self.series[CONNECTS].reply(flying.connect, flying.started + took) {
            context.answered(ProbeKind::Connect, Metric::TcpConnect, observation);
        }
        let Some(request) = &self.request else { return Progress::Done };
        let sent = context.now();
        match (&flying.socket).write_all(request) {
            Ok(()) => flying.request = Some(self.series[REQUESTS].sent(sent)),
            Err(error) => return Progress::Broken(without_code(&error)),
        }
        Progress::Waiting
    }
    fn answered(&mut self, flying: &mut Flying, request: u32, context: &mut Context) -> Progress {
        let mut buffer = [0; 2048];
        let got = match receive(flying.socket.as_fd(), &mut buffer) {
            Ok(got) if got.length == 0 => {
                return Progress::Broken("the server closed the connection".to_owned());
            }
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Progress::Waiting,
            Err(error) => return Progress::Broken(without_code(&error)),
        };
        let arrival = context.arrival(got.stamp);
        match flying.responses.push(&buffer[..got.length], &mut |_| ()).map(|progress| progress.complete) {
            Ok(0) => Progress::Waiting,
            Ok(_) => {
                if let Some(observation) = self.series[REQUESTS].reply(request, arrival) {
                    context.answered(ProbeKind::Connect, Metric::HttpForeign, observation);
                }
                Progress::Done
            }
            Err(error) => Progress::Broken(error.to_string()),
        }
    }
    fn give_up(&mut self, flying: &Flying, reason: &str, context: &Context) {
        self.series[CONNECTS].give_up(flying.connect, context.now());
        if let Some(request) = flying.request {
            self.series[REQUESTS].give_up(request, context.now());
        }
        if !std::mem::replace(&mut self.has_noted, true) {
            context.note(Note::ProbeConnectionFailed { message: reason.to_owned() });
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
        let open = || -> io::Result<(Socket, Time)> {
            let socket = tcp_socket(self.address)?;
            socket.set_tcp_nodelay(true)?;
            enable(socket.as_fd(), Stamping::Arrivals)?;
            let started = context.now();
            start_connect(&socket, self.address)?;
            Ok((socket, started))
        };
        let (socket, started) = open().map_err(|e| NotSent::System(without_code(&e)))?;
        let connect = self.series[CONNECTS].sent(started);
        self.flying.push(Flying {
            socket,
            connect,
            started,
            request: None,
            responses: Responses::to_probes(),
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
            let progress = if is_ready { self.advance(&mut flying, context) } else { Progress::Waiting };
            match progress {
                Progress::Waiting => keep.push(flying),
                Progress::Done => {}
                Progress::Broken(reason) => self.give_up(&flying, &reason, context),
            }
        }
        self.flying = keep;
    }
}

impl Flying {
    fn interest(&self) -> PollFd<'_> {
        match self.request {
            None => PollFd::writable(self.socket.as_fd()),
            Some(_) => PollFd::readable(self.socket.as_fd()),
        }
    }
    /// The handshake time measured by the kernel; after a lost SYN, the total time.
    fn handshake(&self, now: Time) -> Duration {
        let by_clock = now.saturating_since(self.started);
        let kernel = tcp_info(self.socket.as_fd()).ok().filter(|i| i.retransmits == 0 && i.rtt_us > 0);
        kernel.map_or(by_clock, |i| Duration::from_micros(u64::from(i.rtt_us)).min(by_clock))
    }
}
