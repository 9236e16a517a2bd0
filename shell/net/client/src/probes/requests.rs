//! Requests on one persistent connection whose protocol keeps them apart: HTTP/2 and HTTP/3.
use super::channel::{Target, start};
use super::http3::open_socket;
use super::persistent::RETRY_AFTER;
use super::{Context, ProbeMachine, series_of};
use crate::error::CLOSED;
use crate::peer::{PersistentRequests, Requests};
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::PollFd;
use fathom_os::timestamp::receive;
use fathom_probe::{ProbeKind, ProbeSeries};
use fathom_run::{NotSent, Note};
use fathom_units::Time;
use socket2::Socket;
use std::io::{ErrorKind, Write};

/// Longer than a record of TLS with its header, and than any datagram.
const BUFFER_BYTES: usize = 17 * 1024;

pub(crate) struct RequestProber {
    plan: PersistentRequests,
    dscp: u8,
    series: [ProbeSeries; 1],
    connection: Option<Connection>,
    next_try: Time,
    has_noted: bool,
}

struct Connection {
    socket: Socket,
    requests: Box<dyn Requests>,
    is_datagram: bool,
    established: bool,
    /// What the kernel did not accept yet of a stream.
    unsent: Vec<u8>,
    waiting: Vec<u32>,
}

impl RequestProber {
    pub(crate) fn new(plan: PersistentRequests, dscp: u8, now: Time) -> Self {
        let series = series_of(ProbeKind::Persistent);
        let mut prober =
            RequestProber { plan, dscp, series, connection: None, next_try: Time::ZERO, has_noted: false };
        // A failure is retried, and reported then.
        drop(prober.connect_if_due(now));
        prober
    }
    fn connect_if_due(&mut self, now: Time) -> Result<(), String> {
        if self.connection.is_some() || now < self.next_try {
            return Ok(());
        }
        self.next_try = now + RETRY_AFTER;
        let target = Target { address: self.plan.address, dscp: self.dscp };
        let opened =
            if self.plan.is_datagram { open_socket(target).map(Socket::from) } else { start(target) };
        let socket = opened.map_err(|e| without_code(&e))?;
        let (requests, is_datagram) = ((self.plan.start)()?, self.plan.is_datagram);
        let (unsent, waiting) = (Vec::new(), Vec::new());
        let mut connection =
            Connection { socket, requests, is_datagram, established: is_datagram, unsent, waiting };
        let flushed = if is_datagram { connection.flush() } else { Ok(()) };
        self.connection = Some(connection);
        flushed
    }
    /// Takes what arrived.
    fn take(&mut self, context: &mut Context) -> Result<(), String> {
        let Some(connection) = self.connection.as_mut() else { return Ok(()) };
        if !connection.established {
            if let Some(error) = connection.socket.take_error().unwrap_or_else(Some) {
                return Err(without_code(&error));
            }
            connection.established = connection.socket.peer_addr().is_ok();
            return connection.flush();
        }
        let mut buffer = [0; BUFFER_BYTES];
        loop {
            let (received, at) = match receive(connection.socket.as_fd(), &mut buffer) {
                Ok(got) if got.length == 0 && !self.plan.is_datagram => {
                    return Err(CLOSED.to_owned());
                }
                Ok(got) => (Some(&buffer[..got.length.min(BUFFER_BYTES)]), context.arrival(got.stamp)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => (None, context.now()),
                Err(error) => return Err(without_code(&error)),
            };
            let is_last = received.is_none();
            for sequence in connection.requests.advance(received)? {
                connection.waiting.retain(|waiting| *waiting != sequence);
                if let Some(observation) = self.series[0].reply(sequence, at) {
                    let kind = ProbeKind::Persistent;
                    context.answered(kind, kind.spec().series[0], observation);
                }
            }
            connection.flush()?;
            if is_last {
                return Ok(());
            }
        }
    }
    fn broken(&mut self, message: String, context: &Context) {
        let now = context.now();
        let Some(mut connection) = self.connection.take() else { return };
        // It may explain the end to the server.
        drop(connection.flush());
        connection.waiting.iter().for_each(|sequence| self.series[0].give_up(*sequence, now));
        self.next_try = now + RETRY_AFTER;
        if !std::mem::replace(&mut self.has_noted, true) {
            context.note(Note::PersistentConnectionBroke { message });
        }
    }
}

impl ProbeMachine for RequestProber {
    fn series(&mut self) -> &mut [ProbeSeries] {
        &mut self.series
    }
    fn is_connected(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.requests.is_ready())
    }
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.extend(self.connection.iter().map(|connection| {
            let socket = connection.socket.as_fd();
            if connection.established { PollFd::readable(socket) } else { PollFd::writable(socket) }
        }));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let now = context.now();
        self.connect_if_due(now).map_err(NotSent::System)?;
        let Some(connection) = self.connection.as_mut().filter(|one| one.requests.is_ready()) else {
            return Err(NotSent::NotConnected);
        };
        if !connection.unsent.is_empty() {
            return Err(NotSent::BufferFull);
        }
        connection.requests.request(self.series[0].next_sequence()).map_err(NotSent::System)?;
        connection.waiting.push(self.series[0].sent(now));
        // The next receive notices a failure.
        drop(connection.flush());
        Ok(now)
    }
    fn receive(&mut self, context: &mut Context) {
        if let Err(reason) = self.take(context) {
            self.broken(reason, context);
        }
    }
}

impl Connection {
    /// Sends what the kernel accepts. A datagram that it refuses is lost, as on the path.
    fn flush(&mut self) -> Result<(), String> {
        while let Some(output) = self.requests.take_output() {
            match self.is_datagram {
                true => drop(self.socket.send(&output)),
                false => self.unsent.extend(output),
            }
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
}
