//! Pipelined requests on one persistent connection.
use super::channel::{Channel, Target};
use super::{Context, ProbeMachine, series_of};
use crate::error::{CLOSED, UNEXPECTED};
use crate::peer::{Encrypted, Encryption, WebProbe};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_os::timestamp::receive;
use fathom_probe::{ProbeKind, ProbeSeries, Responses};
use fathom_run::{Metric, NotSent, Note};
use fathom_units::{Duration, Time};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};

/// Delay before reconnecting after a failure.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(1);

pub(crate) struct PersistentProber {
    target: Target,
    request: Vec<u8>,
    encryption: Option<Encryption>,
    /// Follows the responses of a new connection.
    responses: Responses,
    series: [ProbeSeries; 1],
    connection: Option<Connection>,
    next_try: Time,
    breaks: u32,
}

struct Connection {
    channel: Channel,
    established: bool,
    pending: VecDeque<u32>,
    responses: Responses,
}

impl PersistentProber {
    pub(crate) fn new(target: Target, web: Option<WebProbe>, now: Time) -> Result<Self, String> {
        let web = web.and_then(|web| Some((web.request?, web.encryption, web.is_head)));
        let (request, encryption, is_head) = web.ok_or("no small object to request")?;
        let responses = if is_head { Responses::to_heads() } else { Responses::to_probes() };
        let mut prober = PersistentProber {
            target,
            request,
            encryption,
            responses,
            series: series_of(ProbeKind::Persistent),
            connection: None,
            next_try: Time::ZERO,
            breaks: 0,
        };
        // Its first slot is slightly later; a failure is retried then.
        drop(prober.connect_if_due(now));
        Ok(prober)
    }
    /// Starts to connect if there is no connection and the last failure is long enough ago.
    fn connect_if_due(&mut self, now: Time) -> Result<(), String> {
        if self.connection.is_none() && now >= self.next_try {
            self.next_try = now + RETRY_AFTER;
            let encrypted = self.encryption.as_ref().map(|start| start()).transpose()?;
            let connection = Connection::start(self.target, encrypted, self.responses.clone());
            self.connection = Some(connection.map_err(|e| without_code(&e))?);
        }
        Ok(())
    }
    fn take(&mut self, context: &mut Context) -> Result<(), String> {
        let Some(connection) = self.connection.as_mut() else { return Ok(()) };
        let mut buffer = [0; 8192];
        loop {
            let got = match receive(connection.channel.socket.as_fd(), &mut buffer) {
                Ok(got) if got.length == 0 => return Err(CLOSED.to_owned()),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(without_code(&error)),
            };
            let arrival = context.arrival(got.stamp);
            for _ in 0..connection.take(&buffer[..got.length])? {
                let Some(sequence) = connection.pending.pop_front() else {
                    return Err(UNEXPECTED.to_owned());
                };
                if let Some(observation) = self.series[0].reply(sequence, arrival) {
                    context.answered(ProbeKind::Persistent, Metric::HttpKept, observation);
                }
            }
        }
        connection.channel.flush().map_err(|e| without_code(&e))?;
        // The requests that were sent before this response are answered on the next connection.
        let is_over = connection.responses.is_last();
        if is_over {
            Err("the server ends each connection after a number of requests".to_owned())
        } else {
            Ok(())
        }
    }
    fn broken(&mut self, reason: &str, context: &Context) {
        let now = context.now();
        let Some(connection) = self.connection.take() else { return };
        connection.pending.iter().for_each(|sequence| self.series[0].give_up(*sequence, now));
        self.next_try = now + RETRY_AFTER;
        self.breaks += 1;
        if self.breaks == 1 {
            context.note(Note::PersistentConnectionBroke { message: reason.to_owned() });
        }
    }
}

impl ProbeMachine for PersistentProber {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn is_connected(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_ready)
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.extend(self.connection.as_ref().map(Connection::interest));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let now = context.now();
        self.connect_if_due(now).map_err(NotSent::System)?;
        let Some(connection) = self.connection.as_mut().filter(|c| c.is_ready()) else {
            return Err(NotSent::NotConnected);
        };
        connection.channel.flush().map_err(|e| NotSent::System(without_code(&e)))?;
        if connection.channel.is_blocked() {
            return Err(NotSent::BufferFull);
        }
        connection.channel.queue(&self.request).map_err(NotSent::System)?;
        connection.pending.push_back(self.series[0].sent(now));
        // The next receive notices a failure.
        drop(connection.channel.flush());
        Ok(now)
    }
    fn receive(&mut self, context: &mut Context) {
        let Some(connection) = self.connection.as_mut() else { return };
        let mut fds = [connection.interest()];
        if !poll::wait(&mut fds, Some(Duration::ZERO)).is_ok_and(|n| n > 0) {
            return;
        }
        if !connection.established {
            match connection.channel.socket.take_error().unwrap_or_else(Some) {
                // The handshake of the encryption starts.
                None => (connection.established, _) = (true, connection.channel.flush()),
                Some(error) => self.broken(&without_code(&error), context),
            }
            return;
        }
        if let Err(reason) = self.take(context) {
            self.broken(&reason, context);
        }
    }
}

impl Connection {
    fn start(
        target: Target,
        encrypted: Option<Box<dyn Encrypted>>,
        responses: Responses,
    ) -> io::Result<Self> {
        Ok(Connection {
            channel: Channel::start(target, encrypted)?,
            established: false,
            pending: VecDeque::new(),
            responses,
        })
    }
    fn interest(&self) -> PollFd<'_> {
        if self.established {
            PollFd::readable(self.channel.socket.as_fd())
        } else {
            PollFd::writable(self.channel.socket.as_fd())
        }
    }
    /// Whether requests can be sent.
    fn is_ready(&self) -> bool {
        self.established && self.channel.is_ready()
    }
    /// Takes received bytes and returns the number of responses that they complete.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let content = self.channel.open(bytes)?;
        Ok(self.responses.push(&content, &mut |_| ()).map_err(|e| e.to_string())?.complete)
    }
}
