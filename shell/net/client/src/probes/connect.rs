//! Probes with new connections, one request on each.
use super::channel::{Channel, Target};
use super::{Context, ProbeMachine, series_of};
use crate::peer::{Encryption, WebProbe};
use fathom_os::error::without_code;
use fathom_os::poll::{self, PollFd};
use fathom_os::tcp_info::tcp_info;
use fathom_os::timestamp::receive;
use fathom_probe::{ProbeKind, ProbeSeries, Responses};
use fathom_run::{Metric, NotSent, Note};
use fathom_units::{Duration, Time};
use std::io::ErrorKind;
use std::os::fd::AsFd;

/// Maximum concurrent connections: at 20 per second, enough for delays of 4 s; below the quarter of
/// 1024 that a server accepts from one address.
const IN_FLIGHT_LIMIT: usize = 192;

/// Indices of the series, as in the list of probes.
const CONNECTS: usize = 0;
const REQUESTS: usize = 1;

pub(crate) struct ConnectProber {
    target: Target,
    kind: ProbeKind,
    encryption: Option<Encryption>,
    /// Sent on each connection; without one, a probe ends with the handshake.
    request: Option<Vec<u8>>,
    /// Series of the handshakes and of the requests after them.
    series: [ProbeSeries; 2],
    flying: Vec<Flying>,
    has_noted: bool,
}

struct Flying {
    channel: Channel,
    connect: u32,
    started: Time,
    stage: Stage,
    responses: Responses,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Until the connection is established.
    Tcp,
    /// Until its encryption is.
    Tls,
    /// Until the response to this request.
    Http(u32),
}

/// The state of a connection.
enum Progress {
    Waiting,
    Done,
    Broken(String),
}

impl ConnectProber {
    /// Without TLS: if the server requires it, only the handshake of TCP.
    pub(crate) fn tcp(target: Target, web: Option<WebProbe>) -> Self {
        let request = web.filter(|web| web.encryption.is_none()).and_then(|web| web.request);
        Self::new(target, ProbeKind::Connect, None, request)
    }
    /// With TLS.
    pub(crate) fn tls(target: Target, web: Option<WebProbe>) -> Result<Self, String> {
        let web = web.and_then(|web| Some((web.encryption?, web.request)));
        let (encryption, request) = web.ok_or("no TLS")?;
        Ok(Self::new(target, ProbeKind::Tls, Some(encryption), request))
    }
    fn new(
        target: Target,
        kind: ProbeKind,
        encryption: Option<Encryption>,
        request: Option<Vec<u8>>,
    ) -> Self {
        let series = series_of(kind);
        ConnectProber { target, kind, encryption, request, series, flying: Vec::new(), has_noted: false }
    }
    fn advance(&mut self, flying: &mut Flying, context: &mut Context) -> Progress {
        match flying.stage {
            Stage::Tcp => self.connected(flying, context),
            Stage::Tls => self.encrypted(flying, context),
            Stage::Http(request) => self.answered(flying, request, context),
        }
    }
    fn connected(&mut self, flying: &mut Flying, context: &mut Context) -> Progress {
        let now = context.now();
        if let Some(error) = flying.channel.socket.take_error().unwrap_or_else(Some) {
            return Progress::Broken(without_code(&error));
        }
        if self.encryption.is_some() {
            flying.stage = Stage::Tls;
            return flushed(&mut flying.channel);
        }
        let established = flying.started + flying.handshake(now);
        self.ready(flying, established, context)
    }
    fn encrypted(&mut self, flying: &mut Flying, context: &mut Context) -> Progress {
        let (content, arrival) = match flying.receive(context) {
            Ok(Some(received)) => received,
            Ok(None) => return Progress::Waiting,
            Err(reason) => return Progress::Broken(reason),
        };
        if !content.is_empty() {
            return Progress::Broken("unexpected data from the server".to_owned());
        }
        if flying.channel.is_ready() {
            // The last part of the handshake leaves with the request, or now.
            return self.ready(flying, arrival, context);
        }
        flushed(&mut flying.channel)
    }
    /// Requests can be sent since `at`.
    fn ready(&mut self, flying: &mut Flying, at: Time, context: &mut Context) -> Progress {
        if let Some(observation) = self.series[CONNECTS].reply(flying.connect, at) {
            context.answered(self.kind, self.kind.spec().series[CONNECTS], observation);
        }
        let Some(request) = &self.request else { return Progress::Done };
        if let Err(reason) = flying.channel.queue(request) {
            return Progress::Broken(reason);
        }
        flying.stage = Stage::Http(self.series[REQUESTS].sent(context.now()));
        flushed(&mut flying.channel)
    }
    fn answered(&mut self, flying: &mut Flying, request: u32, context: &mut Context) -> Progress {
        let (content, arrival) = match flying.receive(context) {
            Ok(Some(received)) => received,
            Ok(None) => return Progress::Waiting,
            Err(reason) => return Progress::Broken(reason),
        };
        match flying.responses.push(&content, &mut |_| ()).map(|progress| progress.complete) {
            Ok(0) => Progress::Waiting,
            Ok(_) => {
                if let Some(observation) = self.series[REQUESTS].reply(request, arrival) {
                    context.answered(self.kind, Metric::HttpForeign, observation);
                }
                Progress::Done
            }
            Err(error) => Progress::Broken(error.to_string()),
        }
    }
    fn give_up(&mut self, flying: &Flying, reason: &str, context: &Context) {
        self.series[CONNECTS].give_up(flying.connect, context.now());
        if let Stage::Http(request) = flying.stage {
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
        let encrypted = self.encryption.as_ref().map(|start| start()).transpose();
        let encrypted = encrypted.map_err(NotSent::System)?;
        let started = context.now();
        let channel = Channel::start(self.target, encrypted);
        let channel = channel.map_err(|e| NotSent::System(without_code(&e)))?;
        let connect = self.series[CONNECTS].sent(started);
        let (stage, responses) = (Stage::Tcp, Responses::to_probes());
        self.flying.push(Flying { channel, connect, started, stage, responses });
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
        let socket = self.channel.socket.as_fd();
        if self.stage == Stage::Tcp { PollFd::writable(socket) } else { PollFd::readable(socket) }
    }
    /// The content of received bytes and their arrival; `None` if there are none.
    fn receive(&mut self, context: &mut Context) -> Result<Option<(Vec<u8>, Time)>, String> {
        let mut buffer = [0; 8192];
        match receive(self.channel.socket.as_fd(), &mut buffer) {
            Ok(got) if got.length == 0 => Err("the server closed the connection".to_owned()),
            Ok(got) => {
                let arrival = context.arrival(got.stamp);
                Ok(Some((self.channel.open(&buffer[..got.length])?, arrival)))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(without_code(&error)),
        }
    }
    /// The handshake time measured by the kernel; after a lost SYN, the total time.
    fn handshake(&self, now: Time) -> Duration {
        let by_clock = now.saturating_since(self.started);
        let info = tcp_info(self.channel.socket.as_fd()).ok();
        let kernel = info.filter(|i| i.retransmits == 0 && i.rtt_us > 0);
        kernel.map_or(by_clock, |i| Duration::from_micros(u64::from(i.rtt_us)).min(by_clock))
    }
}

/// Sends what waits.
fn flushed(channel: &mut Channel) -> Progress {
    match channel.flush() {
        Ok(()) => Progress::Waiting,
        Err(error) => Progress::Broken(without_code(&error)),
    }
}
