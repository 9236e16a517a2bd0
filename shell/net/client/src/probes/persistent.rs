//! Pipelined requests on one persistent connection.
use super::{Context, ProbeMachine, series_of};
use crate::resolve::{host_field, tcp_socket};
use fathom_os::error::without_code;
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::start_connect;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::protocol::probe_request;
use fathom_probe::{Answers, ProbeKind, ProbeSeries};
use fathom_run::{Metric, NotSent, Note};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// Delay before reconnecting after a failure.
const RETRY_AFTER: Duration = Duration::from_secs(1);

pub(crate) struct PersistentProber {
    address: SocketAddr,
    request: Vec<u8>,
    series: [ProbeSeries; 1],
    connection: Option<Connection>,
    next_try: Time,
    breaks: u32,
}

struct Connection {
    socket: Socket,
    established: bool,
    /// The rest of a request that the kernel did not accept yet.
    unsent: Vec<u8>,
    pending: VecDeque<u32>,
    answers: Answers,
}

impl PersistentProber {
    pub(crate) fn new(address: SocketAddr, now: Time) -> Self {
        let mut prober = PersistentProber {
            address,
            request: probe_request(&host_field(address)),
            series: series_of(ProbeKind::Persistent),
            connection: None,
            next_try: Time::ZERO,
            breaks: 0,
        };
        // Its first slot is slightly later; a failure is retried then.
        drop(prober.connect_if_due(now));
        prober
    }
    /// Starts to connect if there is no connection and the last failure is long enough ago.
    fn connect_if_due(&mut self, now: Time) -> io::Result<()> {
        if self.connection.is_none() && now >= self.next_try {
            self.next_try = now + RETRY_AFTER;
            self.connection = Some(Connection::start(self.address)?);
        }
        Ok(())
    }
    fn take(&mut self, context: &mut Context) -> Result<(), String> {
        let Some(connection) = self.connection.as_mut() else { return Ok(()) };
        let mut buffer = [0; 8192];
        loop {
            let got = match receive(connection.socket.as_fd(), &mut buffer) {
                Ok(got) if got.length == 0 => return Err("the server closed the connection".to_owned()),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(without_code(&error)),
            };
            let arrival = context.arrival(got.stamp);
            let complete = connection.answers.push(&buffer[..got.length]).map_err(|e| e.to_string())?;
            for _ in 0..complete {
                let Some(sequence) = connection.pending.pop_front() else {
                    return Err("unexpected response from the server".to_owned());
                };
                if let Some(observation) = self.series[0].reply(sequence, arrival) {
                    context.answered(ProbeKind::Persistent, Metric::HttpKept, observation);
                }
            }
        }
        connection.flush().map_err(|e| without_code(&e))
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
    fn add_interests<'m>(&'m self, fds: &mut Vec<PollFd<'m>>) {
        fds.extend(self.connection.as_ref().map(Connection::interest));
    }
    fn send(&mut self, context: &mut Context) -> Result<Time, NotSent> {
        let now = context.now();
        self.connect_if_due(now).map_err(|e| NotSent::System(without_code(&e)))?;
        let Some(connection) = self.connection.as_mut().filter(|c| c.established) else {
            return Err(NotSent::NotConnected);
        };
        connection.flush().map_err(|e| NotSent::System(without_code(&e)))?;
        if !connection.unsent.is_empty() {
            return Err(NotSent::BufferFull);
        }
        connection.unsent.extend_from_slice(&self.request);
        connection.pending.push_back(self.series[0].sent(now));
        // The next receive notices a failure.
        drop(connection.flush());
        Ok(now)
    }
    fn receive(&mut self, context: &mut Context) {
        let Some(connection) = self.connection.as_mut() else { return };
        let mut fds = [connection.interest()];
        if !poll::wait(&mut fds, Some(Duration::ZERO)).is_ok_and(|n| n > 0) {
            return;
        }
        if !connection.established {
            match connection.socket.take_error().unwrap_or_else(Some) {
                None => connection.established = true,
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
    fn start(address: SocketAddr) -> io::Result<Self> {
        let socket = tcp_socket(address)?;
        socket.set_tcp_nodelay(true)?;
        enable(socket.as_fd(), Stamping::Arrivals)?;
        start_connect(&socket, address)?;
        Ok(Connection {
            socket,
            established: false,
            unsent: Vec::new(),
            pending: VecDeque::new(),
            answers: Answers::default(),
        })
    }
    fn interest(&self) -> PollFd<'_> {
        if self.established {
            PollFd::readable(self.socket.as_fd())
        } else {
            PollFd::writable(self.socket.as_fd())
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match (&self.socket).write(&self.unsent) {
                Ok(length) => drop(self.unsent.drain(..length)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
